"""The five scores of an arm, its vetoes, and an arm against another, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.score.runs import ArmRun, arm_runs
from rewriteguard.evaluation.score.scores import Leak, Paired, Scores, paired, score
from rewriteguard.evaluation.score.statistics import Draws, clusters_of, exact_mcnemar
from rewriteguard.model.tokens import Kind, ProtectedToken

DRAWS = Draws(resamples=200)
YEAR = Contract((Constraint(Kind.TIME, "2023"), Constraint(Kind.TOPIC, "fares", critical=False)))
ASK = Contract(unresolved="it", readings=("the boat", "the bus"))


def no_tokens(text: str) -> Sequence[ProtectedToken]:
    return ()


def did(case: str, *results: str, arm: ArmName = ArmName.REWRITE, **others: object) -> Outcome:
    values = {"status": Ended.OK, "queries": ("fares 2023",), "rewrite": "fares 2023"} | others
    return Outcome(case, arm, "" if arm is ArmName.ORIGINAL else "r", results=results, **values)


def run(cases: Sequence[Case], *outcomes: Outcome, k: int = 3) -> ArmRun:
    (made,) = arm_runs(cases, outcomes, k, no_tokens)
    return made


def scored(cases: Sequence[Case], made: ArmRun) -> Scores:
    return score(cases, made, DRAWS, clusters_of(cases))


def both(cases: Sequence[Case], outcomes: Sequence[Outcome], k: int = 3) -> Paired:
    base, arm = arm_runs(cases, outcomes, k, no_tokens)
    return paired(cases, arm, base, DRAWS, clusters_of(cases))


def test_preservation_counts_constraints_and_completeness_requests() -> None:
    cases = [Case(name, "?", contract=YEAR) for name in "abc"]
    queries = {"a": ("fares 2023",), "b": ("2023",), "c": ("fares",)}
    found = scored(cases, run(cases, *(did(name, queries=queries[name]) for name in "abc")))
    assert (found.preservation.count, found.preservation.n) == (4, 6)
    assert (found.completeness.count, found.completeness.n) == (2, 3)  # b lost only what is not critical


def test_540_constraints_of_200_requests() -> None:
    # 27 requests lose a constraint each, 9 others add an assumption: 164 are complete.
    plan = [3] * 140 + [2] * 60  # 540 constraints
    words = [tuple(f"word{at}" for at in range(size)) for size in plan]
    cases = [
        Case(str(at), "?", contract=Contract(tuple(Constraint(Kind.TOPIC, word) for word in each)))
        for at, each in enumerate(words)
    ]
    broken = set(range(27))
    outcomes = [did(str(at), queries=(" ".join(each[:-1] if at in broken else each),)) for at, each in enumerate(words)]
    outcomes = [
        replace(outcome, queries=(f"{outcome.queries[0]} adult",)) if 27 <= at < 36 else outcome
        for at, outcome in enumerate(outcomes)
    ]
    cases = [replace(case, contract=replace(case.contract, forbidden_assumptions=("adult",))) for case in cases]
    found = scored(cases, run(cases, *outcomes))
    assert (found.preservation.count, found.preservation.n) == (513, 540)
    assert (found.completeness.count, found.completeness.n) == (164, 200)
    assert f"{found.preservation.value:.1%} {found.completeness.value:.1%}" == "95.0% 82.0%"


def test_requests_without_a_query_kept_nothing() -> None:
    cases = [Case(name, "?", contract=YEAR, relevant=("x",)) for name in "abc"]
    outcomes = [did("a", "x"), did("b", status=Ended.ERROR, queries=()), did("c", status=Ended.EMPTY)]
    found = scored(cases, run(cases, *outcomes))
    assert found.statuses == {"ok": 1, "empty": 1, "error": 1, "clarified": 0}
    assert (found.preservation.count, found.preservation.n) == (4, 6)
    assert (found.completeness.count, found.completeness.n) == (2, 3)
    assert found.evidence.recall.value == pytest.approx(1 / 3)
    assert (found.evidence.recall_searched.value, found.evidence.recall_searched.n) == (0.5, 2)
    assert found.requests == 3


def test_a_rewriter_that_fails_nine_times_of_ten_preserves_a_tenth() -> None:
    cases = [Case(str(at), "?", contract=YEAR) for at in range(10)]
    failed = {"status": Ended.ERROR, "queries": (), "rewrite": None, "stage": "rewrite"}
    found = scored(cases, run(cases, did("0"), *(did(str(at), **failed) for at in range(1, 10))))
    for figures in (found, found.of_rewrite):
        assert (figures.preservation.count, figures.preservation.n) == (2, 20)
        assert (figures.completeness.count, figures.completeness.n) == (1, 10)
    only = [Case("a", "?", contract=Contract(forbidden_assumptions=("adult",)))]
    assert scored(only, run(only, did("a", **failed))).completeness.value == 0.0


def test_a_request_about_which_the_user_was_rightly_asked_is_left_out_and_counted() -> None:
    ask = replace(ASK, constraints=YEAR.constraints)
    cases = [Case("a", "?", contract=ask), Case("b", "?", contract=YEAR), Case("c", "?", contract=YEAR)]
    clarified = {"status": Ended.CLARIFIED, "queries": ()}
    found = scored(cases, run(cases, did("a", **clarified), did("b", **clarified), did("c")))
    assert (found.left_out, found.preservation.n, found.completeness.n) == (1, 4, 2)
    assert (found.preservation.count, found.completeness.count) == (2, 1)  # nobody had to be asked about b


def test_the_rewriters_own_output_is_scored_apart_from_what_is_searched_beside_it() -> None:
    cases = [Case(name, "fares 2023", contract=YEAR) for name in "abc"]
    outcomes = [
        did("a", queries=("fares 2023", "fares"), rewrite="fares"),
        did("b", queries=("fares 2023", "fares of 2023"), rewrite="fares\nin 2023"),  # two queries
        did("c", queries=("fares 2023",), rewrite=None),  # none was asked for
    ]
    found = scored(cases, run(cases, *outcomes))
    assert (found.preservation.count, found.completeness.count) == (6, 3)
    own = found.of_rewrite
    assert (own.preservation.count, own.preservation.n) == (3, 4)
    assert (own.completeness.count, own.completeness.n) == (1, 2)
    (original,) = arm_runs(cases, [did(name, arm=ArmName.ORIGINAL, rewrite=None) for name in "abc"], 3, no_tokens)
    assert scored(cases, original).of_rewrite.preservation.n == 0


def test_near_misses_are_apart_from_missing() -> None:
    cases = [Case(name, "?", relevant=("x", "z"), near_misses=("y",)) for name in "abcd"]
    outcomes = [did("a", "y", "x"), did("b", "y"), did("c", "n"), did("d", status=Ended.EMPTY)]
    evidence = scored(cases, run(cases, *outcomes)).evidence
    assert [each.count for each in (evidence.found, evidence.near_miss_only, evidence.missing)] == [1, 1, 2]
    assert evidence.found.n == 4
    assert evidence.recall.value == pytest.approx(0.125)
    assert evidence.mrr.value == pytest.approx(0.125)


def test_what_lies_behind_k_is_no_evidence_but_a_veto() -> None:
    cases = [Case("a", "?", relevant=("x",), near_misses=("y",), forbidden=("z",))]
    found = scored(cases, run(cases, did("a", "1", "2", "3", "x", "y", "z")))
    assert (found.evidence.missing.count, found.forbidden) == (1, (Leak("a", "z", 6),))


def test_vetoes_name_the_documents_whatever_the_scores() -> None:
    cases = [Case("a", "?", relevant=("x",), forbidden=("f",), unauthorised=("u",)), Case("b", "?")]
    found = scored(cases, run(cases, did("a", "x", "u", "f"), did("b", "f")))
    assert found.unauthorised == (Leak("a", "u", 2),)
    assert found.forbidden == (Leak("a", "f", 3),)
    assert found.evidence.found.value == 1.0
    clean = scored(cases[1:], run(cases, did("b", "f")))
    assert (clean.forbidden, clean.unauthorised) == ((), ())


def test_answers_count_only_where_somebody_said() -> None:
    cases = [Case(name, "?") for name in "abc"]
    outcomes = [did("a", supported=True), did("b", supported=False), did("c")]
    found = scored(cases, run(cases, *outcomes))
    assert (found.answers.count, found.answers.n) == (1, 2)
    assert found.stages["generation"] == 1


def test_clarification_has_both_denominators() -> None:
    contracts = {"a": ASK, "b": ASK, "c": YEAR, "d": YEAR, "e": YEAR, "f": None}
    cases = [Case(name, "?", contract=contract) for name, contract in contracts.items()]
    outcomes = [did(name, status=Ended.CLARIFIED if name in "acf" else Ended.OK) for name in contracts]
    clarification = scored(cases, run(cases, *outcomes)).clarification
    assert (clarification.asked.count, clarification.asked.n) == (1, 2)
    assert (clarification.not_asked.count, clarification.not_asked.n) == (2, 3)


def test_a_subset_is_scored_by_itself() -> None:
    cases = [Case(name, "?", relevant=("x",)) for name in "ab"]
    made = run(cases, did("a", "x"), did("b"))
    assert [scored([case], made).evidence.recall.value for case in cases] == [1.0, 0.0]
    assert scored([], made).evidence.recall.value is None


@pytest.mark.parametrize(("second", "passed"), [("fares 2023", 1), ("fares", 0)])
def test_a_family_passes_only_as_a_unit(second: str, passed: int) -> None:
    cases = [Case(name, "?", contract=YEAR, relevant=("x",), family="pair") for name in "ab"]
    cases += [Case("c", "?", contract=YEAR, family="alone")]
    outcomes = [did("a", "x"), did("b", "x", queries=(second,)), did("c")]
    families = scored(cases, run(cases, *outcomes)).families
    assert (families.count, families.n) == (passed, 1)


def test_a_forbidden_document_fails_its_family() -> None:
    cases = [Case(name, "?", relevant=("x",), forbidden=("f",), family="pair") for name in "ab"]
    assert scored(cases, run(cases, did("a", "x"), did("b", "x", "f"))).families.value == 0.0


def test_gains_and_regressions_have_their_denominators() -> None:
    cases = [Case(name, "?", relevant=("x",)) for name in "abcdefg"] + [Case("nobody judged", "?")]
    original = [did(name, *(["x"] if name in "abcd" else ["n"]), arm=ArmName.ORIGINAL) for name in "abcdefg"]
    rewrite = [did(name, *(["x"] if name in "aef" else ["n"])) for name in "abcdefg"]
    found = both(cases, [*rewrite, *original, did("nobody judged")])
    assert (found.n, found.both, found.lost, found.gained, found.neither) == (7, 1, 3, 2, 1)
    assert (found.regression.count, found.regression.n) == (3, 4)
    assert (found.gain.count, found.gain.n) == (2, 3)
    assert found.mcnemar == exact_mcnemar(3, 2)
    assert found.difference.value == pytest.approx(-1 / 7)
    assert found.randomisation == 1.0
    assert found.base == "original"


def test_none_lost_of_200_is_bounded() -> None:
    cases = [Case(str(at), "?", relevant=("x",)) for at in range(200)]
    outcomes = [did(case.id, "x", arm=arm) for case in cases for arm in (ArmName.ORIGINAL, ArmName.REWRITE)]
    found = both(cases, outcomes)
    assert f"{found.regression.high:.1%}" == "1.5%"
    assert (found.mcnemar, found.randomisation) == (None, 1.0)


def test_only_requests_that_both_ran_are_pairs() -> None:
    cases = [Case(name, "?", relevant=("x",), contract=ASK) for name in "abc"]
    outcomes = [did(name, "x", arm=ArmName.ORIGINAL) for name in "abc"]
    outcomes += [did("a", "x"), did("b", status=Ended.CLARIFIED)]  # b was rightly asked, c did not run
    assert both(cases, outcomes).n == 1
