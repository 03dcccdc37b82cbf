"""The statistics of the reports beside shares: likelihood ratios, balanced accuracy, area under the curve."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt
from typing import Any

from rewriteguard.evaluation.figure import Figure, wilson

_Z = 1.959964  # two-sided 95 %


def told(figure: Figure) -> dict[str, Any]:
    """The figure as it stands in a results file, rounded to 4 digits and without what it has not."""
    fields = ((key, value) for key, value in figure.to_dict().items() if key == "value" or value is not None)
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in fields}


def likelihood_ratio(changed: int, n_changed: int, preserved: int, n_preserved: int) -> Figure:
    """Share among the changed over share among the preserved, and its 95 % interval on the log scale.

    One is added to the hits and one to the misses of each class, so that no hit is no infinite evidence; no value
    where there is no hit in either.
    Source of the interval: Katz et al., Biometrics 34 (1978), 469-474, on the smoothed counts.
    """
    if not changed and not preserved:
        return Figure(None, n_changed + n_preserved)
    a, b = changed + 1, preserved + 1
    n_a, n_b = n_changed + 2, n_preserved + 2
    value = (a / n_a) / (b / n_b)
    width = _Z * sqrt(1 / a - 1 / n_a + 1 / b - 1 / n_b)
    return Figure(value, n_changed + n_preserved, value * exp(-width), value * exp(width))


def balanced_accuracy(expected: Sequence[bool], found: Sequence[bool]) -> Figure:
    """The mean of the share found among the true and the share left among the false; a constant answer gets 0.5.

    The 95 % interval adds the squares of the two Wilson intervals. Source: Newcombe, Statistics in Medicine 17
    (1998), 873-890.
    """
    sides = [[e == f for e, f in zip(expected, found, strict=True) if e is side] for side in (True, False)]
    if not all(sides):
        return Figure(None, len(expected))
    shares = [sum(side) / len(side) for side in sides]
    ends = [wilson(sum(side), len(side)) for side in sides]
    value = sum(shares) / 2
    below = sqrt(sum((middle - low) ** 2 for middle, (low, _) in zip(shares, ends, strict=True))) / 2
    above = sqrt(sum((high - middle) ** 2 for middle, (_, high) in zip(shares, ends, strict=True))) / 2
    return Figure(value, len(expected), value - below, value + above)


def area_under_curve(changed: Sequence[float], preserved: Sequence[float]) -> Figure:
    """How often a changed item scores lower than a preserved one, ties half; 0.5 is a coin.

    The 95 % interval is that of Hanley and McNeil, Radiology 143 (1982), 29-36.
    """
    n, m = len(changed), len(preserved)
    if not n or not m:
        return Figure(None, n + m)
    value = sum((c < p) + (c == p) / 2 for c in changed for p in preserved) / (n * m)
    q, r = value / (2 - value), 2 * value**2 / (1 + value)
    spread = (value * (1 - value) + (n - 1) * (q - value**2) + (m - 1) * (r - value**2)) / (n * m)
    width = _Z * sqrt(max(spread, 0.0))
    return Figure(value, n + m, max(0.0, value - width), min(1.0, value + width))


def best_threshold(changed: Sequence[float], preserved: Sequence[float], false_rejection: float) -> float:
    """The score below which most changed items fall, while at most this share of the preserved ones does."""
    candidates = sorted({*changed, *preserved})
    allowed = false_rejection * len(preserved)
    return max((score for score in candidates if sum(p < score for p in preserved) <= allowed), default=0.0)
