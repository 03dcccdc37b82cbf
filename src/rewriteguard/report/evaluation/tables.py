"""The tables of the five scores, and of gains and losses beside the user's own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewriteguard.report.evaluation.report import (
    ARM_COLUMNS,
    EvaluationReport,
    arm_cells,
    bar,
    denominator,
    figure_cell,
    group_key,
    interval,
    rewriter_cell,
    sort_of,
)
from rewriteguard.report.table import (
    NOTHING,
    BeforeAfter,
    Cell,
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

if TYPE_CHECKING:
    from rewriteguard.evaluation.figure import Figure
    from rewriteguard.evaluation.score.results import ArmResult, GroupResult
    from rewriteguard.evaluation.score.scores import Paired, Scores
    from rewriteguard.report.evaluation.report import Form


@dataclass(frozen=True, slots=True)
class ScoreFigure:
    """One figure of a score: what it is called, which of an arm's scores it is, and how its values read."""

    caption: str
    of: Callable[[Scores], Figure]
    form: Form = percent


@dataclass(frozen=True, slots=True)
class Score:
    """One of the five scores.

    Attributes:
        id: Unique on the page.
        title: Its name.
        note: What a reader should know of it.
        figures: Its figures; the first stands for it where there is room for one.
        leading: How many of them the page shows before a reader asks for more.
        leaves_out: Whether requests about which the user was rightly asked are left out.
    """

    id: str
    title: str
    note: str
    figures: tuple[ScoreFigure, ...]
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
            ScoreFigure("Constraints kept", lambda s: s.preservation),
            ScoreFigure("Constraints kept by the rewriter's own output", lambda s: s.of_rewrite.preservation),
        ),
        leading=2,
        leaves_out=True,
    ),
    Score(
        "completeness",
        "Critical-constraint completeness",
        f"Share of the requests whose queries keep every critical constraint and break no other clause. {_FUSED}",
        (
            ScoreFigure("Complete requests", lambda s: s.completeness),
            ScoreFigure("Requests with a complete output of the rewriter", lambda s: s.of_rewrite.completeness),
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
            ScoreFigure("Mean Recall@k", lambda s: s.evidence.recall, decimal),
            ScoreFigure("Requests with a relevant document", lambda s: s.evidence.found),
            ScoreFigure("Requests with a near miss and nothing relevant", lambda s: s.evidence.near_miss_only),
            ScoreFigure("Requests with neither", lambda s: s.evidence.missing),
            ScoreFigure("Mean nDCG@k", lambda s: s.evidence.ndcg, decimal),
            ScoreFigure("Mean MRR@k", lambda s: s.evidence.mrr, decimal),
            ScoreFigure("Mean Recall@k, interval by request", lambda s: s.evidence.recall_by_request, decimal),
            ScoreFigure("Mean Recall@k of the searches that ended", lambda s: s.evidence.recall_searched, decimal),
        ),
    ),
    Score(
        "answers",
        "Supported answers",
        "Share of the answers that are right and supported, where somebody said.",
        (ScoreFigure("Supported answers", lambda s: s.answers),),
    ),
    Score(
        "clarification",
        "Clarification",
        "Whether the user was asked where the turn has several readings, and not otherwise.",
        (
            ScoreFigure("Asked, of the requests with several readings", lambda s: s.clarification.asked),
            ScoreFigure("Not asked, of the requests with one reading", lambda s: s.clarification.not_asked),
        ),
        leading=2,
    ),
)
"""The five scores in the order of the protocol."""
FAMILIES = ScoreFigure("Families of which every case passes", lambda s: s.families)
FAMILIES_NOTE = (
    "Cases of a family differ in one qualifier, such as the year, and pass only together: a request passes where the "
    "user was asked only if the turn has several readings, the queries hold every critical clause, a relevant document "
    "came back, and none that must not."
)
TESTS_NOTE = (
    "McNemar's test and the p of the recall difference take requests as independent; where conversations or families "
    "hold several, the interval of the difference, which draws these, is the one to go by."
)
_GAINS = "Requests that found a relevant document, before and after"
_EVERYTHING = "all requests"
_GAIN_COLUMNS = (
    Column("before and after", drawn=True),
    Column("Before", number=True),
    Column("After", number=True),
    Column("Lost", number=True),
    Column("Gained", number=True),
    Column("McNemar p", number=True),
    Column("Recall difference", number=True),
)


def score_tables(score: Score, arms: Sequence[ArmResult]) -> list[Table]:
    """The tables of one score, without those that nobody measured."""
    found = (
        figure_table(f"{score.id}-{n}", figure, arms, leaves_out=score.leaves_out and not n)
        for n, figure in enumerate(score.figures)
    )
    return [table for table in found if table is not None]


