"""Twins: which pairs are made, what they are compared with, and that a pair passes only as a unit."""

import json
from dataclasses import replace
from datetime import date

import pytest

from rewriteguard import Guard, Verdict
from rewriteguard.evaluation.cases.case import Case, Contract
from rewriteguard.evaluation.mutants.question import pointers
from rewriteguard.evaluation.twins import Family, Judged, judge_pair, judge_pairs, shares, twins_of

TALK = (
    ("user", "Tell me about the painter Paul Mercer."),
    ("assistant", "Paul Mercer and Helen Ward ran a studio in Glasgow. It had the largest kiln of the town."),
)
CASE = Case(
    "mercer-2",
    "What did he paint in 1931?",
    TALK,
    human="What did Paul Mercer paint in 1931?",
    asked=date(2024, 5, 6),
)


def of(case: Case, kind: str, *, planted: bool = False) -> list[Family]:
    return [family for family in twins_of(case) if family.kind == kind and family.planted == planted]


def test_every_decisive_kind_has_a_pair() -> None:
    seen = {family.kind for n in range(12) for family in twins_of(replace(CASE, id=str(n)), seed=n)}
    assert seen >= {"date", "name", "direction", "status", "aggregation", "referent", "unresolved", "expansion"}


def test_a_pair_is_asked_as_the_user_asked_where_the_turn_has_the_words() -> None:
    (family,) = of(CASE, "date")
    assert (family.turn, family.history, family.reference_date) == (CASE.original, TALK, date(2024, 5, 6))
    assert "1931" not in family.twin.rewrite
    assert family.twin.rewrite.startswith("What did Paul Mercer paint in ")
    assert (family.twin.must_pass, family.control.must_pass) == (False, True)


def test_words_from_the_conversation_are_compared_with_the_whole_question() -> None:
    case = replace(CASE, original="What did he paint then?")
    (family,) = of(case, "date")
    assert family.turn == case.human


def test_another_name_than_the_one_that_is_meant_is_another_referent() -> None:
    family = next(family for family in of(CASE, "referent") if "Helen Ward" in family.twin.rewrite)
    assert family.turn == CASE.original
    named = replace(CASE, original="What did Paul Mercer paint in 1931?")
    assert of(named, "referent") == []
    assert [family.turn for family in of(named, "name")] == [named.original] * len(of(CASE, "referent"))


def test_a_turn_that_points_outside_is_its_own_unresolved_twin() -> None:
    (family,) = of(CASE, "unresolved")
    assert (family.twin.rewrite, family.control.rewrite) == (CASE.original, CASE.human)
    assert of(replace(CASE, original="What did Paul Mercer paint in 1931?"), "unresolved") == []


@pytest.mark.parametrize(
    ("turn", "human"),
    [
        ("Is it possible to visit the kiln?", "Can I visit the kiln?"),
        ("Would it be a good idea to visit the kiln?", "Should I visit the kiln?"),
        ("Is it true that Paul Mercer painted?", "Did Paul Mercer paint?"),
        ("I heard that Paul Mercer left, did Helen Ward leave?", "Did Helen Ward leave?"),
        (
            "Which of those that Paul Mercer built is best?",
            "Which kiln of Paul Mercer is best?",
        ),
        ("What time does it get dark in Glasgow?", "When does the sun set in Glasgow?"),
        ("How long does it take to fire the kiln?", "What is the firing time of the kiln?"),
        ("Are there kilns in Glasgow?", "Does Glasgow have kilns?"),
        ("How many kilns are there?", "How many kilns does Glasgow have?"),
        ("Did both Paul Mercer and Helen Ward paint?", "Did Paul Mercer and Helen Ward paint?"),
        ("Is the kiln open this year?", "Is the kiln open in 2024?"),
    ],
)
def test_a_word_that_points_at_nothing_leaves_nothing_open(turn: str, human: str) -> None:
    assert of(replace(CASE, original=turn, human=human), "unresolved") == []


@pytest.mark.parametrize(
    "turn",
    [
        *("Did it crack?", "How long does it take?", "How much does it cost?", "Is it possible for them to leave?"),
        *("Did that kiln crack?", "Who built that?", "What happened after that in 1931?", "Well, that kiln is old?"),
        *("Did he paint there?", "Is it open this year?", "And an old one?", "Are both open?"),
    ],
)
def test_a_word_that_points_to_the_history_is_left_open(turn: str) -> None:
    case = replace(CASE, original=turn, human="What did Paul Mercer do?")
    assert len(of(case, "unresolved")) == 1
    assert of(replace(case, history=()), "unresolved") == []


