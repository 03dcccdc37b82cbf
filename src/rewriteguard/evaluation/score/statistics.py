"""The statistics of the protocol, paired by request and clustered by conversation: exact tests, intervals, bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from scipy.stats import bootstrap, monte_carlo_test, permutation_test
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure, share

_CONFIDENCE = 0.95
_FLIPS = 9_999  # of signs in the randomisation test; with it, p is at least 1 in 10,000
_AT_ONCE = 4_000_000  # numbers that a resampling holds in memory


def clusters_of(cases: Iterable[Case]) -> dict[str, str]:
    """The cluster of each case by its id; a cluster is named by the id of its first case.

    Cases of one conversation are in one cluster, and so are those of one family. A family that holds cases of two
    conversations thus joins these.
    """
    known = tuple(cases)
    joined = DisjointSet(("case", case.id) for case in known)
    for case in known:
        # A conversation and a family may have one name.
        for key in (("conversation", case.conversation), ("family", case.family)):
            if key[1]:
                joined.add(key)
                joined.merge(("case", case.id), key)
    named: dict[Any, str] = {}
    return {case.id: named.setdefault(joined["case", case.id], case.id) for case in known}


@dataclass(frozen=True, slots=True)
class Draws:
    """How resampling draws: how often for a bootstrap, and from which seed; each call starts at the seed."""

    resamples: int = 2_000
    seed: int = 0


def mean(values: Sequence[float], draws: Draws, clusters: Sequence[str] | None = None) -> Figure:
    """The mean with its 95 % percentile bootstrap interval.

    The interval draws requests, or whole clusters where they are named: requests of one conversation are not
    independent. There is no interval of fewer than two of them, and one without width where all values are equal.

    Args:
        values: One value a request.
        draws: How to resample.
        clusters: For each request the name of its cluster.
    """
    if not values:
        return Figure(None, 0)
    value, n = float(np.mean(values)), len(values)
    sums, sizes = _by_cluster(values, clusters)
    if len(sums) < 2:
        return Figure(value, n)
    found = bootstrap(
        (sums, sizes),
        _ratio,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=_CONFIDENCE,
        n_resamples=draws.resamples,
        batch=max(1, _AT_ONCE // len(sums)),
        rng=np.random.default_rng(draws.seed),
    ).confidence_interval
    return Figure(value, n, float(found.low), float(found.high))


def exact_mcnemar(lost: int, gained: int) -> float | None:
    """The two-sided p of the exact McNemar test of the discordant pairs; None where there are none."""
    if not lost + gained:
        return None
    return float(mcnemar([[0, lost], [gained, 0]], exact=True).pvalue)


def randomisation(differences: Sequence[float], draws: Draws) -> float | None:
    """The two-sided p of the paired randomisation test of a mean difference; None where there are no pairs.

    Under the null hypothesis each difference could as well have the other sign. All signs are tried where that takes
    no more than 9,999 flips, as with up to 13 differences that are not 0; else so many are drawn.
    """
    moved = np.array([each for each in differences if each])  # a difference of 0 has no sign to flip
    if len(moved) < 2:  # either sign of one difference is as far from 0
        return 1.0 if differences else None
    if 2 ** len(moved) <= _FLIPS:
        exact = permutation_test((moved,), np.mean, permutation_type="samples", vectorized=True, n_resamples=_FLIPS)
        return float(exact.pvalue)
    # permutation_test draws its flips by sorting, which takes ten times as long.
    rng, sizes = np.random.default_rng(draws.seed), np.abs(moved)
    drawn = monte_carlo_test(
        np.sign(moved),
        lambda size: rng.choice((-1.0, 1.0), size),
        lambda signs, axis: (signs * sizes).mean(axis=axis),
        vectorized=True,
        n_resamples=_FLIPS,
        batch=max(1, _AT_ONCE // len(moved)),
    )
    return float(drawn.pvalue)


def failures(count: int, n: int) -> Figure:
    """The share count / n of failures; with none seen, `high` is `bound_of_none`, else the interval is Wilson's."""
    if count or not n:
        return share(count, n)
    return Figure(0.0, n, 0.0, bound_of_none(n), 0)


def bound_of_none(n: int) -> float:
    """The upper 95 % bound of the share of failures where none of n failed: 1 - 0.05 ** (1 / n), 1.5 % of 200.

    The exact one-sided bound of Clopper and Pearson; the rule of three, 3 / n, is its approximation for large n.
    Source: Hanley and Lippman-Hand, JAMA 249 (1983), 1743-1745.
    """
    _, high = proportion_confint(0, n, alpha=2 * (1 - _CONFIDENCE), method="beta")
    return float(high)


def _by_cluster(values: Sequence[float], clusters: Sequence[str] | None) -> tuple[Any, Any]:
    """The sum of each cluster and its size, in the order of first appearance."""
    if clusters is None:
        return np.asarray(values, dtype=float), np.ones(len(values))
    places = {name: at for at, name in enumerate(dict.fromkeys(clusters))}
    members = [places[name] for name in clusters]
    return np.bincount(members, weights=values), np.bincount(members).astype(float)


def _ratio(sums: Any, sizes: Any, axis: int = -1) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)
