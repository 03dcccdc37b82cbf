"""What the check of a filter finds: the verdict, what is wrong with it, and which of its parts are safe to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewriteguard.model.assessment import Fault, Verdict
from rewriteguard.model.tokens import Evidence, Kind

RULES: dict[str, tuple[Fault, Verdict, str]] = {
    "altered.developer": (Fault.ALTERED, Verdict.CHANGED, "The application itself decides about it."),
    "altered.negation": (Fault.ALTERED, Verdict.CHANGED, "The user said {said}: it is wanted here and excluded there."),
    "altered.comparator": (Fault.ALTERED, Verdict.CHANGED, "The user said {said}, which keeps something else."),
    "altered.value": (Fault.ALTERED, Verdict.CHANGED, "The user said {said}."),
    "altered.pair": (Fault.ALTERED, Verdict.CHANGED, "The user said it of something else: {said} is nearer."),
    "altered.operator": (Fault.ALTERED, Verdict.CHANGED, "The user joined it in another way."),
    "invented.value": (Fault.INVENTED, Verdict.CHANGED, "No one in the conversation said it."),
    "malformed.syntax": (Fault.MALFORMED, Verdict.CHANGED, "It holds characters that a query language may read."),
    "low_trust": (Fault.LOW_TRUST, Verdict.UNCERTAIN, "Only the assistant or a tool said {said}."),
    "not_checked.comparator": (Fault.NOT_CHECKED, Verdict.UNCERTAIN, "What it does is not known here."),
    "not_checked.replaced": (Fault.NOT_CHECKED, Verdict.UNCERTAIN, "The user may have put {said} in its place."),
    "not_checked.reference_date": (
        Fault.NOT_CHECKED,
        Verdict.UNCERTAIN,
        "The user said {said}, and no reference date says which days that is.",
    ),
}
"""Every rule: the fault, the verdict that it gives alone, and a sentence."""


@dataclass(frozen=True, slots=True)
class FilterViolation:
    """One finding against a filter.

    Attributes:
        rule: The row of the table that found it.
        attribute: The field that the comparison names; `limit` for the number of results.
        comparator: How it compares; with `not ` in front where the filter excludes it.
        value: What it compares with, as written.
        kind: What kind of thing the value is; None where that does not matter.
        evidence: The words of the conversation that show it; none where no one said anything like it.
    """

    rule: str
    attribute: str
    comparator: str
    value: Any
    kind: Kind | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def fault(self) -> Fault:
        """What happened to the user's question."""
        return RULES[self.rule][0]

    @property
    def code(self) -> str:
        """A closed code without user words, such as `altered.time`."""
        return f"{self.fault.value}.{self.kind.value}" if self.kind else self.fault.value

    @property
    def why(self) -> str:
        """One sentence for a person."""
        said = ", ".join(f'"{item.text}"' for item in self.evidence) or "something else"
        return f"{self.attribute} {self.comparator} {self.value!r}: {RULES[self.rule][2].format(said=said)}"

    def to_dict(self) -> dict[str, Any]:
        """The violation as plain JSON values; a value that is none is written as text."""
        plain = isinstance(self.value, str | int | float | bool | None)
        return {
            "fault": self.fault.value,
            "rule": self.rule,
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
        lines = [_HEADLINES[self.verdict], *(violation.why for violation in self.violations)]
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


def verdict_of(violations: tuple[FilterViolation, ...]) -> Verdict:
    """The gravest verdict of the violations."""
    found = {RULES[violation.rule][1] for violation in violations}
    return next((v for v in (Verdict.CHANGED, Verdict.UNCERTAIN) if v in found), Verdict.PRESERVED)
