"""The release rule: bounds set beforehand, a decision for each class and slice, and the policy that applies them."""

import asyncio
from dataclasses import replace

import pytest
from release_case import cases, evaluated, expands, faithful, loses_dates, paired, scores, share

from rewriteguard import Action, Guard, GuardedSearch, InputError, Kind, Policy, Predicate, Release, RequestClass
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.errors import RulesError
from rewriteguard.evaluation.release.checks import checks_of
from rewriteguard.evaluation.release.policy_file import policy_file, policy_for, policy_text
from rewriteguard.evaluation.release.release import class_of, groups_of, is_accepted, release_of, releases
from rewriteguard.evaluation.release.rules import Bounds, Measure, Rules, shipped_rules
from rewriteguard.evaluation.score.results import ArmResult, GroupResult
from rewriteguard.policy.classes import REST

RULES = """
accept = ["ship"]
[default]
minimum = 10
recall_margin = 0.05
required = ["evidence_recall"]
[default.floors]
critical_completeness = 0.9
[default.ceilings]
regression = 0.1
[[class]]
name = "dates"
when = {kinds = ["time"]}
ceilings = {regression = 1.0}
[[class]]
name = "follow-ups"
when = {dependent = true}
[everything_else]
minimum = 5
[[slice]]
name = "legal"
floors = {critical_completeness = 1.0}
"""


def rules_of(tmp_path, text=RULES):
    path = tmp_path / "rules.toml"
    path.write_text(text, "utf-8")
    return Rules.load(path)


# The rules file


def test_a_class_takes_the_defaults_and_its_own(tmp_path):
    rules = rules_of(tmp_path)
    dates = rules.bounds_of("dates", enforced=True)
    assert (dates.minimum, dates.recall_margin, dates.required) == (10, 0.05, (Measure.EVIDENCE_RECALL,))
    assert dates.floors == {Measure.CRITICAL_COMPLETENESS: 0.9}
    assert dates.ceilings == {
        Measure.FORBIDDEN: 0,
        Measure.UNAUTHORISED: 0,
        Measure.FAILED: 0.05,
        Measure.REGRESSION: 1,
    }
    assert rules.bounds_of(REST, enforced=True).minimum == 5
    assert rules.bounds_of("legal", enforced=False).floors == {Measure.CRITICAL_COMPLETENESS: 1}
    assert rules.bounds_of("other", enforced=False) == rules.default
    assert [each.name for each in rules.classes] == ["dates", "follow-ups"]
    assert rules.classes[0].when == Predicate(kinds=(Kind.TIME,))
    assert rules.accept == (Release.SHIP,)


def test_the_hash_is_of_what_the_rules_say(tmp_path):
    rules = rules_of(tmp_path)
    assert rules_of(tmp_path, "# why\n" + RULES).hash == rules.hash
    assert rules_of(tmp_path, RULES.replace("regression = 0.1", "regression = 0.2")).hash != rules.hash
    one, other = RULES.index("[[class]]"), RULES.index('[[class]]\nname = "follow-ups"')
    last = RULES.index("[everything_else]")
    swapped = RULES[:one] + RULES[other:last] + RULES[one:other] + RULES[last:]
    assert rules_of(tmp_path, swapped).hash != rules.hash  # the first class that holds counts
    assert len(rules.hash) == 64


@pytest.mark.parametrize("measure", [Measure.REGRESSION, Measure.NET_LOSS, Measure.FAILED])
def test_ceilings_of_shares_are_shares(tmp_path, measure):
    text = RULES.replace("regression = 0.1", f"{measure} = 0.02")
    assert rules_of(tmp_path, text).default.ceilings[measure] == 0.02
    with pytest.raises(RulesError, match=f"default: ceilings: {measure}: expected a number from 0 to 1, got 2"):
        rules_of(tmp_path, text.replace("0.02", "2"))


