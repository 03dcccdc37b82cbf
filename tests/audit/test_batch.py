"""Many rewrites at once: streams, Arrow record batches and logs in several processes give what `check` gives."""

import gc
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from rewriteguard import Guard, HistoryError, InputError
from rewriteguard.audit.arrow import RESULT_SCHEMA, check_record_batches, check_table
from rewriteguard.audit.log import Line, read_lines
from rewriteguard.audit.run import _parts, _shares, find
from rewriteguard.cli import app
from rewriteguard.guard.batch import check_batch, check_each
from rewriteguard.language.pipeline import english

TALK = [("user", "Tell me about the Ferrow kiln."), ("assistant", "The Ferrow kiln was built in 1911 near Oakhurst.")]
MESSAGES = [{"role": role, "text": text} for role, text in TALK]
ROWS: list[tuple[Any, ...]] = [
    ("Which kiosks sold no ice cream in 2021?", "Which kiosks sold no ice cream in 2021?"),
    ("Which kiosks sold no ice cream in 2021?", "Which kiosks sold ice cream?"),
    ("how hot does it get?", "How hot does the Ferrow kiln get?", TALK),
    ("how hot does it get?", "How hot does it get?", TALK),
    ("who built it, and when?", "Who built the Ferrow kiln, and when?", TALK),
    ("Which trains ran on 3 May 2024?", "Which trains ran?", ()),
]


