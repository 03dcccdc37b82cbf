"""Where the flow keeps its promises: shadow mode at one door, runners behind the room, each step once."""

import ast
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import rewriteguard
from fakes import HISTORY, FakeGuard, probe
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.arms import Allowance, Guarded, Task
from rewriteguard.evaluation.run.journal import Answered
from rewriteguard.evaluation.run.outcome import ArmName
from rewriteguard.evaluation.run.search import Searching
from rewriteguard.model.assessment import Profile, Verdict
from rewriteguard.model.conversation import Conversation
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.decider import decider_from
from rewriteguard.retrieve.request import Plan, Request, Source
from rewriteguard.retrieve.rewriter import Answer, Ask
from rewriteguard.retrieve.search import GuardedSearch

PACKAGE = Path(rewriteguard.__file__).parent
TURN = "And how much does a second permit cost?"
GOOD = "How much does a second parking permit cost?"


def modules():
    """Every module of the package, by its path below it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text("utf-8"))


def test_shadow_mode_is_asked_for_at_one_door():
    readers = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "shadow"
    }
    others = {name for name in readers if not name.startswith("policy/")} - {"retrieve/flow.py"}
    assert "retrieve/flow.py" in readers
    # The evaluation refuses such a policy, since there would be nothing to evaluate.
    assert len(others) <= 1
    assert all(name.startswith("evaluation/evaluat") for name in others), others


def test_runners_stay_behind_their_room():
    users = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and ("_runners" in (node.module or "") or any(each.name == "_runners" for each in node.names))
    }
    assert users
    assert {name for name in users if not name.startswith("retrieve/")} == set()


def found(query, _origin):
    return [query, "both"]


def planned(policy=None, **verdicts):
    return Plan(decider_from(FakeGuard({GOOD: Verdict.UNCERTAIN}), policy, Profile.CONDENSE, None))


def asked(ask, **keywords):
    return Request(Conversation.read(TURN, HISTORY), ask, reference_date=date(2024, 5, 6), **keywords)


@pytest.mark.parametrize("policy", [Policy(), Policy.single(), Policy.observe()], ids=lambda policy: policy.name)
def test_what_was_decided_is_searched_without_deciding_again(monkeypatch, policy):
    plan, seen = planned(policy), probe(monkeypatch)
    request = asked(Ask(lambda: GOOD, blocking=True))
    decision = flow.decided(plan, request)
    told = list(plan.decider.guard.calls)
    result = flow.search_decided(plan, replace(request, sources=[Source(found, blocking=True, owner=found)]), decision)
    assert plan.decider.guard.calls == told
    assert [span.name for span in seen.spans].count("rewriteguard.check") == 1
    whole = GuardedSearch(
        lambda query: found(query, None), lambda turn: GOOD, guard=FakeGuard({GOOD: Verdict.UNCERTAIN}), policy=policy
    ).run(TURN, HISTORY)
    assert (result.decision, result.items) == (whole.decision, whole.items)
    assert [arm.to_dict() | {"seconds": 0} for arm in result.arms] == [
        arm.to_dict() | {"seconds": 0} for arm in whole.arms
    ]


def test_an_answer_that_is_there_is_judged_and_no_rewriter_is_asked(monkeypatch):
    plan, seen = planned(), probe(monkeypatch)
    assert flow.decided(plan, asked(Answer(GOOD))).verdict is Verdict.UNCERTAIN
    assert [span.name for span in seen.spans] == ["rewriteguard.check", "rewriteguard.decide"]


def test_the_evaluation_decides_and_searches_each_case_once():
    guard, queries, asks = FakeGuard(), [], []

    def search(query, k):
        queries.append((query, k))
        return ["north", "south"]

    def ask():
        asks.append(GOOD)
        return Answered((GOOD,))

    case = Case(id="1", original=TURN, history=tuple(HISTORY))
    guarded = Guarded(Searching(search), Allowance(5, 12), guard, Policy(), Profile.CONDENSE)
    outcome = guarded.run(ArmName.GUARDED, "rewriter", Task(case, {}, date(2024, 5, 6)), ask).outcome
    assert (asks, [name for name, _ in guard.calls].count("decide")) == ([GOOD], 1)
    assert sorted(queries) == sorted((query, 4) for query in outcome.queries)  # twelve, shared by three
    assert (len(queries), outcome.results, outcome.fetched) == (3, ("north", "south"), 6)