def test_the_shipped_rules_give_the_reason_of_each_bound():
    rules = Rules.shipped()
    assert (rules.accept, rules.default.minimum) == ((Release.SHIP,), 30)
    lines = shipped_rules().read_text("utf-8").splitlines()
    named = ("minimum", "recall_margin", "required", *Measure, "floors", "ceilings")
    bounds = [place for place, line in enumerate(lines) if line.split(" = ")[0] in named]
    bare = [lines[place] for place in bounds if not lines[place - 1].startswith("#")]
    assert len(bounds) >= 10
    assert bare == ["unauthorised = 0"]  # the veto above it gives the reason of both


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("accept = ", "acept = ", "acept: unknown key; did you mean 'accept'?"),
        ('accept = ["ship"]', "", "accept: expected at least one of ship"),
        ('accept = ["ship"]', 'accept = ["chip"]', "accept: 'chip' is none of ship, fuse, fall_back, clarify; did you"),
        ("minimum = 10", "", "default: minimum: expected a whole number of at least 1, but it is missing"),
        ("minimum = 10", "minimum = 0", "default: minimum: expected a whole number of at least 1, got 0"),
        ("minimum = 10", "minimum = 1.5", "default: minimum: expected a whole number of at least 1, got 1.5"),
        ("recall_margin = 0.05", "recall_margin = 5", "default: recall_margin: expected a number from 0 to 1, got 5"),
        (
            "completeness = 0.9\n",
            "completeness = 90\n",
            "default: floors: critical_completeness: expected a number from",
        ),
        ("critical_comp", "critcal_comp", "default: floors: critcal_completeness: unknown key; did you mean 'critical"),
        ("regression = 0.1", "forbidden = 0.1", "default: ceilings: forbidden: expected a whole number"),
        (
            "regression = 0.1",
            "unauthorised = 1",
            "ceilings: unauthorised: a document that the user may not see is never",
        ),
        ('["evidence_recall"]', '["recall"]', "default: required: 'recall' is none of constraint_preservation"),
        ('["evidence_recall"]', '["forbidden"]', "default: required: forbidden, unauthorised hold always"),
        ('["time"]', '["times"]', "class 'dates': when: kinds: 'times' is none of"),
        ('{kinds = ["time"]}', "{}", "class 'dates': when: expected a condition"),
        ('name = "dates"', 'name = "everything else"', "class 'everything else': name: 'everything else' is the name"),
        ('name = "dates"', 'name = "follow-ups"', "class 'follow-ups': expected a name of its own"),
        ('[[slice]]\nname = "legal"', "[[slice]]", "slice 1: name: expected a text, but it is missing"),
        ("[[slice]]", '[[slice]]\nname = "legal"\n[[slice]]', "slice 'legal': expected a name of its own"),
        ("[everything_else]", "[evrything_else]", "evrything_else: unknown key; did you mean 'everything_else'?"),
        ("[everything_else]", "[everything_else]\nwhen = {}", "everything_else: when: unknown key"),
    ],
)
def test_what_rules_cannot_say_is_named(tmp_path, old, new, message):
    assert old in RULES
    with pytest.raises(RulesError) as error:
        rules_of(tmp_path, RULES.replace(old, new, 1))
    assert "rules.toml: " in str(error.value)
    assert message in str(error.value)


# One decision

GOOD = [True] * 20
BAD = [True] * 14 + [False] * 6
HELD = Bounds(
    minimum=20,
    recall_margin=0.05,
    floors={Measure.CRITICAL_COMPLETENESS: 0.9, Measure.CLARIFICATION: 0.8},
    ceilings={Measure.REGRESSION: 0.1, Measure.FORBIDDEN: 0, Measure.UNAUTHORISED: 0},
    required=(Measure.EVIDENCE_RECALL,),
)


def arm(name, found=GOOD, rewriter="model", **told):
    rewriter = "" if name in ("original", "without_rewrite") else rewriter
    return ArmResult(rewriter, name, scores(len(found), **told), paired(found, GOOD[: len(found)]), None)


def decided(*arms, n=20, everywhere=(), bounds=HELD):
    return release_of("model", GroupResult("dates", True, n, arms), bounds, everywhere)


def test_a_rewriter_that_meets_every_bound_ships():
    decision = decided(arm("rewrite", complete=share(18, 20)), arm("guarded", BAD))
    assert (decision.release, decision.decided_by) == (Release.SHIP, ())
    assert (decision.rewriter, decision.group, decision.enforced, decision.n) == ("model", "dates", True, 20)


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ({"complete": share(17, 20)}, "rewrite.critical_completeness"),
        ({"not_asked": share(20, 20), "asked": share(0, 6)}, "rewrite.clarification"),
        ({"forbidden": ["a"]}, "rewrite.forbidden"),
        ({"unauthorised": ["a"]}, "rewrite.unauthorised"),
    ],
)
def test_each_bound_alone_keeps_a_rewriter_from_shipping(broken, code):
    decision = decided(arm("rewrite", **broken), arm("guarded"))
    assert (decision.release, decision.decided_by) == (Release.FUSE, (code,))
    assert decision.reasons[0].startswith("rewrite: ")


