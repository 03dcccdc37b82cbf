"""Reads texts and histories, each once: what was read before comes from memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from threading import Lock
from typing import TypeVar

from cachetools import LRUCache

from rewriteguard.extract.base import Extractor
from rewriteguard.language.pipeline import english
from rewriteguard.model.conversation import MAX_MESSAGE, MAX_MESSAGES, Message, Role
from rewriteguard.reading.text import Past, Reading, read_all

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
            made = dict(zip(unread, self._read(unread, full=full), strict=True))
        with self._lock:
            for text, reading in made.items():
                _keep(self._readings, (text, full), reading)
        return [known.get(text) or made[text] for text in texts]

    def _read(self, texts: Sequence[str], *, full: bool) -> list[Reading]:
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
