"""The tokens of a turn and of its rewrite while they are being paired."""

from __future__ import annotations

from dataclasses import dataclass, field

from rewriteguard.extract import quantifier
from rewriteguard.extract.base import Facts
from rewriteguard.model.comparison import Pair
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Past, Reading

# People drop these freely: "can" in "how can I", "now", "some". An edit of the turn's own words may not exchange them.
_FREE = frozenset({(Kind.MODALITY, "ability"), (Kind.TIME, "present")}) | {
    (Kind.QUANTIFIER, value) for value in quantifier.WEAK
}


@dataclass
class Pairing:
    """The pairing under way: what of both sides still has no counterpart."""

    turn: Reading
    rewrite: Reading
    past: Past
    facts: Facts
    ours: list[ProtectedToken]
    theirs: list[ProtectedToken]
    kept: list[Pair] = field(default_factory=list)
    altered: list[Pair] = field(default_factory=list)
    unsure: list[Pair] = field(default_factory=list)
    said: list[ProtectedToken] = field(default_factory=list)
    edited: bool = False

    def settle(self, into: list[Pair], ours: ProtectedToken, theirs: ProtectedToken | None) -> None:
        """Takes a pair out of what is open. Said twice and kept once is kept, but two negations need two."""
        into.append(Pair(ours, theirs))
        self.ours.remove(ours)
        if theirs is not None and theirs in self.theirs:
            self.theirs.remove(theirs)
            if theirs.kind is not Kind.NEGATION:
                self.said.append(theirs)


def is_free(token: ProtectedToken) -> bool:
    """True for a token that people drop and add freely."""
    return (token.kind, token.value) in _FREE
