"""Tests, intervals and bounds against figures that are known, and against other ways to compute them."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from rewriteguard.evaluation.score.statistics import Draws, bound_of_none, exact_mcnemar, failures, mean, randomisation

DRAWS = Draws(seed=7)


@pytest.mark.parametrize(
    ("lost", "gained", "p"),
    [(18, 30, 0.1114), (30, 18, 0.1114), (5, 5, 1.0), (0, 6, 2 * 0.5**6), (1, 0, 1.0)],
)
def test_mcnemar_is_exact_and_two_sided(lost: int, gained: int, p: float) -> None:
    assert exact_mcnemar(lost, gained) == pytest.approx(p, abs=1e-4)
    n = lost + gained
    by_hand = sum(comb(n, i) for i in range(min(lost, gained) + 1)) / 2**n * 2
    assert exact_mcnemar(lost, gained) == pytest.approx(min(1.0, by_hand))


def test_mcnemar_reference_is_printed_as_known() -> None:
    assert f"p = {exact_mcnemar(18, 30):.2f}" == "p = 0.11"


def test_mcnemar_without_discordant_pairs_says_nothing() -> None:
    assert exact_mcnemar(0, 0) is None


def test_a_small_randomisation_test_tries_all_signs() -> None:
    differences = [0.5, 0.0, 0.25, 1.0, -0.1, 0.0, 0.3]
    moved = [each for each in differences if each]
    means = [sum(s * d for s, d in zip(signs, moved, strict=True)) for signs in product((1, -1), repeat=len(moved))]
    p = sum(abs(each) >= abs(sum(moved)) - 1e-12 for each in means) / len(means)
    assert randomisation(differences, DRAWS) == pytest.approx(p)
    assert randomisation(differences, Draws(seed=8)) == randomisation(differences, DRAWS)


def test_a_drawn_randomisation_test_agrees_with_the_exact_one() -> None:
    # 18 against 30 of one size: the sum depends on the number of signs alone, so that p is McNemar's.
    p = randomisation([-1.0] * 18 + [1.0] * 30 + [0.0] * 300, DRAWS)
    assert p == pytest.approx(0.1114, abs=0.012)
    assert p == randomisation([-1.0] * 18 + [1.0] * 30, DRAWS)  # seeded, and pairs without difference do not matter


def test_randomisation_of_no_difference_and_of_nothing() -> None:
    assert randomisation([0.0, 0.0], DRAWS) == 1.0
    assert randomisation([0.5], DRAWS) == 1.0
    assert randomisation([], DRAWS) is None


def test_none_of_200_is_bounded_by_one_and_a_half_percent() -> None:
    found = failures(0, 200)
    assert (found.value, found.low, found.count, found.n) == (0.0, 0.0, 0, 200)
    assert f"{found.high:.1%}" == "1.5%"
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 200))
    assert bound_of_none(3) == pytest.approx(0.6316, abs=1e-4)  # where the rule of three would say 100 %


def test_some_failures_have_wilsons_interval() -> None:
    found = failures(2, 50)
    assert (found.low, found.high) == pytest.approx((0.01104, 0.13460), abs=1e-4)
    assert failures(0, 0).value is None


def test_mean_by_request_has_about_the_normal_interval() -> None:
    values = list(np.random.default_rng(1).random(400))
    found = mean(values, DRAWS)
    half = 1.96 * np.std(values) / 20
    assert found.value == pytest.approx(np.mean(values))
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=0.004)
    assert mean(values, DRAWS) == found


def test_clusters_of_equal_requests_widen_the_interval() -> None:
    values = [float(at % 2) for at in range(40)]
    alone = mean([each for each in values for _ in range(10)], DRAWS)
    names = [f"c{at}" for at in range(40) for _ in range(10)]
    together = mean([each for each in values for _ in range(10)], DRAWS, names)
    # 40 clusters of 10 equal values say as much as 40 values, so that the interval is sqrt(10) times as wide.
    widths = [found.high - found.low for found in (together, alone)]
    assert widths[0] / widths[1] == pytest.approx(10**0.5, rel=0.12)
    assert together.value == alone.value == 0.5


def test_clusters_of_several_sizes_keep_the_mean_over_requests() -> None:
    found = mean([1.0, 1.0, 1.0, 0.0], DRAWS, ["a", "a", "a", "b"])
    assert found.value == 0.75
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_mean_of_one_cluster_has_no_interval_and_of_nothing_no_value() -> None:
    found = mean([0.2, 0.4], DRAWS, ["a", "a"])
    assert (found.low, found.high) == (None, None)
    assert found.value == pytest.approx(0.3)
    assert mean([], DRAWS).value is None


def test_equal_values_have_an_interval_without_width() -> None:
    found = mean([1.0] * 9, DRAWS)
    assert (found.low, found.high) == (1.0, 1.0)
