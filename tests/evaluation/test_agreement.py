"""Two annotators: the units that are counted, the coefficients, and the list of what differs."""

import json
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from rewriteguard import Guard
from rewriteguard.evaluation.cases.agreement import ALL, Agreement, Choices, agreement
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.draft import draft
from rewriteguard.evaluation.errors import CaseError
from rewriteguard.model.tokens import Kind

DATED = Case("1", "Which ferries did not run in 2021?")
OTHER = Case("2", "Which ferries run in 2022 and 2023?")


def annotated(case: Case, *constraints: Constraint, **more: Any) -> Case:
    return replace(case, contract=Contract(constraints, **more))


YEAR = Constraint(Kind.TIME, "2021")
NOT = Constraint(Kind.NEGATION, "not")


def test_two_who_take_the_draft_agree(guard: Guard) -> None:
    cases = [draft(case, guard) for case in (DATED, OTHER)]
    found = agreement(cases, cases[::-1], guard)
    drafted = sum(len(case.contract.constraints) for case in cases if case.contract)
    assert found.presence[ALL] == Choices(both=drafted)
    assert found.presence["time"] == found.criticality["time"] == Choices(both=3)
    assert (found.presence[ALL].agreement.value, found.presence[ALL].kappa.value) == (1.0, None)
    assert found.criticality[ALL].kappa.value == pytest.approx(1)
    assert found.unresolved == Choices(neither=2)
    assert found.disagreements == []


def test_what_both_took_out_of_the_draft_is_a_unit_too(guard: Guard) -> None:
    first = [annotated(DATED, YEAR, NOT), annotated(OTHER, Constraint(Kind.TIME, "2022"))]
    second = [annotated(DATED, Constraint(Kind.TIME, " 2021"), replace(NOT, critical=False)), annotated(OTHER)]
    found = agreement(first, second, guard)
    assert found.presence["time"] == Choices(both=1, first=1, second=0, neither=1)
    assert found.presence["negation"] == Choices(both=1)
    assert found.criticality["negation"] == Choices(first=1)
    assert found.presence["topic"].neither == found.presence["topic"].n > 0
    told = {(each.case, each.field, each.kind, each.text, each.first, each.second) for each in found.disagreements}
    assert told == {
        ("1", "critical", Kind.NEGATION, "not", True, False),
        ("2", "constraints", Kind.TIME, "2022", True, False),
    }


def test_what_an_annotator_added_is_a_unit(guard: Guard) -> None:
    ferry = Constraint(Kind.ENTITY, "Gull Island")
    found = agreement([annotated(DATED)], [annotated(DATED, ferry)], guard)
    assert found.presence["entity"] == Choices(second=1)
    assert [(each.text, each.first, each.second) for each in found.disagreements] == [("Gull Island", False, True)]


def test_the_other_fields_are_compared(guard: Guard) -> None:
    first = annotated(DATED, unresolved="run", readings=("sail",), must_preserve=("Ferries ", "run"))
    second = annotated(DATED, must_preserve=("ferries",), forbidden_assumptions=("in winter",))
    found = agreement([first], [second], guard)
    assert found.unresolved == Choices(first=1)
    assert [(each.field, each.text, each.first, each.second) for each in found.disagreements] == [
        ("unresolved", "", "run", ""),
        ("must_preserve", "run", True, False),
        ("forbidden_assumptions", "in winter", False, True),
        ("readings", "sail", True, False),
    ]


OF_CONTRACT: dict[str, tuple[Any, str, bool | str]] = {
    "constraints": ((YEAR,), "2021", True),
    "must_preserve": (("run",), "run", True),
    "allowed_expansion": (("boats",), "boats", True),
    "forbidden_assumptions": (("in winter",), "in winter", True),
    "unresolved": ("run", "", "run"),
    "readings": (("sail",), "sail", True),
    "reference_date": (date(2022, 3, 4), "", "2022-03-04"),
}
OF_CASE: dict[str, tuple[Any, str, bool | str]] = {
    "context": ((("plan", "pro"),), "plan: pro", True),
    "relevant": (("d1",), "d1", True),
    "near_misses": (("d2",), "d2", True),
    "forbidden": (("d3",), "d3", True),
    "unauthorised": (("d4",), "d4", True),
    "answer": ("None.", "", "None."),
    "conversation": ("ferry", "", "ferry"),
    "turn": (3, "", "3"),
    "family": ("years", "", "years"),
    "slices": (("dates",), "dates", True),
    "asked": (date(2022, 3, 3), "", "2022-03-03"),
}


def test_no_field_is_left_out() -> None:
    assert OF_CONTRACT.keys() == {field.name for field in fields(Contract)}
    same = {"id", "original", "history", "human"}
    assert {*OF_CASE, *same, "contract", "rewrites"} == {field.name for field in fields(Case)}


