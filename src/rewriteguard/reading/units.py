"""Cuts a turn into its units: what it asks, what it corrects, and what is said beside the question.

Only questions, requests and corrections are protected in full. A statement is protected where nothing else stands
beside it; next to a question it only sets the scene. Feedback, greetings and thanks are no constraint at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rewriteguard.language import lexicon
from rewriteguard.language.words import END_MARKS, SOFT_MARKS, Phrases, Word, is_word, pieces
from rewriteguard.reading.self_corrections import Repair, repairs

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_TELLING = lexicon.words("regions", "telling")
_INTERJECTIONS = Phrases.of("regions", "interjections")
_CONNECTIVES = Phrases.of("regions", "connectives")
_DENIALS = Phrases.of("regions", "denials")
_COURTESIES = Phrases.of("regions", "courtesies")
_FEEDBACK = Phrases.of("regions", "feedback")
_CORRECTIONS = Phrases.of("regions", "corrections")
_WRAPPERS = Phrases.of("regions", "wrappers")
_SCENES = Phrases.of("regions", "scenes")
_REQUESTS = lexicon.words("regions", "requests")
QUESTION_WORDS = lexicon.words("regions", "questions")
"""The words that ask, auxiliaries left out."""
AUXILIARIES = frozenset(piece for word in lexicon.words("regions", "auxiliaries") for piece in (word, pieces(word)[0]))
OPENERS = QUESTION_WORDS | AUXILIARIES
"""The words that open a question."""


class UnitKind(StrEnum):
    """What a unit of a turn does."""

    QUESTION = "question"
    REQUEST = "request"
    CORRECTION = "correction"
    STATEMENT = "statement"
    FILLER = "filler"


_CORE = (UnitKind.QUESTION, UnitKind.REQUEST, UnitKind.CORRECTION)


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of words, `first` to `last` (half-open positions), without its opening words and wrapping."""

    kind: UnitKind
    first: int
    last: int

    def holds(self, position: int) -> bool:
        """True where the word at `position` belongs to the unit."""
        return self.first <= position < self.last


@dataclass(frozen=True, slots=True)
class Regions:
    """The units of a text in reading order.

    Attributes:
        units: The units; words outside all of them are openings and wrapping.
        repairs: Where the user took words back ("Paris, no sorry, Lyon").
        wrapped: True where a unit was wrapped in a request to the assistant ("could you tell me ...").
    """

    units: tuple[Unit, ...]
    repairs: tuple[Repair, ...] = ()
    wrapped: bool = False

    @property
    def asking(self) -> tuple[Unit, ...]:
        """The units that say what is wanted; where there are none, the statements."""
        core = tuple(u for u in self.units if u.kind in _CORE)
        return core or tuple(u for u in self.units if u.kind is UnitKind.STATEMENT)

    def protects(self, position: int) -> bool:
        """True where the word at `position` is part of what is wanted."""
        return any(unit.holds(position) for unit in self.asking) and not self.is_withdrawn(position)

    def sets_scene(self, position: int) -> bool:
        """True where the word at `position` only sets the scene of a question."""
        scene = any(u.holds(position) for u in self.units if u.kind is UnitKind.STATEMENT)
        return scene and not self.protects(position) and not self.is_withdrawn(position)

    def is_filler(self, position: int) -> bool:
        """True where the word at `position` is said beside the question."""
        return any(u.holds(position) for u in self.units if u.kind is UnitKind.FILLER)

    def is_withdrawn(self, position: int) -> bool:
        """True where the user took the word at `position` back."""
        return any(repair.first <= position < repair.resumed for repair in self.repairs)


def read_regions(words: Sequence[Word], text: str) -> Regions:
    """The units of `text`, whose words are `words`."""
    units: list[Unit] = []
    wrapped = False
    for first, last in _sentences(words, text):
        found, was_wrapped = _read_sentence(words, first, last, units)
        units.extend(found)
        wrapped = wrapped or was_wrapped
    return Regions(tuple(units), tuple(repairs(words)), wrapped)


