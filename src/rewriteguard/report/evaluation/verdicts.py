"""The tables of what was decided and what decided it, of where requests broke, and of what was held fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rewriteguard.report.evaluation.report import (
    ARM_COLUMNS,
    EvaluationReport,
    arm_cells,
    figure_cell,
    sort_of,
)
from rewriteguard.report.table import NOTHING, Cell, Column, Link, Table, decimal, percent, worded

if TYPE_CHECKING:
    from rewriteguard.evaluation.figure import Figure
    from rewriteguard.evaluation.release.release import ReleaseDecision
    from rewriteguard.evaluation.score.results import KindRow

RELEASES = {
    "ship": "the rewrite may be searched alone where the guard does not object",
    "fuse": "the rewrite is always searched beside the turn",
    "clarify": "as fuse, and the user is asked where the turn has several readings",
    "fall_back": "the rewriter is off: the turn and the carried query are searched",
}
"""What each release means, the freest first."""
_STATUSES = ("ok", "empty", "error", "clarified")
_STAGES = ("rewrite", "retrieval", "generation")
_FATES = ("kept", "altered", "dropped", "absent", "added")
_EVIDENCE = {"found": "found", "near_miss": "near miss only", "missing": "missing", "": "not judged"}
_BROKEN = ("altered", "dropped", "added")
_CLAUSES = 500  # broken clauses that a table lists
_WORDS = 200  # unknown words of a rewriter that are listed


def headline(report: EvaluationReport, rewriter: str) -> dict[str, list[str]]:
    """The releases of one rewriter, the freest first, each with the classes that have it."""
    found: dict[str, list[str]] = {release: [] for release in RELEASES}
    for each in report.decisions(rewriter):
        if each.enforced:
            found[each.release].append(each.group)
    return {release: groups for release, groups in found.items() if groups}


def overview(report: EvaluationReport) -> Table:
    """The release of every rewriter for every class and slice."""
    found = {(each.rewriter, each.group, each.enforced): each for each in report.releases}
    groups = dict.fromkeys((each.group, each.enforced) for each in report.releases)
    rows = [
        [_group_cell(*group), *(_release_cell(found.get((rewriter, *group))) for rewriter in report.rewriters)]
        for group in sorted(groups, key=lambda group: not group[1])
    ]
    columns = [Column("Group"), *(Column(rewriter, quoted=True) for rewriter in report.rewriters)]
    return Table("overview", "Releases of all rewriters", columns, rows)


def verdicts(report: EvaluationReport, rewriter: str) -> Table:
    """The release of one rewriter for every class and slice, with what decided it: other reasons in small print."""
    rows = [
        [
            _group_cell(each.group, each.enforced),
            _release_cell(each),
            Cell(f"{each.n:,}"),
            Cell(each.reasons[0] if each.reasons else NOTHING, "; ".join(each.reasons[1:])),
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
            *arm_cells(arm.arm, arm.rewriter),
            Cell(veto),
            Cell(leak.case, quoted=True),
            Cell(leak.document, quoted=True),
            Cell(f"{leak.rank:,}"),
        ]
        for arm in report.arms
        for veto, leaks in (("forbidden", arm.scores.forbidden), ("unauthorised", arm.scores.unauthorised))
        for leak in leaks
    ]
    columns = [*ARM_COLUMNS, *map(Column, ("Veto", "Case", "Document")), Column("Rank", number=True)]
    return Table("vetoes-table", "Documents that must not come back and did", columns, rows)


def outcomes(report: EvaluationReport) -> Table:
    """How the requests of every arm ended, and at which stage those that failed broke first."""
    rows = [
        [*arm_cells(arm.arm, arm.rewriter), Cell(f"{arm.scores.requests:,}")]
        + [Cell(f"{arm.scores.statuses.get(status, 0):,}") for status in _STATUSES]
        + [Cell(f"{arm.scores.stages.get(stage, 0):,}") for stage in _STAGES]
        for arm in report.arms
    ]
    names = ["Requests", *_STATUSES, *(f"broke at {stage}" for stage in _STAGES)]
    columns = [*ARM_COLUMNS, *(Column(name, number=True) for name in names)]
    return Table("outcomes-table", "How requests ended, and the first stage at which failed ones broke", columns, rows)


def turns(report: EvaluationReport) -> Table:
    """Recall by the place of the turn."""
    found: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in report.results.turns:
        found.setdefault((row.arm, row.rewriter), {})[row.turn] = row.recall
    names = sorted({name for recalls in found.values() for name in recalls}, key=_turn_order)
    rows = [
        arm_cells(*arm) + [figure_cell(recalls[name], decimal) if name in recalls else Cell(NOTHING) for name in names]
        for arm, recalls in found.items()
    ]
    titles = ["All later turns" if name == "later" else f"Turn {name}" for name in names]
    return Table("turns-table", "Mean Recall@k by the place of the turn", [*ARM_COLUMNS, *map(Column, titles)], rows)


def unknown_words(report: EvaluationReport) -> list[tuple[str, Table]]:
    """For each rewriter the words of its rewrites that no document holds."""
    columns = [Column("Word"), Column("Rewrites", number=True), Column("User's own", number=True), Column("Example")]
    tables = []
    for place, (rewriter, unknown) in enumerate((report.results.vocabulary or {}).items()):
        rows = [
            [
                Cell(word.word, quoted=True),
                Cell(f"{word.rows:,}"),
                Cell(f"{word.by_user:,}"),
                Cell(word.example, ", ".join(word.places), quoted=True),
            ]
            for word in unknown.words[:_WORDS]
        ]
        title, note = f"Words with zero document frequency: {rewriter}", _passed_over(unknown.passed_over)
        left_out = len(unknown.words) - len(rows)
        tables.append((rewriter, Table(f"words-{place}", title, columns, rows, note, left_out)))
    return tables


def kinds(report: EvaluationReport) -> Table:
    """What every arm made of the constraints, by kind."""
    found: dict[tuple[str, str], dict[str, KindRow]] = {}
    for row in report.results.kinds:
        found.setdefault((row.arm, row.rewriter), {})[row.kind] = row
    names = sorted({row.kind for row in report.results.kinds})
    rows = [arm_cells(*arm) + [_kept_cell(of.get(name)) for name in names] for arm, of in found.items()]
    columns = [*ARM_COLUMNS, *(Column(worded(name)) for name in names)]
    return Table("kinds-table", "Constraints kept, by kind", columns, rows)


def fates(report: EvaluationReport) -> Table:
    """What became of the clauses in the queries of every arm, and what came back then: numbers of clauses."""
    counted: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for row in report.results.constraints:
        by_fate = counted.setdefault((row.arm, row.rewriter), {fate: Counter() for fate in _FATES})
        by_fate[row.fate][row.evidence] += 1
    rows = [
        arm_cells(*arm) + [_fate_cell(fate, by_fate[fate], *arm) for fate in _FATES] for arm, by_fate in counted.items()
    ]
    columns = [*ARM_COLUMNS, *map(Column, _FATES)]
    return Table("fates-table", "Clauses by what the queries made of them, and what came back", columns, rows)


def broken_clauses(report: EvaluationReport) -> Table:
    """The clauses that the queries of an arm break, one row for each."""
    broken = [row for row in report.results.constraints if row.fate in _BROKEN]
    rows = [
        [
            Cell(row.case, quoted=True),
            *arm_cells(row.arm, row.rewriter),
            Cell(row.asked, quoted=True),
            Cell(row.fate),
            Cell(row.instead, quoted=True),
            Cell(_EVIDENCE[row.evidence]),
        ]
        for row in broken[:_CLAUSES]
    ]
    columns = list(map(Column, ("Case", "Arm", "Rewriter", "Asked", "In the queries", "Instead", "What came back")))
    return Table("broken", "Clauses that the queries break", columns, rows, left_out=len(broken) - len(rows))


def conditions(report: EvaluationReport) -> Table:
    """What was held fixed, one row for each value; nested names are joined by dots."""
    rows = [[Cell(name, quoted=True), Cell(value, quoted=True)] for name, value in _flat("", report.conditions)]
    return Table("conditions-table", "Held fixed for every arm", [Column("Condition"), Column("Value")], rows)


def _group_cell(name: str, enforced: bool) -> Cell:
    return Cell(name, sort_of(enforced), quoted=True)


def _release_cell(decision: ReleaseDecision | None) -> Cell:
    return Cell(NOTHING) if decision is None else Cell(worded(decision.release), tone=decision.release)


def _turn_order(name: str) -> tuple[int, int]:
    return (1, 0) if name == "later" else (0 if name == "1" else 2, int(name))


def _passed_over(number: int) -> str:
    """Says that words were not counted since there were too many others."""
    times = "once" if number == 1 else f"{number:,} times"
    return f"So many words are unknown that others, met {times}, were not counted." if number else ""


def _kept_cell(row: KindRow | None) -> Cell:
    if row is None or not row.asked:
        return Cell(NOTHING)
    parts = [f"{count:,} {fate}" for count, fate in ((row.altered, "altered"), (row.dropped, "dropped")) if count]
    small = ", ".join([f"{row.kept:,} of {row.asked:,}", *parts])
    wanted = {"rewriter": row.rewriter, "arm": row.arm, "kind": row.kind}
    return Cell(percent(row.kept / row.asked), small, link=Link("matrix", wanted) if parts else None)


def _fate_cell(fate: str, came_back: Counter[str], arm: str, rewriter: str) -> Cell:
    if not came_back:
        return Cell("0")
    small = ", ".join(f"{came_back[code]:,} {words}" for code, words in _EVIDENCE.items() if came_back[code])
    wanted = {"rewriter": rewriter, "arm": arm, "fate": fate}
    return Cell(f"{came_back.total():,}", small, link=Link("matrix", wanted))


def _flat(path: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        return [row for name, part in value.items() for row in _flat(f"{path}.{name}" if path else str(name), part)]
    if isinstance(value, list | tuple):
        return [(path, ", ".join(map(str, value)) or NOTHING)]
    return [(path, NOTHING if value in (None, {}) else str(value))]