class Recorder:
    """Stands for a guard: says what it was asked, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ahead: list[tuple[list[str], int]] = []

    def read_ahead(self, rows: Any) -> None:
        self.ahead.append(([row.turn for row in rows], len(self.asked)))

    def check(
        self, turn: Any, rewrite: Any, history: Any = (), *, profile: Any = None, reference_date: Any = None
    ) -> Any:
        self.asked.append(turn)
        return SimpleNamespace(turn=turn, rewrite=rewrite, history=history, reference_date=reference_date)


def test_findings_are_those_of_check_in_order(guard: Guard) -> None:
    expected = [guard.check(*row) for row in ROWS]
    assert {found.verdict.value for found in expected} >= {"preserved", "changed"}
    for size in (1, 2, 64):
        assert list(Guard().check_batch(iter(ROWS), batch_size=size)) == expected


def test_rows_may_be_mappings() -> None:
    rows = [
        {"original": "a", "rewrite": "b", "id": 7, "turn": 3},
        {"original": None, "turn": "c", "rewrite": "d", "history": TALK, "reference_date": "2024-05-06"},
        {"turn": "e", "rewrite": "f", "reference_date": date(2024, 5, 6)},
        {"turn": "g", "rewrite": "h", "reference_date": datetime(2024, 5, 6, 7, 8)},
        ["i", "j"],
    ]
    found: list[Any] = list(check_batch(Recorder(), rows))  # type: ignore[arg-type]
    day = date(2024, 5, 6)
    assert [(f.turn, f.rewrite, f.history or (), f.reference_date) for f in found] == [
        ("a", "b", (), None),
        ("c", "d", TALK, day),
        ("e", "f", (), day),
        ("g", "h", (), day),
        ("i", "j", (), None),
    ]
    assert type(found[3].reference_date) is date


def test_a_reference_date_counts(guard: Guard) -> None:
    row = {"original": "Who won last year?", "rewrite": "Who won in 2023?", "reference_date": "2024-05-06"}
    assert [a.verdict for a in check_batch(guard, [row])] == ["preserved"]
    assert [a.verdict for a in check_batch(guard, [{**row, "reference_date": "2021-05-06"}])] == ["changed"]


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        ("a sentence", InputError, "expected (turn, rewrite), (turn, rewrite, history) or a mapping"),
        (("a",), InputError, "got a tuple of 1 items"),
        (("a", "b", (), "c"), InputError, "got a tuple of 4 items"),
        (5, InputError, "got a int"),
        ({"rewrite": "b"}, InputError, "got a mapping without 'original' and 'turn'"),
        ({"turn": "a"}, InputError, "got a mapping without 'rewrite'"),
        ({"turn": "a", "rewrite": "b", "reference_date": "May"}, InputError, "YYYY-MM-DD, got 'May'"),
        ({"turn": "a", "rewrite": "b", "reference_date": 5}, InputError, "reference_date: expected a date, got int"),
        ((3, "b"), InputError, "turn: expected a string or a message with text, got int"),
        (("a", 3), InputError, "rewrite: expected a string or a message with text, got int"),
        (("a", "b", ["c"]), HistoryError, "from_user_turns"),
        (("a", "b", [("narrator", 5)]), HistoryError, "history[0]"),
    ],
)
def test_a_bad_row_raises_at_its_place(guard: Guard, row: Any, kind: type[Exception], message: str) -> None:
    found = check_batch(guard, [ROWS[0], ROWS[1], row, ROWS[2]])
    assert [next(found).verdict, next(found).verdict] == ["preserved", "changed"]
    with pytest.raises(kind, match=re.escape("rows[2]: ")) as caught:
        next(found)
    assert message in str(caught.value)


def test_each_gives_the_error_of_a_bad_row_and_goes_on(guard: Guard) -> None:
    found = list(check_each(guard, [ROWS[0], ("a",), ROWS[1]], batch_size=2))
    assert isinstance(found[1], InputError)
    assert [found[0], found[2]] == [guard.check(*ROWS[0]), guard.check(*ROWS[1])]


@pytest.mark.parametrize("rows", ["text", b"text", {"turn": "a", "rewrite": "b"}, 5, None])
def test_what_is_no_iterable_of_rows_raises_at_once(guard: Guard, rows: Any) -> None:
    with pytest.raises(InputError, match="rows: expected an iterable of rows"):
        check_batch(guard, rows)


@pytest.mark.parametrize("size", [0, -1, 2.5, None])
def test_a_batch_size_of_no_use_raises_at_once(guard: Guard, size: Any) -> None:
    with pytest.raises(InputError, match="batch_size"):
        check_batch(guard, [], batch_size=size)


def test_no_rows_give_nothing(guard: Guard) -> None:
    assert list(check_batch(guard, [])) == []


def test_only_one_batch_is_taken_before_the_first_finding() -> None:
    taken = itertools.count()
    found = check_batch(Recorder(), ((f"turn {next(taken)}", "b") for _ in itertools.count()), batch_size=5)  # type: ignore[arg-type]
    assert next(found).turn == "turn 0"
    assert next(taken) == 5


def test_a_batch_is_read_ahead_before_it_is_checked() -> None:
    recorder = Recorder()
    rows = [("a", "x"), ("b", "x"), (), ("c", "x")]
    assert len(list(check_each(recorder, rows, batch_size=2))) == 4  # type: ignore[arg-type]
    assert recorder.ahead == [(["a", "b"], 0), (["c"], 2)]


def test_a_batch_is_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    pipeline = type(english())
    one, many = pipeline.__call__, pipeline.pipe
    monkeypatch.setattr(pipeline, "__call__", lambda nlp, text: passes.append(1) or one(nlp, text))
    monkeypatch.setattr(pipeline, "pipe", lambda nlp, texts: passes.append(len(texts)) or many(nlp, texts))
    assert len(list(Guard().check_batch(ROWS))) == len(ROWS)
    assert passes == [10]  # four turns, five rewrites that are none of them, and what the user said before


class Text(str):
    """A string that can be referred to weakly."""


def test_an_endless_stream_holds_one_batch() -> None:
    class Forgetful:
        def check(self, *_: Any, **__: Any) -> str:
            return "found"

        def read_ahead(self, rows: Any) -> None:
            """Keeps nothing."""

    alive: weakref.WeakSet[Text] = weakref.WeakSet()

    def endless() -> Iterator[tuple[Text, str]]:
        for i in itertools.count():
            turn = Text(i)
            alive.add(turn)
            yield turn, "a"

    most = 0
    for _ in itertools.islice(check_batch(Forgetful(), endless(), batch_size=8), 3_000):  # type: ignore[arg-type]
        most = max(most, len(alive))
    gc.collect()
    assert 0 < most <= 9


# Arrow


def batch(*rows: dict[str, Any], schema: pa.Schema | None = None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema)


def as_row(row: tuple[Any, ...], history: Any) -> dict[str, Any]:
    return {"id": f"{row[0]}-{row[1]}", "original": row[0], "rewrite": row[1], "history": history}


def expected(guard: Guard, row: tuple[Any, ...]) -> dict[str, Any]:
    found = guard.check(*row)
    return {
        "id": f"{row[0]}-{row[1]}",
        "verdict": found.verdict.value,
        "dependent": found.dependent,
        "faults": sorted({v.fault.value for v in found.violations}),
        "kinds": sorted({v.kind.value for v in found.violations if v.kind}),
        "violations": [v.to_dict() for v in found.violations],
        "error": None,
    }


def results(batches: Any) -> list[dict[str, Any]]:
    rows = [row for found in batches for row in found.to_pylist()]
    return [{**row, "violations": json.loads(row["violations"]) if row["violations"] else None} for row in rows]


@pytest.mark.parametrize("form", ["structs", "content", "json", "mixed"])
def test_record_batches_give_what_check_gives(guard: Guard, form: str) -> None:
    forms = {
        "structs": MESSAGES,
        "content": [{"role": m["role"], "content": m["text"]} for m in MESSAGES],
        "json": json.dumps(MESSAGES),
        "mixed": [MESSAGES[0], {"role": MESSAGES[1]["role"], "content": MESSAGES[1]["text"]}],  # other fields are null
    }
    rows = [as_row(row, forms[form] if len(row) > 2 and row[2] else None) for row in ROWS]
    found = list(check_record_batches([batch(*rows[:4]), batch(*rows[3:])], guard))
    assert all(part.schema == RESULT_SCHEMA for part in found)
    assert results(found) == [expected(guard, row) for row in (*ROWS[:4], *ROWS[3:])]


def test_messages_with_different_fields_are_all_read(guard: Guard) -> None:
    messages = [{"role": "user", "text": "Tell me about the Ferrow kiln."}, {"role": "assistant", "content": "Gladly."}]
    row = ("how hot does it get?", "How hot does the Ferrow kiln get?")
    found = results(check_record_batches([batch(as_row(row, messages))], guard))
    assert found == [expected(guard, (*row, messages))]
    assert found != [expected(guard, (*row, messages[1:]))]


def test_large_batches_are_given_in_parts_and_in_order(guard: Guard) -> None:
    rows = [{"turn": f"Is bay {i} free?", "rewrite": f"Is bay {i} free?", "id": i} for i in range(150)]
    found = list(check_record_batches(iter([batch(*rows)]), guard))
    assert [row["id"] for row in results(found)] == [str(i) for i in range(150)]
    assert max(part.num_rows for part in found) <= 64


def test_a_bad_row_stops_no_job(guard: Guard) -> None:
    good = {"original": "Is bay 3 free?", "rewrite": "Is bay 3 free?"}
    found = results(
        check_record_batches(
            [
                batch(
                    {**good, "id": "a", "history": "[not JSON"},
                    {**good, "id": "b", "history": '[{"role": "narrator", "content": "x"}]'},
                    {**good, "id": "c", "rewrite": None},
                    {**good, "id": "d", "history": "  "},
                )
            ],
            guard,
        )
    )
    assert [(row["id"], row["verdict"]) for row in found] == [("a", None), ("b", None), ("c", None), ("d", "preserved")]
    assert "one string does not say who spoke" in found[0]["error"]
    assert "unknown role 'narrator'" in found[1]["error"]
    assert "without 'rewrite'" in found[2]["error"]
    assert found[3]["error"] is None
    assert found[0]["faults"] is None


def test_dates_of_a_table_count(guard: Guard) -> None:
    row = {"original": "Who won last year?", "rewrite": "Who won in 2023?"}
    days = [date(2024, 5, 6), date(2021, 5, 6), None]
    for values in (days, [day and day.isoformat() for day in days]):
        found = results(check_record_batches([batch(*({**row, "reference_date": value} for value in values))], guard))
        assert [item["verdict"] for item in found] == ["preserved", "changed", "uncertain"]


def test_missing_columns_are_named(guard: Guard) -> None:
    with pytest.raises(InputError, match=r"'original' .* and 'rewrite', got id, rewrite"):
        list(check_record_batches([batch({"id": "a", "rewrite": "b"})], guard))
    with pytest.raises(InputError, match="got id, original"):
        list(check_record_batches([batch({"id": "a", "original": "b"})], guard))


def test_a_table_gives_a_table() -> None:
    rows = [as_row(row, None) for row in ROWS[:2]]
    found = check_table(pa.Table.from_pylist(rows))
    assert found.schema == RESULT_SCHEMA
    assert found["verdict"].to_pylist() == ["preserved", "changed"]
    assert check_table(pa.Table.from_pylist([], pa.table({"turn": ["a"], "rewrite": ["b"]}).schema)).num_rows == 0


def test_without_pyarrow_the_extra_is_named() -> None:
    script = "import sys; sys.modules['pyarrow'] = None; import rewriteguard.cli, rewriteguard.audit.arrow"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'rewriteguard[arrow]'" in done.stderr.splitlines()[-1]


# Logs in several processes


def log(folder: Path, conversations: int = 12) -> Path:
    """Conversations that take turns, as in a log of many users, with lines that cannot be read among them."""
    lines = []
    for step, (turn, rewrite) in enumerate([("Where is pier 7?", "Where is pier 7?"), ("is it open?", "Is it open?")]):
        for i in range(conversations):
            history = [{"role": "user", "text": f"Hello from bay {i}"}, *MESSAGES][: 3 * step]
            lines.append(json.dumps({"id": i, "history": history, "original": turn, "rewrite": rewrite}))
        lines += ["not JSON", "", '{"rewrite": "a"}', '{"turn": "Is caf\\ud800 open in 2021?", "rewrite": "Is it?"}']
        lines += [json.dumps({"id": "lost", "original": ROWS[1][0], "rewrite": ROWS[1][1]})] * 40
    path = folder / "log.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_two_processes_write_what_one_writes(tmp_path: Path) -> None:
    path = log(tmp_path)
    done = {}
    for jobs in ("1", "2"):
        out = tmp_path / f"out-{jobs}.jsonl"
        done[jobs] = CliRunner().invoke(app, ["audit", str(path), "--out", str(out), "--jobs", jobs])
        assert done[jobs].exit_code == 5
    written = (tmp_path / "out-1.jsonl").read_bytes()
    numbers = [json.loads(line)["line"] for line in written.splitlines()]
    assert numbers == sorted(numbers)
    assert len(numbers) == 110
    assert (tmp_path / "out-2.jsonl").read_bytes() == written
    assert done["2"].stdout == done["1"].stdout
    assert done["2"].stderr == done["1"].stderr
    assert [line.partition(":")[0] for line in done["2"].stderr.splitlines()] == [f"line {n}" for n in (13, 15, 69, 71)]


def test_no_process_is_no_number_of_processes(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["audit", str(log(tmp_path)), "--jobs", "0"]).exit_code == 2


@pytest.mark.usefixtures("kept_workers")
def test_few_lines_are_read_before_the_first_is_found() -> None:
    taken: list[int] = []

    def endless() -> Iterator[Line]:
        for number in itertools.count(1):
            taken.append(number)
            yield Line(number, error="bad")

    found = find(endless(), jobs=2)
    assert [record["line"] for record in next(found).records] == list(range(1, 65))
    assert len(taken) <= 4 * 64
    found.close()


def test_a_conversation_stays_with_one_process() -> None:
    homes: dict[int, list[int]] = {i: [] for i in range(121)}
    rows = [
        {"id": i, "history": history, "turn": f"{said} {i}?", "rewrite": "a"}
        for step, said in enumerate(["Where is bay", "Who built it, bay", "When, bay"])
        for i in homes
        for history in [
            [{"role": "system", "text": "Be short."}, {"role": "user", "text": f"Where is bay {i}?"}][: 2 * step]
        ]
    ]
    for part in _parts(read_lines(json.dumps(row).encode() for row in rows), 40):
        for home, share in enumerate(_shares(part, 2)):
            for line in share:
                assert line.triple is not None
                homes[int(line.triple.id or "")].append(home)
    assert {len(places) for places in homes.values()} == {3}
    assert {home for places in homes.values() for home in places} == {0, 1}
    assert sum(len(set(places)) == 1 for places in homes.values()) >= 0.9 * len(homes)


def test_conversations_that_begin_alike_are_shared_out() -> None:
    lines = [Line(number, triple=None, error="bad") for number in range(64)]
    shares = _shares(lines, 2)
    assert sorted(line.number for share in shares for line in share) == list(range(64))
    assert max(len(share) for share in shares) <= 40


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals to a process group")
def _hear_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("end", ["ctrl-c", "kill"])
def test_no_process_outlives_the_command(tmp_path: Path, end: str) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text((json.dumps({"original": ROWS[0][0], "rewrite": ROWS[0][1]}) + "\n") * 200_000, "utf-8")
    command = [sys.executable, "-m", "rewriteguard", "audit", str(path), "--jobs", "2", "--out", str(tmp_path / "out")]
    # A reading end of a pipe that every process of the command holds open: it ends when the last of them does.
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    # A background job of a shell ignores Ctrl-C, and so would its children.
    with subprocess.Popen(command, **options, preexec_fn=_hear_ctrl_c) as process:
        deadline = time.monotonic() + 60
        while not any(waiting.stat().st_size for waiting in tmp_path.glob(".out.*")):
            assert time.monotonic() < deadline, "nothing was found in a minute"
            time.sleep(0.1)
        try:
            if end == "ctrl-c":
                os.killpg(process.pid, signal.SIGINT)
            else:
                process.kill()
            said, _ = process.communicate(timeout=60)
            assert process.returncode == (130 if end == "ctrl-c" else -signal.SIGKILL)
            assert b"Traceback" not in said
            assert not (tmp_path / "out").exists()  # nor is half of it there where the command could still tidy up
            assert end == "kill" or sorted(tmp_path.iterdir()) == [path]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
