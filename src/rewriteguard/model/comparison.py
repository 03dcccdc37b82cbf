"""The tokens of a turn and of its rewrite, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewriteguard.model.tokens import ProtectedToken


@dataclass(frozen=True, slots=True)
class Pair:
    """A token of the turn and what stands for it in the rewrite; None where other words of the rewrite say it."""

    ours: ProtectedToken
    theirs: ProtectedToken | None

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain JSON values."""
        return {"turn": self.ours.to_dict(), "rewrite": self.theirs.to_dict() if self.theirs else None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tokens of a turn and of its rewrite, side by side, in reading order.

    Attributes:
        kept: Tokens of the turn that the rewrite says too.
        dropped: Tokens of the turn that the rewrite does not say.
        altered: Tokens of the turn in whose place the rewrite says something else.
        unsure: Pairs that cannot be compared, such as "last year" and a date without a reference date.
        invented: Tokens of the rewrite that neither the turn nor the history says.
        carried: Tokens of the rewrite that come from the history; `turn` is the index of the source.
    """

    kept: tuple[Pair, ...] = ()
    dropped: tuple[ProtectedToken, ...] = ()
    altered: tuple[Pair, ...] = ()
    unsure: tuple[Pair, ...] = ()
    invented: tuple[ProtectedToken, ...] = ()
    carried: tuple[ProtectedToken, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {
            "kept": [pair.to_dict() for pair in self.kept],
            "dropped": [token.to_dict() for token in self.dropped],
            "altered": [pair.to_dict() for pair in self.altered],
            "unsure": [pair.to_dict() for pair in self.unsure],
            "invented": [token.to_dict() for token in self.invented],
            "carried": [token.to_dict() for token in self.carried],
        }
