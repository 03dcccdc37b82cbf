"""Frozen cases: what counts as a change, and what a refusal names."""

import json
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from case_sample import BARE, FULL
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.draft import Lock, check_frozen, freeze
from rewriteguard.evaluation.errors import CaseError, ConditionsError
from rewriteguard.model.tokens import Kind

CASES = [FULL, BARE]
OTHER: dict[str, Any] = {
    "id": "8",
    "original": "Is it closed?",
    "history": (("user", "Hi"),),
    "context": (("plan", "free"),),
    "contract": Contract(),
    "human": "Is the quay open?",
    "relevant": ("d9",),
    "near_misses": ("d9",),
    "forbidden": ("d9",),
    "unauthorised": ("d9",),
    "answer": "No.",
    "conversation": "c",
    "turn": 3,
    "family": "f",
    "slices": ("s",),
    "asked": date(2020, 1, 1),
}
OTHER_CONTRACT: dict[str, Any] = {
    "constraints": (Constraint(Kind.TIME, "2021"),),
    "must_preserve": (),
    "allowed_expansion": ("stall", "gelato"),
    "forbidden_assumptions": (),
    "unresolved": "which of them",
    "readings": (),
    "reference_date": None,
}


def test_every_field_but_the_rewrites_is_fixed() -> None:
    assert {*OTHER, "rewrites"} == {field.name for field in fields(Case)}
    assert OTHER_CONTRACT.keys() == {field.name for field in fields(Contract)}


@pytest.mark.parametrize("name", OTHER)
def test_a_changed_field_is_another_hash(name: str) -> None:
    assert freeze([replace(BARE, **{name: OTHER[name]})]) != freeze([BARE])


@pytest.mark.parametrize("name", OTHER_CONTRACT)
def test_a_changed_contract_is_another_hash(name: str) -> None:
    changed = replace(FULL, contract=replace(FULL.contract, **{name: OTHER_CONTRACT[name]}))
    assert freeze([changed]) != freeze([FULL])
    with pytest.raises(ConditionsError, match=r"changed: kiosk-3\Z"):
        check_frozen([changed, BARE], Lock.of(CASES))


def test_rewrites_and_order_do_not_count() -> None:
    assert freeze([BARE, replace(FULL, rewrites={"new": ("x",)})]) == freeze(CASES)


@pytest.mark.parametrize("cases", [[replace(BARE, original="Why?"), BARE], [BARE, BARE]])
def test_a_repeated_id_hides_no_case(cases: list[Case]) -> None:
    with pytest.raises(CaseError, match="id: '7' is the id of two cases"):
        check_frozen(cases, Lock.of([BARE]))
    with pytest.raises(CaseError, match="id: '7' is the id of two cases"):
        freeze(cases)


def test_the_lock_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "contracts.lock"
    Lock.of(CASES).write(path)
    assert Lock.read(path) == Lock.of(CASES)
    assert json.loads(path.read_text("utf-8"))["hash"] == freeze(CASES)
    check_frozen(CASES, path)


def test_the_hash_is_the_same_in_every_version() -> None:
    """Where this fails, locks of an earlier version are refused: count the format up."""
    assert freeze(CASES) == "48b3dd85ec996c3b2aba1fded8307232bbb9fc824982e3029a76d60faf0b4f8f"


def test_a_refusal_names_the_file_and_the_ids(tmp_path: Path) -> None:
    path = tmp_path / "contracts.lock"
    Lock.of([*CASES, replace(BARE, id="9")]).write(path)
    with pytest.raises(ConditionsError) as raised:
        check_frozen([FULL, replace(BARE, original="Why?"), replace(BARE, id="10")], path)
    assert str(raised.value) == (
        f"{path}: the cases are not those that were frozen; changed: 7; added: 10; left out: 9"
    )
    with pytest.raises(ConditionsError, match=r"added: 0, 1, 10, .* and 3 more"):
        check_frozen(
            [*CASES, *(replace(BARE, id=str(n)) for n in range(23) if n != 7), replace(BARE, id="x")], Lock.of(CASES)
        )


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"cases": 5}'])
def test_another_file_is_no_lock(tmp_path: Path, text: str) -> None:
    path = tmp_path / "contracts.lock"
    path.write_text(text, "utf-8")
    with pytest.raises(ConditionsError, match=r"contracts\.lock: expected what `rewriteguard cases freeze` wrote"):
        check_frozen(CASES, path)


def test_an_edited_lock_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "contracts.lock"
    changed = replace(FULL, original="Why?")
    Lock.of(CASES).write(path)
    text = path.read_text("utf-8")
    path.write_text(text.replace(Lock.of(CASES).hashes[FULL.id], Lock.of([changed]).hashes[FULL.id]), "utf-8")
    with pytest.raises(ConditionsError, match="it was edited"):
        check_frozen([changed, BARE], path)
