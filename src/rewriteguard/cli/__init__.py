"""The command line, `rewriteguard check | audit | cases | evaluate | demo`: one module for each group of commands."""

from __future__ import annotations

import typer

from rewriteguard.cli import audit, cases, check, demo, evaluate
from rewriteguard.cli.console import printable

__all__ = ["app", "main", "printable"]

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _root() -> None:
    """Checks that the query a model rewrote still asks what the user asked."""


for _command in (check.check, audit.audit, evaluate.evaluate, demo.demo):
    app.command()(_command)
app.add_typer(cases.app, name="cases")


def main() -> None:
    """Entry point of the `rewriteguard` command."""
    app()
