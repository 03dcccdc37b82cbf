"""The tables of what was decided: releases with what decided them, and vetoes with their documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewriteguard.report.evaluation.report import EvaluationReport
from rewriteguard.report.evaluation.tables import rewriter_cell
from rewriteguard.report.evaluation.words import RELEASES
from rewriteguard.report.table import Cell, Column, Table
from rewriteguard.report.wording import NOTHING, worded


def headline(report: EvaluationReport, rewriter: str) -> dict[str, list[str]]:
    """The releases of one rewriter, the freest first, each with the classes that have it."""
    found: dict[str, list[str]] = {release: [] for release in RELEASES}
    for each in report.decisions(rewriter):
        if each["enforced"]:
            found[each["release"]].append(each["group"])
    return {release: groups for release, groups in found.items() if groups}


def overview(report: EvaluationReport) -> Table:
    """The release of every rewriter for every class and slice."""
    found = {(each["rewriter"], each["group"], each["enforced"]): each for each in report.releases}
    groups = dict.fromkeys((each["group"], each["enforced"]) for each in report.releases)
    rows = [
        [_group(*group), *(_release(found.get((rewriter, *group))) for rewriter in report.rewriters)]
        for group in sorted(groups, key=lambda group: not group[1])
    ]
    columns = [Column("Group"), *(Column(rewriter, quoted=True) for rewriter in report.rewriters)]
    return Table("overview", "Releases of all rewriters", columns, rows)


def verdicts(report: EvaluationReport, rewriter: str) -> Table:
    """The release of one rewriter for every class and slice, with what decided it."""
    rows = [
        [
            _group(each["group"], each["enforced"]),
            _release(each),
            Cell(f"{each['n']:,}"),
            _reasons(each["reasons"]),
        ]
        for each in report.decisions(rewriter)
    ]
    columns = [Column("Group"), Column("Release"), Column("n", number=True), Column("What decided it")]
    title = f"Releases, and what decided them: {rewriter}"
    return Table(f"verdict-{report.rewriters.index(rewriter)}", title, columns, rows)


def vetoes(report: EvaluationReport) -> Table:
    """Every forbidden or unauthorised document that came back."""
    rows = [
        [
            Cell(worded(arm["arm"])),
            rewriter_cell(arm["rewriter"]),
            Cell(veto),
            Cell(hit["case"], quoted=True),
            Cell(hit["document"], quoted=True),
            Cell(f"{hit['rank']:,}"),
        ]
        for arm in report.arms
        for veto in ("forbidden", "unauthorised")
        for hit in arm["scores"][veto]
    ]
    columns = [*map(Column, ("Arm", "Rewriter", "Veto", "Case", "Document")), Column("Rank", number=True)]
    return Table("vetoes-table", "Documents that must not come back and did", columns, rows)


def _group(name: str, enforced: bool) -> Cell:
    return Cell(name, "class" if enforced else "slice", quoted=True)


def _release(decision: Mapping[str, Any] | None) -> Cell:
    if decision is None:
        return Cell(NOTHING)
    return Cell(worded(decision["release"]), tone=decision["release"])


def _reasons(reasons: Sequence[str]) -> Cell:
    """The deciding reason, and the others in small print."""
    return Cell(reasons[0] if reasons else NOTHING, "; ".join(reasons[1:]))
