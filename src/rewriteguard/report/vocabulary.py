"""Words of the rewrites that no document holds: what the index lacks a synonym for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unicodedata import normalize

from rewriteguard.errors import InputError

if TYPE_CHECKING:
    from rewriteguard.report.entry import Entry

_WORD = re.compile(r"(?P<word>[^\W_]+)", re.VERBOSE)
_END = re.compile(r"(?<=[^\W_]) ['’] (?: s | t | d | m | ll | re | ve )? (?![^\W_])", re.VERBOSE | re.IGNORECASE)
_EXAMPLES = 3  # lines that are named for a word
_AROUND = 60  # characters of the example on each side of the word
_MOST_WORDS = 50_000  # that are counted; a log of that many unknown words was held against another corpus


@dataclass(slots=True)
class UnknownWord:
    """A word that the vocabulary lacks.

    Attributes:
        word: In lower case.
        rows: How many rewrites hold it.
        by_user: In how many of those the user's turn holds it too.
        lines: The first lines whose rewrite holds it: the place of the log, and the number of the line.
        example: The first such rewrite.
    """

    word: str
    rows: int = 0
    by_user: int = 0
    lines: list[tuple[int, int]] = field(default_factory=list)
    example: str = ""


class UnknownWords:
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
        self._found: dict[str, UnknownWord] = {}
        self.passed_over = 0

    @property
    def size(self) -> int:
        """The number of words in the vocabulary."""
        return len(self._known)

    def add(self, entry: Entry) -> None:
        """Counts the words of one rewrite, each once."""
        said = set(words_of(entry.turn))
        for word in dict.fromkeys(words_of(entry.rewrite)):
            if word in self._known:
                continue
            if word not in self._found and len(self._found) >= _MOST_WORDS:
                self.passed_over += 1
                continue
            found = self._found.setdefault(word, UnknownWord(word))
            found.rows += 1
            found.by_user += word in said
            found.example = found.example or _around(word, entry.rewrite)
            if len(found.lines) < _EXAMPLES:
                found.lines.append((entry.file, entry.line))

    def most_frequent(self) -> list[UnknownWord]:
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
