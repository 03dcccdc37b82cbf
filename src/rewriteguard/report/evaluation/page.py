"""The page of an evaluation: what may be shipped, and what that rests on (extra `report`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rewriteguard.report.evaluation.report import EvaluationReport, group_key
from rewriteguard.report.evaluation.tables import (
    ARMS,
    FAMILIES,
    FAMILIES_NOTE,
    RELEASES,
    SCORES,
    TESTS_NOTE,
    gain_tables,
    group_table,
    measure_table,
    score_tables,
)
from rewriteguard.report.evaluation.verdicts import (
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
from rewriteguard.report.table import many, tied, worded

if TYPE_CHECKING:
    from typing import TextIO


_LONGEST = 1_200  # characters of a turn or a query that are shown
_FIRST = 10  # documents of a ranking that are shown beside those with a label
_CLAUSE = (
    "case",
    "rewriter",
    "arm",
    "clause",
    "kind",
    "asked",
    "critical",
    "fate",
    "instead",
    "query",
    "evidence",
)


def regression_row(regression: Mapping[str, Any]) -> dict[str, Any]:
    """A regression as the page shows it; a ranking becomes `[documents, how many are left out]`."""
    row = dict(regression)
    for name in ("results", "base_results"):
        row[name] = _ranking(row[name])
    for name in ("queries", "base_queries"):
        row[name] = [_shortened(query) for query in row[name]]
    row["original"] = _shortened(row["original"])
    if row["rewrite"] is not None:
        row["rewrite"] = _shortened(row["rewrite"])
    return row


def clause_row(clause: Mapping[str, Any]) -> list[Any]:
    """A clause without the names of its fields."""
    return [clause[name] for name in _CLAUSE]


def _ranking(documents: Sequence[Mapping[str, str]]) -> list[Any]:
    shown = [
        [place, document["id"], document["label"]]
        for place, document in enumerate(documents, 1)
        if place <= _FIRST or document["label"]
    ]
    return [shown, len(documents) - len(shown)]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def write_evaluation_page(target: TextIO, report: EvaluationReport) -> None:
    """Writes the page about one evaluation."""
    results = report.results
    write_page(
        target,
        "evaluation",
        {
            "results": results,
            "rewriters": report.rewriters,
            "headlines": [(rewriter, headline(report, rewriter)) for rewriter in report.rewriters],
            "overview": overview(report),
            "verdicts": [(rewriter, verdicts(report, rewriter)) for rewriter in report.rewriters],
            "vetoes": vetoes(report),
            "scores": [(score, score_tables(score, report.arms)) for score in SCORES],
            "groups": [(group, group_table(place, group)) for place, group in enumerate(report.groups)],
            "families": measure_table("families-table", FAMILIES, report.arms),
            "families_note": FAMILIES_NOTE,
            "gains": gain_tables(report),
            "tests_note": TESTS_NOTE,
            "outcomes": outcomes(report),
            "turns": turns(report),
            "kinds": kinds(report),
            "fates": fates(report),
            "words": unknown_words(report),
            "conditions": conditions(report),
            "arms": _arms(report),
            "releases": RELEASES,
            "filters": _filters(report),
            "names": Markup(inert_json({"groups": [[group_key(group), group["cases"]] for group in report.members]})),
            "rows": (Markup(inert_json(regression_row(row))) for row in results["regressions"]),
            "clauses": (Markup(inert_json(clause_row(row))) for row in results["constraints"]),
        },
        {"worded": worded, "many": many, "tied": tied, "json": json.dumps},
    )


def _arms(report: EvaluationReport) -> dict[str, str]:
    run = {arm["arm"] for arm in report.arms}
    return {name: meaning for name, meaning in ARMS.items() if name in run}


def _filters(report: EvaluationReport) -> dict[str, list[tuple[str, int | None]]]:
    """The values that each filter offers, with the number of rows of each; None where it is not counted."""
    regressions, clauses = report.results["regressions"], report.results["constraints"]
    groups: list[tuple[str, int | None]] = [(group_key(group), None) for group in report.members]
    return {
        "rewriter": _counted(regressions, "rewriter"),
        "arm": _counted(regressions, "arm"),
        "stage": _counted(regressions, "stage"),
        "base": _counted(regressions, "base"),
        "group": groups,
        "clause-rewriter": _counted(clauses, "rewriter"),
        "clause-arm": _counted(clauses, "arm"),
        "clause-kind": _counted(clauses, "kind"),
        "clause-fate": _counted(clauses, "fate"),
    }


def _counted(rows: Sequence[Mapping[str, Any]], name: str) -> list[tuple[str, int | None]]:
    return [(value, number) for value, number in Counter(row[name] for row in rows).items() if value]
