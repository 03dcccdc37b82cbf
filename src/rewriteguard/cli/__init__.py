"""The command line, `rewriteguard check | audit | cases | evaluate | demo`: a module for each group of commands."""

from __future__ import annotations

import importlib

import typer

from rewriteguard.cli import audit, cases, check, evaluate
from rewriteguard.cli.console import OUT, fail, printable

__all__ = ["app", "main", "printable"]

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _root() -> None:
    """Checks that the query a model rewrote still asks what the user asked."""


for _command in (check.check, audit.audit, evaluate.evaluate):
    app.command()(_command)
app.add_typer(cases.app, name="cases")


@app.command()
def demo() -> None:
    """Runs a conversation through a rewriter that makes mistakes: unguarded, guarded and without rewriting."""
    try:
        module = importlib.import_module("rewriteguard.demo.run")
    except ModuleNotFoundError as error:
        fail(f"the demo needs {error.name}; run: pip install 'rewriteguard[demo]'")
    module.run(OUT)


def main() -> None:
    """Entry point of the `rewriteguard` command."""
    app()
