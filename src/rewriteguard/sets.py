"""Several rewrites of one turn, judged together: what one of them may leave out, and what none may do."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations

from rewriteguard.assessment import Assessment, Fault, Profile, Verdict, Violation
from rewriteguard.extract.comparison import sets_side_by_side
from rewriteguard.reading import Reading
from rewriteguard.set_assessment import SetAssessment, together
from rewriteguard.support import is_content
from rewriteguard.tokens import Evidence, Kind
from rewriteguard.verdict import RULES
from rewriteguard.words import Word

_RANK: dict[Verdict | None, int] = {Verdict.CHANGED: 0, Verdict.UNCERTAIN: 1, Verdict.PRESERVED: 2, None: 2}
_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One rewrite of a set: what was found about it alone, and its reading."""

    assessment: Assessment
    reading: Reading


def assess_set(turn: Reading, members: Sequence[Member], profile: Profile) -> SetAssessment:
    """The finding about the rewrites of a turn, at least one, each of which was assessed alone.

    A contradiction in one rewrite counts for the set. A loss counts in one rewrite where each stands for the turn
    alone; where the original is searched too (EXPAND) or the rewrites share the turn among themselves (DECOMPOSE), it
    counts for the set where all have it.
    """
    losses = [_losses(member.assessment, profile) for member in members]
    live = [i for i, member in enumerate(members) if _hard_verdict(member.assessment, profile) is not Verdict.CHANGED]
    live = live or list(range(len(members)))
    common = _common([losses[i] for i in live])
    if profile is Profile.DECOMPOSE:
        common -= _shared_out(turn, [members[i] for i in live], common)
    found = tuple(_as_member(m.assessment, profile, common) for m in members)
    counted = [
        (i, v) for i, a in enumerate(found) for v in a.violations
        if not _is_loss(v, profile) or (i == live[0] and _key(v) in common)
    ]  # fmt: skip
    verdict = min((_verdict_of(v, profile) for _, v in counted), key=_RANK.__getitem__, default=Verdict.PRESERVED)
    counted.sort(key=lambda row: _RANK[_verdict_of(row[1], profile)])
    whole = together(found, counted, verdict, profile)
    return _with_readings(members, whole) if profile is Profile.CONDENSE else whole


# What may be missing from one rewrite of the set.
_MISSING = {
    Profile.EXPAND: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.UNRESOLVED}),
    Profile.DECOMPOSE: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.CORRECTION_LOST, Fault.AMBIGUOUS}),
}


def _is_loss(violation: Violation, profile: Profile) -> bool:
    """True for what one rewrite of the set may leave out; a lost "not" turns a query round, so only a part may lack it.

    Another kind of answer is a loss too: queries beside the original look from other sides.
    """
    if profile not in _MISSING:
        return False
    if violation.kind is Kind.ANSWER_TYPE:
        return True
    turned = violation.kind is Kind.NEGATION and profile is Profile.EXPAND
    return violation.fault in _MISSING[profile] and not turned


def _key(violation: Violation) -> _Key:
    """What was lost: the words of the turn, or else the fault."""
    spans = tuple((e.start, e.end) for e in violation.evidence if e.where == "turn")
    return (violation.kind, spans[0]) if spans else (violation.fault,)


def _losses(assessment: Assessment, profile: Profile) -> dict[_Key, Violation]:
    return {_key(v): v for v in reversed(assessment.violations) if _is_loss(v, profile) and RULES[v.rule].alone}


def _common(losses: Sequence[dict[_Key, Violation]]) -> frozenset[_Key]:
    """What every rewrite lost; what one of them says in other words counts for no more than there."""
    return frozenset(key for key in losses[0] if all(key in each for each in losses) and key[0] is not Fault.INVENTED)


def _hard_verdict(assessment: Assessment, profile: Profile) -> Verdict:
    found = (RULES[v.rule].alone for v in assessment.violations if not _is_loss(v, profile))
    return min(found, key=_RANK.__getitem__, default=None) or Verdict.PRESERVED


def _verdict_of(violation: Violation, profile: Profile) -> Verdict:
    """What a finding gives; a loss beside the original, which is searched too, no more than UNCERTAIN."""
    alone = RULES[violation.rule].alone or Verdict.PRESERVED
    softened = profile is Profile.EXPAND and _is_loss(violation, profile) and alone is Verdict.CHANGED
    return Verdict.UNCERTAIN if softened else alone


