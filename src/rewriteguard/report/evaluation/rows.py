"""The rows of the lists on the page of an evaluation: regressions and clauses, kept short, since there may be many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
