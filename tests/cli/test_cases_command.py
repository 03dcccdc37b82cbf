"""The commands for cases: from a file without contracts to a lock, and what is wrong usage."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from case_sample import BARE, FULL
from rewriteguard.cli import app
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.cases.draft import Lock, check_frozen, freeze
from rewriteguard.evaluation.cases.files import read_cases, write_cases
from rewriteguard.evaluation.cases.rows import schema

FERRY = Case("1", "Which ferries did not run in 2021?", human="Which ferries did not run in 2021?")


def run(*args: object) -> Result:
    return CliRunner().invoke(app, ["cases", *map(str, args)], catch_exceptions=False)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    write_cases(path, [FERRY, FULL])
    return path


@pytest.mark.parametrize("name", ["drafts.jsonl", "drafts.csv"])
def test_draft_fills_in_what_is_missing(cases: Path, tmp_path: Path, name: str) -> None:
    done = run("draft", cases, "--out", tmp_path / name)
    assert (done.exit_code, done.stdout) == (0, "1 drafted, 1 had a contract\n")
    ferry, full = read_cases(tmp_path / name)
    assert full == FULL
    assert ferry.contract is not None
    assert "2021" in [each.text for each in ferry.contract.constraints]


def test_agreement_lists_what_differs(cases: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    run("draft", cases, "--out", first)
    ferry, full = read_cases(first)
    assert ferry.contract is not None
    fewer = replace(ferry.contract, constraints=ferry.contract.constraints[1:])
    write_cases(second, [full, replace(ferry, contract=fewer)])
    gone = ferry.contract.constraints[0]
    done = run("agreement", first, second)
    assert done.exit_code == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert f"1: constraints: {gone.kind}: {gone.text} (a.jsonl: yes, b.jsonl: no)" in lines
    assert lines[-1] == "1 disagreement"
    told = json.loads(run("agreement", first, second, "--json").stdout)
    assert (told["presence"]["all"]["first"], told["presence"]["all"]["second"]) == (1, 0)
    assert [each["text"] for each in told["disagreements"]] == [gone.text]


def test_agreement_on_other_cases_names_both_files(cases: Path, tmp_path: Path) -> None:
    write_cases(tmp_path / "b.jsonl", [BARE])
    done = run("agreement", cases, tmp_path / "b.jsonl")
    assert done.exit_code == 2
    assert f"{cases} and {tmp_path / 'b.jsonl'}: expected the same cases" in done.stderr


def test_freeze_writes_a_lock(cases: Path, tmp_path: Path) -> None:
    lock = tmp_path / "contracts.lock"
    done = run("freeze", cases, "--out", lock)
    assert done.exit_code == 0
    assert done.stdout == f"2 cases frozen: {freeze([FERRY, FULL])}\n"
    assert Lock.read(lock).hash == freeze([FULL, FERRY])
    check_frozen([FULL, FERRY], lock)


def test_twins_are_counted_by_kind(cases: Path) -> None:
    done = run("twins", cases)
    assert done.exit_code == 0
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if len(line.split()) == 6}
    assert rows["date"][1:3] == [rows["date"][0], "100.0%"]
    told = json.loads(run("twins", cases, "--json").stdout)
    assert told["kinds"]["date"]["n"] == int(rows["date"][0])
    assert sum(pair["kind"] == "date" for pair in told["pairs"]) == int(rows["date"][0])
    assert sum(pair["kind"] == "date" and not pair["planted"] for pair in told["pairs"]) == int(rows["date"][3])


def test_twins_need_a_human_rewrite(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases.jsonl", [BARE])
    done = run("twins", tmp_path / "cases.jsonl")
    assert done.exit_code == 2
    assert "no case has a human rewrite" in done.stderr


def test_schema_is_printed() -> None:
    assert json.loads(run("schema").stdout) == schema()


def test_bad_files_are_wrong_usage(cases: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "7", "orignal": "a"}\n', "utf-8")
    for args in (
        ("draft", bad, "--out", tmp_path / "o.jsonl"),
        ("freeze", bad, "--out", tmp_path / "l"),
        ("twins", bad),
    ):
        done = run(*args)
        assert done.exit_code == 2
        assert f"error: {bad}, line 1: orignal: unknown field; did you mean 'original'?" in done.stderr
    assert run("twins", tmp_path / "none.jsonl").exit_code == 2
    assert run("draft", cases, "--out", tmp_path / "o.txt").exit_code == 2
    assert run("freeze", cases, "--out", tmp_path / "none" / "l").exit_code == 2


@pytest.mark.parametrize("command", ["draft", "freeze"])
def test_the_cases_are_never_overwritten(cases: Path, command: str) -> None:
    before = cases.read_bytes()
    assert run(command, cases, "--out", cases).exit_code == 2
    assert cases.read_bytes() == before
