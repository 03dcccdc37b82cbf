"""Judges a comparison: every rule, its severity and what it does to the verdict stand in one table here.

A verdict is a finding and takes no action, so it is the same under every policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rewriteguard.compare import Comparison
from rewriteguard.tokens import Kind, ProtectedToken


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
class Evidence:
    """Words that show a finding.

    Attributes:
        where: `turn`, `rewrite` or `history`.
        text: The words as they stand there.
        start: Offset of the first code point in that text.
        end: Offset behind the last code point (half-open).
        turn: Index of the history item where `where` is `history`.
    """

    where: str
    text: str
    start: int
    end: int
    turn: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain JSON values."""
        return {"where": self.where, "text": self.text, "start": self.start, "end": self.end, "turn": self.turn}


@dataclass(frozen=True, slots=True)
class Violation:
    """One finding against a rewrite: what happened, to which kind of token, how grave, and the words that show it."""

    fault: Fault
    kind: Kind | None
    severity: Severity
    evidence: tuple[Evidence, ...]

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
        start: Offset of the words in that history item.
        end: Offset behind them.
    """

    reference: str
    text: str
    turn: int
    role: str
    start: int
    end: int


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
