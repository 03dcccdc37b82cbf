"""The command line: `rewriteguard check`, `rewriteguard audit`, `rewriteguard demo`."""

from __future__ import annotations

import importlib
import json
from contextlib import ExitStack, closing
from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import rewriteguard
from rewriteguard.audit import Tally, read_lines
from rewriteguard.errors import RewriteGuardError
from rewriteguard.findings import find

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from rich.progress import TaskID


USAGE = 2
UNREADABLE_LINES = 5
_EXIT = {"preserved": 0, "changed": 3, "uncertain": 4}
_STYLE = {"preserved": "green", "changed": "red", "uncertain": "yellow"}

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)


@app.callback()
def _root() -> None:
    """Checks that the query a model rewrote still asks what the user asked."""


@app.command()
def check(
    turn: Annotated[str, typer.Option(help="What the user wrote.")],
    rewrite: Annotated[str, typer.Option(help="What the rewriter made of it.")],
    history: Annotated[Path | None, typer.Option(help="The messages before the turn: a JSON list or JSONL.")] = None,
    reference_date: Annotated[str | None, typer.Option(help='The day that "today" means, YYYY-MM-DD.')] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the finding as JSON.")] = False,
) -> None:
    """Checks one rewrite. Exit code: 0 preserved, 3 changed, 4 uncertain, 2 wrong usage."""
    day = _day(reference_date)
    messages = _read_history(history) if history else ()
    try:
        assessment = rewriteguard.Guard().check(turn, rewrite, messages, reference_date=day)
    except RewriteGuardError as error:
        _fail(str(error))
    if as_json:
        typer.echo(_json(assessment.to_dict(), indent=2))
    else:
        verdict = assessment.verdict.value
        _out.print(Text(verdict.upper(), style=f"bold {_STYLE[verdict]}"))
        _out.print(printable(assessment.explain()), soft_wrap=True)
    raise typer.Exit(_EXIT[assessment.verdict.value])


@app.command()
def audit(
    files: Annotated[
        list[Path], typer.Argument(help="JSONL with history, original (or turn) and rewrite on each line.")
    ],
    out: Annotated[Path | None, typer.Option(help="Write one finding a line to this JSONL file.")] = None,
    system: Annotated[str | None, typer.Option(help="Read rewrites[SYSTEM] of each line; human reads human.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Check in so many processes.")] = 1,
) -> None:
    """Checks logged rewrites. Exit code: 0 every line was read, 5 some were not, 2 wrong usage."""
    if out is not None and out.resolve() in [file.resolve() for file in files]:
        _fail("--out: the log itself would be overwritten")
    try:
        tally = _audit(files, out, system, jobs)
    except (OSError, RewriteGuardError) as error:
        _fail(str(error))
    if system and tally.without_rewrite and not tally.checked:
        _fail(f"--system: no line holds a rewrite by {system!r}")
    for table in _tables(tally):
        _out.print(table)
    _out.print(printable(_closing_line(tally, system)))
    raise typer.Exit(UNREADABLE_LINES if tally.unreadable else 0)


@app.command()
def demo() -> None:
    """Runs a conversation through a rewriter that makes mistakes: unguarded, guarded and without rewriting."""
    try:
        module = importlib.import_module("rewriteguard.demo.run")
    except ModuleNotFoundError as error:
        _fail(f"the demo needs {error.name}; run: pip install 'rewriteguard[demo]'")
    module.run(_out)


def main() -> None:
    """Entry point of the `rewriteguard` command."""
    app()


def printable(text: str) -> Text:
    """The text for a terminal: no markup is read and control characters other than line ends are left out."""
    return Text("".join(character for character in text if character.isprintable() or character == "\n"))


def _audit(files: list[Path], out: Path | None, system: str | None, jobs: int) -> Tally:
    tally = Tally()
    with ExitStack() as stack:
        sources = [stack.enter_context(file.open("rb")) for file in files]
        target = stack.enter_context(out.open("w", encoding="utf-8")) if out else None
        bar = stack.enter_context(Progress(console=_err, transient=True, disable=not _err.is_terminal))
        task = bar.add_task("checking", total=sum(file.stat().st_size for file in files))
        lines = (read_lines(_advancing(source, bar, task), system, place) for place, source in enumerate(sources))
        parts = find(chain.from_iterable(lines), jobs)
        for part in stack.enter_context(closing(parts)):
            tally.merge(part.tally)
            for record in part.records:
                name = str(files[record.pop("file")])
                if "error" in record:
                    place = f"line {record['line']}" if len(files) == 1 else f"{name}, line {record['line']}"
                    bar.console.print(printable(f"{place}: {record['error']}"), soft_wrap=True)
                if target is not None:
                    target.write(_json(record if len(files) == 1 else {"file": name, **record}) + "\n")
    return tally


def _advancing(source: BinaryIO, bar: Progress, task: TaskID) -> Iterator[bytes]:
    for raw in source:
        bar.advance(task, len(raw))
        yield raw


def _tables(tally: Tally) -> Iterator[Table]:
    for title, counts in (("verdict", tally.verdicts), ("fault", tally.faults), ("kind", tally.kinds)):
        if not counts:
            continue
        table = Table()
        table.add_column(title)
        table.add_column("rows", justify="right")
        table.add_column("share", justify="right")
        for name, rows in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            table.add_row(Text(name, style=_STYLE.get(name, "")), f"{rows:,}", f"{rows / tally.checked:.1%}")
        yield table


def _closing_line(tally: Tally, system: str | None) -> str:
    parts = [f"{tally.checked:,} checked"]
    if tally.without_rewrite:
        parts.append(f"{tally.without_rewrite:,} without a rewrite" + (f" by {system}" if system else ""))
    parts.append(f"{tally.unreadable:,} line{'' if tally.unreadable == 1 else 's'} could not be read")
    return ", ".join(parts)


def _read_history(path: Path) -> list[Any]:
    """The messages of a JSON list or of JSONL, one message a line."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        _fail(f"--history: {error}")
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except json.JSONDecodeError:
        return [_message(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _message(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        _fail(f"--history: line {number} is not JSON: {error.msg}")


def _json(value: Any, indent: int | None = None) -> str:
    """The value as JSON that any UTF-8 stream takes: half a surrogate pair is written as its escape."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace").decode("utf-8")


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text is not None else None
    except ValueError:
        _fail(f"--reference-date: expected YYYY-MM-DD, got {text!r}")


def _fail(message: str) -> NoReturn:
    _err.print(printable(f"error: {message}"), soft_wrap=True)
    raise typer.Exit(USAGE)
