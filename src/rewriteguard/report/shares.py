"""Shares with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

_Z = 1.959963984540054  # 97.5 % of a normal distribution lie below


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `n` rows; low and high bound its Wilson 95 % interval. All are 0 where there are no rows."""

    count: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.count / self.n if self.n else 0.0


def share(count: int, n: int) -> Share:
    """The share count / n.

    Source: Wilson, Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if not n:
        return Share(0, 0, 0.0, 0.0)
    p, weight = count / n, _Z**2 / n
    middle = (p + weight / 2) / (1 + weight)
    half = _Z * sqrt(p * (1 - p) / n + weight / (4 * n)) / (1 + weight)
    return Share(count, n, max(0.0, middle - half), min(1.0, middle + half))
