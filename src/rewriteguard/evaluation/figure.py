"""One measured figure with its denominator and its interval, and the protocol's values as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import date
from enum import Enum
from math import sqrt
from typing import Any

_Z = 1.959963984540054  # 97.5 % of a normal distribution lie below


def plain(value: Any) -> Any:
    """The value as JSON knows it: dataclasses and mappings as objects, tuples as lists, enums and days as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


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


def share(count: int, n: int) -> Figure:
    """The share count / n with its Wilson 95 % interval; no value where n is 0."""
    if not n:
        return Figure(None, 0, count=0)
    return Figure(count / n, n, *wilson(count, n), count)


def wilson(count: int, n: int) -> tuple[float, float]:
    """The Wilson 95 % interval of the share count / n.

    In plain Python, since pages that need no numpy show it too.
    Source: Wilson, Journal of the American Statistical Association 22 (1927), 209-212.
    """
    p, weight = count / n, _Z**2 / n
    middle = (p + weight / 2) / (1 + weight)
    half = _Z * sqrt(p * (1 - p) / n + weight / (4 * n)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)
