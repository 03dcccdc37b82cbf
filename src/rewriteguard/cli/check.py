"""`rewriteguard check`: one rewrite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import rewriteguard
from rewriteguard.cli.console import OUT, VERDICT_STYLE, day_of, fail, json_text, printable
from rewriteguard.errors import RewriteGuardError

_EXIT = {"preserved": 0, "changed": 3, "uncertain": 4}


def check(
    turn: Annotated[str, typer.Option(help="What the user wrote.")],
    rewrite: Annotated[str, typer.Option(help="What the rewriter made of it.")],
    history: Annotated[Path | None, typer.Option(help="The messages before the turn: a JSON list or JSONL.")] = None,
    reference_date: Annotated[str | None, typer.Option(help='The day that "today" means, YYYY-MM-DD.')] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the finding as JSON.")] = False,
) -> None:
    """Checks one rewrite. Exit code: 0 preserved, 3 changed, 4 uncertain, 2 wrong usage."""
    day = day_of(reference_date)
    messages = _read_history(history) if history else ()
    try:
        assessment = rewriteguard.Guard().check(turn, rewrite, messages, reference_date=day)
    except RewriteGuardError as error:
        fail(str(error))
    if as_json:
        typer.echo(json_text(assessment.to_dict(), indent=2))
    else:
        verdict = assessment.verdict.value
        OUT.print(Text(verdict.upper(), style=f"bold {VERDICT_STYLE[verdict]}"))
        OUT.print(printable(assessment.explain()), soft_wrap=True)
    raise typer.Exit(_EXIT[assessment.verdict.value])


def _read_history(path: Path) -> list[Any]:
    """The messages of a JSON list or of JSONL, one message a line."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"--history: {error}")
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except json.JSONDecodeError:
        return [_message(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _message(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        fail(f"--history: line {number} is not JSON: {error.msg}")
