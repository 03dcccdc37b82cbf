"""Does a text itself hold what its pronouns stand for, and does "it" stand for anything at all?"""

from __future__ import annotations

from collections.abc import Sequence

from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.reading.text import Reading
from rewriteguard.reading.vocabulary import is_content

NOUNS = frozenset({"NOUN", "PROPN"})
_EXPLETIVE = lexicon.words("reference", "expletive_after")
_PERSONS = lexicon.words("reference", "persons")


def has_antecedent(reading: Reading, i: int, pronoun: str) -> bool:
    """True where an earlier noun of the text can be what the pronoun at `i` stands for."""
    words = reading.words
    possessive = words[i].dep == "poss"
    clause = _clause(words, i)
    before = [
        w for w in words[:i]
        if w.pos in NOUNS and is_content(w) and not _is_asked_for(words, w.i) and not reading.regions.is_filler(w.i)
        # A pronoun and what it stands for are not arguments of one verb, unless the pronoun owns something.
        and (possessive or _clause(words, w.i) != clause)
    ]  # fmt: skip
    if pronoun in _PERSONS:
        return any(w.pos == "PROPN" or w.text[0].isupper() for w in before if w.i > 0) or any(
            w.dep in {"nsubj", "nsubjpass"} for w in before
        )
    if pronoun in {"it", "its", "itself"}:
        return any(w.tag in {"NN", "NNP"} and w.dep != "compound" for w in before)
    return bool(before)


def has_noun_before(words: Sequence[Word], i: int) -> bool:
    """True where a content noun stands before `i`."""
    return any(w.pos in NOUNS and is_content(w) for w in words[:i])


def has_clause_before(words: Sequence[Word], i: int) -> bool:
    """True where a clause with a noun and a verb of its own stands before: "that" may be it."""
    before = words[: max(0, i - 1)]
    return any(w.pos in NOUNS and w.dep == "nsubj" for w in before) and any(w.dep in {"ccomp", "advcl"} for w in before)


def is_expletive(words: Sequence[Word], i: int) -> bool:
    """True for an "it" that stands for nothing: "it rains", "does it take long to", "it seems"."""
    window = words[i + 1 : i + 5]
    if not window or words[i].lower == "its":
        return words[i].dep == "expl"
    weather = any(w.lower in {"rain", "rains", "rained", "snow", "snows"} for w in window[:2])
    clause = any(w.lower in {"to", "that", "if", "for"} for w in window) and any(w.lower in _EXPLETIVE for w in window)
    before = words[i - 2 : i] if i >= 2 else words[:i]
    told = any(w.lower in {"make", "makes", "find"} for w in before)
    seeming = window[0].lower in {"sounds", "seems", "appears", "looks"}
    return weather or clause or told or seeming or words[i].dep == "expl"


def _clause(words: Sequence[Word], i: int) -> int:
    """The verb whose clause the word at `i` stands in; the root of its sentence where there is none."""
    seen = 0
    while words[i].head != i and seen < len(words):
        i, seen = words[i].head, seen + 1
        if words[i].pos in {"VERB", "AUX"} and words[i].dep not in {"aux", "auxpass"}:
            return i
    return i


def _is_asked_for(words: Sequence[Word], i: int) -> bool:
    """True for the noun of "what priority does it have": it is sought, and no antecedent."""
    k = i
    while k > 0 and words[k - 1].pos in {"NOUN", "ADJ", "PROPN"}:
        k -= 1
    return k > 0 and words[k - 1].lower in {"what", "which", "much", "many", "whose"}
