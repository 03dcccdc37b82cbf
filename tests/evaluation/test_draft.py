"""Drafted contracts: what the guard finds becomes constraints, and nothing is taken from a rewriter."""

from dataclasses import replace
from datetime import date

import pytest

from rewriteguard import Guard
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.draft import draft
from rewriteguard.model.tokens import Kind

TALK = (
    ("user", "Which ferries go to Heron Rock and Gull Island?"),
    ("assistant", "The Heron Rock ferry and the Gull Island ferry both go hourly."),
)
CASE = Case("7", "Which kiosks sold no ice cream in 2021?", asked=date(2022, 3, 4))


def contract(case: Case, guard: Guard) -> Contract:
    drafted = draft(case, guard)
    assert drafted.contract is not None
    assert replace(drafted, contract=None) == case
    return drafted.contract


def test_constraints_are_what_the_guard_protects_in_the_turn(guard: Guard) -> None:
    drafted = contract(CASE, guard)
    found = {(each.kind, each.text, each.critical) for each in drafted.constraints}
    assert found >= {(Kind.TIME, "2021", True), (Kind.NEGATION, "no", True)}
    assert {critical for kind, _, critical in found if kind is Kind.TOPIC} == {False}
    assert (drafted.unresolved, drafted.readings, drafted.reference_date) == ("", (), date(2022, 3, 4))
    assert (drafted.must_preserve, drafted.allowed_expansion, drafted.forbidden_assumptions) == ((), (), ())


def test_what_a_person_took_from_the_conversation_is_a_constraint(guard: Guard) -> None:
    case = replace(CASE, original="What happened to it in 2021?", history=(("user", "Tell me of the Ferrow kiln."),))
    without = contract(case, guard)
    told = contract(replace(case, human="What happened to the Ferrow kiln in 2021?"), guard)
    assert "Ferrow" not in " ".join(each.text for each in without.constraints)
    assert "Ferrow" in " ".join(each.text for each in told.constraints)
    assert told.constraints[: len(without.constraints)] == without.constraints


def test_words_with_several_readings_are_unresolved(guard: Guard) -> None:
    case = Case(
        "7", "When does it leave in winter 2023?", TALK, human="When does the Heron Rock ferry leave in winter 2023?"
    )
    drafted = contract(case, guard)
    assert (drafted.unresolved, drafted.readings) == ("it", ("Heron Rock", "Gull Island"))


def test_words_that_point_outside_are_unresolved_until_a_person_resolved_them(guard: Guard) -> None:
    history = (("user", "Where is the Heron Rock ferry?"), ("assistant", "At the Heron Rock pier."))
    case = Case("7", "When does it leave?", history)
    assert contract(case, guard).unresolved == "it"
    assert contract(replace(case, human="When does the Heron Rock ferry leave?"), guard).unresolved == ""


def test_the_rewriter_is_not_looked_at(guard: Guard) -> None:
    rewritten = replace(CASE, rewrites={"a": ("Which kiosks sold ice cream in Burford in 2023?",)})
    assert contract(rewritten, guard) == contract(CASE, guard)


def test_a_contract_that_is_there_stays(guard: Guard) -> None:
    case = replace(CASE, contract=Contract((Constraint(Kind.TIME, "2021"),)))
    assert draft(case, guard) is case


@pytest.mark.parametrize("text", ["Thanks!", "?", "你好吗？"])
def test_a_turn_without_constraints_has_an_empty_contract(text: str, guard: Guard) -> None:
    assert [each for each in contract(Case("7", text), guard).constraints if each.critical] == []
