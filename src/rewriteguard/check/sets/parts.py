"""Sub-questions of one turn: what they say together that none of them says alone, and what none of them asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import combinations, pairwise

from rewriteguard.check.says import is_paraphrased
from rewriteguard.check.sets.together import Key, Member, key_of
from rewriteguard.check.view import run_evidence
from rewriteguard.extract.comparison import (
    answered_by,
    is_comparing,
    is_graded,
    is_measured,
    measures,
    sets_side_by_side,
)
from rewriteguard.language.lexicon import stem
from rewriteguard.language.words import Word
from rewriteguard.model.assessment import Violation
from rewriteguard.model.rules import Fault, Rule
from rewriteguard.model.tokens import LITERAL, Kind, ProtectedToken
from rewriteguard.reading.text import Reading
from rewriteguard.reading.units import QUESTION_WORDS
from rewriteguard.reading.vocabulary import is_content

_JOINING = frozenset({"and", "or", ","})
_EACH = frozenset({"both", "each", "every", "all"})


def shared_out(turn: Reading, members: Sequence[Member], lost: AbstractSet[Key]) -> frozenset[Key]:
    """What sub-questions say together that none of them says alone: both sides of a comparison, "both", a question."""
    sides = [(a, b) for a, b in combinations(members, 2) if _asks_one_side(turn, a, b) and _asks_one_side(turn, b, a)]
    if not sides:
        return frozenset(_key(t) for t in turn.tokens if _key(t) in lost and _is_kept_alone(turn, t, members))
    said: set[Key] = {key for key in lost if key[0] is None and _cover(turn, members, key)}
    for token in turn.tokens:
        key = _key(token)
        if key in lost and (_compared(turn, token, sides) or _is_each(token)):
            said.add(key)
    said |= {key for key in lost if key[0] is Kind.TOPIC and _only_compares(turn, key)}
    open_ = any(key[0] is Kind.COMPARISON for key in lost - said)
    return frozenset(said | {key for key in lost if not open_ and key[0] in (Kind.ANSWER_TYPE, Fault.AMBIGUOUS)})


def unasked_questions(turn: Reading, members: Sequence[Member]) -> Iterable[Violation]:
    """Questions inside the turn's sentence ("... and who built it"), and things side by side, that no rewrite asks."""
    words = [w for w in turn.words if turn.regions.protects(w.i)]
    starts = [n for n, w in enumerate(words) if n and w.lower in QUESTION_WORDS and words[n - 1].lower in _JOINING]
    for first, last in pairwise([*starts, len(words)]):
        asked = [w for w in words[first:last] if is_content(w)]
        if asked and not any(_said(w, members) for w in asked):
            yield _lost(Rule.QUESTION_LOST, turn, words[first:last])
    for word in words:
        if word.dep == "conj" and word.pos == "NOUN" and not _said(word, members):
            yield _lost(Rule.QUESTION_LOST_HALF, turn, [word])


def _said(word: Word, members: Sequence[Member]) -> bool:
    return any(member.reading.vocabulary.supports(word) for member in members)


def _lost(rule: Rule, turn: Reading, words: Sequence[Word]) -> Violation:
    return Violation(rule, None, (run_evidence("turn", turn, words),))


def _asks_one_side(turn: Reading, one: Member, other: Member) -> bool:
    """True where a rewrite keeps a word, date or number of the turn that the other leaves out."""
    kept = {_key(pair.ours) for pair in one.assessment.comparison.kept}
    if any(t.kind in LITERAL and _key(t) in kept for t in other.assessment.comparison.dropped):
        return True  # "May" is a small word for all but its token
    asked = [w for w in turn.content if turn.regions.protects(w.i)]
    return any(one.reading.vocabulary.holds(w) and not _has(other, w) for w in asked)


def _has(member: Member, word: Word) -> bool:
    """True where a rewrite has the word; one with a digit as it is, since the initials of "Q1 2023" are "Q2"."""
    vocabulary = member.reading.vocabulary
    return vocabulary.holds(word) if any(c.isdigit() for c in word.text) else vocabulary.supports(word)


