"""Checks a filter that a model derived from a turn, with the process-wide guard or one's own."""

from __future__ import annotations

from datetime import date
from typing import Any

from rewriteguard.filters.check import MAX_LIMIT
from rewriteguard.filters.finding import FilterAssessment
from rewriteguard.guard.guard import Guard
from rewriteguard.model import arguments
from rewriteguard.retrieve.decider import default_guard


def check_filter(
    structured_query: Any,
    turn: Any,
    history: Any = (),
    *,
    developer_filter: Any = None,
    guard: Guard | None = None,
    reference_date: date | None = None,
    max_limit: int | None = MAX_LIMIT,
) -> FilterAssessment:
    """The finding about a filter that a model derived from the turn: `Guard.check_filter` of `guard`.

    The other arguments are those of `Guard.check_filter`, and so are the errors.

    Args:
        structured_query: The filter.
        turn: The user's own turn.
        history: The messages before it.
        developer_filter: The application's own filter.
        guard: None is one process-wide guard.
        reference_date: The day that "today" means.
        max_limit: The cap of the number of results.

    Raises:
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    if guard is not None:
        arguments.instance("guard", guard, Guard)
    return (guard or default_guard()).check_filter(
        structured_query,
        turn,
        history,
        developer_filter=developer_filter,
        reference_date=reference_date,
        max_limit=max_limit,
    )
