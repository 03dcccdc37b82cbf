"""What a check finds: the verdict, the violations with their evidence, and what was verified."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from rewriteguard.compare import Comparison
from rewriteguard.explain import sentence
from rewriteguard.tokens import Evidence, Kind, ProtectedToken


class Verdict(StrEnum):
    """The finding about one rewrite."""

    PRESERVED = "preserved"
    CHANGED = "changed"
    UNCERTAIN = "uncertain"


class Severity(StrEnum):
    """CRITICAL findings decide alone; MINOR ones only together."""

    CRITICAL = "critical"
    MINOR = "minor"


class Fault(StrEnum):
    """What happened to the user's question."""

    DROPPED = "dropped"
    INVENTED = "invented"
    ALTERED = "altered"
    DRIFTED = "drifted"
    UNRESOLVED = "unresolved"
    AMBIGUOUS = "ambiguous"
    MALFORMED = "malformed"
    NOT_A_QUERY = "not_a_query"
    QUESTION_LOST = "question_lost"
    CORRECTION_LOST = "correction_lost"
    LANGUAGE = "language"
    LOW_TRUST = "low_trust"
    NOT_CHECKED = "not_checked"


class Profile(StrEnum):
    """What kind of rewriter is judged, and so what it may do."""

    CONDENSE = "condense"
    SHORTEN = "shorten"
    EXPAND = "expand"
    DECOMPOSE = "decompose"
    STEP_BACK = "step_back"


@dataclass(frozen=True, slots=True)
class Violation:
    """One finding against a rewrite: what happened, to which kind of token, how grave, the words that show it.

    `rule` is the row of the table that found it.
    """

    fault: Fault
    kind: Kind | None
    severity: Severity
    evidence: tuple[Evidence, ...]
    rule: str = ""

    @property
    def code(self) -> str:
        """A closed code without user words, such as `dropped.time`."""
        return f"{self.fault.value}.{self.kind.value}" if self.kind else self.fault.value

    def to_dict(self) -> dict[str, Any]:
        """The violation as plain JSON values."""
        return {
            "fault": self.fault.value,
            "kind": self.kind.value if self.kind else None,
            "severity": self.severity.value,
            "code": self.code,
            "rule": self.rule,
            "evidence": [item.to_dict() for item in self.evidence],
        }


@dataclass(frozen=True, slots=True)
class Fill:
    """A reference of the turn and the history words that the rewrite put in its place.

    Attributes:
        reference: The pointing words of the turn; empty for an ellipsis.
        text: The words of the rewrite that fill it.
        turn: Index of the history item that holds those words.
        role: Who said them.
        start: Offset of the words in that history item; None where they stand there in other forms.
        end: Offset behind them.
    """

    reference: str
    text: str
    turn: int
    role: str
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Checked:
    """What was verified, and what could not be.

    Attributes:
        tokens: The tokens of the turn that were looked for in the rewrite.
        fills: The references that were filled from the history, with their source.
        gaps: What could not be checked, as closed codes such as `language`, `nothing_to_compare`, `reference`.
    """

    tokens: tuple[ProtectedToken, ...] = ()
    fills: tuple[Fill, ...] = ()
    gaps: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What was checked as plain JSON values."""
        return {
            "tokens": [token.to_dict() for token in self.tokens],
            "fills": [asdict(fill) for fill in self.fills],
            "gaps": list(self.gaps),
        }


@dataclass(frozen=True, slots=True)
class Assessment:
    """The finding about one rewrite.

    Attributes:
        verdict: PRESERVED, CHANGED or UNCERTAIN.
        violations: The findings, gravest first.
        comparison: What was kept, dropped, altered, invented and carried.
        dependent: Whether the turn needs the conversation to be understood.
        checked: What was verified, and what could not be.
        turn: The user's turn as written.
        rewrite: The cleaned rewrite, the only text that may be searched; offsets of the rewrite refer to it.
        raw_rewrite: The rewriter's output as it came.
        candidates: The readings of an ambiguous turn.
        profile: What kind of rewriter was judged.
    """

    verdict: Verdict
    violations: tuple[Violation, ...]
    comparison: Comparison
    dependent: bool
    checked: Checked
    turn: str
    rewrite: str
    raw_rewrite: str
    candidates: tuple[str, ...] = ()
    profile: Profile = Profile.CONDENSE

    @property
    def reason(self) -> str:
        """The primary fault, or `ok` where the rewrite is PRESERVED: one closed code."""
        return "ok" if self.verdict is Verdict.PRESERVED or not self.violations else self.violations[0].fault.value

    def explain(self) -> str:
        """Plain sentences for a person: the verdict, each finding with its words, what was checked and what not."""
        lines = [_HEADLINES[self.verdict]]
        lines += [sentence(v.fault.value, v.kind.value if v.kind else None, v.evidence) for v in self.violations]
        lines += [_fill_sentence(fill) for fill in self.checked.fills]
        if self.checked.tokens:
            kept = sorted({token.kind.value.replace("_", " ") for token in self.checked.tokens})
            lines.append(f"Checked: {', '.join(kept)}.")
        lines += [_GAPS[gap] for gap in self.checked.gaps if gap in _GAPS]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The assessment as plain JSON values."""
        return {
            "verdict": self.verdict.value,
            "reason": self.reason,
            "violations": [violation.to_dict() for violation in self.violations],
            "comparison": self.comparison.to_dict(),
            "dependent": self.dependent,
            "checked": self.checked.to_dict(),
            "turn": self.turn,
            "rewrite": self.rewrite,
            "raw_rewrite": self.raw_rewrite,
            "candidates": list(self.candidates),
            "profile": self.profile.value,
        }


_HEADLINES = {
    Verdict.PRESERVED: "The rewrite keeps what the user asked.",
    Verdict.CHANGED: "The rewrite changes what the user asked.",
    Verdict.UNCERTAIN: "It is not certain that the rewrite keeps what the user asked.",
}
_GAPS = {
    "language": "Not checked: the words of this language; numbers, dates, versions, codes and names were compared.",
    "nothing_to_compare": "Not checked: the turn holds nothing that could be kept or lost.",
    "reference": "Not checked: what fills the reference could not be found in the conversation.",
    "size": "Not checked: the text is too long to be analysed in the time of a request.",
    "history_size": "Not checked: the oldest part of a very long history.",
    "reference_date": "Not checked: a relative period became a date, and no reference date was given.",
}


def _fill_sentence(fill: Fill) -> str:
    what = f'"{fill.reference}"' if fill.reference else "What the turn leaves out"
    return f'{what} was filled with "{fill.text}", said by the {fill.role} in message {fill.turn + 1} of the history.'
