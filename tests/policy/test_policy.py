from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from rewriteguard.errors import PolicyError
from rewriteguard.model.assessment import Assessment, Checked, Comparison, Evidence, Violation
from rewriteguard.model.decision import Action, Decision, Origin, Reason
from rewriteguard.model.rules import Fault, Rule, Verdict
from rewriteguard.policy.carry import CarriedQuery
from rewriteguard.policy.policy import Policy, decide, without_rewrite
from rewriteguard.policy.weights import Weights

CARRIED = CarriedQuery("is it wet harbour ferry", ("harbour", "ferry"))


OWN = {Verdict.PRESERVED: Weights(1, 3, 0), Verdict.UNCERTAIN: Weights(1, 1, 0), Verdict.CHANGED: Weights(1, 0, 0)}


def _found(
    verdict: Verdict, *faults: Fault, rewrite: str = "Is the harbour wet?", candidates: tuple[str, ...] = ()
) -> Assessment:
    rules = [next(rule for rule in Rule if rule.fault is fault) for fault in faults]
    violations = tuple(Violation(rule, None, (Evidence("turn", "it", 3, 5),)) for rule in rules)
    return Assessment(
        verdict, violations, Comparison(), True, Checked(), "is it wet", rewrite, f'"{rewrite}"', candidates
    )


def _arms(decision: Decision) -> list[tuple[str, float]]:
    return [(query.origin.value, query.weight) for query in decision.queries]


@pytest.mark.parametrize(
    ("verdict", "action", "weights"),
    [
        (Verdict.PRESERVED, Action.FUSE, {True: (1, 4, 2), False: (2, 4, 1)}),
        (Verdict.UNCERTAIN, Action.FUSE, {True: (1, 2, 2), False: (2, 2, 1)}),
        (Verdict.CHANGED, Action.FALL_BACK, {True: (1, 2), False: (1, 1)}),
    ],
)
@pytest.mark.parametrize("dependent", [True, False])
def test_weights_by_verdict(
    verdict: Verdict, action: Action, weights: dict[bool, tuple[float, ...]], dependent: bool
) -> None:
    decision = decide(Policy(), replace(_found(verdict), dependent=dependent), CARRIED)
    assert (decision.action, decision.proposed, decision.k) == (action, action, 2)
    origins = ["original", "rewrite", "carried"] if len(weights[dependent]) == 3 else ["original", "carried"]
    assert _arms(decision) == list(zip(origins, weights[dependent], strict=True))
    assert decision.carried_terms == ("harbour", "ferry")


def test_weights_of_your_own_hold_for_complete_turns_too_unless_those_have_their_own() -> None:
    complete = replace(_found(Verdict.PRESERVED), dependent=False)
    assert _arms(decide(Policy(weights=OWN), complete, CARRIED)) == [("original", 1), ("rewrite", 3)]
    mine = {**OWN, Verdict.PRESERVED: Weights(5, 1, 0)}
    apart = Policy(weights=OWN, complete_weights=mine)
    assert _arms(decide(apart, complete, CARRIED)) == [("original", 5), ("rewrite", 1)]
    assert _arms(decide(apart, _found(Verdict.PRESERVED), CARRIED)) == [("original", 1), ("rewrite", 3)]
    with pytest.raises(PolicyError, match="complete_weights: no row for the verdict changed"):
        Policy(complete_weights={Verdict.PRESERVED: Weights(1, 1, 1), Verdict.UNCERTAIN: Weights(1, 1, 1)})


def test_weights_that_leave_no_arm_search_the_original() -> None:
    policy = Policy(weights={**OWN, Verdict.CHANGED: Weights(0, 1, 0)})
    for decision in (
        decide(policy, _found(Verdict.CHANGED), CARRIED),
        without_rewrite(policy, "is it wet", Reason.REWRITER_ERROR, CARRIED),
    ):
        assert _arms(decision) == [("original", 1)]


def test_where_the_rewriter_failed_the_row_of_changed_holds() -> None:
    policy = Policy(weights={**OWN, Verdict.CHANGED: Weights(7, 1, 3)})
    decision = without_rewrite(policy, "is it wet", Reason.REWRITER_ERROR, CARRIED)
    assert _arms(decision) == [("original", 7), ("carried", 3)]


def test_the_one_query_is_the_cleaned_rewrite_or_the_turn_verbatim() -> None:
    assert decide(Policy(), _found(Verdict.UNCERTAIN)).query == "Is the harbour wet?"
    assert decide(Policy(), _found(Verdict.CHANGED)).query == "is it wet"


def test_single_searches_once() -> None:
    kept = decide(Policy.single(), _found(Verdict.PRESERVED), CARRIED)
    assert (kept.action, _arms(kept)) == (Action.USE_REWRITE, [("rewrite", 1)])
    lost = decide(Policy.single(), _found(Verdict.CHANGED), CARRIED)
    assert (lost.action, _arms(lost), lost.queries[0].text) == (Action.FALL_BACK, [("original", 1)], "is it wet")


def test_strict_acts_on_uncertain_as_on_changed() -> None:
    decision = decide(Policy.strict(), _found(Verdict.UNCERTAIN, Fault.UNRESOLVED), CARRIED)
    assert (decision.action, _arms(decision)) == (Action.FALL_BACK, [("original", 1), ("carried", 2)])
    assert decision.verdict is Verdict.UNCERTAIN


def test_observe_searches_the_raw_rewrite_and_says_what_it_would_have_done() -> None:
    decision = decide(Policy.observe(), _found(Verdict.CHANGED, Fault.DROPPED), CARRIED)
    assert (decision.action, decision.proposed) == (Action.USE_REWRITE, Action.FALL_BACK)
    assert [(q.text, q.weight) for q in decision.queries] == [('"Is the harbour wet?"', 1)]
    assert decision.reason == "dropped"


