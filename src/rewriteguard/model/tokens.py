"""The vocabulary of everything that follows: kinds of protected tokens, tokens, and the places words stand in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a protected token says; losing a token of some kinds widens a search, of others it reverses it."""

    TIME = "time"
    ENTITY = "entity"
    QUANTITY = "quantity"
    VERSION = "version"
    IDENTIFIER = "identifier"
    NEGATION = "negation"
    COMPARISON = "comparison"
    QUANTIFIER = "quantifier"
    MODALITY = "modality"
    ANSWER_TYPE = "answer_type"
    QUALIFIER = "qualifier"
    TOPIC = "topic"


LITERAL = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER})
"""The kinds that need no English word list."""


@dataclass(frozen=True, slots=True)
class ProtectedToken:
    """Words that a rewrite must keep.

    Attributes:
        kind: What the words say.
        text: The words as they stand in the text.
        start: Offset of the first code point in the text.
        end: Offset behind the last code point (half-open).
        value: Canonical form; two tokens of one kind with equal values and relations mean the same.
        relation: How the value bounds the question, in canonical form: `before`, `after`, `since` ... for times,
            `>`, `>=`, `<`, `<=`, `~` ... for quantities; empty where there is none.
        turn: Index of the history item the token comes from; None for the turn and for the rewrite.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: str
    relation: str = ""
    turn: int | None = None

    def at(self, turn: int) -> ProtectedToken:
        """The same token, marked as coming from history item `turn`."""
        return replace(self, turn=turn)

    def to_dict(self) -> dict[str, Any]:
        """The token as plain JSON values."""
        return {
            "kind": self.kind.value,
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "value": self.value,
            "relation": self.relation,
            "turn": self.turn,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words that show a finding.

    Attributes:
        where: `turn`, `rewrite` or `history`.
        text: The words as they stand there.
        start: Offset of the first code point in that text.
        end: Offset behind the last code point (half-open).
        turn: Index of the history item where `where` is `history`.
    """

    where: str
    text: str
    start: int
    end: int
    turn: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain JSON values."""
        return {"where": self.where, "text": self.text, "start": self.start, "end": self.end, "turn": self.turn}


def in_turn(token: ProtectedToken) -> Evidence:
    """A token of the turn as evidence."""
    return Evidence("turn", token.text, token.start, token.end)


def in_rewrite(token: ProtectedToken) -> Evidence:
    """A token of the rewrite as evidence."""
    return Evidence("rewrite", token.text, token.start, token.end)
