"""The results as a whole: arms, groups, regressions, the constraint matrix, turns, and their plain JSON."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from typing import Any

import pytest

from rewriteguard import Guard
from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.run.outcome import SHARED, ArmName, Ended, Outcome
from rewriteguard.evaluation.score.assemble import assemble
from rewriteguard.evaluation.score.results import Group, Ranked
from rewriteguard.evaluation.score.statistics import Draws
from rewriteguard.model.tokens import Kind

DRAWS = Draws(resamples=200)
YEAR = Contract((Constraint(Kind.TIME, "2023"),))
CASES = [
    Case("a", "fares in 2023?", contract=YEAR, relevant=("x",), near_misses=("y",), conversation="1", turn=1),
    Case("b", "And for 2023?", contract=YEAR, relevant=("x",), conversation="1", turn=2, slices=("fees",)),
    Case("c", "And boats?", relevant=("x",), conversation="2", turn=3),
]
GROUPS = [Group("dates", ("a", "b"), enforced=True), Group("fees", ("b",), enforced=False)]


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


def did(case: str, arm: ArmName, query: str, *results: str, rewriter: str = "r", **others: Any) -> Outcome:
    label = "" if arm in SHARED else rewriter
    values = {"status": Ended.OK, "queries": (query,), "rewrite": None if arm in SHARED else query} | others
    return Outcome(case, arm, label, results=results, **values)


OUTCOMES = [
    did("a", ArmName.ORIGINAL, "fares in 2023?", "x", "n"),
    did("b", ArmName.ORIGINAL, "And for 2023?", "n"),
    did("c", ArmName.ORIGINAL, "And boats?", "x"),
    did("a", ArmName.REWRITE, "fares in 2022", "y", "n"),
    did("b", ArmName.REWRITE, "fares", "n"),
    did("c", ArmName.REWRITE, "boat fares", "x"),
    did("a", ArmName.GUARDED, "fares in 2023?", "x", action="fall_back", reasons=("altered.time",)),
    did("b", ArmName.GUARDED, "And for 2023?", "x"),
    did("c", ArmName.GUARDED, "And boats?", "n", action="fuse"),
]


def test_arms_stand_in_order_with_what_they_are_held_against(guard: Guard) -> None:
    found = assemble(CASES, OUTCOMES[::-1], GROUPS, k=2, extract=guard.extract, draws=DRAWS)
    assert [(each.rewriter, each.arm) for each in found.arms] == [("", "original"), ("r", "rewrite"), ("r", "guarded")]
    original, rewrite, guarded = found.arms
    assert (original.over_original, rewrite.over_rewrite) == (None, None)
    assert (rewrite.over_original.lost, rewrite.over_original.gained) == (1, 0)
    assert (guarded.over_original.lost, guarded.over_original.gained) == (1, 1)
    assert (guarded.over_rewrite.base, guarded.over_rewrite.lost, guarded.over_rewrite.gained) == ("rewrite", 1, 2)
    assert (found.requests, found.clusters, found.judged, found.contracts, found.rewriters) == (3, 2, 3, 2, ("r",))


def test_the_guarded_arm_is_held_against_doing_without_on_the_requests_of_both(guard: Guard) -> None:
    """What the search without a rewriter finds for requests that the rewriter never saw is no gain of it."""
    seen = [each for each in OUTCOMES if each.case != "c" or each.arm is ArmName.ORIGINAL]
    without = [did(case, ArmName.WITHOUT, case, found) for case, found in (("a", "x"), ("b", "n"), ("c", "x"))]
    found = assemble(CASES, [*seen, *without], GROUPS, k=2, extract=guard.extract, draws=DRAWS)
    (guarded,) = [each for each in found.arms if each.arm == "guarded"]
    pair = guarded.over_without
    assert (pair.base, pair.n, pair.lost, pair.gained) == ("without_rewrite", 2, 0, 1)
    assert pair.difference.value == 0.5
    assert {each.over_without for each in found.arms if each is not guarded} == {None}
    every = assemble(CASES, [*OUTCOMES, *without], GROUPS, k=2, extract=guard.extract, draws=DRAWS)
    assert every.arms[-1].over_without.lost == 1
    assert {each.base for each in every.regressions} == {"original", "rewrite"}  # it is no regression


def test_groups_are_scored_by_themselves_in_the_order_given(guard: Guard) -> None:
    found = assemble(CASES, OUTCOMES, GROUPS, k=2, extract=guard.extract, draws=DRAWS)
    assert [(each.name, each.enforced, each.requests) for each in found.groups] == [
        ("dates", True, 2),
        ("fees", False, 1),
    ]
    assert [each.scores.evidence.recall.value for each in found.groups[0].arms] == [0.5, 0.0, 1.0]
    assert [each.scores.preservation.value for each in found.groups[0].arms] == [1.0, 0.0, 1.0]


def test_a_group_of_unknown_cases_is_an_error(guard: Guard) -> None:
    with pytest.raises(InputError, match="group 'dates': expected ids of the cases, got 'z'"):
        assemble(CASES, OUTCOMES, [Group("dates", ("a", "z"), enforced=True)], k=2, extract=guard.extract)


def test_regressions_show_both_rankings_and_what_was_lost(guard: Guard) -> None:
    found = assemble(CASES, OUTCOMES, (), k=2, extract=guard.extract, draws=DRAWS).regressions
    assert [(each.case, each.arm, each.base) for each in found] == [
        ("a", "rewrite", "original"),
        ("c", "guarded", "original"),
        ("c", "guarded", "rewrite"),
    ]
    first = found[0]
    assert (first.turn, first.original, first.rewrite) == (1, "fares in 2023?", "fares in 2022")
    assert (first.base_queries, first.queries) == (("fares in 2023?",), ("fares in 2022",))
    assert first.base_results == (Ranked("x", "relevant"), Ranked("n", ""))
    assert first.results == (Ranked("y", "near_miss"), Ranked("n", ""))
    assert (first.dropped, first.stage) == (("2023",), "rewrite")
    assert (found[1].stage, found[1].action) == ("rewrite", "fuse")


def test_the_matrix_has_a_row_for_each_clause_arm_and_rewriter(guard: Guard) -> None:
    found = assemble(CASES, OUTCOMES, (), k=2, extract=guard.extract, draws=DRAWS)
    rows = {(each.case, each.arm): each for each in found.constraints}
    assert len(rows) == len(found.constraints) == 6
    row = rows["a", "rewrite"]
    assert (row.kind, row.asked, row.fate, row.instead, row.query) == ("time", "2023", "altered", "2022", 0)
    assert [rows[name, "rewrite"].evidence for name in "ab"] == ["near_miss", "missing"]
    assert (rows["b", "rewrite"].fate, rows["b", "guarded"].fate) == ("dropped", "kept")
    kinds = {(each.arm, each.kind): (each.asked, each.kept, each.altered, each.dropped) for each in found.kinds}
    assert kinds["rewrite", "time"] == (2, 0, 1, 1)
    assert kinds["original", "time"] == (2, 2, 0, 0)


def test_recall_by_the_place_of_the_turn(guard: Guard) -> None:
    found = assemble(CASES, OUTCOMES, (), k=2, extract=guard.extract, draws=DRAWS)
    turns = {(each.arm, each.turn): (each.recall.value, each.recall.n) for each in found.turns}
    assert turns["rewrite", "1"] == (0.0, 1)
    assert turns["rewrite", "later"] == (0.5, 2)
    assert (turns["original", "2"], turns["original", "3"]) == ((0.0, 1), (1.0, 1))


def test_the_results_are_plain_json_and_do_not_depend_on_the_order(guard: Guard) -> None:
    told = [
        assemble(CASES, outcomes, GROUPS, k=2, extract=guard.extract, draws=DRAWS, vocabulary={"terms": 3}).to_dict()
        for outcomes in (OUTCOMES, OUTCOMES[::-1])
    ]
    assert json.loads(json.dumps(told[0], allow_nan=False)) == told[0] == told[1]
    assert told[0]["vocabulary"] == {"terms": 3}
    assert told[0]["groups"][0]["arms"][1]["scores"]["preservation"] == {
        "value": 0.0,
        "n": 2,
        "low": 0.0,
        "high": pytest.approx(0.6576, abs=1e-4),
        "count": 0,
    }


def test_an_asked_user_without_a_contract_is_a_regression_of_the_rewrite(guard: Guard) -> None:
    asked = replace(OUTCOMES[8], status=Ended.CLARIFIED, queries=(), results=())
    found = assemble(CASES, [*OUTCOMES[:8], asked], (), k=2, extract=guard.extract, draws=DRAWS).regressions
    assert {(each.case, each.status, each.stage) for each in found[1:]} == {("c", "clarified", "rewrite")}


def test_outcomes_of_other_cases_are_left_out_and_none_are_no_crash(guard: Guard) -> None:
    found = assemble(CASES[:1], OUTCOMES, (), k=2, extract=guard.extract, draws=DRAWS)
    assert {each.scores.requests for each in found.arms} == {1}
    assert assemble(CASES, (), GROUPS, k=2, extract=guard.extract).to_dict()["arms"] == []


def test_396_cases_three_rewriters_and_six_arms_take_seconds() -> None:
    draw = random.Random(5)
    cases, outcomes = [], []
    for at in range(396):
        contract = Contract((Constraint(Kind.TIME, str(1950 + at % 80)), Constraint(Kind.TOPIC, "fares")))
        original = f"fares of line {at} in {1950 + at % 80}?"
        cases.append(
            Case(str(at), original, contract=contract, relevant=("x", "y"), conversation=str(at // 4), turn=at % 4 + 1)
        )
        for arm in (ArmName.ORIGINAL, ArmName.HUMAN, ArmName.WITHOUT, ArmName.REWRITE, ArmName.BOTH, ArmName.GUARDED):
            for rewriter in ("",) if arm in SHARED else ("one", "two", "three"):
                query = original if draw.random() < 0.8 else f"fares of line {at} {rewriter} last spring"
                results = draw.sample(["x", "y", *(f"n{n}" for n in range(30))], 10)
                outcomes.append(did(str(at), arm, query, *results, rewriter=rewriter))
    groups = [Group(f"class {n}", tuple(case.id for case in cases[n::8]), enforced=True) for n in range(8)]
    start = time.process_time()
    found = assemble(cases, outcomes, groups, k=10, extract=lambda _: ())  # a guard that read the queries before
    assert time.process_time() - start < 20
    assert len(found.arms) == 12
    assert len(found.constraints) == 396 * 12 * 2


def test_a_family_within_a_conversation_makes_no_cluster_of_its_own(guard: Guard) -> None:
    cases = [replace(CASES[0], family="pair"), CASES[1], replace(CASES[2], conversation="3", family="pair")]
    cases += [replace(CASES[1], id=name, conversation=name) for name in "de"]
    outcomes = [*OUTCOMES, *(replace(each, case=name) for each in OUTCOMES if each.case == "b" for name in "de")]
    found = assemble(cases, outcomes, (), k=2, extract=guard.extract, draws=DRAWS)
    assert found.clusters == 3
    joined = assemble(
        [replace(case, family="", conversation="1" if case.id in "abc" else case.id) for case in cases],
        outcomes,
        (),
        k=2,
        extract=guard.extract,
        draws=DRAWS,
    )
    assert found.turns == joined.turns
    for ours, theirs in zip(found.arms, joined.arms, strict=True):
        assert (ours.scores.evidence, ours.over_original) == (theirs.scores.evidence, theirs.over_original)
