"""One text read once: its words, protected tokens and units. This is what the guard caches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from spacy.language import Language
from spacy.tokens import Doc

from rewriteguard.extract import extract_tokens
from rewriteguard.extract.base import Extractor
from rewriteguard.language.words import Word, read_words
from rewriteguard.model.conversation import Message, Role
from rewriteguard.model.tokens import ProtectedToken
from rewriteguard.reading.units import Regions, read_regions
from rewriteguard.reading.unwrap import Normalised, normalise
from rewriteguard.reading.vocabulary import Vocabulary, is_content

_LONGEST_RUN = 5  # words and marks that a name is cut into


@dataclass(frozen=True)
class Reading:
    """A text and what was found in it; offsets are those of the text as written.

    Attributes:
        text: The text as written.
        words: Its words and marks.
        tokens: Its protected tokens in reading order.
    """

    text: str
    words: tuple[Word, ...]
    tokens: tuple[ProtectedToken, ...]

    @cached_property
    def regions(self) -> Regions:
        """Its units."""
        return read_regions(self.words, self.text)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the text, to ask whether they support another."""
        return Vocabulary(self.words)

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """The words that carry topic."""
        return tuple(word for word in self.words if is_content(word))

    @cached_property
    def letter_runs(self) -> frozenset[str]:
        """The letters of every run of up to five words, marks left out: "Node.js" and "Node JS" are one."""
        letters = ["".join(c for c in word.lower if c.isalnum()) for word in self.words]
        runs = ("".join(letters[i : i + n]) for i in range(len(letters)) for n in range(1, _LONGEST_RUN + 1))
        return frozenset(runs)

    def words_of(self, token: ProtectedToken) -> tuple[Word, ...]:
        """The words that a token covers, wholly or in part."""
        first = bisect_right(self._ends, token.start)
        return self.words[first : max(first, bisect_left(self._starts, token.end))]

    @cached_property
    def _starts(self) -> list[int]:
        return [word.start for word in self.words]

    @cached_property
    def _ends(self) -> list[int]:
        return [word.end for word in self.words]


@dataclass(frozen=True)
class Past:
    """The messages before the turn, read; index `i` of `readings` belongs to `messages[i]`."""

    messages: tuple[Message, ...] = ()
    readings: tuple[Reading, ...] = ()

    @cached_property
    def size(self) -> int:
        """Characters of the messages that were read."""
        return sum(len(reading.text) for reading in self.readings)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All words of the history."""
        return Vocabulary.joined(reading.vocabulary for reading in self.readings)

    def by(self, *roles: Role) -> Past:
        """The messages that one of `roles` said."""
        kept = [i for i, message in enumerate(self.messages) if message.role in roles]
        return Past(tuple(self.messages[i] for i in kept), tuple(self.readings[i] for i in kept))

    def recent(self, exchanges: int) -> Past:
        """The messages of the last `exchanges` exchanges; an exchange starts with what the user said."""
        starts = [i for i, message in enumerate(self.messages) if message.role is Role.USER]
        first = starts[-exchanges] if len(starts) >= exchanges else 0
        return Past(self.messages[first:], self.readings[first:])

    def last(self, role: Role) -> Reading | None:
        """The last message of one role."""
        for message, reading in zip(reversed(self.messages), reversed(self.readings), strict=True):
            if message.role is role:
                return reading
        return None


def read_all(
    texts: Sequence[str], nlp: Language, extractors: Sequence[Extractor], *, full: bool = True
) -> Iterator[Reading]:
    """The readings of `texts`, in their order, made in one pass of the pipeline.

    Args:
        texts: Any texts.
        nlp: The pipeline.
        extractors: What finds the protected tokens.
        full: Tag and parse the texts; otherwise only the tokeniser runs, which serves long history messages.
    """
    normals = [normalise(text) for text in texts]
    inner = [normal.text for normal in normals]
    docs = nlp.pipe(inner) if full and len(inner) > 1 else map(nlp if full else nlp.make_doc, inner)
    for text, normal, doc in zip(texts, normals, docs, strict=True):
        yield _read(text, normal, doc, extractors)


def _read(text: str, normal: Normalised, doc: Doc, extractors: Sequence[Extractor]) -> Reading:
    tokens = extract_tokens(doc, extractors)
    words = read_words(doc)
    if normal.text != text:
        tokens = tuple(_placed(token, normal, text) for token in tokens)
        words = tuple(_placed_word(word, normal) for word in words)
    return Reading(text, words, tokens)


def _placed(token: ProtectedToken, normal: Normalised, text: str) -> ProtectedToken:
    start, end = normal.span(token.start, token.end)
    return replace(token, start=start, end=end, text=text[start:end])


def _placed_word(word: Word, normal: Normalised) -> Word:
    start, end = normal.span(word.start, word.end)
    return replace(word, start=start, end=end)