def figure_table(id_: str, figure: ScoreFigure, arms: Sequence[ArmResult], *, leaves_out: bool = False) -> Table | None:
    """One figure of every arm; None where no arm has it. `leaves_out` names the requests that were asked about."""
    if not any(figure.of(arm.scores).n for arm in arms):
        return None
    rows = [
        [
            *arm_cells(arm.arm, arm.rewriter),
            *_figure_cells(figure.of(arm.scores), figure.form, _asked(arm.scores.left_out) if leaves_out else ""),
        ]
        for arm in arms
    ]
    columns = [*ARM_COLUMNS, Column("Value", number=True), Column("95 % interval"), Column("n", number=True)]
    return Table(id_, figure.caption, columns, rows)


def group_table(place: int, group: GroupResult) -> Table:
    """The five scores of every arm on one class or slice, a column for each."""
    figures = [figure for score in SCORES for figure in score.figures[: 2 if score.id == "clarification" else 1]]
    rows = [
        [*arm_cells(arm.arm, arm.rewriter), *(figure_cell(figure.of(arm.scores), figure.form) for figure in figures)]
        for arm in group.arms
    ]
    columns = [*ARM_COLUMNS, *(Column(figure.caption) for figure in figures)]
    title = f"The five scores on the {sort_of(group.enforced)} {group.name}"
    return Table(f"group-{place}", title, columns, rows)


def gain_tables(report: EvaluationReport) -> list[tuple[str, Table]]:
    """For each rewriter its arms, group by group, against the original; the guarded arm against the rewrite too.

    The last is that of the arms without a rewriter, under the label "". Captions name the rewriter, since a screen
    reader calls the table by its caption.
    """
    columns = (Column("Group"), Column("Arm"), *_GAIN_COLUMNS)
    tables = []
    for place, rewriter in enumerate([*report.rewriters, ""]):
        title = f"{_GAINS}: {rewriter}" if rewriter else f"{_GAINS}, without a rewriter"
        tables.append((rewriter, Table(f"gains-{place}", title, columns, _gains_by_group(report, rewriter))))
    return tables


def gains_of_all(report: EvaluationReport) -> Table:
    """The same for all requests alone, every rewriter in one table."""
    rows = [
        [Cell(worded(arm.arm), _against(pair)), rewriter_cell(arm.rewriter), *_gain_cells(arm, pair, "")]
        for arm in report.arms
        for pair in _pairs(arm)
    ]
    return Table("gains-all", _GAINS, (*ARM_COLUMNS, *_GAIN_COLUMNS), rows)


def _figure_cells(figure: Figure, form: Form, asked: str) -> list[Cell]:
    if figure.value is None:
        return [Cell(NOTHING), Cell(NOTHING), Cell(f"{figure.n:,}", asked)]
    return [
        Cell(form(figure.value)),
        Cell("", interval(figure, form) or NOTHING, drawing=bar(figure)),
        Cell(denominator(figure), asked),
    ]


def _asked(number: int) -> str:
    """Says beside a figure how many requests it leaves out."""
    verb = "was asked about and is" if number == 1 else "were asked about and are"
    return f"{many(number, 'request')} {verb} left out" if number else ""


def _gains_by_group(report: EvaluationReport, rewriter: str) -> list[list[Cell]]:
    named = [(Cell(_EVERYTHING), "", report.arms)]
    named += [
        (Cell(group.name, sort_of(group.enforced), quoted=True), group_key(group), group.arms)
        for group in report.groups
    ]
    return [
        [name, Cell(worded(arm.arm), _against(pair)), *_gain_cells(arm, pair, key)]
        for name, key, arms in named
        for arm in arms
        if arm.rewriter == rewriter
        for pair in _pairs(arm)
    ]


def _pairs(arm: ArmResult) -> list[Paired]:
    return [pair for pair in (arm.over_original, arm.over_rewrite) if pair is not None]


def _against(pair: Paired) -> str:
    return "" if pair.base == "original" else f"against the {pair.base}"


def _gain_cells(arm: ArmResult, pair: Paired, group: str) -> list[Cell]:
    before, after = ((pair.both + only) / pair.n if pair.n else None for only in (pair.lost, pair.gained))
    wanted = {"rewriter": arm.rewriter, "arm": arm.arm, "base": pair.base, "group": group}
    drawn = BeforeAfter(before, after) if before is not None and after is not None else None
    return [
        Cell("", drawing=drawn),
        Cell(percent(before), f"n = {pair.n:,}"),
        Cell(percent(after)),
        Cell(*_share(pair.regression), link=Link("rows", wanted) if pair.lost else None),
        Cell(*_share(pair.gain)),
        Cell(probability(pair.mcnemar)),
        Cell(signed(pair.difference.value), _difference(pair)),
    ]


def _difference(pair: Paired) -> str:
    parts = [interval(pair.difference, signed)]
    if pair.randomisation is not None:
        p = probability(pair.randomisation)
        parts.append(f"p {p}" if p.startswith("<") else f"p = {p}")
    return ", ".join(part for part in parts if part)


def _share(figure: Figure) -> tuple[str, str]:
    if figure.value is None:
        return NOTHING, ""
    return denominator(figure), f"{percent(figure.value)}, {interval(figure)}" if interval(figure) else ""