def _sentences(words: Sequence[Word], text: str) -> Iterable[tuple[int, int]]:
    first = 0
    for i, word in enumerate(words):
        follows = i + 1 < len(words)
        broken = follows and "\n" in text[word.end : words[i + 1].start]
        ended = word.text in END_MARKS and not (follows and words[i + 1].text in END_MARKS)
        if ended or broken or not follows:
            yield first, i + 1
            first = i + 1


def _read_sentence(words: Sequence[Word], first: int, last: int, before: Sequence[Unit]) -> tuple[list[Unit], bool]:
    """The units of one sentence, and whether one of them was wrapped in a request to the assistant."""
    asked = words[last - 1].text == "?" or (last < len(words) and words[last].text == "?")
    begin, denied = _skip_openings(words, first, last)
    begin_filler = [Unit(UnitKind.FILLER, first, begin)] if begin > first else []
    if _only_marks(words, begin, last):
        return [Unit(UnitKind.FILLER, first, last)], False
    courtesy = _COURTESIES.length(words, begin, last)
    if courtesy and _only_marks(words, begin + courtesy, last):
        return [Unit(UnitKind.FILLER, first, last)], False
    if _FEEDBACK.length(words, begin, last) and not (asked and _opens_question(words, begin)):
        return [Unit(UnitKind.FILLER, first, last)], False
    rejected = _rejected_end(words, begin, last)
    if rejected:
        begin_filler = [Unit(UnitKind.FILLER, first, rejected)]
        begin = rejected
    corrected = _CORRECTIONS.length(words, begin, last)
    if rejected or (corrected and not asked):
        return [*begin_filler, Unit(UnitKind.CORRECTION, begin + corrected, last)], False
    scene = _scene_end(words, begin, last) or _embedded_start(words, begin, last)
    if scene:
        rest, was_wrapped = _read_sentence(words, scene, last, before)
        return [*begin_filler, Unit(UnitKind.STATEMENT, begin, scene), *rest], was_wrapped
    start = _skip_wrapping(words, begin, last)
    kind = _kind_of(words, begin, start, last, asked)
    if kind in (UnitKind.STATEMENT, UnitKind.REQUEST) and (denied or _denied_before(words, before)):
        kind = UnitKind.CORRECTION
    if _only_marks(words, start, last):
        start = begin
    runs = _split_questions(words, start, last) if kind is UnitKind.QUESTION else [(start, last)]
    return [*begin_filler, *(Unit(kind, a, b) for a, b in runs)], start > begin


def _skip_openings(words: Sequence[Word], first: int, last: int) -> tuple[int, bool]:
    """Where the sentence proper starts, and whether it opened with a denial ("No, ...")."""
    i, denied = first, False
    while i < last:
        length = _INTERJECTIONS.length(words, i, last)
        closed = i + length >= last or words[i + length].text in SOFT_MARKS
        closed = closed or bool(_CORRECTIONS.length(words, i + length, last))
        if not (length and closed):
            length = _CONNECTIVES.length(words, i, last)
        if not length:
            break
        denied = denied or bool(_DENIALS.length(words, i, last))
        i += length
        while i < last and words[i].text in SOFT_MARKS and words[i].text != "?":
            i += 1
    return i, denied


def _skip_wrapping(words: Sequence[Word], begin: int, last: int) -> int:
    i = begin
    while i < last:
        length = _WRAPPERS.length(words, i, last)
        if not length or (i == begin and words[i].lower == "on"):  # "on public holidays the pool is closed"
            break
        i += length
        while i < last and words[i].text in {",", ":"}:
            i += 1
    return i


