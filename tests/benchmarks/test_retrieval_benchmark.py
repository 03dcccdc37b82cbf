"""The retrieval benchmark on a few passages: what its strategies search, and how its figures are made."""

from __future__ import annotations

import json
from datetime import date

import pytest

import datafiles
import report
import retrieval_indexes
import retrieval_tables
from fakes import FakeGuard
from retrieval_data import Collection, Question, foreign, stale
from retrieval_rows import Case, Ran, Strategies
from retrieval_scores import Scores, figures
from rewriteguard import Verdict
from rewriteguard.evaluation.figure import Figure

PASSAGES = {
    "permit": "A parking permit of the town is renewed within two weeks.",
    "lost": "A lost parking permit is replaced at the town hall.",
    "library": "The library lends books for four weeks.",
    "pool": "The swimming pool opens in May.",
}
HISTORY = (("user", "How do I renew a parking permit?"), ("assistant", "Ask the town for a new permit."))
TURN = "And how long does it take?"
GOOD = "How long does it take to renew a parking permit?"
OTHER = "When does the swimming pool open?"
RESULTS = datafiles.HERE / "results" / "retrieval.json"


def question(name="q", conversation="c", turn=2, history=HISTORY, **rewrites):
    return Question(name, conversation, turn, history, TURN, rewrites or {"model": GOOD}, frozenset({"permit"}))


def collection(*questions):
    return Collection("few", questions, list(PASSAGES), list(PASSAGES.values()), {"a model": "model"}, ())


def ran(verdict=Verdict.PRESERVED, indexes=("bm25",), case=None):
    index = retrieval_indexes.bm25(collection())
    strategies = Strategies(
        dict.fromkeys(indexes, index), FakeGuard(verdicts=dict.fromkeys((GOOD, OTHER), verdict)), date(2025, 1, 1)
    )
    return dict(strategies.run(case or Case(question(), GOOD, OTHER, OTHER)))


@pytest.fixture(autouse=True)
def _few_passages(monkeypatch):
    monkeypatch.setattr(retrieval_indexes, "DEPTH", len(PASSAGES))


def test_each_strategy_searches_what_it_says():
    found = ran()
    assert found["raw"].ranking == []  # no word of the turn is in a passage
    assert found["rewrite"].ranking[0] == "permit"
    assert found["stale-alone"].ranking[0] == "pool"
    assert found["rrf60"].ranking == found["rewrite"].ranking
    assert found["guarded"].ranking[0] == "permit"
    assert (found["guarded"].searches, found["single"].searches, found["fall-back"].searches) == (3, 1, 2)


def test_a_rejected_rewrite_is_not_searched():
    found = ran(Verdict.CHANGED)
    assert found["stale"].ranking == found["fall-back"].ranking
    assert "pool" not in found["stale"].ranking
    assert found["single"].ranking == found["raw"].ranking


def test_without_verdicts_every_rewrite_is_searched(guard):
    index = retrieval_indexes.bm25(collection())
    strategies = Strategies({"bm25": index}, guard, date(2025, 1, 1))
    case = Case(question(), "How much does it cost to renew a library card in 1985?", OTHER, OTHER)
    found = dict(strategies.run(case))
    assert (found["guarded"].searches, found["no-verdicts"].searches) == (2, 3)


def test_several_indexes_are_fused_at_once():
    found = ran(indexes=("one", "two"))
    assert found["guarded"].searches == 6
    assert found["rewrite"].ranking == ran()["rewrite"].ranking


def test_a_first_turn_is_searched_as_it_is():
    index = retrieval_indexes.bm25(collection())
    strategies = Strategies({"bm25": index}, FakeGuard(), date(2025, 1, 1))
    assert strategies.first_turn_is_raw(question(history=()))
    assert not strategies.first_turn_is_raw(question())  # with a history the rewrite is searched too


def test_wrong_rewrites_are_of_the_nearest_other_turn_and_of_another_conversation():
    questions = [
        question("a1", "a", 1, model="a1"),
        question("a2", "a", 2, model="a2"),
        question("a4", "a", 4, model="a4"),
        question("b1", "b", 1, model="b1"),
    ]
    assert stale(questions, "model") == {"a1": "a2", "a2": "a1", "a4": "a2", "b1": "a1"}
    assert foreign(questions, "model") == {"a1": "b1", "a2": "b1", "a4": "b1", "b1": "a1"}


def scores():
    made = Scores()
    rankings = {"raw": [], "carried": ["permit"], "rewrite": ["lost", "permit"], "guarded": ["permit"], "drop-in": []}
    for number in range(4):
        found = {row: Ran(list(ranking)) for row, ranking in rankings.items()}
        made.add(question(str(number), f"c{number // 2}"), found | {"drop-in-rewrite": Ran(["permit"])})
    made.measure()
    return made


def test_measures_are_the_usual_ones():
    values = scores().values
    assert values["rewrite"]["r10"] == [1.0] * 4
    assert values["rewrite"]["mrr10"] == [0.5] * 4
    assert values["rewrite"]["ndcg10"] == pytest.approx([0.6309] * 4, abs=1e-4)
    assert values["raw"]["r10"] == [0.0] * 4
    assert values["oracle-2"]["mrr10"] == [0.5] * 4
    assert values["oracle-3"]["mrr10"] == [1.0] * 4


def test_gains_and_losses_are_counted_question_by_question():
    found = figures(scores(), 50, 1)
    assert found["guarded/gain-raw"] == Figure(None, 4, count=4)
    assert found["raw/lose-rewrite"] == Figure(None, 4, count=4)
    assert found["drop-in/lose-rewrite"].count == 4
    assert found["guarded/r10"] == Figure(1.0, 4, 1.0, 1.0)


def test_a_conversation_is_in_one_half():
    made = Scores()
    for number in range(40):
        made.add(question(str(number), f"c{number // 2}"), {row: Ran([]) for row in ("raw", "carried", "rewrite")})
    made.measure()
    halves = [{each.conversation for each in made.half(half).questions} for half in (0, 1)]
    assert all(halves)
    assert not halves[0] & halves[1]
    assert sum(len(made.half(half).values["oracle-2"]["r10"]) for half in (0, 1)) == 40


def test_every_bound_has_a_name():
    settings = datafiles.conditions()["retrieval"]
    assert set(settings["bounds"]) == set(retrieval_tables.REQUIRED)
    assert set(settings["short"]) <= set(settings["bounds"])


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("docs/benchmarks.md", lambda sets: retrieval_tables.tables(sets, datafiles.conditions()["retrieval"])),
        ("README.md", retrieval_tables.summary),
    ],
)
def test_the_documentation_holds_what_the_results_say(page, made):
    tables = made(json.loads(RESULTS.read_text("utf-8"))["sets"])
    text = (datafiles.HERE.parent / page).read_text("utf-8")
    assert report.fill(text, tables, "retrieval") == text, "run: python benchmarks/retrieval.py --report"


def test_bounds_that_are_missed_have_a_reason_and_no_others():
    settings = datafiles.conditions()["retrieval"]
    measured = retrieval_tables.requirements(json.loads(RESULTS.read_text("utf-8"))["sets"])
    missed = {key for key, bound in settings["bounds"].items() if not retrieval_tables.is_met(measured[key], bound)}
    assert missed == set(settings["short"])
