"""What queries make of a contract."""

from __future__ import annotations

from datetime import date

import pytest

from rewriteguard import Guard
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.score.contract import Clause, Fate, clauses, folded, stands
from rewriteguard.model.tokens import Kind

TIME, ENTITY, QUANTITY, NEGATION = Kind.TIME, Kind.ENTITY, Kind.QUANTITY, Kind.NEGATION


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


def judged(guard: Guard, original: str, contract: Contract, *queries: str) -> tuple[Clause, ...]:
    return clauses(Case("a", original, contract=contract), queries, guard.extract)


def fate(guard: Guard, original: str, constraint: Constraint, *queries: str) -> tuple[str, str, int | None]:
    (clause,) = judged(guard, original, Contract((constraint,)), *queries)
    return clause.fate.value, clause.instead, clause.query


@pytest.mark.parametrize(
    ("form", "text", "whether"),
    [
        ("IBM", "What does IBM's plan cost?", True),
        ("the fares", "THE   fares", True),
        ("Zürich", "trains from Zurich", True),
        ("passengers", "the passengers' rights", True),
        ("naïve", "a nai\u0308ve plan", True),
        ("approved", "all non-approved plans", False),
        ("approved", "unapproved plans", False),
        ("2023", "on 2023-07-04", False),
        ("2023", "in 2023, all fares", True),
        ("5", "version 5.2", False),
        ("5", "step 5.", True),
        ("10", "10 % of fares", False),
        ("London", "Paris/London", True),
        ("v3.1", "v3.11", False),
        ("", "anything", False),
    ],
)
def test_words_stand_in_a_text(form: str, text: str, whether: bool) -> None:
    assert stands(folded(form), folded(text)) is whether


@pytest.mark.parametrize(
    ("original", "constraint", "query", "expected"),
    [
        ("What did it cost in 2023?", Constraint(TIME, "2023"), "ferry fares 2023", ("kept", "", 0)),
        ("What did it cost in 2023?", Constraint(TIME, "2023"), "ferry fares 2022", ("altered", "2022", 0)),
        ("What did it cost in 2023?", Constraint(TIME, "2023"), "ferry fares", ("dropped", "", None)),
        ("Any in Q3 2023?", Constraint(TIME, "Q3 2023"), "any in the third quarter of 2023", ("kept", "", 0)),
        ("Rides over 5 km?", Constraint(QUANTITY, "over 5 km"), "rides of more than 5 km", ("kept", "", 0)),
        ("Rides over 5 km?", Constraint(QUANTITY, "over 5 km"), "rides under 5 km", ("altered", "under 5 km", 0)),
        ("Which did not run?", Constraint(NEGATION, "not"), "lines that didn't run", ("kept", "", 0)),
        ("Which did not run?", Constraint(NEGATION, "not"), "lines that ran", ("dropped", "", None)),
        ("For IBM?", Constraint(ENTITY, "IBM", forms=("Big Blue",)), "fees at big blue", ("kept", "", 0)),
        ("For IBM?", Constraint(ENTITY, "IBM"), "fees at Siemens", ("altered", "Siemens", 0)),
    ],
)
def test_a_constraint_is_kept_altered_or_dropped(
    guard: Guard, original: str, constraint: Constraint, query: str, expected: tuple[str, str, int | None]
) -> None:
    assert fate(guard, original, constraint, query) == expected


def test_one_of_several_queries_keeps_a_constraint_and_is_named(guard: Guard) -> None:
    assert fate(guard, "In 2023?", Constraint(TIME, "2023"), "fares", "fares 2023") == ("kept", "", 1)
    assert fate(guard, "In 2023?", Constraint(TIME, "2023"), "fares", "fares 2021") == ("altered", "2021", 1)


def test_the_other_value_of_a_contract_did_not_come_instead(guard: Guard) -> None:
    contract = Contract((Constraint(TIME, "2021"), Constraint(TIME, "2023")))
    fates = [each.fate for each in judged(guard, "2021 and 2023?", contract, "fares in 2023")]
    assert fates == [Fate.DROPPED, Fate.KEPT]
    contract = Contract((Constraint(TIME, "2021"), Constraint(TIME, "Q3 2023")))
    fates = [each.fate for each in judged(guard, "Both?", contract, "fares in the third quarter of 2023")]
    assert fates == [Fate.DROPPED, Fate.KEPT]


def test_an_allowed_expansion_did_not_come_instead(guard: Guard) -> None:
    for allowed, expected in (((), Fate.ALTERED), (("Siemens AG",), Fate.DROPPED)):
        contract = Contract((Constraint(ENTITY, "IBM"),), allowed_expansion=allowed)
        assert judged(guard, "For IBM?", contract, "fees at Siemens")[0].fate is expected


def test_a_relative_period_is_its_dates_where_the_contract_has_a_day(guard: Guard) -> None:
    for day, expected in ((None, Fate.ALTERED), (date(2024, 5, 2), Fate.KEPT), (date(2023, 5, 2), Fate.ALTERED)):
        contract = Contract((Constraint(TIME, "last year"),), reference_date=day)
        assert judged(guard, "What was it last year?", contract, "fares in 2023")[0].fate is expected


def test_must_preserve_is_held_by_the_words_as_written(guard: Guard) -> None:
    contract = Contract(must_preserve=("ERR_42",))
    assert [judged(guard, "ERR_42?", contract, query)[0].fate for query in ("fix ERR_42", "fix err_42")] == [
        Fate.KEPT,
        Fate.DROPPED,
    ]


def test_an_added_assumption_breaks_the_contract(guard: Guard) -> None:
    contract = Contract(forbidden_assumptions=("adult",), allowed_expansion=("adult education",))
    (clause,) = judged(guard, "What is the fare?", contract, "fare", "adult fare")
    assert (clause.fate, clause.query, clause.held, clause.critical) == (Fate.ADDED, 1, False, True)
    assert judged(guard, "What is the fare?", contract, "adult education fare")[0].held
    assert judged(guard, "What is the adult fare?", contract, "adult fare")[0].held


def test_without_queries_nothing_is_kept_and_without_a_contract_nothing_is_judged(guard: Guard) -> None:
    contract = Contract((Constraint(TIME, "2023"),), must_preserve=("fares",), forbidden_assumptions=("adult",))
    assert [each.fate for each in judged(guard, "In 2023?", contract)] == [Fate.DROPPED, Fate.DROPPED, Fate.ABSENT]
    assert clauses(Case("a", "In 2023?"), ("q",), guard.extract) == ()
