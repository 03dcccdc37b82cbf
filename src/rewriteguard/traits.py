"""What can be told of a turn before its rewriter is asked."""

from __future__ import annotations

from rewriteguard.assess import is_dependent
from rewriteguard.compare import counts
from rewriteguard.foreign.check import literal_kinds
from rewriteguard.language.detect import is_foreign
from rewriteguard.policy_classes import ENGLISH, Traits
from rewriteguard.reading import Past, Reading
from rewriteguard.scene import language_of_turn
from rewriteguard.tokens import Kind


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
