"""The answers of a triple log, which stand on lines of their own, and the ids that join them to their decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from rewriteguard.audit.moment import moment_of

_UNDATED = datetime.min.replace(tzinfo=UTC)


def is_answer(row: Mapping[str, Any]) -> bool:
    """Whether a line holds the answer to a turn that stands on another line."""
    return "id" in row and "answer" in row and row.keys().isdisjoint(("original", "turn", "rewrite", "verdict"))


def identity_in(row: Mapping[str, Any]) -> str | None:
    """The `id` of a row where that is text or a number; None for all else, which joins nothing."""
    identity = row.get("id")
    return str(identity) if isinstance(identity, str | int | float) and not isinstance(identity, bool) else None


def latest_answers(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The answer to each id: of several the one of the latest `timestamp`, else the one that is read last."""
    found: dict[str, tuple[datetime, Any]] = {}
    for row in rows:
        identity = identity_in(row)
        if identity is None or not is_answer(row):
            continue
        timestamp = row.get("timestamp")
        moment = moment_of(None if timestamp is None else str(timestamp)) or _UNDATED
        if identity not in found or moment >= found[identity][0]:
            found[identity] = moment, row["answer"]
    return {identity: answer for identity, (_, answer) in found.items()}
