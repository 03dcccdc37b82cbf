"""Runs that prove nothing or would decide otherwise the second time, from the search to the policy file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rewriteguard import Action, Guard, GuardedSearch, InputError, Policy, Predicate, Profile, Release, RequestClass
from rewriteguard.evaluation.cases.case import Case, Contract
from rewriteguard.evaluation.evaluating import Evaluation, evaluate
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.evaluation.run.outcome import ArmName
from rewriteguard.evaluation.run.rewriters import Rewriter

N = 12
HISTORY = (("user", "Tell me about backups."), ("assistant", "Backups are kept 30 days."))
CASES = [
    Case(f"c{place}", f"What does it cost in plan {place}?", HISTORY, relevant=(f"d{place}",)) for place in range(N)
]
RULES = """
accept = ["ship"]
[default]
minimum = 10
recall_margin = 0.05
required = ["evidence_recall"]
[default.ceilings]
regression = 0.1
net_loss = 0
[[class]]
name = "all"
when = {min_words = 1}
"""
LAMPS = (("user", "Do you have the Alpha Card and the Beta Card?"), ("assistant", "Yes, both."))
AMBIGUOUS = [
    Case(f"a{place}", "How long is it valid?", LAMPS, relevant=("ok",), contract=Contract(readings=("Alpha Card",)))
    for place in range(N)
]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Rules:
    path = tmp_path_factory.mktemp("rules") / "rules.toml"
    path.write_text(RULES, "utf-8")
    return Rules.load(path)


def search(query: str, k: int = 10) -> list[str]:
    """Finds what a plan costs, unless it is asked for backups: then all else comes first."""
    if "do backups" in query:
        return [f"junk{place}" for place in range(k)]
    plan = re.search(r"plan (\d+)", query)
    return [f"d{plan[1]}"] if plan and "cost" in query else ["junk"]


def faithful(turn: str, history: Any) -> str:
    return turn.replace("it", "a backup")


def harmful(turn: str, history: Any) -> str:
    return turn.replace("does it", "do backups")


def of(found: Evaluation) -> Release:
    (decision,) = [each for each in found.decisions if each.group == "all"]
    return decision.release


def go(
    guard: Guard, rules: Rules, rewriter: Any = faithful, cases: Any = CASES, find: Any = search, **more: Any
) -> Evaluation:
    rewriters = {} if rewriter is None else {"x": rewriter}
    return evaluate(cases, find, rewriters, rules=rules, guard=guard, **{"k": 1, **more})


def loaded(found: Evaluation, folder: Path) -> Policy:
    path = folder / "policy.toml"
    path.write_text(found.policy_of("x"), "utf-8")
    return Policy.load(path)


def test_a_faithful_rewriter_is_accepted(guard: Guard, rules: Rules) -> None:
    found = go(guard, rules)
    assert (of(found), found.accepted) == (Release.SHIP, True)


def down(query: str) -> list[str]:
    raise ConnectionError("index")


def other_ids(query: str) -> list[str]:
    return ["uuid-1", "uuid-2"]


def test_a_run_in_which_nothing_relevant_was_found_releases_nothing(guard: Guard, rules: Rules) -> None:
    found = go(guard, rules, find=other_ids)
    assert (of(found), found.accepted) == (Release.FALL_BACK, False)


def test_a_search_that_is_down_is_an_error_and_no_run(guard: Guard, rules: Rules) -> None:
    with pytest.raises(InputError, match=r"found nothing for any of \d+ turns \(ConnectionError\)"):
        go(guard, rules, find=down)


def test_a_run_over_nothing_accepts_nothing(guard: Guard, rules: Rules) -> None:
    assert not go(guard, rules, None).accepted
    assert not go(guard, rules, cases=[]).accepted
    unseen = go(guard, rules, arms=[ArmName.ORIGINAL])
    assert (of(unseen), unseen.accepted) == (Release.FALL_BACK, False)


def test_first_turns_do_not_make_up_the_requests_of_a_rewriter(guard: Guard, rules: Rules) -> None:
    first = [Case(f"f{place}", f"What does plan {place} cost?", relevant=(f"d{place}",)) for place in range(N)]
    asked: list[str] = []

    def rewriter(turn: str, history: Any) -> str:
        asked.append(turn)
        return faithful(turn, history)

    found = go(guard, rules, rewriter, [*first, *CASES[:2]])
    assert sorted(asked) == [each.original for each in CASES[:2]]
    assert {each.case for each in found.outcomes if each.rewriter} == {"c0", "c1"}
    (decision,) = [each for each in found.decisions if each.group == "all"]
    assert (decision.n, decision.release) == (N + 2, Release.FUSE)
    assert decision.reasons[0].startswith("too few requests: 2, and the rules ask for 10")


def test_the_policy_that_was_written_gives_the_same_decisions(guard: Guard, rules: Rules, tmp_path: Path) -> None:
    for rewriter, release in ((harmful, Release.FALL_BACK), (faithful, Release.SHIP)):
        first = go(guard, rules, rewriter)
        again = go(guard, rules, rewriter, policy=loaded(first, tmp_path))
        assert (of(first), of(again)) == (release, release)
        assert again.policy_of("x").split("\n\n", 1)[1] == first.policy_of("x").split("\n\n", 1)[1]


def test_a_class_that_asks_the_user_does_so_the_second_time(guard: Guard, rules: Rules, tmp_path: Path) -> None:
    contract = Contract(readings=("Alpha Card", "Beta Card"))
    cases = [*(replace(each, contract=contract) for each in AMBIGUOUS), *CASES]

    def rewriter(turn: str, history: Any) -> str:
        return turn.replace("it", "the Alpha Card") if "valid" in turn else harmful(turn, history)

    def find(query: str, k: int = 10) -> list[str]:
        return search(query, 2) if "plan" in query else ["ok"]

    first = go(guard, rules, rewriter, cases, find, k=2)
    policy = loaded(first, tmp_path)
    again = go(guard, rules, rewriter, cases, find, k=2, policy=policy)
    assert (of(first), policy.clarify) == (Release.CLARIFY, False)
    assert of(again) is Release.CLARIFY


def test_the_classes_say_who_is_asked(guard: Guard, rules: Rules, tmp_path: Path) -> None:
    """One contract with several readings makes the guarded arm ask; what ships then must not ask in production."""
    other = Case("other", "How long is it valid?", LAMPS, contract=Contract(readings=("Alpha Card", "Beta Card")))

    def rewriter(turn: str, history: Any) -> str:
        return "How long is the Alpha Card valid?"

    found = go(guard, rules, rewriter, [*AMBIGUOUS, other], lambda query: ["ok"])
    assert found.policy.clarify
    policy = loaded(found, tmp_path)
    assert (of(found), policy.clarify) == (Release.SHIP, False)
    decided = guard.decide("How long is it valid?", rewriter("", ()), LAMPS, policy=policy)
    assert decided.action is not Action.CLARIFY


def test_a_rewriter_of_several_queries_is_fused(guard: Guard, rules: Rules) -> None:
    def expand(turn: str, history: Any) -> list[str]:
        return [turn.replace("it", "a backup"), turn.replace("it", "the backup")]

    for rewriter in (Rewriter(expand, Profile.EXPAND), expand):
        assert of(go(guard, rules, rewriter)) is Release.FUSE
    without_its_arm = [arm for arm in ArmName if arm is not ArmName.EXPANDED]
    assert of(go(guard, rules, Rewriter(expand, Profile.EXPAND), arms=without_its_arm)) is Release.FUSE


def test_what_ships_does_not_leak_where_the_guard_objects(guard: Guard, rules: Rules, tmp_path: Path) -> None:
    """The carried query, which is searched in place of a rewrite that the guard rejects, finds a secret."""
    cases = [replace(each, unauthorised=("secret",)) for each in CASES]

    def leaky(query: str, k: int = 10) -> list[str]:
        return [*(["secret"] if "kept" in query else []), *search(query)]

    found = go(guard, rules, cases=cases, find=leaky, k=3)
    assert (of(found), found.accepted) == (Release.FALL_BACK, False)
    guarded = GuardedSearch(leaky, lambda turn, history: "Rome?", guard=guard, policy=loaded(found, tmp_path))
    result = guarded.run(cases[5].original, HISTORY)
    assert "secret" in result.items  # the search itself has to be limited


def test_a_policy_in_shadow_mode_is_refused(guard: Guard, rules: Rules, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="policy: expected one that acts, got one in shadow mode"):
        go(guard, rules, policy=Policy.observe(), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_classes_of_a_policy_are_decided_anew(guard: Guard, rules: Rules) -> None:
    classes = (RequestClass("all", Predicate(min_words=1), Release.FALL_BACK),)
    found = go(guard, rules, policy=Policy(k=7, classes=classes))
    assert (found.policy, of(found)) == (Policy(k=7), Release.SHIP)
    assert {each.rewrite is None for each in found.outcomes if each.arm is ArmName.GUARDED} == {False}
