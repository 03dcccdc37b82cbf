"""The page of an evaluation: what may be shipped, and what that rests on (extra `report`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rewriteguard.evaluation.figure import plain
from rewriteguard.report.evaluation.report import EvaluationReport, group_key, ranking
from rewriteguard.report.evaluation.tables import (
    FAMILIES,
    FAMILIES_NOTE,
    SCORES,
    TESTS_NOTE,
    figure_table,
    gain_tables,
    group_table,
    score_tables,
)
from rewriteguard.report.evaluation.verdicts import (
    RELEASES,
    conditions,
    fates,
    headline,
    kinds,
    outcomes,
    overview,
    turns,
    unknown_words,
    verdicts,
    vetoes,
)
from rewriteguard.report.render import inert_json, write_page
from rewriteguard.report.table import tied

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rewriteguard.evaluation.score.results import ConstraintRow, Ranked, Regression

_ARMS = {
    "original": "the user's turn as written",
    "human": "a person's stand-alone rewrite",
    "rewrite": "the rewriter's output, unchecked",
    "original+rewrite": "turn and rewrite fused as frameworks do, of equal weight",
    "guarded": "what the guard decides",
    "without_rewrite": "what the guard does where there is no rewrite",
    "expanded": "several rewrites of the turn, fused with it",
}
"""What each arm searches."""
_LONGEST = 1_200  # characters of a turn or a query that are shown


def write_evaluation_page(target: TextIO, report: EvaluationReport) -> None:
    """Writes the page about one evaluation."""
    run = {arm.arm for arm in report.arms}
    results = report.results
    own = {
        "rewriters": report.rewriters,
        "overview": overview(report),
        "arms": {name: meaning for name, meaning in _ARMS.items() if name in run},
        "releases": RELEASES,
        "filters": _filters(report),
        "names": Markup(inert_json({"groups": [[group_key(group), group.cases] for group in report.members]})),
        "rows": (Markup(inert_json(regression_row(row))) for row in results.regressions),
        "clauses": (Markup(inert_json(_clause_row(row))) for row in results.constraints),
    }
    write_page(target, "evaluation", shown(report) | own, {"tied": tied, "json": json.dumps})


def shown(report: EvaluationReport) -> dict[str, Any]:
    """What the page and the Markdown both show, by the names that their templates use."""
    return {
        "results": report.results,
        "headlines": [(rewriter, headline(report, rewriter)) for rewriter in report.rewriters],
        "verdicts": [(rewriter, verdicts(report, rewriter)) for rewriter in report.rewriters],
        "vetoes": vetoes(report),
        "scores": [(score, score_tables(score, report.arms)) for score in SCORES],
        "groups": [(group, group_table(place, group)) for place, group in enumerate(report.groups)],
        "families": figure_table("families-table", FAMILIES, report.arms),
        "families_note": FAMILIES_NOTE,
        "gains": gain_tables(report),
        "tests_note": TESTS_NOTE,
        "outcomes": outcomes(report),
        "turns": turns(report),
        "kinds": kinds(report),
        "fates": fates(report),
        "words": unknown_words(report),
        "conditions": conditions(report),
    }


def regression_row(regression: Regression) -> dict[str, Any]:
    """A regression as the page shows it; a ranking becomes `[documents, how many are left out]`."""
    row: dict[str, Any] = plain(regression)
    row["results"], row["base_results"] = _ranking(regression.results), _ranking(regression.base_results)
    for name in ("queries", "base_queries"):
        row[name] = [_shortened(query) for query in row[name]]
    row["original"] = _shortened(regression.original)
    row["rewrite"] = None if regression.rewrite is None else _shortened(regression.rewrite)
    return row


def _clause_row(clause: ConstraintRow) -> list[Any]:
    """A clause without the names of its fields, which the page's script knows in their order."""
    return list(plain(clause).values())


def _ranking(documents: Sequence[Ranked]) -> list[Any]:
    told = [[rank, document.id, document.label] for rank, document in ranking(documents)]
    return [told, len(documents) - len(told)]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _filters(report: EvaluationReport) -> dict[str, list[tuple[str, int | None]]]:
    """The values that each filter offers, with the number of rows of each; None where it is not counted."""
    regressions, clauses = report.results.regressions, report.results.constraints
    return {
        "rewriter": _counted(row.rewriter for row in regressions),
        "arm": _counted(row.arm for row in regressions),
        "stage": _counted(row.stage for row in regressions),
        "base": _counted(row.base for row in regressions),
        "group": [(group_key(group), None) for group in report.members],
        "clause-rewriter": _counted(row.rewriter for row in clauses),
        "clause-arm": _counted(row.arm for row in clauses),
        "clause-kind": _counted(row.kind for row in clauses),
        "clause-fate": _counted(row.fate for row in clauses),
    }


def _counted(values: Iterable[str]) -> list[tuple[str, int | None]]:
    return [(value, number) for value, number in Counter(values).items() if value]
