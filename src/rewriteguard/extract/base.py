"""What every kind shares: the extractor protocol, how two tokens of a kind compare, and the facts that need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from spacy.tokens import Doc, Token

from rewriteguard.model.tokens import Kind, ProtectedToken

Meaning = TypeVar("Meaning")
_TEXT, _WORDS = "rewriteguard.text", "rewriteguard.words"


class Extractor(Protocol):
    """Finds the protected tokens of one kind in a text."""

    def __call__(self, doc: Doc) -> Iterable[ProtectedToken]:
        """The tokens of `doc`, in any order; offsets are code points of `doc.text`.

        A `doc` may come from the tokeniser alone (history messages): it then has no tags and no parse. It is valid
        during the call only: keep texts and offsets, never the doc or its words, and ask no guard from here.
        """
        ...


class Match(StrEnum):
    """How a token of the turn and a token of the rewrite compare."""

    SAME = "same"
    NARROWER = "narrower"  # the rewrite's token says all of the turn's and more (a year added to a day)
    UNKNOWN = "unknown"  # cannot be decided (a relative period and a date, without a reference date)
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a comparison may know beside the two tokens.

    Attributes:
        reference_date: The day that "today" means; None where the caller did not say.
        equivalents: For each name in canonical form, the canonical forms that mean the same (acronyms, aliases).
    """

    reference_date: date | None = None
    equivalents: Mapping[str, frozenset[str]] = field(default_factory=dict)


Same = Callable[[ProtectedToken, ProtectedToken, Facts], Match]
"""Compares a token of the turn with one of the rewrite, both of one kind."""


def text_of(doc: Doc) -> str:
    """The text of `doc`, which itself would put it together anew each time."""
    kept: str | None = doc.user_data.get(_TEXT)
    return doc.text if kept is None else kept


def words_of(doc: Doc) -> Sequence[Token]:
    """The words and marks of `doc`, which itself would wrap each of them anew each time."""
    kept: Sequence[Token] | None = doc.user_data.get(_WORDS)
    return list(doc) if kept is None else kept


@contextmanager
def unfolded(doc: Doc) -> Iterator[None]:
    """Keeps text and words of `doc` at hand while its tokens are looked for."""
    if _WORDS in doc.user_data:  # an extractor that runs the built-in ones itself
        yield
        return
    doc.user_data[_TEXT], doc.user_data[_WORDS] = doc.text, list(doc)
    try:
        yield
    finally:
        del doc.user_data[_TEXT], doc.user_data[_WORDS]  # the words hold the doc


def token(kind: Kind, text: str, start: int, end: int, value: str, relation: str = "") -> ProtectedToken:
    """The token that stands at `text[start:end]`."""
    return ProtectedToken(kind, text[start:end], start, end, value, relation)


class Phrases(Generic[Meaning]):
    """Word sequences in lower case and what each means, looked up where they stand; of two, the one listed first.

    Args:
        listed: The phrases, most telling first.
    """

    def __init__(self, listed: Iterable[tuple[Sequence[str], Meaning]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        for phrase, meaning in listed:
            self._by_first.setdefault(phrase[0], []).append((tuple(phrase), meaning))

    def at(self, doc: Doc, word: Token) -> tuple[int, Meaning] | None:
        """The number of words and the meaning of the phrase that starts at `word`."""
        for phrase, meaning in self._by_first.get(word.lower_, ()):
            if tuple(part.lower_ for part in doc[word.i : word.i + len(phrase)]) == phrase:
                return len(phrase), meaning
        return None


def same_value(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME where value and relation are equal: the comparison of every kind that needs no other."""
    equal = ours.value == theirs.value and ours.relation == theirs.relation
    return Match.SAME if equal else Match.DIFFERENT
