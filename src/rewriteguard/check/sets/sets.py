"""Several rewrites of one turn, judged together: what one of them may leave out, and what none may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from rewriteguard.check.rules.references import OPEN
from rewriteguard.check.sets.parts import shared_out, unasked_questions, weighed, without_measures
from rewriteguard.check.sets.together import Key, Member, key_of, together
from rewriteguard.check.view import new_words, phrases_of, run_evidence
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.model.assessment import Assessment, Profile, SetAssessment, Violation
from rewriteguard.model.rules import Fault, Rule, Verdict, gravest
from rewriteguard.model.tokens import LITERAL, Evidence, Kind
from rewriteguard.reading.references import open_references
from rewriteguard.reading.text import Past, Reading

_FILL = 3  # nouns; more are a paraphrase of the whole turn
_ADVERBS = lexicon.words("reference", "places") | lexicon.words("reference", "times")
_DEMONSTRATIVES, _PERIODS = (lexicon.words("reference", key) for key in ("demonstratives", "periods"))
_NAMING = frozenset({"NOUN", "PROPN", "NUM", "ADJ"})
# What may be missing from one rewrite of the set.
_MISSING = {
    Profile.EXPAND: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.UNRESOLVED}),
    Profile.DECOMPOSE: frozenset({Fault.DROPPED, Fault.QUESTION_LOST, Fault.CORRECTION_LOST, Fault.AMBIGUOUS}),
}
_NAMED = LITERAL | {Kind.ENTITY}


def contradicting_fills(turn: Reading, past: Past, one: Member, other: Member) -> tuple[str, str] | None:
    """What two rewrites put in the place of one reference, where each names a thing that the other does not."""
    fills = _filled(turn, past, one), _filled(turn, past, other)
    names = tuple([w for w in words if _is_name(w)] for words in fills)
    if all(names):
        apart = _apart(names[0], other), _apart(names[1], one)
        contradicts = len(apart[0]) == len(names[0]) and len(apart[1]) == len(names[1])
    else:  # a name and a noun are often one thing: "the Orbit 15" and "the phone"
        apart = _apart(fills[0], other), _apart(fills[1], one)
        pointing = bool(_pointing_adverbs(turn)) or any(
            r.pointer in OPEN and turn.regions.protects(r.first) for r in open_references(turn, past)
        )
        contradicts = pointing and not any(names) and all(apart) and max(map(len, fills)) <= _FILL
    if not contradicts:
        return None
    return _phrase(one, fills[0], apart[0]), _phrase(other, fills[1], apart[1])


def _filled(turn: Reading, past: Past, member: Member) -> list[Word]:
    """The nouns, names and numbers that a rewrite took over from the history in the place of a reference."""
    if not member.assessment.checked.fills and not _fills_adverb(turn, member):
        return []
    new = new_words(member.reading, turn)
    return [w for w in new if (w.pos in _NAMING or _is_name(w)) and past.vocabulary.supports(w)]


def _fills_adverb(turn: Reading, member: Member) -> bool:
    """True where a "then" or "there" of the turn is gone."""
    lowers = {w.lower for w in member.reading.words}
    return any(not lowers.issuperset(phrase) for phrase in _pointing_adverbs(turn))


def _pointing_adverbs(turn: Reading) -> tuple[tuple[str, ...], ...]:
    """The words of a turn that point to a time or place: "then", "there", "that year"; not "then" between clauses."""
    words = [w for w in turn.words if turn.regions.protects(w.i)]
    alone = [(w.lower,) for w in words if w.lower in _ADVERBS and w.tag != "EX" and w.head < w.i]
    pairs = pairwise(words)
    return (*alone, *((a.lower, b.lower) for a, b in pairs if a.lower in _DEMONSTRATIVES and b.lower in _PERIODS))


def _is_name(word: Word) -> bool:
    return word.i > 0 and (word.text[:1].isupper() or any(c.isdigit() for c in word.text))


def _apart(words: Sequence[Word], other: Member) -> list[Word]:
    """The words that the other rewrite says nowhere."""
    return [w for w in words if not other.reading.vocabulary.supports(w)]


def _phrase(member: Member, words: Sequence[Word], apart: Sequence[Word]) -> str:
    """The words around the first that tells the rewrite from the other one."""
    run = next((phrase for phrase in phrases_of(words) if apart[0] in phrase), apart)
    return run_evidence("rewrite", member.reading, run).text


def assess_set(turn: Reading, past: Past, members: Sequence[Member], profile: Profile) -> SetAssessment:
    """The finding about the rewrites of a turn, at least one, each of which was assessed alone.

    A contradiction in one rewrite counts for the set. A loss counts in one rewrite where each stands for the turn
    alone; where the original is searched too (EXPAND) or the rewrites share the turn among themselves (DECOMPOSE), it
    counts for the set where all have it.
    """
    parts = profile is Profile.DECOMPOSE
    if parts:
        members = [without_measures(turn, member) for member in members]
    lost = [tuple(v for v in m.assessment.violations if _may_miss(turn, m, v, profile)) for m in members]
    hard = [gravest(v.rule.alone for v in m.assessment.violations if v not in lost[i]) for i, m in enumerate(members)]
    live = [i for i, verdict in enumerate(hard) if verdict is not Verdict.CHANGED] or list(range(len(members)))
    common = _common([lost[i] for i in live])
    unasked = list(unasked_questions(turn, members)) if parts else []
    if parts:
        common -= shared_out(turn, [members[i] for i in live], common)
    rows = [
        _Row(i, weighed(turn, v) if parts and key_of(v) in common else v, v in lost[i], key_of(v) in common, profile)
        for i, m in enumerate(members)
        for v in m.assessment.violations
    ]
    rows += [_Row(i, v, True, True, profile) for v in unasked for i in range(len(members))]
    found = [_as_member(m.assessment, [row for row in rows if row.place == i], profile) for i, m in enumerate(members)]
    counted = [row for row in rows if not row.lost]
    for key in sorted(common | set(map(key_of, unasked)), key=str):
        alike = (row for row in rows if row.lost and key_of(row.violation) == key)
        counted.append(min(alike, key=lambda row: row.verdict.rank))
    counted.sort(key=lambda row: row.verdict.rank)
    verdict = gravest(row.verdict for row in counted)
    whole = together(found, [(row.place, row.violation) for row in counted], verdict, profile)
    return _with_meanings(turn, past, members, whole) if profile is Profile.CONDENSE else whole


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
        alone = self.violation.rule.alone
        softened = self.lost and self.profile is Profile.EXPAND and alone is Verdict.CHANGED
        return Verdict.UNCERTAIN if softened else alone


def _may_miss(turn: Reading, member: Member, violation: Violation, profile: Profile) -> bool:
    """True for what one rewrite of the set may leave out.

    Another kind of answer may be asked for too, and beside the original another noun be named: such queries look from
    other sides. A "not" may be left out with what it negates. What a sub-question puts in another's place may be the
    other side of the turn: of "3.11 and 3.12" it asks about the second.
    """
    if profile not in _MISSING:
        return False
    if profile is Profile.DECOMPOSE and violation.fault is Fault.ALTERED and violation.kind in _NAMED:
        own = {w.lower for w in turn.words}
        theirs = [part for e in violation.evidence if e.where == "rewrite" for part in e.text.casefold().split()]
        return bool(theirs) and own.issuperset(theirs)
    renamed = violation.rule in (Rule.ALTERED_TOPIC, Rule.ALTERED_WORD)
    if violation.kind is Kind.ANSWER_TYPE or renamed:
        return True
    rejects = violation.rule.alone is Verdict.CHANGED and profile is Profile.EXPAND
    turned = rejects and violation.kind is Kind.NEGATION and _says_negated(member, violation)
    return violation.fault in _MISSING[profile] and not turned


def _says_negated(member: Member, violation: Violation) -> bool:
    """True where the word that a lost "not" stood at is still there, so that the query is turned round."""
    lost = {t.start: t.value for t in member.assessment.comparison.dropped if t.kind is Kind.NEGATION}
    return any(member.reading.vocabulary.holds_stem(lost[e.start]) for e in violation.evidence if e.start in lost)


def _common(lost: Sequence[Sequence[Violation]]) -> frozenset[Key]:
    """What every rewrite lost."""
    keys = (frozenset(key_of(v) for v in each if v.fault is not Fault.INVENTED) for each in lost)
    return frozenset.intersection(*keys)


def _as_member(assessment: Assessment, rows: Sequence[_Row], profile: Profile) -> Assessment:
    """The finding about one rewrite as one of the set; what another sub-question asks is no fault of this one."""
    counted = [row for row in rows if not row.lost or row.common or profile is not Profile.DECOMPOSE]
    violations = tuple(row.violation for row in counted)
    return replace(assessment, verdict=gravest(row.verdict for row in counted), violations=violations, profile=profile)


def _with_meanings(turn: Reading, past: Past, members: Sequence[Member], whole: SetAssessment) -> SetAssessment:
    """The finding, where two rewrites fill one reference of the turn with different things: which is meant is open."""
    good = [m for m, a in zip(members, whole.assessments, strict=True) if a.verdict is not Verdict.CHANGED]
    pairs = (contradicting_fills(turn, past, a, b) for a, b in combinations(good, 2))
    first = next((pair for pair in pairs if pair), None)
    if first is None:
        return whole
    evidence = tuple(Evidence("rewrite", t, whole.rewrite.find(t), whole.rewrite.find(t) + len(t)) for t in first)
    open_ = Violation(Rule.AMBIGUOUS_FILLS, None, evidence)
    rest = [v for v in whole.violations if v.rule.alone is Verdict.CHANGED]
    others = [v for v in whole.violations if v.rule.alone is not Verdict.CHANGED]
    verdict = gravest((whole.verdict, Verdict.UNCERTAIN))
    unsure = tuple(
        replace(a, verdict=Verdict.UNCERTAIN, violations=(open_, *a.violations))
        if a.verdict is Verdict.PRESERVED else a
        for a in whole.assessments
    )  # fmt: skip
    return replace(whole, verdict=verdict, violations=(*rest, open_, *others), candidates=first, assessments=unsure)
