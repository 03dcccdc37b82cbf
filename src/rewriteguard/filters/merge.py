"""Puts what may stay of a model's filter beneath the application's own: both must hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.filters.finding import FilterAssessment
from rewriteguard.filters.tree import fields_of


def merge_filter(developer_filter: Mapping[str, Any] | None, assessment: FilterAssessment) -> dict[str, Any] | None:
    """The application's filter as it is, and beneath it the parts that may stay, joined by `$and`; None without either.

    Parts that name a field of the application's filter are left out, whatever the assessment says.

    Args:
        developer_filter: The application's own filter, a MongoDB-style mapping.
        assessment: What `check_filter` found about the model's mapping.

    Raises:
        InputError: A filter is no mapping.
    """
    if developer_filter is not None and not isinstance(developer_filter, Mapping):
        raise InputError(f"developer_filter: expected a mapping or None, got {type(developer_filter).__name__}")
    parts = [dict(developer_filter)] if developer_filter else []
    for part in parts_beside(developer_filter, assessment):
        if not isinstance(part, Mapping):
            raise InputError(
                f"assessment: expected mappings, got {type(part).__name__}; LangChain's structured queries are for "
                "guard_query_constructor"
            )
        parts.append(dict(part))
    return {"$and": parts} if len(parts) > 1 else parts[0] if parts else None


def parts_beside(developer_filter: Any, assessment: FilterAssessment) -> tuple[Any, ...]:
    """The parts of a model's filter that may stay and name no field of the application's."""
    fixed = fields_of(developer_filter)
    return tuple(part for part in assessment.kept if not fixed & _fields(part))


def _fields(part: Any) -> frozenset[str]:
    return fields_of(part, "assessment")
