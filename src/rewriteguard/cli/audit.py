"""`rewriteguard audit`: logs of rewrites."""

from __future__ import annotations

import importlib
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from rewriteguard.audit import Tally, find, read_lines
from rewriteguard.audit.replacing import replacing
from rewriteguard.cli.console import ERR, OUT, VERDICT_STYLE, check_targets, fail, json_text, printable
from rewriteguard.errors import RewriteGuardError
from rewriteguard.report.audit.entry import entry_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, TextIO

    from rich.progress import TaskID

    from rewriteguard.report.audit.page import Page

UNREADABLE_LINES = 5


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
    check_targets(logs | {"--vocabulary": vocabulary, "--out": out, "--html": html})
    if vocabulary is not None and html is None:
        fail("--vocabulary: only the page of --html shows what it lacks")
    try:
        tally = _audit(files, out, html, vocabulary, systems, jobs)
    except (OSError, RewriteGuardError) as error:
        fail(str(error))
    if systems and tally.without_rewrite and not tally.checked:
        fail(f"--system: no line holds a rewrite by {' or '.join(map(repr, systems))}")
    for table in _tables(tally):
        OUT.print(table)
    OUT.print(printable(_closing_line(tally, systems)))
    raise typer.Exit(UNREADABLE_LINES if tally.unreadable else 0)


def _audit(
    files: list[Path], out: Path | None, html: Path | None, vocabulary: Path | None, systems: list[str], jobs: int
) -> Tally:
    tally = Tally()
    with ExitStack() as stack:
        sources = [stack.enter_context(file.open("rb")) for file in files]
        page = _page(stack.enter_context(TemporaryFile("w+", encoding="utf-8")), vocabulary) if html else None
        target = stack.enter_context(replacing(out)) if out else None
        html_target = stack.enter_context(replacing(html)) if html else None
        bar = stack.enter_context(Progress(console=ERR, transient=True, disable=not ERR.is_terminal))
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
                    target.write(json_text(record if len(files) == 1 else {"file": name, **record}) + "\n")
            if page is not None:
                page.add(part.views)
        if page is not None and html_target is not None:
            page.write(html_target, [files[0].name] if len(files) == 1 else [str(file) for file in files], tally)
    return tally


def _page(rows: TextIO, vocabulary: Path | None) -> Page:
    try:
        module = importlib.import_module("rewriteguard.report.audit.page")
    except ModuleNotFoundError as error:
        fail(f"--html needs {error.name}; run: pip install 'rewriteguard[report]'")
    if vocabulary is None:
        return cast("Page", module.Page(rows))
    with vocabulary.open(encoding="utf-8-sig") as words:
        try:
            return cast("Page", module.Page(rows, words))
        except UnicodeDecodeError:
            fail(f"--vocabulary: {vocabulary.name} is not UTF-8")


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
            table.add_row(Text(name, style=VERDICT_STYLE.get(name, "")), f"{rows:,}", f"{rows / tally.checked:.1%}")
        yield table


def _closing_line(tally: Tally, systems: list[str]) -> str:
    parts = [f"{tally.checked:,} checked"]
    if tally.without_rewrite:
        by = f" by {' or '.join(systems)}" if systems else ""
        parts.append(f"{tally.without_rewrite:,} without a rewrite{by}")
    parts.append(f"{tally.unreadable:,} line{'' if tally.unreadable == 1 else 's'} could not be read")
    return "\n".join([", ".join(parts), *tally.remarks()])
