"""What every kind shares: the extractor protocol, how two tokens of a kind compare, and the facts that need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

from spacy.tokens import Doc, Token

from rewriteguard.tokens import Kind, ProtectedToken


class Extractor(Protocol):
    """Finds the protected tokens of one kind in a text."""

    def __call__(self, doc: Doc) -> Iterable[ProtectedToken]:
        """The tokens of `doc`, in any order; offsets are code points of `doc.text`.

        A `doc` may come from the tokeniser alone (history messages): it then has no tags and no parse.
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


def token(kind: Kind, text: str, start: int, end: int, value: str, relation: str = "") -> ProtectedToken:
    """The token that stands at `text[start:end]`."""
    return ProtectedToken(kind, text[start:end], start, end, value, relation)


def stands_at(doc: Doc, word: Token, phrase: Sequence[str]) -> bool:
    """True where the words of `phrase`, in lower case, start at `word`."""
    if word.lower_ != phrase[0] or word.i + len(phrase) > len(doc):
        return False
    return all(doc[word.i + place].lower_ == part for place, part in enumerate(phrase))


def same_value(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME where value and relation are equal: the comparison of every kind that needs no other."""
    equal = ours.value == theirs.value and ours.relation == theirs.relation
    return Match.SAME if equal else Match.DIFFERENT
