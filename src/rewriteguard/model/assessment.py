"""What a check finds: the verdict, the violations with their evidence, and what was verified."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from rewriteguard.model.rules import Fault, Gap, Rule, Severity, Verdict
from rewriteguard.model.tokens import Evidence, Kind, ProtectedToken

KIND_NAMES = {
    "time": "date or period", "entity": "name", "quantity": "number", "version": "version", "identifier": "identifier",
    "negation": "negation", "comparison": "comparison", "quantifier": "quantifier", "modality": "modal word",
    "answer_type": "kind of answer", "qualifier": "qualifier", "topic": "word",
}  # fmt: skip
"""What a person calls each kind."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A token of the turn and what stands for it in the rewrite; None where other words of the rewrite say it."""

    ours: ProtectedToken
    theirs: ProtectedToken | None

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain JSON values."""
        return {"turn": self.ours.to_dict(), "rewrite": self.theirs.to_dict() if self.theirs else None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tokens of a turn and of its rewrite, side by side, in reading order.

    Attributes:
        kept: Tokens of the turn that the rewrite says too.
        dropped: Tokens of the turn that the rewrite does not say.
        altered: Tokens of the turn in whose place the rewrite says something else.
        unsure: Pairs that cannot be compared, such as "last year" and a date without a reference date.
        invented: Tokens of the rewrite that neither the turn nor the history says.
        carried: Tokens of the rewrite that come from the history; `turn` is the index of the source.
    """

    kept: tuple[Pair, ...] = ()
    dropped: tuple[ProtectedToken, ...] = ()
    altered: tuple[Pair, ...] = ()
    unsure: tuple[Pair, ...] = ()
    invented: tuple[ProtectedToken, ...] = ()
    carried: tuple[ProtectedToken, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {each.name: [item.to_dict() for item in getattr(self, each.name)] for each in fields(self)}


class Profile(StrEnum):
    """What kind of rewriter is judged, and so what it may do."""

    CONDENSE = "condense"
    SHORTEN = "shorten"
    EXPAND = "expand"
    DECOMPOSE = "decompose"
    STEP_BACK = "step_back"


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong with a rewrite: the rule, the kind of token that it is about, and the words that show it."""

    rule: Rule
    kind: Kind | None
    evidence: tuple[Evidence, ...]

    @property
    def fault(self) -> Fault:
        """What happened to the user's question."""
        return self.rule.fault

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return self.rule.severity

    @property
    def code(self) -> str:
        """A closed code without user words, such as `dropped.time`."""
        return f"{self.fault.value}.{self.kind.value}" if self.kind else self.fault.value

    @property
    def sentence(self) -> str:
        """One sentence that says what happened, with the words that show it."""
        said = {
            where: ", ".join(f'"{item.text}"' for item in self.evidence if item.where == where and item.text)
            for where in ("turn", "rewrite")
        }
        said["any"] = next((f'"{item.text}"' for item in self.evidence if item.text), "")
        words = {place: text or "(nothing)" for place, text in said.items()}
        return self.rule.sentence.format(kind=KIND_NAMES[self.kind.value] if self.kind else "word", **words)

    def to_dict(self) -> dict[str, Any]:
        """The violation as plain JSON values."""
        return {
            "fault": self.fault.value,
            "kind": self.kind.value if self.kind else None,
            "severity": self.severity.value,
            "code": self.code,
            "rule": self.rule.value,
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

    @property
    def sentence(self) -> str:
        """One sentence that says what was filled with what, and where it comes from."""
        what = f'"{self.reference}"' if self.reference else "What the turn leaves out"
        return (
            f'{what} was filled with "{self.text}", said by the {self.role} in message {self.turn + 1} of the history.'
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """What was verified, and what could not be.

    Attributes:
        tokens: The tokens of the turn that were looked for in the rewrite.
        fills: The references that were filled from the history, with their source.
        gaps: What could not be checked.
    """

    tokens: tuple[ProtectedToken, ...] = ()
    fills: tuple[Fill, ...] = ()
    gaps: tuple[Gap, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What was checked as plain JSON values."""
        return {
            "tokens": [token.to_dict() for token in self.tokens],
            "fills": [asdict(fill) for fill in self.fills],
            "gaps": [gap.value for gap in self.gaps],
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
        candidates: The meanings of an ambiguous turn.
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
        lines += [violation.sentence for violation in self.violations]
        lines += [fill.sentence for fill in self.checked.fills]
        if self.checked.tokens:
            kept = sorted({token.kind.value.replace("_", " ") for token in self.checked.tokens})
            lines.append(f"Checked: {', '.join(kept)}.")
        lines += [gap.sentence for gap in self.checked.gaps]
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


@dataclass(frozen=True, slots=True)
class SetAssessment(Assessment):
    """The finding about several rewrites of one turn, taken together.

    `rewrite` holds the cleaned rewrites, one a line, and offsets of the rewrite refer to it; `comparison` says what all
    of them together kept and dropped; `violations` are those that count for the set.

    Attributes:
        assessments: The finding about each rewrite as one of the set, in their order.
    """

    assessments: tuple[Assessment, ...] = ()

    def explain(self) -> str:
        """Plain sentences for a person: the verdict on the set, its findings, and the verdict on each rewrite."""
        lines = Assessment.explain(self).split("\n")
        lines[0] = _SET_HEADLINES[self.verdict]
        lines += [f'Rewrite {i + 1}, "{a.rewrite}": {a.verdict.value}.' for i, a in enumerate(self.assessments)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The assessment as plain JSON values."""
        return {**Assessment.to_dict(self), "assessments": [each.to_dict() for each in self.assessments]}


_HEADLINES = {
    Verdict.PRESERVED: "The rewrite keeps what the user asked.",
    Verdict.CHANGED: "The rewrite changes what the user asked.",
    Verdict.UNCERTAIN: "It is not certain that the rewrite keeps what the user asked.",
}
_SET_HEADLINES = {
    Verdict.PRESERVED: "The rewrites together keep what the user asked.",
    Verdict.CHANGED: "The rewrites change what the user asked.",
    Verdict.UNCERTAIN: "It is not certain that the rewrites together keep what the user asked.",
}
