"""The tables of the five scores, of gains and losses beside the user's own words, and how a report words them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewriteguard.report.evaluation.report import EvaluationReport, group_key
from rewriteguard.report.table import (
    NOTHING,
    Bar,
    Cell,
    Change,
    Column,
    Link,
    Table,
    decimal,
    many,
    percent,
    probability,
    signed,
    worded,
)

ARMS = {
    "original": "the user's turn as written",
    "human": "a person's stand-alone rewrite",
    "rewrite": "the rewriter's output, unchecked",
    "original+rewrite": "turn and rewrite fused as frameworks do, of equal weight",
    "guarded": "what the guard decides",
    "without_rewrite": "what the guard does where there is no rewrite",
    "expanded": "several rewrites of the turn, fused with it",
}
"""What each arm searches."""
RELEASES = {
    "ship": "the rewrite may be searched alone where the guard does not object",
    "fuse": "the rewrite is always searched beside the turn",
    "clarify": "as fuse, and the user is asked where the turn has several readings",
    "fall_back": "the rewriter is off: the turn and the carried query are searched",
}
"""What each release means, the freest first."""
Figure = Mapping[str, Any]
Form = Callable[[float | None], str]
_FUSED = (
    "Nothing is kept where a rewrite failed, so that nothing was searched. An arm that searches the turn beside the "
    "rewrite keeps all that the turn says, whatever the rewrite does: the second table tells what the rewriter's "
    "output keeps by itself."
)
FAMILIES_NOTE = (
    "Cases of a family differ in one qualifier, such as the year, and pass only together: a request passes where the "
    "user was asked only if the turn has several readings, the queries hold every critical clause, a relevant document "
    "came back, and none that must not."
)
ARM_COLUMNS = (Column("Arm"), Column("Rewriter"))
_CAPTION = "Requests that found a relevant document, before and after"
_EVERYTHING = "all requests"
TESTS_NOTE = (
    "McNemar's test and the p of the recall difference take requests as independent; where conversations or families "
    "hold several, the interval of the difference, which draws these, is the one to go by."
)
_FIGURES = (
    Column("before and after", drawn=True),
    Column("Before", number=True),
    Column("After", number=True),
    Column("Lost", number=True),
    Column("Gained", number=True),
    Column("McNemar p", number=True),
    Column("Recall difference", number=True),
)


def interval(figure: Figure, form: Form = percent) -> str:
    """The 95 % interval in words; empty where there is none."""
    low, high = figure["low"], figure["high"]
    if low is None:
        return "" if high is None else f"at most {form(high)}"
    return f"at least {form(low)}" if high is None else f"{form(low).removesuffix(' %')} to {form(high)}"


def denominator(figure: Figure) -> str:
    """What a figure was measured on, as `513 of 540` for a share and `540` for a mean."""
    return f"{figure['n']:,}" if figure["count"] is None else f"{figure['count']:,} of {figure['n']:,}"


def figure_cell(figure: Figure, form: Form = percent) -> Cell:
    """One cell with the value, and interval and n in small print."""
    if figure["value"] is None:
        return Cell(NOTHING, "not measured" if not figure["n"] else f"n = {figure['n']:,}")
    return Cell(form(figure["value"]), " · ".join(part for part in (interval(figure, form), _n(figure)) if part))


def bar(figure: Figure) -> Bar | None:
    """The figure as a bar; None where there is nothing to draw."""
    value = figure["value"]
    if value is None or not 0 <= value <= 1:
        return None
    low, high = (value if end is None else min(1.0, max(0.0, end)) for end in (figure["low"], figure["high"]))
    return Bar(value, low, high)


def _n(figure: Figure) -> str:
    return denominator(figure) if figure["count"] is not None else f"n = {figure['n']:,}"


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


def arm_cells(arm: Mapping[str, Any]) -> list[Cell]:
    """The cells that name an arm."""
    return [Cell(worded(arm["arm"])), rewriter_cell(arm["rewriter"])]


def rewriter_cell(label: str) -> Cell:
    """The cell that names a rewriter; the arms of none have an empty label."""
    return Cell(label or NOTHING, quoted=bool(label))


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


def gain_tables(report: EvaluationReport) -> list[tuple[str, Table]]:
    """For each rewriter its arms, group by group, against the original; the guarded arm against the rewrite too.

    The last is that of the arms without a rewriter, under the label "".
    """
    columns = (Column("Group"), Column("Arm"), *_FIGURES)
    return [
        (rewriter, Table(f"gains-{place}", _caption(rewriter), columns, _rows(report, rewriter)))
        for place, rewriter in enumerate([*report.rewriters, ""])
    ]


def gains_of_all(report: EvaluationReport) -> Table:
    """The same for all requests alone, every rewriter in one table."""
    rows = [
        [Cell(worded(arm["arm"]), _against(pair)), rewriter_cell(arm["rewriter"]), *_figures(arm, pair, "")]
        for arm in report.arms
        for pair in _pairs(arm)
    ]
    return Table("gains-all", _CAPTION, (*ARM_COLUMNS, *_FIGURES), rows)


def _caption(rewriter: str) -> str:
    """Names the rewriter too, since the caption is what a screen reader calls the table by."""
    return f"{_CAPTION}: {rewriter}" if rewriter else f"{_CAPTION}, without a rewriter"


def _rows(report: EvaluationReport, rewriter: str) -> list[list[Cell]]:
    rows = []
    for group in ({"name": _EVERYTHING, "arms": report.arms}, *report.groups):
        key = group_key(group) if "enforced" in group else ""
        name = Cell(group["name"], key.partition(":")[0], quoted=bool(key))
        rows += [
            [name, Cell(worded(arm["arm"]), _against(pair)), *_figures(arm, pair, key)]
            for arm in group["arms"]
            if arm["rewriter"] == rewriter
            for pair in _pairs(arm)
        ]
    return rows


def _pairs(arm: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [pair for pair in (arm["over_original"], arm["over_rewrite"]) if pair is not None]


def _against(pair: Mapping[str, Any]) -> str:
    return "" if pair["base"] == "original" else f"against the {pair['base']}"


def _figures(arm: Mapping[str, Any], pair: Mapping[str, Any], group: str) -> list[Cell]:
    n = pair["n"]
    before, after = ((pair["both"] + pair[which]) / n if n else None for which in ("lost", "gained"))
    wanted = {"rewriter": arm["rewriter"], "arm": arm["arm"], "base": pair["base"], "group": group}
    drawn = Change(before, after) if before is not None and after is not None else None
    difference = pair["difference"]
    return [
        Cell("", drawing=drawn),
        Cell(percent(before), f"n = {n:,}"),
        Cell(percent(after)),
        Cell(*_share(pair["regression"]), link=Link("rows", wanted) if pair["lost"] else None),
        Cell(*_share(pair["gain"])),
        Cell(probability(pair["mcnemar"])),
        Cell(signed(difference["value"]), _difference(pair)),
    ]


def _difference(pair: Mapping[str, Any]) -> str:
    parts = [interval(pair["difference"], signed)]
    if pair["randomisation"] is not None:
        p = probability(pair["randomisation"])
        parts.append(f"p {p}" if p.startswith("<") else f"p = {p}")
    return ", ".join(part for part in parts if part)


def _share(figure: Mapping[str, Any]) -> tuple[str, str]:
    if figure["value"] is None:
        return NOTHING, ""
    return denominator(figure), f"{percent(figure['value'])}, {interval(figure)}" if interval(figure) else ""