def test_each_pointer_is_judged_where_it_stands() -> None:
    assert pointers("Is it true that they were there?") == {"they", "there"}
    assert pointers("It’s odd that there’s one that burnt it") == {"it"}


def test_an_expansion_is_harmless_beside_one_that_narrows() -> None:
    (family,) = of(CASE, "expansion")
    assert family.control.rewrite == "What did Paul Mercer paint in 1931? (information, details)"
    assert family.twin.edit == "invent"
    spelt = replace(CASE, original="What was his biggest kiln?", human="What was Paul Mercer's biggest kiln?")
    assert "biggest (largest) kiln" in of(spelt, "expansion")[0].control.rewrite
    contract = Contract(allowed_expansion=("canvas", "oil"), forbidden_assumptions=("with Helen Ward",))
    first, second = of(replace(CASE, contract=contract), "expansion")
    assert [each.control.rewrite for each in (first, second)] == [f"{CASE.human} canvas", f"{CASE.human} oil"]
    assert first.twin.rewrite == f"{CASE.human} with Helen Ward"


def test_words_are_planted_only_where_there_are_none() -> None:
    planted = [family for family in twins_of(CASE) if family.planted]
    assert [family.kind for family in planted if family.kind in ("date", "referent", "unresolved")] == []
    (direction,) = [family for family in planted if family.kind == "direction"]
    assert direction.turn != CASE.human
    assert direction.turn.startswith("What did Paul Mercer paint in 1931, ")
    scaled = replace(CASE, original="What was his biggest kiln?", human="What was Paul Mercer's biggest kiln?")
    assert of(scaled, "direction")
    assert of(scaled, "direction", planted=True) == []


def test_controls_take_turns() -> None:
    case = replace(
        CASE, human="What did Paul Mercer first paint in Toronto before 1931?", original="What did he paint?"
    )
    edits = [family.control.edit for family in twins_of(case) if not family.planted]
    assert len(set(edits)) > 2
    assert "unchanged" in edits


def test_the_families_are_ordered_and_numbered() -> None:
    families = twins_of(CASE)
    assert len({family.id for family in families}) == len(families)
    assert {family.case for family in families} == {"mercer-2"}
    assert families[0].id == "mercer-2/date/1"
    assert twins_of(CASE) == families
    assert twins_of(CASE, seed=1) != families


@pytest.mark.parametrize("human", [None, "", "Thanks!"])
def test_what_cannot_be_edited_has_no_pairs_of_its_own(human: str | None) -> None:
    assert [family for family in twins_of(Case("1", "Thanks!", human=human)) if not family.planted] == []


def test_a_pair_passes_only_as_a_unit() -> None:
    family = twins_of(CASE)[0]
    preserved, changed, uncertain = Verdict
    passed = [(twin, control) for twin in Verdict for control in Verdict if Judged(family, twin, control).passed]
    assert passed == [(changed, preserved), (changed, uncertain), (uncertain, preserved), (uncertain, uncertain)]


def test_the_guard_tells_twins_from_controls(guard: Guard) -> None:
    families = twins_of(CASE)
    told = judge_pairs(guard, families)
    assert list(told)[:3] == ["date", "name", "direction"]
    assert (told["date"].value, told["date"].n, told["date"].count) == (1.0, 1, 1)
    assert told["unresolved"].value == told["expansion"].value == 1.0
    assert sum(figure.n for figure in told.values()) == len(families)
    assert told == shares(judge_pair(guard, family) for family in families)


class Blind(Guard):
    """A guard that finds the same of everything."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict

    def check(self, *args, **keywords):  # type: ignore[no-untyped-def]
        return replace(super().check(*args, **keywords), verdict=self.verdict)


@pytest.mark.parametrize("verdict", [Verdict.PRESERVED, Verdict.CHANGED])
def test_a_guard_that_passes_or_rejects_all_fails_every_pair(verdict: Verdict) -> None:
    assert {figure.value for figure in judge_pairs(Blind(verdict), twins_of(CASE)).values()} == {0.0}


def test_what_was_judged_is_plain_json(guard: Guard) -> None:
    told = json.loads(json.dumps(judge_pair(guard, twins_of(CASE)[0]).to_dict()))
    assert (told["id"], told["passed"], told["verdicts"]["twin"]) == ("mercer-2/date/1", True, "changed")
    assert told["twin"]["edit"] == "alter"