def test_lost_evidence_keeps_a_rewriter_from_shipping():
    decision = decided(arm("rewrite", BAD), arm("guarded"))
    assert decision.release is Release.FUSE
    assert decision.decided_by == ("rewrite.evidence_recall", "rewrite.regression")
    assert decision.reasons[1] == "rewrite: regression 0.3 of n = 20, bound at most 0.1"


def test_where_the_guarded_arm_fails_too_the_rewriter_is_off():
    decision = decided(arm("rewrite", BAD), arm("guarded", BAD))
    assert decision.release is Release.FALL_BACK
    assert decision.decided_by[0] == "guarded.evidence_recall"


def test_where_it_is_fused_a_rewriter_may_lose_requests_if_it_gains_no_fewer():
    def fused(lost, gained):
        base = [True] * 10 + [False] * 10
        found = [False] * lost + [True] * (10 - lost) + [True] * gained + [False] * (10 - gained)
        mixed = replace(arm("guarded"), over_original=paired(found, base))
        bounds = replace(HELD, recall_margin=1.0, ceilings={**HELD.ceilings, Measure.NET_LOSS: 0})
        return decided(arm("rewrite", BAD), mixed, bounds=bounds)

    assert fused(4, 4).release is Release.FUSE
    assert fused(4, 9).release is Release.FUSE
    worse = fused(4, 3)
    assert (worse.release, worse.decided_by[0]) == (Release.FALL_BACK, "guarded.net_loss")
    assert worse.reasons[0] == "guarded: net loss 0.05 of n = 20, bound at most 0"


def test_a_rewriter_that_finds_less_than_the_search_without_it_is_off():
    def against(found, without):
        return decided(arm("rewrite", BAD), replace(arm("guarded"), over_without=paired(found, without)))

    assert against(GOOD, GOOD).release is Release.FUSE
    assert against([True, False], [False, True]).release is Release.FUSE
    assert against([], []).release is Release.FUSE
    off = against([*GOOD[:19], False], GOOD)
    assert (off.release, off.decided_by[0]) == (Release.FALL_BACK, "guarded.no_gain")
    text = (
        "guarded: recall -0.05 against the search without a rewriter, on the same n = 20: the model call brings nothing"
    )
    assert off.reasons[0] == text


def test_vetoed_arms_are_out_whatever_their_scores():
    leaks = {"forbidden": ["a", "a", "b"]}
    decision = decided(arm("rewrite", **leaks), arm("guarded", **leaks))
    assert decision.release is Release.FALL_BACK
    assert decision.reasons[0] == "guarded: forbidden 2 of n = 20, bound at most 0"
    without = decided(arm("rewrite", **leaks), arm("guarded", **leaks), arm("without_rewrite", **leaks))
    assert without.reasons[-1].endswith("it happens without the rewriter too: limit the search")


def test_a_bound_without_anything_to_measure_decides_nothing_unless_it_is_required():
    assert decided(arm("rewrite"), arm("guarded")).release is Release.SHIP
    unjudged = replace(arm("rewrite"), over_original=paired([], []))
    decision = decided(unjudged, arm("guarded"), everywhere=(arm("guarded"),))
    assert (decision.release, decision.decided_by) == (Release.FUSE, ("minimum",))
    assert decision.reasons[0].startswith(
        "too few requests with recall over the original's, lower end: 0, and the rules ask for 20"
    )
    free = replace(HELD, required=())
    contracts = replace(unjudged, scores=scores(20, complete=share(20, 20)))
    assert decided(contracts, arm("guarded"), bounds=free).release is Release.SHIP


def test_where_nothing_was_measured_nothing_is_released():
    """No veto and no failure was seen, which holds of a rewriter of which nothing is known too."""
    free = replace(HELD, required=())
    nothing = [replace(arm(name), over_original=paired([], [])) for name in ("rewrite", "guarded")]
    decision = decided(*nothing, bounds=free)
    assert decision.release is Release.FALL_BACK
    assert decision.decided_by == ("guarded.nothing_measured", "rewrite.nothing_measured")
    assert decided(nothing[0], arm("guarded"), bounds=free).release is Release.FUSE


