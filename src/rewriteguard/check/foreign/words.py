"""The words of a text in any language, and which of them another text does not have.

Scripts without spaces are read by character; so is Korean, whose particles are glued to its words. A character counts
only together with a neighbour, since single ones stand everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock

import snowballstemmer

from rewriteguard.check.foreign.literals import folded
from rewriteguard.model.tokens import Kind, ProtectedToken

# Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer.
_UNSPACED = "\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNIT = re.compile(rf"(?P<character>[{_UNSPACED}]) | (?: (?![{_UNSPACED}]) [^\W\d_] )+ | \d+", re.VERBOSE)
_LINKS = ("", "s", "n", "en", "es", "er", "e")  # between the parts of a German, Dutch or Nordic compound
_SHORTEST_PART = 3  # letters
_STEMMERS = {
    "da": "danish", "de": "german", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "sv": "swedish",
    "tr": "turkish", "cyrillic": "russian", "arabic": "arabic",
}  # fmt: skip
_LOCK = Lock()  # a stemmer keeps the word it works on in itself, so threads must take turns


@dataclass(frozen=True, slots=True)
class Segment:
    """A word, or a character of a script without spaces, or a literal.

    Attributes:
        key: Form in which two units are equal: a stem, a character, the value of a literal.
        plain: The word in folded case; empty for characters and literals.
        start: Offset of its first code point.
        end: Offset behind its last code point.
    """

    key: str
    plain: str
    start: int
    end: int

    @property
    def is_literal(self) -> bool:
        """True for a literal: it is compared by its value, wherever it stands."""
        return self.key.startswith("=")

    @property
    def is_character(self) -> bool:
        """True for a character of a script without spaces."""
        return not self.plain and not self.is_literal


def units_of(text: str, literals: Sequence[ProtectedToken], language: str) -> tuple[Segment, ...]:
    """The units of a text in reading order; a literal other than a name is one unit."""
    whole = [t for t in literals if t.kind is not Kind.ENTITY]
    units = [Segment(f"={t.value.partition('|')[0].removesuffix(':00')}", "", t.start, t.end) for t in whole]
    taken = bytearray(len(text))
    for t in whole:
        taken[t.start : t.end] = b"\1" * (t.end - t.start)
    for m in _UNIT.finditer(text):
        if taken.find(1, m.start(), m.end()) >= 0:
            continue
        plain = "" if m["character"] else folded(m[0])
        units.append(Segment(_stem(plain, language) if plain else m[0], plain, m.start(), m.end()))
    return tuple(sorted(units, key=lambda unit: unit.start))


def missing(ours: Sequence[Segment], theirs: Sequence[Segment]) -> list[Segment]:
    """The units of a turn that a rewrite does not have, in their order or beside a neighbour of theirs.

    The neighbour matters: "from Leeds to York" has the words of "from York to Leeds".
    """
    spaced = not any(unit.is_character for unit in ours)
    if spaced and _is_subsequence(ours, theirs):
        return []
    keys, known = {unit.key for unit in theirs}, _pairs([theirs])
    lost = [
        unit
        for i, unit in enumerate(ours)
        if not (
            _has_neighbour(ours, i, known) or (unit.key in keys and (len(ours) == 1 or (unit.plain and not spaced)))
        )
    ]
    return _uncomposed(lost, ours, theirs)


def new(theirs: Sequence[Segment], sources: Sequence[Sequence[Segment]]) -> list[Segment]:
    """The units of a rewrite that no source has; a character must stand there beside a neighbour of its own."""
    keys, known = {unit.key for source in sources for unit in source}, _pairs(sources)
    lost = [
        unit
        for i, unit in enumerate(theirs)
        if not (_has_neighbour(theirs, i, known) if unit.is_character else unit.key in keys)
    ]
    return _uncomposed(lost, theirs, [unit for source in sources for unit in source])


def _is_subsequence(ours: Sequence[Segment], theirs: Sequence[Segment]) -> bool:
    rest = iter([unit.key for unit in theirs])
    return all(unit.key in rest for unit in ours)


def _pairs(texts: Iterable[Sequence[Segment]]) -> set[tuple[str, str]]:
    return {(a.key, b.key) for text in texts for a, b in pairwise(text)}


def _has_neighbour(units: Sequence[Segment], i: int, known: set[tuple[str, str]]) -> bool:
    around = units[max(0, i - 1) : i + 2]
    return any((a.key, b.key) in known for a, b in pairwise(around))


def _uncomposed(lost: Sequence[Segment], own: Sequence[Segment], other: Sequence[Segment]) -> list[Segment]:
    """What is left of `lost`, without literals, compounds of the other text's words and parts of its compounds."""
    mine, theirs = ({unit.plain for unit in units if unit.plain} for units in (own, other))
    return [
        unit
        for unit in lost
        if not unit.is_literal
        and not (
            unit.plain
            and (
                _is_compound(unit.plain, theirs)
                or any(unit.plain in whole and _is_compound(whole, mine) for whole in theirs - {unit.plain})
            )
        )
    ]


def _is_compound(word: str, parts: Set[str]) -> bool:
    """True for "ruckgabefrist" of "ruckgabe" and "frist"."""
    cuts = range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
    return any(word[cut:] in parts and _is_head(word[:cut], parts) for cut in cuts)


def _is_head(word: str, parts: Set[str]) -> bool:
    stems = (word.removesuffix(link) for link in _LINKS)
    return any(len(part) >= _SHORTEST_PART and part in parts for part in stems)


@lru_cache(maxsize=16_384)
def _stem(word: str, language: str) -> str:
    name = _STEMMERS.get(language)
    if name is None:
        return word
    with _LOCK:
        result: str = _stemmer(name).stemWord(word)
    return result


@lru_cache(maxsize=32)
def _stemmer(name: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(name)
