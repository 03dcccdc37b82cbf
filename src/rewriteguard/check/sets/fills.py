"""Stand-alone rewrites of one turn that fill the same reference with different things."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rewriteguard.check.rules.references import OPEN
from rewriteguard.check.sets.together import Member
from rewriteguard.check.view import new_words, phrases_of, run_evidence
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.reading.references import open_references
from rewriteguard.reading.text import Past, Reading

_FILL = 3  # nouns; more are a paraphrase of the whole turn
_ADVERBS = lexicon.words("reference", "places") | lexicon.words("reference", "times")
_DEMONSTRATIVES, _PERIODS = (lexicon.words("reference", key) for key in ("demonstratives", "periods"))
_NAMING = frozenset({"NOUN", "PROPN", "NUM", "ADJ"})


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
