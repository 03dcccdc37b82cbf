"""What can be told of a turn before its rewriter is asked."""

from __future__ import annotations

from rewriteguard.check.assess import is_dependent
from rewriteguard.check.compare import counts
from rewriteguard.check.foreign.check import literal_kinds
from rewriteguard.check.view import language_of_turn
from rewriteguard.language.detect import is_foreign
from rewriteguard.model.tokens import Kind
from rewriteguard.policy.classes import ENGLISH, Traits
from rewriteguard.reading.text import Past, Reading


def traits_of(text: str, turn: Reading, past: Past) -> Traits:
    """The traits of a turn.

    Args:
        text: The turn as written.
        turn: The part of it that is read.
        past: The messages before it.
    """
    language = language_of_turn(turn, past)
    foreign = is_foreign(language)
    kinds = literal_kinds(turn.text, language) if foreign else _kinds(turn)
    return Traits(kinds, is_dependent(turn, past), language if foreign else ENGLISH, len(text.split()))


def _kinds(turn: Reading) -> frozenset[Kind]:
    """The kinds of what is asked; not of filler, nor of what the user took back."""
    return frozenset(token.kind for token in turn.tokens if counts(turn, token))