def test_clarify_gives_the_candidates_only_where_something_is_ambiguous() -> None:
    found = _found(Verdict.UNCERTAIN, Fault.AMBIGUOUS, candidates=("harbour", "ferry"))
    asked = decide(Policy(clarify=True), found)
    assert (asked.action, asked.candidates) == (Action.CLARIFY, ("harbour", "ferry"))
    assert decide(Policy(), found).action is Action.FUSE
    assert decide(Policy(clarify=True), _found(Verdict.UNCERTAIN, Fault.UNRESOLVED)).action is Action.FUSE


def test_without_the_carried_arm() -> None:
    assert _arms(decide(Policy(carried=False), _found(Verdict.CHANGED), CARRIED)) == [("original", 1)]


def test_equal_texts_are_one_arm_with_the_weights_added() -> None:
    assert _arms(decide(Policy(), _found(Verdict.PRESERVED, rewrite="is it wet"))) == [("original", 5)]


@pytest.mark.parametrize(
    ("reason", "action", "origins"),
    [
        (Reason.FIRST_TURN, Action.USE_ORIGINAL, ["original"]),
        (Reason.SKIPPED, Action.USE_ORIGINAL, ["original"]),
        (Reason.REWRITER_ERROR, Action.FALL_BACK, ["original", "carried"]),
        (Reason.REWRITER_TIMEOUT, Action.FALL_BACK, ["original", "carried"]),
        (Reason.GUARD_ERROR, Action.FALL_BACK, ["original"]),
    ],
)
def test_without_a_judged_rewrite(reason: Reason, action: Action, origins: list[str]) -> None:
    decision = without_rewrite(Policy(), "is it wet", reason, CARRIED)
    assert (decision.action, decision.reason, decision.query) == (action, reason.value, "is it wet")
    assert [query.origin.value for query in decision.queries] == origins
    assert decision.verdict is None


def test_the_unchecked_rewrite_is_searched_only_in_shadow_mode() -> None:
    shadow = without_rewrite(Policy.observe(), "is it wet", Reason.GUARD_ERROR, CARRIED, unchecked="wet harbour")
    assert [(q.text, q.origin) for q in shadow.queries] == [("wet harbour", Origin.REWRITE)]
    normal = without_rewrite(Policy(), "is it wet", Reason.GUARD_ERROR, CARRIED, unchecked="wet harbour")
    assert [q.text for q in normal.queries] == ["is it wet"]


@pytest.mark.parametrize("arms", [(0, 0, 0), (-1, 2, 0)])
def test_unusable_weights_are_refused(arms: tuple[float, float, float]) -> None:
    with pytest.raises(PolicyError, match="weights"):
        Weights(*arms)


def test_a_policy_needs_a_row_for_each_verdict() -> None:
    with pytest.raises(PolicyError, match="uncertain"):
        Policy(weights={Verdict.PRESERVED: Weights(1, 1, 1), Verdict.CHANGED: Weights(1, 0, 0)})
    with pytest.raises(PolicyError, match="k"):
        Policy(k=-1)


@pytest.mark.parametrize("policy", [Policy(), Policy.strict(), Policy(weights=OWN)])
def test_a_policy_is_a_value(policy: Policy) -> None:
    for twin in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy), replace(policy)):
        assert twin == policy
        assert hash(twin) == hash(policy)
        assert dict(twin.weights) == dict(policy.weights)
    assert len({Policy(), Policy.strict(), Policy(weights=OWN), Policy(weights=dict(OWN))}) == 3


def test_a_policy_keeps_the_weights_that_it_was_given() -> None:
    given = dict(OWN)
    policy = Policy(weights=given)
    given[Verdict.PRESERVED] = Weights(0, 1, 0)
    assert policy.weights[Verdict.PRESERVED] == Weights(1, 3, 0)
    assert [*policy.weights.items()] == [(verdict, OWN[verdict]) for verdict in Verdict]
    with pytest.raises(TypeError):
        policy.weights[Verdict.PRESERVED] = Weights(0, 1, 0)  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        policy.weights.preserved = Weights(0, 1, 0)  # type: ignore[attr-defined]
    with pytest.raises(KeyError):
        policy.weights["preservd"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({**OWN, "preservd": Weights(1, 1, 1)}, "preservd is no verdict"),
        ({**OWN, Verdict.CHANGED: (1, 0, 0)}, "expected Weights for changed, got tuple"),
    ],
)
def test_rows_that_mean_nothing_are_refused(weights: dict[Verdict, Weights], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy(weights=weights)


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(PolicyError, match="weights"):
        Weights(1, math.nan, 0)
    with pytest.raises(PolicyError, match="k"):
        Policy(k=math.inf)


def test_a_reason_is_one_of_a_closed_set() -> None:
    assert {fault.value for fault in Fault} < {reason.value for reason in Reason}
    for fault in Fault:
        decision = decide(Policy(), _found(Verdict.CHANGED, fault))
        assert decision.reason is Reason(fault.value)
        assert decision.reason == fault.value
        assert type(decision.to_dict()["reason"]) is str
    assert decide(Policy(), _found(Verdict.PRESERVED)).reason is Reason.OK
    assert without_rewrite(Policy(), "is it wet", Reason.SKIPPED).reason is Reason.SKIPPED
    assert decide(Policy.observe(), _found(Verdict.CHANGED, Fault.DROPPED)).reason is Reason.DROPPED
