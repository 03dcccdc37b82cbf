"""Times calls side by side and compares their quantiles; knows nothing of what is timed."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

Call = Callable[[], Any]
_RESAMPLES = 400
_SEED = 3


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    Attributes:
        value: What was measured.
        n: On how many calls, or runs.
        unit: `x` is a ratio.
        low: Lower end of the 95 % interval; None where there is none.
        high: Upper end.
    """

    value: float
    n: int
    unit: str
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain JSON values, numbers to four significant digits."""
        fields = {key: value for key, value in asdict(self).items() if value is not None}
        return {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in fields.items()}


Figures = dict[str, Figure]


def seconds(call: Call) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def side_by_side(rounds: Iterable[Mapping[str, Call]]) -> dict[str, list[float]]:
    """The seconds of each arm, one entry a round.

    The arms of a round follow each other, so that a slow moment of the machine meets them all, and another one goes
    first in each round, so that none always finds what the one before it has warmed. A round is asked for once the one
    before it was timed: what the iterator prepares in between counts for nobody.
    """
    times: dict[str, list[float]] = {}
    for number, arms in enumerate(rounds):
        names = list(arms)
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            times.setdefault(name, []).append(seconds(arms[name]))
    return times


def quantile(times: Sequence[float], share: float) -> float:
    """The smallest time that at least `share` of the times do not exceed (nearest rank)."""
    return sorted(times)[max(0, math.ceil(share * len(times)) - 1)]


def compared(key: str, times: Mapping[str, Sequence[float]], arm: str, floor: str) -> Figures:
    """Quantiles in ms of an arm and of what it is held against, and their ratios.

    The keys are KEY-p50, KEY-p99, KEY-floor-p50, KEY-floor-p99, KEY-p50-x and KEY-p99-x.
    """
    return spread(key, times[arm]) | spread(f"{key}-floor", times[floor]) | ratios(key, times[arm], times[floor])


def spread(key: str, times: Sequence[float]) -> Figures:
    """KEY-p50 and KEY-p99 in ms."""
    return {f"{key}-p{p}": Figure(1e3 * quantile(times, p / 100), len(times), "ms") for p in (50, 99)}


def ratios(key: str, times: Sequence[float], floor: Sequence[float]) -> Figures:
    """KEY-p50-x and KEY-p99-x: the quantiles of `times` over those of `floor`; entry i of both is one round."""
    low, high = _interval(times, floor)
    p99 = quantile(times, 0.99) / quantile(floor, 0.99)
    return {
        f"{key}-p50-x": Figure(median(times) / median(floor), len(times), "x", low, high),
        f"{key}-p99-x": Figure(p99, len(times), "x"),
    }


def _interval(times: Sequence[float], floor: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the ratio of medians, by drawing rounds anew with replacement."""
    draw = random.Random(_SEED)
    drawn = []
    for _ in range(_RESAMPLES):
        rounds = draw.choices(range(len(times)), k=len(times))
        drawn.append(median(times[i] for i in rounds) / median(floor[i] for i in rounds))
    return quantile(drawn, 0.025), quantile(drawn, 0.975)
