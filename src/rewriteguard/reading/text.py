"""Texts and histories, each read once: what was read before comes from memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import TypeVar

from cachetools import LRUCache
from spacy.language import Language

from rewriteguard.extract import extract_tokens
from rewriteguard.extract.base import Extractor
from rewriteguard.language.normal import Normalised, normalise
from rewriteguard.language.pipeline import english
from rewriteguard.language.words import Word, read_words
from rewriteguard.model.conversation import MAX_MESSAGE, MAX_MESSAGES, Message, Role
from rewriteguard.model.tokens import ProtectedToken
from rewriteguard.reading.units import Regions, read_regions
from rewriteguard.reading.vocabulary import Vocabulary

_LONGEST_RUN = 5  # words and marks that a name is cut into
MAX_PARSED = 1_000  # characters of a user's message that is read in full; longer ones are read by their words
MAX_HISTORY = 60_000  # characters of the history that are read, the latest
_KEPT_CHARACTERS = 500_000  # of texts whose readings are kept; one takes 280 to 450 bytes a character with its lookups
_KEPT_HISTORIES = 300_000  # characters of whole histories, whose lookups are kept beside those of their messages
_LONGEST_KEPT = 100_000  # characters of a history that is kept as a whole
_KEPT_STRINGS = 150_000  # of the pipeline's string store, which has 85,000 when it is loaded
_KEPT_LEMMAS = 50_000  # words whose lemma the pipeline remembers
_PIPELINE = Lock()  # the pipeline's string store and buffers are shared; parsing holds the interpreter lock anyway
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


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
        return self.vocabulary.content

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
        reading = Reading(text, read_words(doc), extract_tokens(doc, extractors))
        yield reading if normal.text == text else _as_written(reading, normal)


def _as_written(reading: Reading, normal: Normalised) -> Reading:
    """The reading of a normal form with the offsets and words of the text as written."""
    text, words, tokens = reading.text, [], []
    for word in reading.words:
        start, end = normal.span(word.start, word.end)
        words.append(replace(word, start=start, end=end))
    for token in reading.tokens:
        start, end = normal.span(token.start, token.end)
        tokens.append(replace(token, start=start, end=end, text=text[start:end]))
    return Reading(text, tuple(words), tuple(tokens))


class Reader:
    """The readings of texts, as long as the last half million characters hold them; one reader serves all threads.

    Args:
        extractors: What finds the protected tokens.
    """

    def __init__(self, extractors: Sequence[Extractor]) -> None:
        self._extractors = tuple(extractors)
        self._readings: LRUCache[tuple[str, bool], Reading] = LRUCache(_KEPT_CHARACTERS, lambda r: len(r.text) + 1)
        self._pasts: LRUCache[tuple[Message, ...], Past] = LRUCache(_KEPT_HISTORIES, lambda past: past.size + 1)
        self._lock = Lock()

    def __call__(self, text: str, full: bool = True) -> Reading:
        """The reading of a text, tagged and parsed or, where not `full`, by its words alone."""
        with self._lock:
            known = self._readings.get((text, full))
        return known or self._read_and_keep([text], full=full)[0]

    def together(self, *texts: str) -> None:
        """Reads those of the texts that were not read before in one pass of the pipeline, and keeps them."""
        with self._lock:
            unread = [text for text in dict.fromkeys(texts) if (text, True) not in self._readings]
        if len(unread) > 1:
            self._read_and_keep(unread, full=True)

    def conversation(self, turn: str, rewrite: str, history: tuple[Message, ...]) -> tuple[Reading, Reading, Past]:
        """The readings of a turn, its rewrite and the messages before them; what is new in one pass of the pipeline."""
        self.together(turn, rewrite, *self.said(history))
        return self(turn), self(rewrite), self.past(history)

    def said(self, history: tuple[Message, ...]) -> list[str]:
        """The texts of a history that are read in full; none where the history was read before."""
        with self._lock:
            seen = history in self._pasts
        return [] if seen else [message.text for message in _latest(history) if _is_parsed(message)]

    def past(self, history: tuple[Message, ...]) -> Past:
        """The latest messages: what the user said in full, since it was a turn once, the rest by its words alone."""
        with self._lock:
            known = self._pasts.get(history)
        if known is None:
            messages = _latest(history)
            known = Past(messages, tuple(self(m.text[:MAX_MESSAGE], _is_parsed(m)) for m in messages))
            if sum(len(message.text) for message in history) <= _LONGEST_KEPT:
                with self._lock:
                    _keep(self._pasts, history, known)
        return known

    def _read_and_keep(self, texts: Sequence[str], *, full: bool) -> list[Reading]:
        with _PIPELINE:
            with self._lock:  # another thread may have read some of them meanwhile
                known = {text: self._readings[text, full] for text in texts if (text, full) in self._readings}
            unread = [text for text in texts if text not in known]
            made = dict(zip(unread, self._made(unread, full=full), strict=True))
        with self._lock:
            for text, reading in made.items():
                _keep(self._readings, (text, full), reading)
        return [known.get(text) or made[text] for text in texts]

    def _made(self, texts: Sequence[str], *, full: bool) -> list[Reading]:
        nlp = english()
        # The pipeline keeps every word that it ever saw; once it knows enough, it forgets those that are new to it.
        crowded = len(nlp.vocab.strings) > _KEPT_STRINGS
        lemmas = getattr(dict(nlp.pipeline).get("lemmatizer"), "cache", {})
        if len(lemmas) > _KEPT_LEMMAS:
            lemmas.clear()
        with nlp.memory_zone() if crowded else nullcontext():
            return list(read_all(texts, nlp, self._extractors, full=full))


def _keep(memory: LRUCache[_Key, _Value], key: _Key, value: _Value) -> None:
    """Keeps a value that is not larger than the whole memory."""
    if memory.getsizeof(value) <= memory.maxsize:
        memory[key] = value


def _is_parsed(message: Message) -> bool:
    return message.role is Role.USER and len(message.text) <= MAX_PARSED


def _latest(history: tuple[Message, ...]) -> tuple[Message, ...]:
    """As many of the latest messages as are read within the limits."""
    left, first = MAX_HISTORY, len(history)
    while first > max(0, len(history) - MAX_MESSAGES) and left >= len(history[first - 1].text[:MAX_MESSAGE]):
        first -= 1
        left -= len(history[first].text[:MAX_MESSAGE])
    return history[first:]