def _kind_of(words: Sequence[Word], begin: int, start: int, last: int, asked: bool) -> UnitKind:
    if start < last and _opens_question(words, start):
        return UnitKind.QUESTION
    if start > begin and not _only_marks(words, start, last):
        return UnitKind.QUESTION if asked else UnitKind.REQUEST
    if asked or _opens_question(words, begin):
        return UnitKind.QUESTION
    opener = words[begin]
    if opener.lower in _REQUESTS and opener.tag in {"VB", "VBP", "NN", "NNP", ""}:
        return UnitKind.REQUEST
    return UnitKind.STATEMENT


def _opens_question(words: Sequence[Word], i: int) -> bool:
    word = words[i]
    if word.lower in QUESTION_WORDS:
        return True
    # An auxiliary opens a question only where something follows it that can be its subject.
    return word.lower in AUXILIARIES and i + 1 < len(words) and words[i + 1].text not in SOFT_MARKS


def _denied_before(words: Sequence[Word], before: Sequence[Unit]) -> bool:
    """True where the sentence before was a bare denial: "Not quite. I want to know about ..."."""
    if not before or before[-1].kind is not UnitKind.FILLER:
        return False
    unit = before[-1]
    length = _DENIALS.length(words, unit.first, unit.last)
    return bool(length) and _only_marks(words, unit.first + length, unit.last)


def _rejected_end(words: Sequence[Word], begin: int, last: int) -> int:
    """Where "Not documents," ends before what is meant instead; 0 where nothing is turned down so."""
    if words[begin].lower != "not":
        return 0
    for i in range(begin + 1, last - 1):
        if words[i].pos in {"VERB", "AUX"}:
            return 0
        if words[i].text == ",":
            return i + 1
    return 0


def _scene_end(words: Sequence[Word], begin: int, last: int) -> int:
    """Where a clause that only sets the scene ends ("As X is Y, may I ask ..."); 0 where there is none."""
    if not _SCENES.length(words, begin, last):
        return 0
    for i in range(begin + 2, last - 1):
        opens = _opens_question(words, i + 1) or _WRAPPERS.length(words, i + 1, last)
        if words[i].text == "," and opens:
            return i + 1
    return 0


def _embedded_start(words: Sequence[Word], begin: int, last: int) -> int:
    """Where a question starts behind a clause that asks nothing ("maybe just tell me which ..."); 0 where none does."""
    if _opens_question(words, begin) or _WRAPPERS.length(words, begin, last) or words[begin].dep in {"mark", "advmod"}:
        return 0
    told = words[begin].dep in _SUBJECTS
    for i in range(begin + 2, last - 1):
        told = told or words[i - 1].dep in _SUBJECTS
        opens = _opens_question(words, i) and _is_clause(words, i)
        if told and opens and (words[i - 1].text == "," or words[i - 1].lower in _TELLING):
            return i
    return 0


def _is_clause(words: Sequence[Word], i: int) -> bool:
    """True where a question word or an auxiliary with its subject stands at `i`."""
    if words[i].lower in QUESTION_WORDS:
        return True
    return i + 1 < len(words) and words[i + 1].pos in {"PRON", "DET", "PROPN", "NOUN"}


def _split_questions(words: Sequence[Word], first: int, last: int) -> list[tuple[int, int]]:
    """One run a question: "what does X cost and does it include Y" holds two."""
    cuts = [first]
    for i in range(first + 2, last - 2):
        joined = words[i].lower in {"and", "or", ","}
        if joined and _opens_clause(words, i + 1):
            cuts.append(i + 1)
    return [(a, b) for a, b in zip(cuts, [*cuts[1:], last], strict=True) if b - a > 1]


def _opens_clause(words: Sequence[Word], i: int) -> bool:
    word, follower = words[i], words[i + 1]
    if word.lower in QUESTION_WORDS:
        return word.lower not in {"which", "who", "whom", "whose"} or follower.lower in AUXILIARIES
    return word.lower in AUXILIARIES and follower.pos in {"PRON", "DET", "PROPN", "NOUN"} and follower.dep != "dobj"


def _only_marks(words: Sequence[Word], first: int, last: int) -> bool:
    return not any(map(is_word, words[first:last]))
