"""Sub-questions of one turn: what they say together that none of them says alone, and what none of them asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, pairwise

from rewriteguard.assessment import Fault, Violation
from rewriteguard.extract.comparison import answered_by, is_comparing, is_graded, sets_side_by_side
from rewriteguard.reading import Reading
from rewriteguard.regions import QUESTION_WORDS
from rewriteguard.saying import is_paraphrased
from rewriteguard.scene import run_evidence
from rewriteguard.set_assessment import Key, Member
from rewriteguard.support import is_content
from rewriteguard.tokens import Kind, ProtectedToken
from rewriteguard.verdict import RULES
from rewriteguard.words import Word


def shared_out(turn: Reading, members: Sequence[Member], lost: AbstractSet[Key]) -> frozenset[Key]:
    """What sub-questions say together that none of them says alone: both sides of a comparison, "both", a question."""
    sides = [(a, b) for a, b in combinations(members, 2) if _asks_one_side(turn, a, b) and _asks_one_side(turn, b, a)]
    if not sides:
        return frozenset()
    said: set[Key] = {key for key in lost if key[0] is None and _cover(turn, members, key)}
    for token in turn.tokens:
        key = (token.kind, (token.start, token.end))
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
            yield _lost("question_lost", turn, words[first:last])
    for word in words:
        if word.dep == "conj" and word.pos == "NOUN" and not _said(word, members):
            yield _lost("question_lost.half", turn, [word])


def _said(word: Word, members: Sequence[Member]) -> bool:
    return any(member.reading.vocabulary.supports(word) for member in members)


def _lost(rule: str, turn: Reading, words: Sequence[Word]) -> Violation:
    return Violation(Fault.QUESTION_LOST, None, RULES[rule].severity, (run_evidence("turn", turn, words),), rule)


_JOINING = frozenset({"and", "or", ","})


def _asks_one_side(turn: Reading, one: Member, other: Member) -> bool:
    """True where a rewrite keeps a word of the turn that the other leaves out."""
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