@pytest.mark.parametrize("required", [(), (Measure.EVIDENCE_RECALL,)])
def test_where_neither_arm_found_evidence_nothing_is_released(required):
    """The search was down, or the labels are those of another index: no difference is no finding."""
    nowhere = paired([False] * 20, [False] * 20)
    found = {"complete": share(20, 20)}  # the contracts alone do not carry a release where evidence was looked for
    arms = [replace(arm(name, **found), over_original=nowhere) for name in ("rewrite", "guarded")]
    decision = decided(*arms, everywhere=arms, bounds=replace(HELD, required=required))
    assert decision.release is Release.FALL_BACK
    assert decision.decided_by == ("guarded.evidence_recall", "rewrite.evidence_recall")
    assert "was not measured on n = 20: neither arm found evidence" in decision.reasons[0]
    few = decided(*arms, everywhere=arms, bounds=replace(HELD, minimum=30, required=required))
    assert few.release is Release.FALL_BACK


def test_failed_requests_keep_a_rewriter_from_being_released():
    assert decided(arm("rewrite", failed=1), arm("guarded")).release is Release.SHIP
    failing = decided(arm("rewrite", failed=2), arm("guarded", failed=1))
    assert failing.release is Release.SHIP  # the bounds of these tests have no ceiling
    bounds = replace(HELD, ceilings={**HELD.ceilings, Measure.FAILED: 0.05})
    fused = decided(arm("rewrite", failed=2), arm("guarded", failed=1), bounds=bounds)
    assert (fused.release, fused.decided_by) == (Release.FUSE, ("rewrite.failed",))
    assert fused.reasons[0] == "rewrite: share of failed requests 0.1 of n = 20, bound at most 0.05"
    off = decided(arm("rewrite", failed=2), arm("guarded", failed=2), bounds=bounds)
    assert (off.release, off.decided_by) == (Release.FALL_BACK, ("guarded.failed", "rewrite.failed"))


@pytest.mark.parametrize("leak", ["forbidden", "unauthorised"])
def test_nothing_ships_where_a_search_that_stands_in_for_it_leaks(leak):
    """Under `ship` the guarded search runs where the guard objects, and the one without where the rewriter fails."""
    leaking, good = {leak: ["a"]}, arm("rewrite")
    guarded = decided(good, arm("guarded", **leaking), arm("without_rewrite"))
    assert (guarded.release, guarded.decided_by) == (Release.FALL_BACK, (f"guarded.{leak}",))
    without = decided(good, arm("guarded"), arm("without_rewrite", **leaking))
    assert (without.release, without.decided_by) == (Release.FUSE, (f"without_rewrite.{leak}",))
    assert decided(good, arm("guarded"), arm("without_rewrite")).release is Release.SHIP
    assert decided(good).decided_by == ("guarded.not_run",)


def test_a_rewriter_of_several_queries_never_ships():
    """Production searches them beside the turn; the arm that searches them alone says nothing of that."""
    arms = (arm("rewrite"), arm("guarded"))
    for decision in (
        decided(*arms, arm("expanded")),
        release_of("model", GroupResult("dates", True, 20, arms), HELD, several=True),
    ):
        assert (decision.release, decision.decided_by) == (Release.FUSE, ("rewrite.several",))
    assert decided(*arms, arm("expanded", rewriter="other")).release is Release.SHIP
    assert decided(*arms, arm("expanded", [])).release is Release.SHIP  # none of several in this class


def test_only_requests_for_which_the_rewriter_was_asked_count():
    few = [True] * 5
    decision = decided(arm("rewrite", few), arm("guarded", few), n=40, everywhere=(arm("guarded"),))
    assert decision.reasons[0].startswith("too few requests: 5, and the rules ask for 20")
    assert (decision.release, decision.n) == (Release.FUSE, 40)
    unseen = decided(n=40, everywhere=(arm("guarded"),), bounds=replace(HELD, required=()))
    assert unseen.reasons[0].startswith("too few requests: 0, ")


