"""Several rewrites of one turn as one assessment: what all of them together kept, with offsets into all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.model.assessment import Assessment, Checked, Comparison, Pair, Profile, SetAssessment, Violation
from rewriteguard.model.rules import Verdict
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading

Key = tuple[Any, ...]
"""What a violation is about: the kind and the words of the turn."""


@dataclass(frozen=True, slots=True)
class Member:
    """One rewrite of a set: what was found about it alone, and its reading."""

    assessment: Assessment
    reading: Reading

    def says_negated(self, violation: Violation) -> bool:
        """True where the word that a lost "not" stood at is still there, so that the query is turned round."""
        lost = {t.start: t.value for t in self.assessment.comparison.dropped if t.kind is Kind.NEGATION}
        return any(self.reading.vocabulary.holds_stem(lost[e.start]) for e in violation.evidence if e.start in lost)


def key_of(violation: Violation) -> Key:
    """What was lost: the words of the turn, or else the fault."""
    spans = tuple((e.start, e.end) for e in violation.evidence if e.where == "turn")
    return (violation.kind, spans[0]) if spans else (violation.fault,)


def together(
    found: Sequence[Assessment], counted: Sequence[tuple[int, Violation]], verdict: Verdict, profile: Profile
) -> SetAssessment:
    """The set as one assessment.

    Args:
        found: The finding about each rewrite, at least one.
        counted: What counts for the set, gravest first: the place of the rewrite, and the violation found in it.
        verdict: The verdict on the set.
        profile: What kind of rewriter wrote it.
    """
    starts = [sum(len(a.rewrite) + 1 for a in found[:i]) for i in range(len(found))]
    return SetAssessment(
        verdict=verdict,
        violations=tuple(_moved_violation(v, starts[i]) for i, v in counted),
        comparison=_union([_moved_comparison(a.comparison, start) for a, start in zip(found, starts, strict=True)]),
        dependent=any(a.dependent for a in found),
        checked=Checked(
            tokens=tuple(sorted({t for a in found for t in a.checked.tokens}, key=lambda t: (t.start, t.kind))),
            fills=tuple(dict.fromkeys(fill for a in found for fill in a.checked.fills)),
            gaps=tuple(dict.fromkeys(gap for a in found for gap in a.checked.gaps)),
        ),
        turn=found[0].turn,
        rewrite="\n".join(a.rewrite for a in found),
        raw_rewrite="\n".join(a.raw_rewrite for a in found),
        candidates=next((a.candidates for a in found if a.candidates), ()),
        profile=profile,
        assessments=tuple(found),
    )


def _union(comparisons: Iterable[Comparison]) -> Comparison:
    """What the rewrites together kept; what one altered and another kept is among both."""
    rows = list(comparisons)
    kept = {(p.ours.kind, p.ours.start): p for row in reversed(rows) for p in row.kept}
    altered = tuple(p for row in rows for p in row.altered)
    unsure = tuple(p for row in rows for p in row.unsure)
    said = {*kept, *((p.ours.kind, p.ours.start) for p in (*altered, *unsure))}
    return Comparison(
        kept=tuple(sorted(kept.values(), key=lambda p: (p.ours.start, p.ours.kind))),
        dropped=tuple(t for t in rows[0].dropped if (t.kind, t.start) not in said),
        altered=altered,
        unsure=unsure,
        invented=tuple(t for row in rows for t in row.invented),
        carried=tuple(t for row in rows for t in row.carried),
    )


def _moved_comparison(comparison: Comparison, by: int) -> Comparison:
    return Comparison(
        kept=tuple(_moved_pair(pair, by) for pair in comparison.kept),
        dropped=comparison.dropped,
        altered=tuple(_moved_pair(pair, by) for pair in comparison.altered),
        unsure=tuple(_moved_pair(pair, by) for pair in comparison.unsure),
        invented=tuple(_moved_token(token, by) for token in comparison.invented),
        carried=tuple(_moved_token(token, by) for token in comparison.carried),
    )


def _moved_pair(pair: Pair, by: int) -> Pair:
    return pair if pair.theirs is None else replace(pair, theirs=_moved_token(pair.theirs, by))


def _moved_token(token: ProtectedToken, by: int) -> ProtectedToken:
    return replace(token, start=token.start + by, end=token.end + by)


def _moved_violation(violation: Violation, by: int) -> Violation:
    evidence = (
        replace(e, start=e.start + by, end=e.end + by) if e.where == "rewrite" else e for e in violation.evidence
    )
    return replace(violation, evidence=tuple(evidence))
