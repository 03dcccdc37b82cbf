"""The journal: what was written is read again, a torn line is cut off, and nothing else is touched."""

from __future__ import annotations

import errno
import json
import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rewriteguard.evaluation.errors import ConditionsError, JournalError
from rewriteguard.evaluation.run.conditions import Conditions
from rewriteguard.evaluation.run.journal import Answered, Journal, conditions_of
from rewriteguard.evaluation.run.outcome import Arm, Outcome, Status

CONDITIONS = Conditions(
    cases="c",
    contracts="d",
    corpus="index of June",
    probe=("p", ""),
    search={"search": {"class": "Index", "settings": [1, 2.5, None]}},
    rewriters={"x": {"rewriter": "app.rewrite"}},
    k=10,
    budget=60,
    scope={},
    reference_date="2024-05-06",
    seed=0,
    policy={"name": "default"},
    guard="Guard",
    arms=("original", "rewrite"),
)
OUTCOME = Outcome(
    "é \ud800",
    Arm.GUARDED,
    "x",
    Status.OK,
    ("one", "two"),
    ("a", "b"),
    "one",
    "changed",
    "fall_back",
    ("dropped.time",),
    ("this", "that"),
    40,
    "rewrite",
    "TimeoutError",
    "yes",
    True,
)
ANSWERS = {
    ("x", "1"): Answered(("one",)),
    ("x", "2"): Answered(("one", "two"), several=True),
    ("x", "3"): Answered(error="TimeoutError"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    with Journal(path, CONDITIONS) as journal:
        for (label, case), answered in ANSWERS.items():
            journal.answer(label, case, answered)
        journal.outcome(OUTCOME)
    return path


def read(path: Path) -> tuple[dict[tuple[str, str], Answered], list[Outcome]]:
    with Journal(path, CONDITIONS) as journal:
        return journal.answers, list(journal.outcomes.values())


def test_what_was_written_is_read_again(path: Path) -> None:
    assert read(path) == (ANSWERS, [OUTCOME])
    assert conditions_of(path) == CONDITIONS
    assert conditions_of(path.with_name("none")) is None


def test_each_line_is_in_the_file_as_soon_as_it_is_written(path: Path) -> None:
    with Journal(path, CONDITIONS) as journal:
        before = path.stat().st_size
        journal.answer("x", "4", Answered(("one",)))
        assert path.stat().st_size > before
        assert path.read_bytes().endswith(b"\n")


def test_a_torn_last_line_is_cut_off_and_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in (last + 1, last + 30, len(whole) - 1):
        path.write_bytes(whole[:end])
        caplog.clear()
        with caplog.at_level(logging.WARNING), Journal(path, CONDITIONS) as journal:
            assert (journal.answers, journal.outcomes) == (ANSWERS, {})
            assert "last line was cut off" in caplog.text
            journal.outcome(OUTCOME)
        assert path.read_bytes() == whole


def test_a_torn_header_begins_again(path: Path) -> None:
    for start in (b"", b'{"jou', path.read_bytes()[:40]):
        path.write_bytes(start)
        assert read(path) == ({}, [])
        assert path.read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("text", ['{"id": "1", "original": "a"}\n', "a", "\n"])
def test_another_file_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    with pytest.raises(JournalError, match=r"cases\.jsonl: expected a journal of a run, got another file"):
        Journal(path, CONDITIONS)
    assert path.read_text() == text


@pytest.mark.parametrize(
    "line", ["{}", "[]", "1", "{", '{"outcome": {}}', '{"answer": {"case": "1"}}', '{"outcome": {"arm": "x"}}']
)
def test_a_line_that_cannot_be_read_is_named(path: Path, line: str) -> None:
    lines = path.read_text().splitlines()
    lines[2] = line
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(JournalError, match=r"journal\.jsonl, line 3: expected an answer or an outcome"):
        Journal(path, CONDITIONS)


def test_another_version_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace('{"journal":1', '{"journal":2', 1))
    with pytest.raises(JournalError, match="line 1: expected a journal of version 1, got 2"):
        Journal(path, CONDITIONS)


def test_other_conditions_are_refused_and_named_with_both_values(path: Path) -> None:
    other = replace(CONDITIONS, corpus="index of July", k=5, rewriters={"x": {"rewriter": "app.other"}, "y": {}})
    with pytest.raises(ConditionsError) as raised:
        Journal(path, other)
    assert str(raised.value) == (
        "the journal journal.jsonl was made under other conditions: corpus was 'index of June' and is 'index of July'; "
        "rewriters.x.rewriter was 'app.rewrite' and is 'app.other'; k was 10 and is 5; rewriters.y was None and is {}"
    )
    assert read(path) == (ANSWERS, [OUTCOME])


def test_a_probe_that_failed_compares_with_nothing() -> None:
    for probe in (("p", "q"), ("", "q"), ("", "")):
        assert CONDITIONS.differences(replace(CONDITIONS, probe=probe)) == []
    other = replace(CONDITIONS, probe=("other", "q"))
    assert CONDITIONS.differences(other) == ["probe: 1 of 2 queries give other documents"]


def test_conditions_of_another_shape_are_refused(path: Path) -> None:
    row = CONDITIONS.to_dict()
    assert Conditions.from_dict(json.loads(json.dumps(row))) == CONDITIONS
    row["depth"] = row.pop("k")
    with pytest.raises(ConditionsError, match="absent or unknown: depth, k"):
        Conditions.from_dict(row)


def test_two_at_once_are_refused(path: Path) -> None:
    code = "import sys, pickle; from rewriteguard.evaluation.run.journal import Journal; Journal(sys.argv[1], None)"
    with Journal(path, CONDITIONS):
        with pytest.raises(JournalError, match="another process has the journal open"):
            Journal(path, CONDITIONS)
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "another process has the journal open" in done.stderr
    assert read(path) == (ANSWERS, [OUTCOME])


@pytest.mark.skipif(sys.platform == "win32", reason="another call locks there")
def test_a_file_system_without_locks_is_told_apart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuses)
    with pytest.raises(JournalError, match=r"expected a file system that can lock a file \(No locks available\)"):
        Journal(path, CONDITIONS)