def test_known_harm_to_a_few_requests_is_not_outweighed_by_all():
    few, everywhere = [True] * 10, (arm("guarded"),)

    def small(guarded, everywhere=everywhere, **bounds):
        made = replace(HELD, minimum=30, **bounds)
        return decided(arm("rewrite", few), guarded, n=10, everywhere=everywhere, bounds=made)

    assert small(arm("guarded", few)).release is Release.FUSE
    loses = small(arm("guarded", [*few[:9], False]))
    assert (loses.release, loses.decided_by) == (Release.FALL_BACK, ("minimum", "guarded.net_loss"))
    allowed = {**HELD.ceilings, Measure.NET_LOSS: 0.1}
    assert small(arm("guarded", [*few[:9], False]), ceilings=allowed).release is Release.FUSE
    worse = small(replace(arm("guarded", few), over_without=paired([False], [True])))
    assert (worse.release, worse.decided_by) == (Release.FALL_BACK, ("minimum", "guarded.no_gain"))
    for whole in (
        replace(arm("guarded"), over_without=paired([*few[:9], False], few)),
        arm("guarded", [*GOOD[:19], False]),
        arm("guarded", failed=2),
    ):
        ceilings = {**HELD.ceilings, Measure.FAILED: 0.05}
        off = small(arm("guarded", few), (whole,), recall_margin=1.0, ceilings=ceilings)
        assert (off.release, off.decided_by) == (Release.FALL_BACK, ("minimum",))
        assert "on all requests the guarded arm may be worse: guarded: " in off.reasons[0]


def test_asking_wrongly_leaves_the_group_fused_and_nobody_asked():
    wrong = arm("guarded", asked=share(0, 0), not_asked=share(17, 20))
    decision = decided(arm("rewrite", BAD), wrong)
    assert decision.release is Release.FUSE


def test_a_release_under_which_documents_leak_is_not_accepted(tmp_path):
    rules = replace(rules_of(tmp_path), accept=tuple(Release))
    leaking = {"unauthorised": ["a"]}
    clean = decided(arm("rewrite", BAD), arm("guarded"), arm("without_rewrite"))
    off = decided(arm("rewrite"), arm("guarded", **leaking), arm("without_rewrite"))
    assert (clean.release, off.release) == (Release.FUSE, Release.FALL_BACK)
    assert is_accepted([clean, off], rules)  # the arm that leaks is off
    everywhere = decided(arm("rewrite"), arm("guarded", **leaking), arm("without_rewrite", **leaking))
    fused = decided(arm("rewrite", BAD), arm("guarded"), arm("without_rewrite", **leaking))
    few = decided(
        arm("rewrite"),
        arm("guarded"),
        arm("without_rewrite", **leaking),
        n=20,
        bounds=replace(HELD, minimum=30),
        everywhere=(arm("guarded"),),
    )
    assert [each.release for each in (everywhere, fused, few)] == [Release.FALL_BACK, Release.FUSE, Release.FUSE]
    for each in (everywhere, fused, few):
        assert not is_accepted([clean, each], rules)
        assert is_accepted([clean, replace(each, enforced=False)], rules)


def test_an_acceptance_over_nothing_is_none(tmp_path):
    rules = replace(rules_of(tmp_path), accept=tuple(Release))
    assert not is_accepted([], rules)
    assert not is_accepted([decided(n=0)], rules)
    assert not is_accepted([replace(decided(arm("rewrite"), arm("guarded")), enforced=False)], rules)
    assert is_accepted([decided(n=0), decided(arm("rewrite"), arm("guarded"))], rules)


def test_a_rewriter_without_outcomes_is_decided_too(results, rules):
    made = releases(results, rules, ["faithful", "absent"])
    assert set(found(made, "absent").values()) == {Release.FALL_BACK}
    assert found(made, "faithful") == found(releases(results, rules), "faithful")
    assert Release.SHIP not in found(releases(results, rules, several=["faithful"]), "faithful").values()


def test_too_few_requests_never_ship():
    few = [True] * 19
    hedged = decided(arm("rewrite", few), arm("guarded", few), n=19, everywhere=(arm("guarded"),))
    assert (hedged.release, hedged.decided_by) == (Release.FUSE, ("minimum",))
    assert hedged.reasons[0].startswith("too few requests: 19, and the rules ask for 20; on all requests the guarded")
    worse = decided(arm("rewrite", few), arm("guarded", few), n=19, everywhere=(arm("guarded", BAD),))
    assert worse.release is Release.FALL_BACK
    assert "may be worse" in worse.reasons[0]
    assert decided(n=0).release is Release.FALL_BACK
    leaking = decided(arm("guarded", few, forbidden=["a"]), n=19, everywhere=(arm("guarded"),))
    assert (leaking.release, leaking.decided_by) == (Release.FALL_BACK, ("minimum", "guarded.forbidden"))


