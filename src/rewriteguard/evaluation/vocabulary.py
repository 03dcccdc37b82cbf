"""Words of the rewrites that no document holds: what the index lacks a synonym for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from unicodedata import normalize

from rewriteguard.errors import InputError

P = TypeVar("P")

_WORD = re.compile(r"(?P<word>[^\W_]+)", re.VERBOSE)
_END = re.compile(r"(?<=[^\W_]) ['’] (?: s | t | d | m | ll | re | ve )? (?![^\W_])", re.VERBOSE | re.IGNORECASE)
_EXAMPLES = 3  # places that are named for a word
_AROUND = 60  # characters of the example on each side of the word
_MOST_WORDS = 50_000  # that are counted; a log of that many unknown words was held against another corpus


@dataclass(slots=True)
class UnknownWord(Generic[P]):
    """A word that the vocabulary lacks.

    Attributes:
        word: In lower case.
        rows: How many rewrites hold it.
        by_user: In how many of those the user's turn holds it too.
        places: Where the first rewrites that hold it stand, as the caller names places.
        example: The first such rewrite.
    """

    word: str
    rows: int = 0
    by_user: int = 0
    places: list[P] = field(default_factory=list)
    example: str = ""


class UnknownWords(Generic[P]):
    """Counts the words of rewrites that a vocabulary lacks.

    Args:
        vocabulary: The words of the corpus, of any case; each may hold several, as `e-bike` does.

    Raises:
        InputError: The vocabulary holds no word.
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._known = {word for line in vocabulary for word in words_of(line)}
        if not self._known:
            raise InputError("vocabulary: expected the words of the corpus, found none")
        self._found: dict[str, UnknownWord[P]] = {}
        self.passed_over = 0

    @property
    def size(self) -> int:
        """The number of words in the vocabulary."""
        return len(self._known)

    def add(self, turn: str, rewrite: str, place: P) -> None:
        """Counts the words of one rewrite of a turn, each once; `place` says where it stands."""
        said = set(words_of(turn))
        for word in dict.fromkeys(words_of(rewrite)):
            if word in self._known:
                continue
            if word not in self._found and len(self._found) >= _MOST_WORDS:
                self.passed_over += 1
                continue
            found = self._found.setdefault(word, UnknownWord(word))
            found.rows += 1
            found.by_user += word in said
            found.example = found.example or _around(word, rewrite)
            if len(found.places) < _EXAMPLES:
                found.places.append(place)

    def most_frequent(self) -> list[UnknownWord[P]]:
        """The words, those of the most rewrites first."""
        return sorted(self._found.values(), key=lambda found: (-found.rows, found.word))


def words_of(text: str) -> Iterator[str]:
    """The words of a text in lower case: runs of letters and digits, without a possessive or contracted ending."""
    return (match["word"] for match in _WORD.finditer(_END.sub(" ", normalize("NFC", text)).lower()))


def _around(word: str, text: str) -> str:
    """The word with what stands beside it; the start of the text where lower case has moved the word."""
    text = normalize("NFC", text)
    place = max(0, text.lower().find(word))
    start, end = max(0, place - _AROUND), place + len(word) + _AROUND
    return ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
