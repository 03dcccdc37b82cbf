"""The tables of the five scores, which are never merged into one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewriteguard.report.evaluation.words import Figure, bar, denominator, figure_cell, interval
from rewriteguard.report.table import Cell, Column, Table
from rewriteguard.report.wording import NOTHING, decimal, many, percent, worded


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a score: what it is called, where the results hold it, and how its values read."""

    caption: str
    path: tuple[str, ...]
    form: Callable[[float | None], str] = percent

    def of(self, arm: Mapping[str, Any]) -> Figure:
        """The figure of an arm."""
        found: Any = arm["scores"]
        for name in self.path:
            found = found[name]
        figure: Figure = found
        return figure


@dataclass(frozen=True, slots=True)
class Score:
    """One of the five scores.

    Attributes:
        id: Unique on the page.
        title: Its name.
        note: What a reader should know of it.
        measures: Its figures; the first stands for it where there is room for one.
        leading: How many of them the page shows before a reader asks for more.
        leaves_out: Whether requests about which the user was rightly asked are left out.
    """

    id: str
    title: str
    note: str
    measures: tuple[Measure, ...]
    leading: int = 1
    leaves_out: bool = False


_FUSED = (
    "Nothing is kept where a rewrite failed, so that nothing was searched. An arm that searches the turn beside the "
    "rewrite keeps all that the turn says, whatever the rewrite does: the second table tells what the rewriter's "
    "output keeps by itself."
)
SCORES = (
    Score(
        "preservation",
        "Constraint preservation",
        f"Share of the contracts' constraints that the queries keep. {_FUSED}",
        (
            Measure("Constraints kept", ("preservation",)),
            Measure("Constraints kept by the rewriter's own output", ("of_rewrite", "preservation")),
        ),
        leading=2,
        leaves_out=True,
    ),
    Score(
        "completeness",
        "Critical-constraint completeness",
        f"Share of the requests whose queries keep every critical constraint and break no other clause. {_FUSED}",
        (
            Measure("Complete requests", ("completeness",)),
            Measure("Requests with a complete output of the rewriter", ("of_rewrite", "completeness")),
        ),
        leading=2,
        leaves_out=True,
    ),
    Score(
        "evidence",
        "Evidence recall",
        "What came back, against what the user meant. A near miss answers a neighbouring question. A search that "
        "failed or was empty found nothing relevant.",
        (
            Measure("Mean Recall@k", ("evidence", "recall"), decimal),
            Measure("Requests with a relevant document", ("evidence", "found")),
            Measure("Requests with a near miss and nothing relevant", ("evidence", "near_miss_only")),
            Measure("Requests with neither", ("evidence", "missing")),
            Measure("Mean nDCG@k", ("evidence", "ndcg"), decimal),
            Measure("Mean MRR@k", ("evidence", "mrr"), decimal),
            Measure("Mean Recall@k, interval by request", ("evidence", "recall_by_request"), decimal),
            Measure("Mean Recall@k of the searches that ended", ("evidence", "recall_searched"), decimal),
        ),
    ),
    Score(
        "answers",
        "Supported answers",
        "Share of the answers that are right and supported, where somebody said.",
        (Measure("Supported answers", ("answers",)),),
    ),
    Score(
        "clarification",
        "Clarification",
        "Whether the user was asked where the turn has several readings, and not otherwise.",
        (
            Measure("Asked, of the requests with several readings", ("clarification", "asked")),
            Measure("Not asked, of the requests with one reading", ("clarification", "not_asked")),
        ),
        leading=2,
    ),
)
"""The five scores in the order of the protocol."""
FAMILIES = Measure("Families of which every case passes", ("families",))
FAMILIES_NOTE = (
    "Cases of a family differ in one qualifier, such as the year, and pass only together: a request passes where the "
    "user was asked only if the turn has several readings, the queries hold every critical clause, a relevant document "
    "came back, and none that must not."
)


def arm_cells(arm: Mapping[str, Any]) -> list[Cell]:
    """The cells that name an arm."""
    return [Cell(worded(arm["arm"])), rewriter_cell(arm["rewriter"])]


def rewriter_cell(label: str) -> Cell:
    """The cell that names a rewriter; the arms of none have an empty label."""
    return Cell(label or NOTHING, quoted=bool(label))


ARM_COLUMNS = (Column("Arm"), Column("Rewriter"))


def measure_table(
    id_: str, measure: Measure, arms: Sequence[Mapping[str, Any]], *, leaves_out: bool = False
) -> Table | None:
    """One measure of every arm; None where no arm has it. `leaves_out` names the requests that were asked about."""
    if not any(measure.of(arm)["n"] for arm in arms):
        return None
    rows = [
        [*arm_cells(arm), *_figure_cells(measure.of(arm), measure.form, _asked(arm) if leaves_out else "")]
        for arm in arms
    ]
    columns = [*ARM_COLUMNS, Column("Value", number=True), Column("95 % interval"), Column("n", number=True)]
    return Table(id_, measure.caption, columns, rows)


def score_tables(score: Score, arms: Sequence[Mapping[str, Any]]) -> list[Table]:
    """The tables of one score, without those that nobody measured."""
    found = (
        measure_table(f"{score.id}-{n}", measure, arms, leaves_out=score.leaves_out and not n)
        for n, measure in enumerate(score.measures)
    )
    return [table for table in found if table is not None]


def group_table(place: int, group: Mapping[str, Any]) -> Table:
    """The five scores of every arm on one class or slice, a column for each."""
    measures = [measure for score in SCORES for measure in score.measures[: 2 if score.id == "clarification" else 1]]
    rows = [
        [*arm_cells(arm), *(figure_cell(measure.of(arm), measure.form) for measure in measures)]
        for arm in group["arms"]
    ]
    columns = [*ARM_COLUMNS, *(Column(measure.caption) for measure in measures)]
    sort = "class" if group["enforced"] else "slice"
    return Table(f"group-{place}", f"The five scores on the {sort} {group['name']}", columns, rows)


def _figure_cells(figure: Figure, form: Callable[[float | None], str], asked: str) -> list[Cell]:
    if figure["value"] is None:
        return [Cell(NOTHING), Cell(NOTHING), Cell(f"{figure['n']:,}", asked)]
    return [
        Cell(form(figure["value"])),
        Cell("", interval(figure, form) or NOTHING, drawing=bar(figure)),
        Cell(denominator(figure), asked),
    ]


def _asked(arm: Mapping[str, Any]) -> str:
    """Says beside a figure how many requests it leaves out."""
    number = arm["scores"]["left_out"]
    verb = "was asked about and is" if number == 1 else "were asked about and are"
    return f"{many(number, 'request')} {verb} left out" if number else ""