def test_the_user_is_asked_where_asking_was_right_more_often_than_not():
    rewrite = arm("rewrite", asked=share(0, 10), not_asked=share(10, 10))
    for asked, not_asked, release in (
        (share(9, 10), share(10, 10), Release.CLARIFY),  # all bounds hold, and asking is part of what was measured
        (share(5, 10), share(8, 10), Release.CLARIFY),  # right 5 times, wrong 2 times, and too rarely for the bound
        (share(2, 10), share(8, 10), Release.FALL_BACK),  # right as often as wrong
        (share(0, 0), share(20, 20), Release.FUSE),  # nothing is unresolved
    ):
        decision = decided(rewrite, arm("guarded", asked=asked, not_asked=not_asked))
        assert decision.release is release
    broken = arm("guarded", BAD, asked=share(9, 10), not_asked=share(10, 10))
    assert decided(rewrite, broken).release is Release.FALL_BACK


def test_arms_that_were_not_run_release_nothing():
    assert decided(arm("rewrite", BAD)).decided_by[0] == "guarded.not_run"
    only_guarded = decided(arm("guarded"))
    assert (only_guarded.release, only_guarded.decided_by) == (Release.FUSE, ("rewrite.not_run",))
    other = decided(arm("rewrite", rewriter="other"), arm("guarded", rewriter="other"))
    assert other.release is Release.FALL_BACK


def test_a_check_says_what_it_held():
    (first, *_, last) = checks_of(arm("rewrite", BAD), HELD)
    assert (first.measure, first.met) == (Measure.FORBIDDEN, True)
    assert (last.measure, last.met, last.text) == (
        Measure.CLARIFICATION,
        None,
        "rewrite: clarification was not measured",
    )
    told = decided(arm("rewrite", BAD), arm("guarded")).to_dict()
    assert (told["release"], told["checks"][0]["code"]) == ("fuse", "rewrite.forbidden")


# Planted faults, from the turns to the policy that is applied


