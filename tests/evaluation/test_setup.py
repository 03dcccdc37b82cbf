"""What is read of an index before a run, so that a run that goes on finds the one it began with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rewriteguard import Guard
from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.errors import ConditionsError
from rewriteguard.evaluation.run.conditions import Conditions
from rewriteguard.evaluation.run.setup import Setup

CASES = [Case(f"c{place}", f"What does plan {place} cost?", relevant=(f"d{place}",)) for place in range(32)]
GUARD = Guard()


class Index:
    """Documents by the turn that they answer; told by its name alone."""

    def __init__(self, cases: list[Case]) -> None:
        self.documents = {case.original: [{"id": case.relevant[0], "text": "10 euros"}] for case in cases}
        self.fails: Callable[[str], bool] = lambda query: False

    def search(self) -> Callable[[str], Any]:
        cache = self  # what is kept under such a name is no setting

        def search(query: str) -> list[dict[str, str]]:
            if cache.fails(query):
                raise TimeoutError
            return cache.documents.get(query, [])

        return search


def conditions(index: Index, cases: list[Case] = CASES) -> Conditions:
    return Setup(cases, index.search(), {}, guard=GUARD).conditions


@pytest.mark.parametrize("n", [32, 300])
def test_a_change_behind_the_first_cases_is_found(n: int) -> None:
    cases = [Case(f"c{place}", f"What does plan {place} cost?", relevant=(f"d{place}",)) for place in range(n)]
    index = Index(cases)
    before = conditions(index, cases)
    assert before.differences(conditions(index, cases)) == []
    assert len(before.probe) == min(n, 50)
    for case in cases[10:]:
        index.documents[case.original] = [{"id": "junk", "text": "junk"}]
    with pytest.raises(ConditionsError, match=r"probe: \d+ of \d+ queries give other documents"):
        before.require_same(conditions(index, cases))


def test_the_last_case_is_probed_always() -> None:
    cases = [Case(f"c{place}", f"What does plan {place} cost?", relevant=(f"d{place}",)) for place in range(300)]
    index = Index(cases)
    before = conditions(index, cases)
    del index.documents[cases[-1].original]
    assert before.differences(conditions(index, cases)) == ["probe: 1 of 50 queries give other documents"]


def test_a_changed_text_under_the_same_id_is_found() -> None:
    index = Index(CASES)
    before = conditions(index)
    index.documents[CASES[20].original][0]["text"] = "12 euros"
    assert before.differences(conditions(index)) == ["probe: 1 of 32 queries give other documents"]


def test_one_failure_is_tried_again_and_two_are_left_out() -> None:
    index = Index(CASES)
    whole = conditions(index)
    failed: list[str] = []
    index.fails = lambda query: query not in failed and not failed.append(query)  # type: ignore[func-returns-value]
    assert conditions(index) == whole
    assert len(failed) == 32
    index.fails = lambda query: query == CASES[3].original
    found = conditions(index)
    assert found.probe[3] == ""
    assert found.differences(whole) == whole.differences(found) == []


def test_a_search_that_finds_nothing_at_all_is_said_before_the_run() -> None:
    with pytest.raises(InputError, match=r"search: found nothing for any of 32 turns$"):
        conditions(Index([]))
    index = Index(CASES)
    index.fails = lambda query: True
    with pytest.raises(InputError, match=r"search: found nothing for any of 32 turns \(TimeoutError\)$"):
        conditions(index)
