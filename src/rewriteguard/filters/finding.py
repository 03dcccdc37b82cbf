"""What is wrong with a filter that a model wrote, what of it may stay, and that beneath the application's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.filters.tree import fields_of
from rewriteguard.model.assessment import Violation
from rewriteguard.model.rules import Verdict

_HEADLINES = {
    Verdict.PRESERVED: "The conversation supports the filter.",
    Verdict.CHANGED: "The filter says what the user did not.",
    Verdict.UNCERTAIN: "It is not certain that the user wants the filter.",
}


@dataclass(frozen=True, slots=True)
class FilterViolation(Violation):
    """One thing wrong with a filter; no evidence where no one said anything like it.

    Attributes:
        attribute: The field that the comparison names; `limit` for the number of results.
        comparator: How it compares; with `not ` in front where the filter excludes it.
        value: What it compares with, as written.
    """

    attribute: str
    comparator: str
    value: Any

    @property
    def sentence(self) -> str:
        """One sentence that says what is wrong with which comparison."""
        said = ", ".join(f'"{item.text}"' for item in self.evidence) or "something else"
        return f"{self.attribute} {self.comparator} {self.value!r}: {self.rule.in_filter.format(said=said)}"

    def to_dict(self) -> dict[str, Any]:
        """The violation as plain JSON values; a value that is none is written as text."""
        plain = isinstance(self.value, str | int | float | bool | None)
        return {
            "fault": self.fault.value,
            "rule": self.rule.value,
            "code": self.code,
            "kind": self.kind.value if self.kind else None,
            "attribute": self.attribute,
            "comparator": self.comparator,
            "value": self.value if plain else str(self.value),
            "evidence": [item.to_dict() for item in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class FilterAssessment:
    """The finding about one filter.

    Attributes:
        verdict: PRESERVED where all of it is supported; UNCERTAIN where what is wrong may be right.
        violations: What is wrong, in the order of the filter.
        kept: The parts that are supported, as they were given; all of them must hold.
        limit: The number of results that the user asked for, at most the cap; None where none is to be set.
    """

    verdict: Verdict
    violations: tuple[FilterViolation, ...] = ()
    kept: tuple[Any, ...] = ()
    limit: int | None = None

    def explain(self) -> str:
        """Plain sentences for a person: the verdict, then each finding."""
        lines = [_HEADLINES[self.verdict], *(violation.sentence for violation in self.violations)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The assessment as plain JSON values, except that the kept parts are only counted."""
        return {
            "verdict": self.verdict.value,
            "violations": [violation.to_dict() for violation in self.violations],
            "kept": len(self.kept),
            "limit": self.limit,
        }


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
