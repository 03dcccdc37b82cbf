"""What the check of a filter finds: the verdict, what is wrong with it, and which of its parts are safe to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewriteguard.model.assessment import Violation
from rewriteguard.model.rules import Verdict


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


_HEADLINES = {
    Verdict.PRESERVED: "The conversation supports the filter.",
    Verdict.CHANGED: "The filter says what the user did not.",
    Verdict.UNCERTAIN: "It is not certain that the user wants the filter.",
}