@pytest.mark.parametrize("name", [*OF_CONTRACT, *OF_CASE])
def test_every_difference_is_listed(name: str, guard: Guard) -> None:
    plain = annotated(DATED)
    if name in OF_CONTRACT:
        value, text, said = OF_CONTRACT[name]
        other = replace(plain, contract=Contract(**{name: value}))
    else:
        value, text, said = OF_CASE[name]
        other = replace(plain, **{name: value})
    for first, second in ((other, plain), (plain, other)):
        (found,) = agreement([first], [second], guard).disagreements
        assert (found.case, found.field, found.text) == ("1", name, text)
        assert (found.first, found.second)[first is plain] == said
        assert not (found.first, found.second)[first is other]


def test_forms_of_a_constraint_that_both_hold_are_compared(guard: Guard) -> None:
    first = annotated(DATED, replace(YEAR, forms=("last year", "The year 2021")))
    second = annotated(DATED, replace(YEAR, forms=("the year  2021", "this year")))
    found = agreement([first], [second], guard)
    assert [(each.field, each.kind, each.text, each.first, each.second) for each in found.disagreements] == [
        ("forms", Kind.TIME, "2021: last year", True, False),
        ("forms", Kind.TIME, "2021: this year", False, True),
    ]
    assert found.criticality["time"] == Choices(both=1)


def test_other_words_are_another_unit(guard: Guard) -> None:
    case = Case("3", "Which ferries did not run after 2021?")
    first, second = annotated(case, replace(YEAR, text="after 2021")), annotated(case, YEAR)
    found = agreement([first], [second], guard)
    assert (found.presence["time"].first, found.presence["time"].second) == (1, 1)
    assert {each.text for each in found.disagreements} == {"after 2021", "2021"}


@pytest.mark.parametrize("counts", [(20, 5, 10, 15), (1, 2, 3, 4), (30, 1, 0, 9), (0, 3, 4, 0)])
def test_kappa_is_that_of_statsmodels(counts: tuple[int, int, int, int]) -> None:
    both, first, second, neither = counts
    found, expected = Choices(*counts), cohens_kappa([[both, first], [second, neither]])
    assert found.agreement.value == pytest.approx((both + neither) / sum(counts))
    assert (found.agreement.count, found.agreement.n, found.kappa.n) == (both + neither, sum(counts), sum(counts))
    assert found.kappa.value == pytest.approx(expected.kappa)
    assert found.kappa.low == pytest.approx(max(-1, expected.kappa - 1.959964 * expected.std_kappa))
    assert found.kappa.high == pytest.approx(min(1, expected.kappa + 1.959964 * expected.std_kappa))


def test_nothing_to_count_has_no_figures() -> None:
    assert (Choices().agreement.value, Choices().kappa.value, Choices().kappa.low) == (None, None, None)


def test_the_kinds_are_in_their_order_behind_all_of_them(guard: Guard) -> None:
    found = agreement([annotated(DATED, NOT, YEAR)], [annotated(DATED, NOT, YEAR)], guard)
    kinds = [kind.value for kind in Kind if kind.value in found.presence]
    assert list(found.presence) == [ALL, *kinds]
    assert list(found.criticality) == [ALL, "time", "negation"]
    assert sum(found.presence[kind].n for kind in kinds) == found.presence[ALL].n


def test_it_is_plain_json(guard: Guard) -> None:
    found = agreement([annotated(DATED, YEAR, unresolved="a")], [annotated(DATED)], guard)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["presence"]["time"]["first"] == 1
    assert told["presence"]["time"]["agreement"]["value"] == 0.0
    assert told["disagreements"][0] == {
        "case": "1",
        "field": "constraints",
        "kind": "time",
        "text": "2021",
        "first": True,
        "second": False,
    }
    assert Agreement().to_dict()["presence"] == {}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([DATED, OTHER], [DATED], "of one alone: 2"),
        ([DATED], [DATED, OTHER], "of one alone: 2"),
        ([annotated(DATED)], [DATED], "case 1: contract: missing in the cases of the second annotator"),
        ([DATED], [annotated(DATED)], "case 1: contract: missing in the cases of the first annotator"),
        (
            [annotated(DATED, NOT, YEAR, replace(YEAR, text=" 2021", critical=False))],
            [annotated(DATED)],
            r"case 1: contract.constraints\[2\]: time ' 2021' stands there twice",
        ),
        ([annotated(DATED)], [annotated(DATED, YEAR, YEAR)], r"case 1: contract.constraints\[1\]: time '2021' stands"),
        ([DATED, DATED], [DATED], "id: '1' is the id of two cases of one annotator"),
        ([DATED], [DATED, DATED], "id: '1' is the id of two cases of one annotator"),
        ([DATED], [replace(DATED, original="Why?")], "case 1: original: expected the same"),
        ([DATED], [replace(DATED, human="Why?")], "case 1: human: expected the same"),
    ],
)
def test_other_cases_are_an_error(first: list[Case], second: list[Case], message: str, guard: Guard) -> None:
    with pytest.raises(CaseError, match=message):
        agreement(first, second, guard)
