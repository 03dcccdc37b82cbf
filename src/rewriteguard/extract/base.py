"""What every kind shares: the protocol, how two tokens of a kind compare, and the loops over words and patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

from spacy.tokens import Doc, Token

from rewriteguard.model.tokens import Kind, ProtectedToken

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


def end_of(doc: Doc, word: Token, length: int) -> int:
    """The offset behind `length` words from `word` on."""
    last = word if length == 1 else doc[word.i + length - 1]
    return last.idx + len(last)


def scan(doc: Doc, kind: Kind, read: Callable[[Doc, Token], tuple[int, str] | None]) -> Iterable[ProtectedToken]:
    """The tokens of one kind in reading order; a word that one took starts no other.

    Args:
        doc: The text.
        kind: The kind.
        read: Gives the number of words and the value of the token that starts at a word; None where none does.
    """
    text, behind = text_of(doc), 0
    for word in words_of(doc):
        found = read(doc, word) if word.i >= behind else None
        if found is not None:
            length, value = found
            behind = word.i + length
            yield token(kind, text, word.idx, end_of(doc, word, length), value)


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern and what it means.

    Attributes:
        pattern: Where the words may be a token.
        value: The canonical value of a match; None where it is no token after all.
        needs: Of which a text must hold one for the pattern to be tried at all; all texts where empty. Characters, or
            runs of letters in lower case.
        trailing: Characters that end the sentence and not the token.
    """

    pattern: re.Pattern[str]
    value: Callable[[re.Match[str]], str | None]
    needs: frozenset[str]
    trailing: str = ""

    def value_of(self, m: re.Match[str]) -> str | None:
        """The canonical value of a match, without what ends the sentence."""
        value = self.value(m)
        return value.rstrip(self.trailing) if value else None


def claim(taken: bytearray, start: int, end: int) -> bool:
    """True where nothing took a character of `start` to `end` before; takes them."""
    free = taken.find(1, start, end) < 0
    if free:
        taken[start:end] = b"\1" * (end - start)
    return free


def matches(forms: Iterable[Form], text: str, held: frozenset[str], taken: bytearray) -> Iterable[tuple[int, int, str]]:
    """Start, end and value of what the forms find; where two find the same characters, the earlier form has them.

    Args:
        forms: The forms.
        text: The text.
        held: What the text holds of what forms need.
        taken: One byte a character of the text, 1 where something has it; what is found is marked.
    """
    for form in forms:
        for m in form.pattern.finditer(text) if not form.needs or form.needs & held else ():
            value, end = form.value_of(m), m.start() + len(m[0].rstrip(form.trailing))
            if value and claim(taken, m.start(), end):
                yield m.start(), end, value


def either(words: Iterable[str]) -> str:
    """An alternation of the words, longest first; a space stands for up to three."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s{1,3}") for word in ordered) + ")"


def group(m: re.Match[str], name: str) -> str:
    """The words of a group in lower case with single spaces; empty where the pattern or the match lacks it."""
    return " ".join((m.groupdict().get(name) or "").lower().split())


def same_value(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME where value and relation are equal: the comparison of every kind that needs no other."""
    equal = ours.value == theirs.value and ours.relation == theirs.relation
    return Match.SAME if equal else Match.DIFFERENT
