"""The number of results that a user asks for; a number that measures or names something is none."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from rewriteguard.extract.quantity.numbers import number_at
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading

_REQUESTS, _FIRST, _RESULTS = (
    lexicon.words("filters", key) for key in ("requests", "first_of_results", "names_of_results")
)
_NOUNS = frozenset({"NOUN", "PROPN"})
_COUNTS = frozenset({"", "=", "~", "<="})  # "exactly 5", "about 5", "up to 5"


def asks_for(limit: int, reading: Reading, used: Collection[ProtectedToken] = ()) -> bool:
    """True where a text asks for `limit` results: "top 5", "show me 5 surveys", "the 5 newest", "5 results".

    Args:
        limit: The number.
        reading: The text; one that was not parsed says it by the words beside the number alone.
        used: What a filter has taken up; those numbers count something else.
    """
    return any(
        _value(word, reading) == limit
        and not any(token.start <= word.start < token.end for token in used)
        and (_is_beside(word, reading) or _is_requested(word, reading))
        for word in reading.words
    )


def _value(word: Word, reading: Reading) -> int | None:
    """What a word counts; None where it is no number, or part of a date, a version, a code or a measure."""
    if word.lower == "couple":
        return 2
    for token in reading.tokens:
        if token.start <= word.start < token.end and token.kind is not Kind.TOPIC:
            plain = token.kind is Kind.QUANTITY and token.value.isdigit() and token.relation in _COUNTS
            return int(token.value) if plain else None
    number = number_at(reading.text, word.start)
    return int(number.value) if number is not None and number.value.denominator == 1 else None


def _is_beside(word: Word, reading: Reading) -> bool:
    """True right behind "top" or right before "results"; beside a superlative too."""
    sides = [(a, b) for a, b in pairwise(reading.words) if word in (a, b)]
    return any(
        (other.lower in _FIRST and other.i < word.i)
        or (other.lemma in _RESULTS and other.i > word.i)
        or other.tag in ("JJS", "RBS")
        for pair in sides
        for other in pair
        if other is not word
    )


def _is_requested(word: Word, reading: Reading) -> bool:
    """True for what a request asks for: "give me 3 films", "3 films"; not "5 star hotels", "flats with 3 rooms"."""
    head = reading.words[word.head] if word.dep == "nummod" else word
    if any(between.pos in _NOUNS for between in reading.words[word.i + 1 : head.i]):
        return False
    begins = word.i == 0 and head.dep == "ROOT" and head.tag == "NNS"
    return begins or (head.dep == "dobj" and reading.words[head.head].lemma in _REQUESTS)
