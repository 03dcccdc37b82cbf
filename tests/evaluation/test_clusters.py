"""Which cases depend on each other."""

from __future__ import annotations

import random

import pytest

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.score.statistics import Draws, clusters_of, mean


def test_a_case_of_a_family_stays_in_its_conversation() -> None:
    cases = [Case("a", "?", conversation="one", family="pair"), Case("b", "?", conversation="one"), Case("c", "?")]
    assert clusters_of(cases) == {"a": "a", "b": "a", "c": "c"}


def test_a_family_joins_the_conversations_that_it_stands_in() -> None:
    cases = [
        Case("a", "?", conversation="one"),
        Case("b", "?", conversation="two"),
        Case("c", "?", conversation="two", family="pair"),
        Case("d", "?", conversation="one", family="pair"),
        Case("e", "?", conversation="three", family="other"),
    ]
    assert clusters_of(cases) == dict.fromkeys("abcd", "a") | {"e": "e"}
    assert len(set(clusters_of(cases[::-1]).values())) == 2


def test_names_of_different_sorts_do_not_collide() -> None:
    cases = [Case("a", "?", family="x"), Case("b", "?", conversation="x"), Case("x", "?")]
    assert len(set(clusters_of(cases).values())) == 3


@pytest.mark.parametrize("order", range(5))
def test_a_long_chain_is_one_cluster_in_any_order(order: int) -> None:
    cases = [Case(str(at), "?", conversation=str(at // 2), family=str((at + 1) // 2)) for at in range(5_000)]
    random.Random(order).shuffle(cases)
    assert set(clusters_of(cases).values()) == {cases[0].id}


def test_pairs_of_turns_that_are_families_leave_the_interval_as_wide_as_conversations_make_it() -> None:
    draw = random.Random(0)
    cases = [Case(f"{c}-{t}", "?", conversation=str(c), family=f"{c}-{t // 2}") for c in range(20) for t in range(6)]
    by_conversation = {str(c): float(draw.random() < 0.5) for c in range(20)}
    values = [by_conversation[case.conversation] for case in cases]
    clusters = clusters_of(cases)
    found = mean(values, Draws(), [clusters[case.id] for case in cases])
    assert found == mean(values, Draws(), [case.conversation for case in cases])
