"""One measured figure with its denominator and its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    Attributes:
        value: The estimate; None where there was nothing to measure.
        n: How many items it was measured on.
        low: Lower end of the 95 % interval; None where there is none.
        high: Upper end.
        count: How many of the n, where the figure is a share.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    count: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain JSON values."""
        return asdict(self)
