from __future__ import annotations

from dataclasses import dataclass

from rewriteguard.tokens import ProtectedToken


@dataclass(frozen=True, slots=True)
class Comparison:
    """Placeholder shape, replaced by the comparison work."""

    kept: tuple[tuple[ProtectedToken, ProtectedToken], ...] = ()
    dropped: tuple[ProtectedToken, ...] = ()
    altered: tuple[tuple[ProtectedToken, ProtectedToken], ...] = ()
    invented: tuple[ProtectedToken, ...] = ()
    carried: tuple[ProtectedToken, ...] = ()
