"""Several rewrites of one turn as one assessment: what all of them together kept, with offsets into all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.model.assessment import Assessment, Checked, Comparison, Pair, Profile, SetAssessment, Violation
from rewriteguard.model.rules import Verdict
from rewriteguard.model.tokens import ProtectedToken
from rewriteguard.reading.text import Reading

Key = tuple[Any, ...]
"""What a violation is about: the kind and the words of the turn."""


@dataclass(frozen=True, slots=True)
class Member:
    """One rewrite of a set: what was found about it alone, and its reading."""

    assessment: Assessment
    reading: Reading


def key_of(violation: Violation) -> Key:
    """What was lost: the words of the turn, or else the fault."""
    spans = tuple((e.start, e.end) for e in violation.evidence if e.where == "turn")
    return (violation.kind, spans[0]) if spans else (violation.fault,)


def together(
    found: Sequence[Assessment], counted: Sequence[tuple[int, Violation]], verdict: Verdict, profile: Profile
) -> SetAssessment:
    """The set as one assessment, given those of its rewrites, at least one.

    `counted` is what counts for the set, gravest first: the place of the rewrite, and the violation found in it.
    """
    starts = [sum(len(a.rewrite) + 1 for a in found[:i]) for i in range(len(found))]
    return SetAssessment(
        verdict=verdict,
        violations=tuple(_moved_violation(v, starts[i]) for i, v in counted),
        comparison=_union([_moved(a.comparison, start) for a, start in zip(found, starts, strict=True)]),
        dependent=any(a.dependent for a in found),
        checked=Checked(
            tokens=tuple(
                sorted(dict.fromkeys(t for a in found for t in a.checked.tokens), key=lambda t: (t.start, t.kind))
            ),
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


def _moved(comparison: Comparison, by: int) -> Comparison:
    """The comparison with the tokens of the rewrite further behind."""

    def token(old: ProtectedToken) -> ProtectedToken:
        return replace(old, start=old.start + by, end=old.end + by)

    def pairs(old: Sequence[Pair]) -> tuple[Pair, ...]:
        return tuple(replace(pair, theirs=pair.theirs and token(pair.theirs)) for pair in old)

    return replace(
        comparison,
        kept=pairs(comparison.kept),
        altered=pairs(comparison.altered),
        unsure=pairs(comparison.unsure),
        invented=tuple(map(token, comparison.invented)),
        carried=tuple(map(token, comparison.carried)),
    )


def _moved_violation(violation: Violation, by: int) -> Violation:
    evidence = (
        replace(e, start=e.start + by, end=e.end + by) if e.where == "rewrite" else e for e in violation.evidence
    )
    return replace(violation, evidence=tuple(evidence))
