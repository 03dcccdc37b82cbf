"""The command line: `rewriteguard check`, `rewriteguard audit`, `rewriteguard demo`."""

from __future__ import annotations

import importlib
import json
from contextlib import ExitStack, closing
from datetime import date
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import rewriteguard
from rewriteguard.audit import Tally, read_lines
from rewriteguard.errors import RewriteGuardError
from rewriteguard.findings import find
from rewriteguard.replacing import replacing
from rewriteguard.report.entry import entry_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, TextIO

    from rich.progress import TaskID

    from rewriteguard.report.page import Page


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
    html: Annotated[Path | None, typer.Option(help="Write a page to read (extra report).")] = None,
    vocabulary: Annotated[
        Path | None, typer.Option(help="The words of the corpus, one a line: the page lists those it lacks.")
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option(help="Read rewrites[SYSTEM] of each line; human reads human. May be repeated.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Check in so many processes.")] = 1,
) -> None:
    """Checks logged rewrites. Exit code: 0 every line was read, 5 some were not, 2 wrong usage."""
    systems = system or []
    logs: dict[str, Path | None] = {"the log itself" if len(files) == 1 else f"the log {file}": file for file in files}
    _check_targets(logs | {"--vocabulary": vocabulary, "--out": out, "--html": html})
    if vocabulary is not None and html is None:
        _fail("--vocabulary: only the page of --html shows what it lacks")
    try:
        tally = _audit(files, out, html, vocabulary, systems, jobs)
    except (OSError, RewriteGuardError) as error:
        _fail(str(error))
    if systems and tally.without_rewrite and not tally.checked:
        _fail(f"--system: no line holds a rewrite by {' or '.join(map(repr, systems))}")
    for table in _tables(tally):
        _out.print(table)
    _out.print(printable(_closing_line(tally, systems)))
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


def _check_targets(files: dict[str, Path | None]) -> None:
    """Fails where a file would be written over one that is read, or two files would be one."""
    seen: dict[Path, str] = {}
    for name, path in files.items():
        if path is None:
            continue
        other = seen.setdefault(path.resolve(), name)
        if other != name:
            _fail(f"{name}: {other} would be overwritten")


def _audit(
    files: list[Path], out: Path | None, html: Path | None, vocabulary: Path | None, systems: list[str], jobs: int
) -> Tally:
    tally = Tally()
    with ExitStack() as stack:
        sources = [stack.enter_context(file.open("rb")) for file in files]
        page = _page(stack.enter_context(TemporaryFile("w+", encoding="utf-8")), vocabulary) if html else None
        target = stack.enter_context(replacing(out)) if out else None
        html_target = stack.enter_context(replacing(html)) if html else None
        bar = stack.enter_context(Progress(console=_err, transient=True, disable=not _err.is_terminal))
        task = bar.add_task("checking", total=sum(file.stat().st_size for file in files))
        lines = (read_lines(_advancing(source, bar, task), systems, place) for place, source in enumerate(sources))
        parts = find(chain.from_iterable(lines), jobs, entry_of if page else None)
        for part in stack.enter_context(closing(parts)):
            tally.merge(part.tally)
            for record in part.records:
                name = str(files[record.pop("file")])
                if "error" in record:
                    place = f"line {record['line']}" if len(files) == 1 else f"{name}, line {record['line']}"
                    bar.console.print(printable(f"{place}: {record['error']}"), soft_wrap=True)
                if target is not None:
                    target.write(_json(record if len(files) == 1 else {"file": name, **record}) + "\n")
            if page is not None:
                page.add(part.views)
        if page is not None and html_target is not None:
            page.write(html_target, [files[0].name] if len(files) == 1 else [str(file) for file in files], tally)
    return tally


def _page(rows: TextIO, vocabulary: Path | None) -> Page:
    try:
        module = importlib.import_module("rewriteguard.report.page")
    except ModuleNotFoundError as error:
        _fail(f"--html needs {error.name}; run: pip install 'rewriteguard[report]'")
    if vocabulary is None:
        return cast("Page", module.Page(rows))
    with vocabulary.open(encoding="utf-8-sig") as words:
        try:
            return cast("Page", module.Page(rows, words))
        except UnicodeDecodeError:
            _fail(f"--vocabulary: {vocabulary.name} is not UTF-8")


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


def _closing_line(tally: Tally, systems: list[str]) -> str:
    parts = [f"{tally.checked:,} checked"]
    if tally.without_rewrite:
        by = f" by {' or '.join(systems)}" if systems else ""
        parts.append(f"{tally.without_rewrite:,} without a rewrite{by}")
    parts.append(f"{tally.unreadable:,} line{'' if tally.unreadable == 1 else 's'} could not be read")
    return "\n".join([", ".join(parts), *tally.remarks()])


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