def _as_member(assessment: Assessment, profile: Profile, common: AbstractSet[_Key]) -> Assessment:
    """The finding about one rewrite as one of the set."""
    violations = assessment.violations
    if profile is Profile.DECOMPOSE:  # what another sub-question asks is no fault of this one
        violations = tuple(v for v in violations if not _is_loss(v, profile) or _key(v) in common)
    verdict = min((_verdict_of(v, profile) for v in violations), key=_RANK.__getitem__, default=Verdict.PRESERVED)
    return replace(assessment, verdict=verdict, violations=violations, profile=profile)


def _shared_out(turn: Reading, members: Sequence[Member], lost: AbstractSet[_Key]) -> frozenset[_Key]:
    """What sub-questions that ask the same of both sides say together: the comparison, "both", "which one"."""
    sides = [(a, b) for a, b in combinations(members, 2) if _asks_one_side(turn, a, b) and _asks_one_side(turn, b, a)]
    if not sides:
        return frozenset()
    kept: set[_Key] = set()
    for token in turn.tokens:
        key = (token.kind, (token.start, token.end))
        if key in lost and token.kind is Kind.COMPARISON and sets_side_by_side(token):
            measured = [w for w in turn.words_of(token) if is_content(w)]
            if token.value.endswith("versus") or any(_both_ask(pair, measured) for pair in sides):
                kept.add(key)
        elif key in lost and token.kind is Kind.QUANTIFIER and token.value in _EACH:
            kept.add(key)
    compared = any(kind is Kind.COMPARISON for kind, _ in kept) or not any(k[0] is Kind.COMPARISON for k in lost)
    return frozenset(kept | {k for k in lost if compared and (k[0] is Kind.ANSWER_TYPE or k[0] is Fault.AMBIGUOUS)})


_EACH = frozenset({"both", "each", "every", "all"})


def _asks_one_side(turn: Reading, one: Member, other: Member) -> bool:
    """True where a rewrite keeps a word of the turn that the other leaves out."""
    return any(
        one.reading.vocabulary.holds(w) and not other.reading.vocabulary.supports(w)
        for w in turn.content
        if turn.regions.protects(w.i)
    )


def _both_ask(pair: tuple[Member, Member], measured: Sequence[Word]) -> bool:
    return all(any(m.reading.vocabulary.supports(w) for w in measured) for m in pair)


def _with_readings(members: Sequence[Member], whole: SetAssessment) -> SetAssessment:
    """The finding, where two rewrites fill one reference of the turn with different things: which is meant is open."""
    good = [m for m, a in zip(members, whole.assessments, strict=True) if a.verdict is not Verdict.CHANGED]
    pairs = (_contradicting(a, b) for a, b in combinations(good, 2))
    first = next((pair for pair in pairs if pair), None)
    if first is None:
        return whole
    evidence = tuple(Evidence("rewrite", t, whole.rewrite.find(t), whole.rewrite.find(t) + len(t)) for t in first)
    open_ = Violation(Fault.AMBIGUOUS, None, RULES["ambiguous.fills"].severity, evidence, "ambiguous.fills")
    rest = [v for v in whole.violations if RULES[v.rule].alone is Verdict.CHANGED]
    others = [v for v in whole.violations if RULES[v.rule].alone is not Verdict.CHANGED]
    verdict = whole.verdict if whole.verdict is Verdict.CHANGED else Verdict.UNCERTAIN
    unsure = tuple(
        replace(a, verdict=Verdict.UNCERTAIN, violations=(open_, *a.violations))
        if a.verdict is Verdict.PRESERVED else a
        for a in whole.assessments
    )  # fmt: skip
    return replace(whole, verdict=verdict, violations=(*rest, open_, *others), candidates=first, assessments=unsure)


def _contradicting(one: Member, other: Member) -> tuple[str, str] | None:
    """What two rewrites put in the place of one reference, where each names a thing that the other does not."""
    for ours in one.assessment.checked.fills:
        for theirs in other.assessment.checked.fills:
            if ours.reference != theirs.reference:
                continue
            if _names_apart(one, ours.text, other) and _names_apart(other, theirs.text, one):
                return ours.text, theirs.text
    return None


def _names_apart(one: Member, fill: str, other: Member) -> bool:
    """True where the fill has a word that the other rewrite says nowhere."""
    start = one.reading.text.find(fill)
    words = [w for w in one.reading.content if start <= w.start < start + len(fill)]
    return any(not other.reading.vocabulary.supports(w) for w in words)
