"""Retrieval measures: what counts, what is left out, and what is nothing found."""

from __future__ import annotations

import pytest

from rewriteguard.evaluation.cases.case import Case, Contract
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.score.runs import measured

ASK = Contract(unresolved="it", readings=("the boat", "the bus"))


def did(case: str, *results: str, status: Ended = Ended.OK) -> Outcome:
    return Outcome(case, ArmName.REWRITE, "r", status, queries=("q",), results=results)


def test_measures_by_hand() -> None:
    found = measured([Case("a", "?", relevant=("x", "y"))], {"a": did("a", "n", "x", "m", "y")}, 3)["a"]
    assert found.recall == 0.5
    assert found.mrr == 0.5
    assert found.ndcg == pytest.approx((1 / 1.5849625) / (1 + 1 / 1.5849625))
    assert found.found


def test_only_the_first_k_count_and_each_document_once() -> None:
    case = Case("a", "?", relevant=("x", "y"))
    assert not measured([case], {"a": did("a", "1", "2", "x")}, 2)["a"].found
    assert measured([case], {"a": did("a", "x", "x", "y")}, 3)["a"].recall == 1.0
    assert measured([case], {"a": did("a", "x", "x", "y")}, 2)["a"].recall == 0.5


@pytest.mark.parametrize("status", [Ended.EMPTY, Ended.ERROR, Ended.CLARIFIED])
def test_nothing_found_is_nothing_found_whatever_the_reason(status: Ended) -> None:
    found = measured([Case("a", "?", relevant=("x",))], {"a": did("a", status=status)}, 5)
    assert (found["a"].recall, found["a"].mrr, found["a"].found) == (0.0, 0.0, False)


def test_requests_nobody_judged_and_those_not_run_are_left_out() -> None:
    cases = [Case("a", "?"), Case("b", "?", relevant=("x",)), Case("c", "?", relevant=("x",))]
    assert list(measured(cases, {"a": did("a", "x"), "c": did("c", "x")}, 5)) == ["c"]
    assert measured(cases[:1], {"a": did("a", "x")}, 5) == {}


def test_a_right_question_is_left_out_and_a_wrong_one_found_nothing() -> None:
    cases = [
        Case("a", "?", relevant=("x",), contract=ASK),
        Case("b", "?", relevant=("x",), contract=Contract()),
        Case("c", "?", relevant=("x",), contract=ASK),
    ]
    outcomes = {name: did(name, status=Ended.CLARIFIED) for name in "ab"} | {"c": did("c", "x")}
    found = measured(cases, outcomes, 5)
    assert list(found) == ["b", "c"]
    assert not found["b"].found
    assert found["c"].found


def test_many_requests_keep_their_own_values() -> None:
    cases = [Case(f"case {at}", "?", relevant=(str(at),)) for at in range(12)]
    outcomes = {case.id: did(case.id, *(str(n) for n in range(12))) for case in cases}
    found = measured(cases, outcomes, 12)
    assert [round(1 / found[case.id].mrr) for case in cases] == list(range(1, 13))
