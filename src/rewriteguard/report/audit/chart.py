"""Where the points of a chart over time lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rewriteguard.evaluation.figure import Figure
    from rewriteguard.model.assessment import Verdict
    from rewriteguard.report.audit.summary import Group

WIDTH, HEIGHT = 1000, 100
_SCALES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)  # tops of the axis that read well


@dataclass(frozen=True, slots=True)
class Point:
    """One period: its place, and those of the share and its interval, from the top left corner.

    `joined` says whether the period before it has rows too, so that a line may join them.
    """

    x: float
    y: float
    low: float
    high: float
    joined: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """The share of one verdict over time: the points of the periods that have rows, and the share at the axis's top."""

    verdict: str
    points: tuple[Point, ...]
    top: float


def charts(periods: Sequence[Group], verdicts: Sequence[Verdict]) -> list[Chart]:
    """One chart for each verdict, all with one axis, so that their heights can be compared."""
    shares = [[(place, period.of(v)) for place, period in enumerate(periods) if period.rows] for v in verdicts]
    highest = max((share.high or 0.0 for points in shares for _, share in points), default=0.0)
    top = next(scale for scale in _SCALES if scale >= highest)
    step = WIDTH / max(1, len(periods))
    return [
        Chart(verdict.value, tuple(_points(points, step, top)), top)
        for verdict, points in zip(verdicts, shares, strict=True)
    ]


def _points(shares: Sequence[tuple[int, Figure]], step: float, top: float) -> Iterator[Point]:
    before = None
    for place, share in shares:
        y, low, high = (round(HEIGHT * (1 - (part or 0.0) / top), 2) for part in (share.value, share.low, share.high))
        yield Point(round((place + 0.5) * step, 1), y, low, high, joined=before == place - 1)
        before = place
