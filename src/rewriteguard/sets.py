"""Several rewrites of one turn, judged together: what one of them may leave out, and what none may do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from rewriteguard.assessment import Assessment, Fault, Profile, Verdict, Violation
from rewriteguard.extract.comparison import answered_by, is_graded, sets_side_by_side
from rewriteguard.fills import OPEN
from rewriteguard.reading import Past, Reading
from rewriteguard.reference import open_references
from rewriteguard.saying import is_paraphrased
from rewriteguard.scene import new_words, phrases_of, run_evidence
from rewriteguard.set_assessment import SetAssessment, together
from rewriteguard.support import is_content
from rewriteguard.tokens import Evidence, Kind, ProtectedToken
from rewriteguard.verdict import RULES
from rewriteguard.words import Word

_RANK: dict[Verdict | None, int] = {Verdict.CHANGED: 0, Verdict.UNCERTAIN: 1, Verdict.PRESERVED: 2, None: 2}
_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One rewrite of a set: what was found about it alone, and its reading."""

    assessment: Assessment
    reading: Reading

    def says_negated(self, violation: Violation) -> bool:
        """True where the word that a lost "not" stood at is still there, so that the query is turned round."""
        lost = {t.start: t.value for t in self.assessment.comparison.dropped if t.kind is Kind.NEGATION}
        return any(self.reading.vocabulary.holds_stem(lost[e.start]) for e in violation.evidence if e.start in lost)


def assess_set(turn: Reading, past: Past, members: Sequence[Member], profile: Profile) -> SetAssessment:
    """The finding about the rewrites of a turn, at least one, each of which was assessed alone.

    A contradiction in one rewrite counts for the set. A loss counts in one rewrite where each stands for the turn
    alone; where the original is searched too (EXPAND) or the rewrites share the turn among themselves (DECOMPOSE), it
    counts for the set where all have it.
    """
    lost = [tuple(v for v in m.assessment.violations if _may_miss(m, v, profile)) for m in members]
    hard = [_worst(v for v in m.assessment.violations if v not in lost[i]) for i, m in enumerate(members)]
    live = [i for i, verdict in enumerate(hard) if verdict is not Verdict.CHANGED] or list(range(len(members)))
    common = _common([lost[i] for i in live])
    if profile is Profile.DECOMPOSE:
        common -= _shared_out(turn, [members[i] for i in live], common)
    rows = [
        _Row(i, v, v in lost[i], _key(v) in common, profile)
        for i, m in enumerate(members)
        for v in m.assessment.violations
    ]
    found = [_as_member(m.assessment, [row for row in rows if row.place == i], profile) for i, m in enumerate(members)]
    counted = [row for row in rows if not row.lost or (row.common and row.place == live[0])]
    counted.sort(key=lambda row: _RANK[row.verdict])
    verdict = counted[0].verdict if counted else Verdict.PRESERVED
    whole = together(found, [(row.place, row.violation) for row in counted], verdict, profile)
    return _with_readings(turn, past, members, whole) if profile is Profile.CONDENSE else whole


@dataclass(frozen=True, slots=True)
class _Row:
    """A violation of one rewrite as one of the set; `lost` where the rewrite may lack it, `common` where all do."""

    place: int
    violation: Violation
    lost: bool
    common: bool
    profile: Profile

    @property
    def verdict(self) -> Verdict:
        """What it gives; a loss beside the original, which is searched too, no more than UNCERTAIN."""
        alone = RULES[self.violation.rule].alone or Verdict.PRESERVED
        softened = self.lost and self.profile is Profile.EXPAND and alone is Verdict.CHANGED
        return Verdict.UNCERTAIN if softened else alone


# What may be missing from one rewrite of the set.
_MISSING = {
    Profile.EXPAND: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.UNRESOLVED}),
    Profile.DECOMPOSE: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.CORRECTION_LOST, Fault.AMBIGUOUS}),
}


def _may_miss(member: Member, violation: Violation, profile: Profile) -> bool:
    """True for what one rewrite of the set may leave out.

    Another kind of answer may be asked for too, and beside the original another noun be named: such queries look from
    other sides. A "not" may be left out with what it negates.
    """
    if profile not in _MISSING:
        return False
    if violation.kind is Kind.ANSWER_TYPE or (violation.kind is Kind.TOPIC and profile is Profile.EXPAND):
        return True
    turned = violation.kind is Kind.NEGATION and profile is Profile.EXPAND and member.says_negated(violation)
    return violation.fault in _MISSING[profile] and not turned


def _key(violation: Violation) -> _Key:
    """What was lost: the words of the turn, or else the fault."""
    spans = tuple((e.start, e.end) for e in violation.evidence if e.where == "turn")
    return (violation.kind, spans[0]) if spans else (violation.fault,)


def _common(lost: Sequence[Sequence[Violation]]) -> frozenset[_Key]:
    """What every rewrite lost; what counts for nothing in one of them was said there in other words."""
    keys = [{_key(v) for v in each if RULES[v.rule].alone and v.fault is not Fault.INVENTED} for each in lost]
    return frozenset.intersection(*map(frozenset, keys))


def _worst(violations: Iterable[Violation]) -> Verdict | None:
    return min((RULES[v.rule].alone for v in violations), key=_RANK.__getitem__, default=None)