def _cover(turn: Reading, members: Sequence[Member], key: Key) -> bool:
    """True where the rewrites together hold more than half of a question's content words."""
    start, end = key[1]
    words = [w for w in turn.content if start <= w.start < end]
    held = sum(_said(w, members) for w in words)
    return held * 2 > len(words)


def _only_compares(turn: Reading, key: Key) -> bool:
    """True for "compare" and "differ", which nobody has to say who asks the same of both sides."""
    start, end = key[1]
    return all(is_comparing(w.stem) for w in turn.content if start <= w.start < end)


def _compared(turn: Reading, token: ProtectedToken, sides: Sequence[tuple[Member, Member]]) -> bool:
    """True where the same is asked of both sides, so that the answers can be compared."""
    if token.kind is not Kind.COMPARISON or not sets_side_by_side(token):
        return False
    if not is_graded(token):
        return True
    if _is_kept_alone(turn, token, [m for pair in sides for m in pair]):
        return True
    return any(all(_measures(turn, m, token) for m in pair) for pair in sides)


def _is_kept_alone(turn: Reading, token: ProtectedToken, members: Sequence[Member]) -> bool:
    """True where one part asks for the measure of a superlative: who sells the cheapest one is another question."""
    superlative = token.kind is Kind.COMPARISON and token.value.endswith("superlative")
    return superlative and any(_measures(turn, m, token) for m in members)


def _key(token: ProtectedToken) -> Key:
    return (token.kind, (token.start, token.end))


def _measures(turn: Reading, member: Member, token: ProtectedToken) -> bool:
    """True where a rewrite asks where one thing stands on the scale of a comparison."""
    vocabulary, wanted = member.reading.vocabulary, answered_by(token)
    asked = {t.value for t in member.reading.tokens if t.kind is Kind.ANSWER_TYPE}
    said = any(vocabulary.supports(w) for w in turn.words_of(token) if is_content(w))
    said = said or any(map(vocabulary.holds_stem, measures(token)))
    answers = bool(wanted) and (wanted in asked or is_paraphrased(member.reading, wanted))
    return said or answers or any(map(vocabulary.supports, _measured_nouns(turn, token)))


def _measured_nouns(turn: Reading, token: ProtectedToken) -> Iterable[Word]:
    """The nouns that a comparative is said of: "fees" in "lower fees", "speed" in "the speed of a swift"."""
    for word in turn.words_of(token):
        head = turn.words[word.head]
        if word.dep == "amod" and head.pos == "NOUN" and head.dep != "attr":  # "the bigger city" is the sort of thing
            yield head
        yield from (a for a, b in pairwise(turn.words[: word.i]) if a.pos == "NOUN" and b.lower == "of")


def without_measures(turn: Reading, member: Member) -> Member:
    """The rewrite, where what it asks of a side is not counted among the words from nowhere: "how many people live"."""
    told = frozenset(word for t in turn.tokens if t.kind is Kind.COMPARISON and is_graded(t) for word in measures(t))
    piled = [v for v in member.assessment.violations if v.rule is Rule.INVENTED_WORDS]
    added = [v for v in piled if stem(v.evidence[0].text) not in told]
    if len(added) == len(piled) or len(added) > 1:
        return member
    violations = tuple(replace(v, rule=Rule.INVENTED_WORD) if v in piled else v for v in member.assessment.violations)
    return replace(member, assessment=replace(member.assessment, violations=violations))


def weighed(turn: Reading, violation: Violation) -> Violation:
    """The violation; a comparison that no rewrite makes is lost whatever the wording of each."""
    if violation.kind is not Kind.COMPARISON or violation.rule is not Rule.DROPPED_REWORDED:
        return violation
    key = key_of(violation)
    token = next((t for t in turn.tokens if _key(t) == key), None)
    if token is None or not is_graded(token):
        return violation
    if not is_measured(token) and token.value.endswith("superlative"):
        return violation  # "the best way to" is a manner of speaking
    return replace(violation, rule=Rule.DROPPED_COMPARISON if is_measured(token) else Rule.DROPPED_UNSAID)


def _is_each(token: ProtectedToken) -> bool:
    return token.kind is Kind.QUANTIFIER and token.value in _EACH
