"""The journal: what was written is read again, whole rows alone, and nothing else is touched."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rewriteguard.evaluation.errors import ConditionsError, JournalError
from rewriteguard.evaluation.run.conditions import Conditions
from rewriteguard.evaluation.run.journal import Answered, Journal, conditions_of
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome

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
    ArmName.GUARDED,
    "x",
    Ended.OK,
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
    path = tmp_path / "journal.sqlite"
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


WRITES = """
import sys
from evaluation.test_journal import CONDITIONS, Answered, Journal
with Journal(sys.argv[1], CONDITIONS) as journal:
    for place in range(len(journal.answers), 10**9):
        journal.answer("x", str(place), Answered(("a rewrite " * 500,)))
        print(place, flush=True)
"""


def test_a_process_that_is_killed_keeps_each_row_that_it_has_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    folders = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    written = -1
    for further in (1, 40, 170):
        command = [sys.executable, "-c", WRITES, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout
            while written < further:
                written = int(process.stdout.readline())
            process.kill()
            written = int(([written, *process.stdout.read().split()])[-1])
        answers, outcomes = read(path)
        assert list(answers) == [("x", str(place)) for place in range(len(answers))]
        assert {answered.texts for answered in answers.values()} == {("a rewrite " * 500,)}
        assert len(answers) in (written + 1, written + 2)  # one may have been written and not been told
        assert outcomes == []
    with Journal(path, CONDITIONS) as journal:
        journal.outcome(OUTCOME)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]  # nothing of SQLite's own is left beside it


def test_rows_that_were_not_written_to_their_end_are_not_there(path: Path) -> None:
    whole = path.read_bytes()
    torn = path.with_name("torn.sqlite")
    code = (
        "import os, sqlite3, sys; file = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "file.execute('PRAGMA cache_size = 1'); file.execute('PRAGMA cache_spill = 1'); file.execute('BEGIN');"
        "[file.execute('INSERT INTO kept VALUES (?, ?)', ('outcome', 'x' * 5000)) for _ in range(50)]; os._exit(1)"
    )
    torn.write_bytes(whole)
    subprocess.run([sys.executable, "-c", code, str(torn)], check=False)
    assert torn.stat().st_size > len(whole)  # a part of it has reached the file
    assert read(torn) == (ANSWERS, [OUTCOME])
    assert torn.read_bytes() == whole


def test_an_empty_file_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.touch()
    assert conditions_of(path) is None
    assert read(path) == ({}, [])
    assert conditions_of(path) == CONDITIONS


@pytest.mark.parametrize("text", ['{"id": "1", "original": "a"}\n', '{"journal":1,"conditions":{}}\n', "a", "\n"])
def test_another_file_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    for opens in (lambda: Journal(path, CONDITIONS), lambda: conditions_of(path)):
        with pytest.raises(JournalError, match=r"cases\.jsonl: expected a journal of a run, got another file"):
            opens()
    assert path.read_text() == text


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE kept (kind, row)")
    held = path.read_bytes()
    with pytest.raises(JournalError, match=r"app\.sqlite: expected a journal of a run, got another file"):
        Journal(path, CONDITIONS)
    assert path.read_bytes() == held


def change(path: Path, *statement: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute(*statement)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        *(("outcome", row) for row in ("{}", "[]", "1", "{", '{"arm": "x"}')),
        *(("answer", row) for row in ("{}", '{"case": "1"}', "null")),
        ("other", "{}"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(path: Path, kind: str, row: str) -> None:
    change(path, "UPDATE kept SET kind = ?, row = ? WHERE rowid = 3", (kind, row))
    with pytest.raises(JournalError, match=r"journal\.sqlite, row 3: expected an answer or an outcome"):
        Journal(path, CONDITIONS)


def test_conditions_that_cannot_be_read_are_named(path: Path) -> None:
    for statement in ("UPDATE kept SET row = '{' WHERE rowid = 1", "DELETE FROM kept WHERE rowid = 1"):
        change(path, statement)
        with pytest.raises(JournalError, match=r"journal\.sqlite, row 1: expected the conditions of a run"):
            Journal(path, CONDITIONS)


def test_another_version_is_refused(path: Path) -> None:
    change(path, "PRAGMA user_version = 3")
    with pytest.raises(JournalError, match=r"journal\.sqlite: expected a journal of version 2, got 3"):
        Journal(path, CONDITIONS)


def test_a_full_disk_and_a_place_that_is_none_are_errors_of_the_system(path: Path) -> None:
    with Journal(path, CONDITIONS) as journal:
        journal._file.execute("PRAGMA max_page_count = 1")
        with pytest.raises(OSError, match=r"journal\.sqlite: database or disk is full"):
            journal.answer("x", "further", Answered(("a rewrite " * 5000,)))
        assert ("x", "further") not in journal.answers
    assert read(path) == (ANSWERS, [OUTCOME])
    for elsewhere in (path.parent, path.parent / "none" / "journal.sqlite"):
        with pytest.raises(OSError, match="unable to open database file"):
            Journal(elsewhere, CONDITIONS)


def test_other_conditions_are_refused_and_named_with_both_values(path: Path) -> None:
    other = replace(CONDITIONS, corpus="index of July", k=5, rewriters={"x": {"rewriter": "app.other"}, "y": {}})
    with pytest.raises(ConditionsError) as raised:
        Journal(path, other)
    assert str(raised.value) == (
        "the journal journal.sqlite was made under other conditions: "
        "corpus was 'index of June' and is 'index of July'; "
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
        path.read_bytes()  # whoever has it may copy it, and still keeps the others out
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "another process has the journal open" in done.stderr
    assert read(path) == (ANSWERS, [OUTCOME])
