"""`rewriteguard cases`: contracts drafted, compared and frozen, and what the guard makes of twins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import track
from rich.table import Table
from rich.text import Text

import rewriteguard
from rewriteguard import evaluation
from rewriteguard.cli.console import ERR, OUT, check_targets, fail, json_text, printable
from rewriteguard.errors import RewriteGuardError
from rewriteguard.evaluation.cases.rows import schema as schema_of
from rewriteguard.evaluation.twins import shares

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rewriteguard.evaluation import Case, Choices, Disagreement, Figure

app = typer.Typer(no_args_is_help=True, help="Writes, compares and freezes the cases of an evaluation.")

_File = Annotated[Path, typer.Argument(help="JSONL or CSV of cases, or a triple log.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def draft(cases: _File, out: Annotated[Path, typer.Option(help="Write the cases to this JSONL or CSV file.")]) -> None:
    """Drafts contracts for annotators to correct; those that are there stay. Exit code: 0 written, 2 wrong usage."""
    check_targets({str(cases): cases, "--out": out})
    found = _read(cases)
    guard = rewriteguard.Guard()
    try:
        drafted = [evaluation.draft(case, guard) for case in track(found, "drafting", console=ERR, transient=True)]
        evaluation.write_cases(out, drafted)
    except (OSError, RewriteGuardError) as error:
        fail(str(error))
    there = sum(case.contract is not None for case in found)
    OUT.print(printable(f"{len(found) - there:,} drafted, {there:,} had a contract"))


@app.command()
def agreement(
    first: Annotated[Path, typer.Argument(help="The cases with the contracts of one annotator.")],
    second: Annotated[Path, typer.Argument(help="The same cases with those of the other.")],
    as_json: _Json = False,
) -> None:
    """Compares the contracts of two annotators, and lists where they differ. Exit code: 0 compared, 2 wrong usage."""
    try:
        found = evaluation.agreement(_read(first), _read(second), rewriteguard.Guard())
    except evaluation.CaseError as error:
        fail(f"{first} and {second}: {error}")
    if as_json:
        typer.echo(json_text(found.to_dict(), indent=2))
        return
    OUT.print(_choices("is it a constraint?", found.presence))
    OUT.print(_choices("is it critical?", found.criticality))
    OUT.print(_choices("has the turn several readings?", {"cases": found.unresolved}))
    for each in found.disagreements:
        OUT.print(printable(_told(each, first.name, second.name)), soft_wrap=True)
    number = len(found.disagreements)
    OUT.print(f"{number:,} disagreement{'' if number == 1 else 's'}")


@app.command()
def freeze(cases: _File, out: Annotated[Path, typer.Option(help="Write the lock to this file.")]) -> None:
    """Fixes cases and contracts before any rewrite is read. Exit code: 0 written, 2 wrong usage."""
    check_targets({str(cases): cases, "--out": out})
    lock = evaluation.Lock.of(_read(cases))
    try:
        lock.write(out)
    except OSError as error:
        fail(str(error))
    OUT.print(printable(f"{len(lock.hashes):,} cases frozen: {lock.hash}"), soft_wrap=True)


@app.command()
def twins(
    cases: _File,
    seed: Annotated[int, typer.Option(help="Chooses between equally good values.")] = 0,
    as_json: _Json = False,
) -> None:
    """Shows how many pairs of twins the guard tells apart, made from human rewrites. Exit code: 0, or 2 wrong usage."""
    families = [family for case in _read(cases) for family in evaluation.twins_of(case, seed=seed)]
    if not families:
        fail(f"{cases}: no pair can be made, since no case has a human rewrite that could be edited")
    guard = rewriteguard.Guard()
    judged = [evaluation.judge_pair(guard, each) for each in track(families, "judging", console=ERR, transient=True)]
    told = shares(judged)
    if as_json:
        typer.echo(json_text({"kinds": _dicts(told), "pairs": [each.to_dict() for each in judged]}, indent=2))
        return
    written = shares(each for each in judged if not each.family.planted)
    table = _table("the twin turns round", "pairs", "passed", "share", "as written", "passed")
    for kind, figure in told.items():
        own = written.get(kind)
        cells = [f"{figure.n:,}", f"{figure.count:,}", _percent(figure), f"{own.n:,}" if own else "0"]
        table.add_row(kind, *cells, f"{own.count:,}" if own else "0")
    OUT.print(table)


@app.command()
def schema() -> None:
    """Prints the JSON Schema of a case."""
    typer.echo(json_text(schema_of(), indent=2))


def _read(path: Path) -> list[Case]:
    try:
        return evaluation.read_cases(path)
    except (OSError, RewriteGuardError) as error:
        fail(str(error))


def _choices(question: str, found: Mapping[str, Choices]) -> Table:
    table = _table("", "both", "first", "second", "neither", "agree", "kappa", "95 %")
    table.title = question
    for name, choices in found.items():
        counts = (choices.both, choices.first, choices.second, choices.neither)
        kappa = choices.kappa
        between = f"{_decimal(kappa.low)}–{_decimal(kappa.high)}".strip("–")
        cells = (_percent(choices.agreement), _decimal(kappa.value), between)
        table.add_row(name, *(f"{count:,}" for count in counts), *cells)
    return table


def _told(each: Disagreement, first: str, second: str) -> str:
    about = ": ".join(part for part in (each.field, each.kind or "", each.text) if part)
    return f"{each.case}: {about} ({first}: {_said(each.first)}, {second}: {_said(each.second)})"


def _said(value: bool | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if value else "nothing"


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, title_justify="left")
    table.add_column(Text(columns[0]), no_wrap=True)
    for column in columns[1:]:
        table.add_column(Text(column), justify="right")
    return table


def _percent(figure: Figure) -> str:
    return "" if figure.value is None else f"{figure.value:.1%}"


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{round(value, 2) + 0.0:.2f}"  # no -0.00


def _dicts(figures: Mapping[str, Figure]) -> dict[str, object]:
    return {name: figure.to_dict() for name, figure in figures.items()}