def _as_member(assessment: Assessment, rows: Sequence[_Row], profile: Profile) -> Assessment:
    """The finding about one rewrite as one of the set; what another sub-question asks is no fault of this one."""
    counted = [row for row in rows if not row.lost or row.common or profile is not Profile.DECOMPOSE]
    verdict = min((row.verdict for row in counted), key=_RANK.__getitem__, default=Verdict.PRESERVED)
    violations = tuple(row.violation for row in counted)
    return replace(assessment, verdict=verdict, violations=violations, profile=profile)


def _shared_out(turn: Reading, members: Sequence[Member], lost: AbstractSet[_Key]) -> frozenset[_Key]:
    """What sub-questions say together that none of them says alone: both sides of a comparison, "both", a question."""
    sides = [(a, b) for a, b in combinations(members, 2) if _asks_one_side(turn, a, b) and _asks_one_side(turn, b, a)]
    if not sides:
        return frozenset()
    said: set[_Key] = {key for key in lost if key[0] is None and _cover(turn, members, key)}
    for token in turn.tokens:
        key = (token.kind, (token.start, token.end))
        if key in lost and (_compared(turn, token, sides) or _is_each(token)):
            said.add(key)
    open_ = any(key[0] is Kind.COMPARISON for key in lost - said)
    return frozenset(said | {key for key in lost if not open_ and key[0] in (Kind.ANSWER_TYPE, Fault.AMBIGUOUS)})


def _asks_one_side(turn: Reading, one: Member, other: Member) -> bool:
    """True where a rewrite keeps a word of the turn that the other leaves out."""
    return any(
        one.reading.vocabulary.holds(w) and not other.reading.vocabulary.supports(w)
        for w in turn.content
        if turn.regions.protects(w.i)
    )


def _cover(turn: Reading, members: Sequence[Member], key: _Key) -> bool:
    """True where the rewrites together hold more than half of a question's content words."""
    start, end = key[1]
    words = [w for w in turn.content if start <= w.start < end]
    held = sum(any(m.reading.vocabulary.supports(w) for m in members) for w in words)
    return held * 2 > len(words)


def _compared(turn: Reading, token: ProtectedToken, sides: Sequence[tuple[Member, Member]]) -> bool:
    """True where the same is asked of both sides, so that the answers can be compared."""
    if token.kind is not Kind.COMPARISON or not sets_side_by_side(token):
        return False
    words = [w for w in turn.words_of(token) if is_content(w)]
    return not is_graded(token) or any(all(_measures(m, token, words) for m in pair) for pair in sides)


def _measures(member: Member, token: ProtectedToken, words: Sequence[Word]) -> bool:
    """True where a rewrite asks where one thing stands on the scale of a comparison."""
    wanted = answered_by(token)
    asked = {t.value for t in member.reading.tokens if t.kind is Kind.ANSWER_TYPE}
    said = any(member.reading.vocabulary.supports(w) for w in words)
    return said or (bool(wanted) and (wanted in asked or is_paraphrased(member.reading, wanted)))


def _is_each(token: ProtectedToken) -> bool:
    return token.kind is Kind.QUANTIFIER and token.value in _EACH


_EACH = frozenset({"both", "each", "every", "all"})


def _with_readings(turn: Reading, past: Past, members: Sequence[Member], whole: SetAssessment) -> SetAssessment:
    """The finding, where two rewrites fill one reference of the turn with different things: which is meant is open."""
    good = [m for m, a in zip(members, whole.assessments, strict=True) if a.verdict is not Verdict.CHANGED]
    pairs = (_contradicting(turn, past, a, b) for a, b in combinations(good, 2))
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


def _contradicting(turn: Reading, past: Past, one: Member, other: Member) -> tuple[str, str] | None:
    """What two rewrites put in the place of one reference, where each names a thing that the other does not."""
    fills = _filled(turn, past, one), _filled(turn, past, other)
    names = tuple([w for w in words if _is_name(w)] for words in fills)
    if all(names):
        apart = _apart(names[0], other), _apart(names[1], one)
        contradicts = len(apart[0]) == len(names[0]) and len(apart[1]) == len(names[1])
    else:  # a name and a noun are often one thing: "the Orbit 15" and "the phone"
        apart = _apart(fills[0], other), _apart(fills[1], one)
        pointing = any(r.pointer in OPEN and turn.regions.protects(r.first) for r in open_references(turn, past))
        contradicts = pointing and not any(names) and all(apart) and max(map(len, fills)) <= _FILL
    if not contradicts:
        return None
    return _phrase(one, fills[0], apart[0]), _phrase(other, fills[1], apart[1])


def _filled(turn: Reading, past: Past, member: Member) -> list[Word]:
    """The nouns, names and numbers that a rewrite took over from the history in the place of a reference."""
    if not member.assessment.checked.fills:
        return []
    new = new_words(member.reading, turn)
    return [w for w in new if (w.pos in _NAMING or _is_name(w)) and past.vocabulary.supports(w)]


def _is_name(word: Word) -> bool:
    return word.i > 0 and (word.text[:1].isupper() or any(c.isdigit() for c in word.text))


def _apart(words: Sequence[Word], other: Member) -> list[Word]:
    """The words that the other rewrite says nowhere."""
    return [w for w in words if not other.reading.vocabulary.supports(w)]


def _phrase(member: Member, words: Sequence[Word], apart: Sequence[Word]) -> str:
    """The words around the first that tells the rewrite from the other one."""
    run = next(phrase for phrase in phrases_of(words) if apart[0] in phrase)
    return run_evidence("rewrite", member.reading, run).text


_FILL = 3  # nouns; more are a paraphrase of the whole turn
_NAMING = frozenset({"NOUN", "PROPN", "NUM", "ADJ"})