@pytest.fixture(scope="module")
def guard():
    return Guard()


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return rules_of(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def known():
    return tuple(replace(case, slices=("legal",)) if place % 2 else case for place, case in enumerate(cases()))


@pytest.fixture(scope="module")
def results(guard, rules, known):
    rewriters = {"faithful": faithful, "loses dates": loses_dates, "expands": expands}
    return evaluated(rewriters, rules, guard, known)


def found(decisions, rewriter):
    return {each.group: each.release for each in decisions if each.rewriter == rewriter}


def test_a_rewriter_that_loses_every_date_fails_the_dates_and_ships_elsewhere(results, rules):
    decisions = releases(results, rules)
    assert found(decisions, "loses dates")["dates"] is Release.FUSE
    assert found(decisions, "loses dates")["follow-ups"] is Release.SHIP
    (dates,) = [each for each in decisions if (each.rewriter, each.group) == ("loses dates", "dates")]
    assert "rewrite.critical_completeness" in dates.decided_by
    assert not is_accepted([each for each in decisions if each.rewriter == "loses dates"], rules)


@pytest.mark.parametrize("rewriter", ["faithful", "expands"])
def test_a_harmless_rewriter_ships(results, rules, rewriter):
    made = found(releases(results, rules), rewriter)
    assert (made["dates"], made["follow-ups"], made["legal"]) == (Release.SHIP,) * 3


def test_a_leaking_arm_is_vetoed(guard, rules, known, results):
    groups = tuple(
        replace(group, arms=tuple(_leaking(each) if each.arm == "rewrite" else each for each in group.arms))
        for group in results.groups
    )
    made = [each for each in releases(replace(results, groups=groups), rules) if each.rewriter == "faithful"]
    assert found(made, "faithful")["dates"] is Release.FUSE
    assert next(each for each in made if each.group == "dates").decided_by == ("rewrite.unauthorised",)


def _leaking(result):
    return replace(result, scores=replace(result.scores, unauthorised=scores(1, unauthorised=["x"]).unauthorised))


def test_slices_and_empty_classes_are_decided_too(results, rules):
    made = [each for each in releases(results, rules) if each.rewriter == "faithful"]
    assert [(each.group, each.enforced) for each in made] == [
        ("dates", True),
        ("follow-ups", True),
        (REST, True),
        ("legal", False),
    ]
    assert (made[2].n, made[2].release) == (0, Release.FUSE)
    strict = [replace(each, release=Release.SHIP) if each.enforced else each for each in made]
    assert is_accepted(strict, rules)
    assert is_accepted([*strict, replace(made[3], release=Release.FALL_BACK)], rules)  # a slice is only reported
    assert is_accepted(made, rules)  # no rules could leave out the requests of no class, of which there are none
    for other in (replace(made[2], n=1), replace(made[2], group="legal questions")):
        assert not is_accepted([*made[:2], other], rules)
        assert is_accepted([*made[:2], other], replace(rules, accept=(Release.SHIP, Release.FUSE)))


def test_cases_are_in_the_class_that_the_policy_applies(guard, rules, known, results):
    policy = policy_for("faithful", releases(results, rules), rules)
    more = (Case("first", "Which tickets are there?"), Case("foreign", "Wo ist das Rathaus, bitte?"))
    for case in (*known[:6], *more):
        applied = guard.class_of(case.original, case.history, policy=policy)
        assert applied is not None
        assert class_of(case, rules, guard) == applied.name
    groups = groups_of((*known, *more), rules, guard)
    assert [(each.name, len(each.cases), each.enforced) for each in groups] == [
        ("dates", 24, True),
        ("follow-ups", 12, True),
        (REST, 2, True),
        ("legal", 18, False),
    ]


def test_the_policy_file_says_what_it_rests_on_and_does_it(tmp_path, results, rules):
    decisions = releases(results, rules)
    text = policy_file("loses dates", decisions, rules, "c0ffee")
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    assert text.startswith('# The policy of the rewriter "loses dates"')
    assert f"# rules: {rules.hash}\n# conditions: c0ffee\n" in text
    assert '# "dates": fuse, n = 24\n' in text
    loaded = Policy.load(path)
    assert loaded == policy_for("loses dates", decisions, rules)
    assert loaded.name == f"accepted-{rules.hash[:12]}"
    assert loaded.classes == (
        RequestClass("dates", Predicate(kinds=(Kind.TIME,)), Release.FUSE),
        RequestClass("follow-ups", Predicate(dependent=True), Release.SHIP),
        RequestClass(REST, Predicate(), Release.FUSE),
    )


def test_the_policy_keeps_what_the_guarded_arm_was_run_with(results, rules):
    base = Policy(k=7, carried=False, reject_uncertain=True)
    made = policy_for("faithful", releases(results, rules), rules, base)
    assert replace(made, name=base.name, classes=()) == base
    asking = policy_for("faithful", releases(results, rules), rules, Policy(clarify=True, shadow=True))
    assert (asking.clarify, asking.shadow) == (False, False)  # that is for the classes to say


@pytest.mark.parametrize("name", ["", " "])
def test_a_policy_without_a_name_is_not_written(name):
    with pytest.raises(InputError, match=r"policy\.name: expected a text, got"):
        policy_text(Policy(name=name))


def test_a_class_without_a_decision_is_named(results, rules):
    with pytest.raises(InputError, match="for 'nobody', got none for 'dates'"):
        policy_for("nobody", releases(results, rules), rules)


def test_the_loaded_policy_does_not_ask_the_rewriter_where_it_is_off(tmp_path, guard, results, rules, known):
    decisions = [
        replace(each, release=Release.FALL_BACK) if each.group == "dates" else each for each in releases(results, rules)
    ]
    path = tmp_path / "policy.toml"
    path.write_text(policy_file("loses dates", decisions, rules, ""), "utf-8")
    asked = []

    def rewriter(turn, history):
        asked.append(turn)
        return loses_dates(next(case for case in known if (case.original, case.history) == (turn, history)))

    guarded = GuardedSearch(lambda query: [query], rewriter, guard=guard, policy=Policy.load(path))
    dated, plain = known[1], known[0]
    for run in (guarded.run, lambda *arguments: asyncio.run(guarded.arun(*arguments))):
        asked.clear()
        assert run(dated.original, dated.history).decision.action is Action.FALL_BACK
        assert asked == []
        assert run(plain.original, plain.history).decision.action is Action.USE_REWRITE
        assert asked == [plain.original]
