"""The command line: exit codes, logged rewrites in every form, and what happens to lines that cannot be read."""

import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rewriteguard
from rewriteguard import Guard, Profile, Telemetry, TripleLog, safe_rewrite
from rewriteguard.audit.log import LineError, read_lines, read_row
from rewriteguard.cli import app, printable

runner = CliRunner()

KEPT = ("Which kiosks sold no ice cream in 2021?", "Which kiosks sold no ice cream in 2021?")
LOST = ("Which kiosks sold no ice cream in 2021?", "Which kiosks sold ice cream?")


def run(*args: str) -> Result:
    return runner.invoke(app, list(args), catch_exceptions=False)


def log(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n", "utf-8")
    return path


def triple(pair: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {"history": [], "original": pair[0], "rewrite": pair[1], **more}


def test_a_kept_question_exits_0() -> None:
    done = run("check", "--turn", KEPT[0], "--rewrite", KEPT[1])
    assert (done.exit_code, done.stdout.split("\n")[0]) == (0, "PRESERVED")


def test_a_changed_question_exits_3_and_says_why() -> None:
    done = run("check", "--turn", LOST[0], "--rewrite", LOST[1])
    assert done.exit_code == 3
    assert "CHANGED" in done.stdout
    assert "2021" in done.stdout


def test_an_uncertain_question_exits_4() -> None:
    done = run("check", "--turn", "How long is " + "very " * 60_000 + "long?", "--rewrite", "How long is it?")
    assert done.exit_code == 4


def test_json_is_the_finding() -> None:
    done = run("check", "--turn", LOST[0], "--rewrite", LOST[1], "--json")
    finding = json.loads(done.stdout)
    assert finding["verdict"] == "changed"
    assert {v["fault"] for v in finding["violations"]} >= {"dropped"}


@pytest.mark.parametrize(
    "text", ['[["user", "Tell me about the Ferrow kiln."]]', '{"role": "user", "content": "Ferrow kiln?"}\n']
)
def test_history_is_a_json_list_or_jsonl(tmp_path: Path, text: str) -> None:
    path = tmp_path / "history"
    path.write_text(text, "utf-8")
    done = run(
        "check",
        "--turn",
        "how hot does it get?",
        "--rewrite",
        "How hot does the Ferrow kiln get?",
        "--history",
        str(path),
    )
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2", "line 1 is not JSON"),
        ('{"role": "user", "content": "a"}\n{"role"', "line 2 is not JSON"),
        ('["a", "b"]', "from_user_turns"),
        ('[{"role": "narrator", "content": "a"}]', r"history[0]: unknown role 'narrator'"),
        (None, "No such file"),
    ],
)
def test_a_bad_history_is_wrong_usage(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "history"
    if text is not None:
        path.write_text(text, "utf-8")
    done = run("check", "--turn", "a?", "--rewrite", "a?", "--history", str(path))
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("check", "--turn", "a"),
        ("check", "--turn", "a", "--rewrite", "a", "--reference-date", "yesterday"),
        ("audit", "no-such-file.jsonl"),
        ("audit",),
        ("unknown",),
    ],
)
def test_wrong_usage_exits_2(args: tuple[str, ...]) -> None:
    assert run(*args).exit_code == 2


def test_a_crash_is_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def check(self, *_: Any, **__: Any) -> None:
            raise ZeroDivisionError

    monkeypatch.setattr(rewriteguard, "Guard", Broken)
    done = runner.invoke(app, ["check", "--turn", "a", "--rewrite", "a"])
    assert done.exit_code == 1


def test_audit_counts_by_verdict_fault_and_kind(tmp_path: Path) -> None:
    done = run("audit", str(log(tmp_path, triple(KEPT), triple(LOST), triple(LOST))))
    assert done.exit_code == 0
    assert "3 checked, 0 lines could not be read" in done.stdout
    rows = [line.split("│")[1:3] for line in done.stdout.splitlines() if line.startswith("│")]
    counts = {name.strip(): int(count) for name, count in rows}
    assert counts["changed"] == 2
    assert counts["preserved"] == 1
    assert counts["dropped"] == counts["time"] == counts["negation"] == 2


def test_audit_writes_one_finding_a_line_in_order(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    path = log(tmp_path, triple(LOST, id="a"), "", "not json", triple(KEPT, id="b"))
    done = run("audit", str(path), "--out", str(out))
    written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(row["line"], row.get("id"), row.get("verdict")) for row in written] == [
        (1, "a", "changed"),
        (3, None, None),
        (4, "b", "preserved"),
    ]
    assert written[1]["error"].startswith("not JSON")
    assert done.exit_code == 5


def test_audit_names_every_bad_line(tmp_path: Path) -> None:
    path = log(tmp_path, triple(KEPT), "[1]", {"rewrite": "a"}, triple(KEPT, history="User: hi"))
    path.write_bytes(path.read_bytes() + b'{"original": "\xff"}\n')
    done = run("audit", str(path))
    assert done.exit_code == 5
    assert done.stderr.splitlines() == [
        "line 2: expected a JSON object, got a list",
        "line 3: no text under 'original' or 'turn'",
        "line 4: history: one string does not say who spoke; expected a list of messages",
        "line 5: not UTF-8 (byte 14)",
    ]
    assert "1 checked, 4 lines could not be read" in done.stdout


def test_audit_reads_the_normal_form(tmp_path: Path) -> None:
    row = {"turn": 2, "history": [], "original": LOST[0], "human": KEPT[1], "rewrites": {"t5": LOST[1]}}
    path = log(tmp_path, row, {**row, "rewrites": {}})
    assert "1 checked, 1 without a rewrite by t5, 0 lines" in run("audit", str(path), "--system", "t5").stdout
    assert "2 checked, 0 lines" in run("audit", str(path), "--system", "human").stdout


@pytest.mark.usefixtures("kept_workers")
def test_audit_reads_several_logs_and_says_in_which_a_line_stands(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    first = log(tmp_path, triple(LOST, id="a"), "not json")
    second = log(tmp_path / "b", triple(KEPT, id="b"), triple(LOST, id="c"))
    for jobs in ("1", "2"):
        out = tmp_path / "out.jsonl"
        done = run("audit", str(first), str(second), "--out", str(out), "--jobs", jobs)
        written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        assert [(row["file"], row["line"], row.get("verdict")) for row in written] == [
            (str(first), 1, "changed"),
            (str(first), 2, None),
            (str(second), 1, "preserved"),
            (str(second), 2, "changed"),
        ]
        assert done.stderr.startswith(f"{first}, line 2: not JSON")
        assert "3 checked, 1 line could not be read" in done.stdout
        assert done.exit_code == 5
    assert run("audit", str(first), str(second), "--out", str(second)).exit_code == 2


def test_audit_finds_in_a_triple_log_what_was_found_when_it_was_written(tmp_path: Path, guard: Guard) -> None:
    triples = TripleLog(tmp_path / "triples.jsonl")
    telemetry = Telemetry(log=triples)
    day = date(2022, 3, 4)
    several = ["kiosk ice cream 2021", "kiosks without ice cream"]
    logged = [
        (KEPT[0], KEPT[1], Profile.CONDENSE),
        (LOST[0], lambda turn: f"Rewritten query: {LOST[1]}", Profile.CONDENSE),
        ("Which kiosks sold no ice cream last year?", "Which kiosks sold no ice cream in 2021?", Profile.CONDENSE),
        (LOST[0], "What do kiosks sell?", Profile.STEP_BACK),
        (LOST[0], lambda turn: several, Profile.EXPAND),
        (LOST[0], lambda turn: 1 / 0, Profile.CONDENSE),
    ]
    verdicts = []
    for turn, rewriter, profile in logged:
        keywords: dict[str, Any] = {"guard": guard, "profile": profile, "reference_date": day, "telemetry": telemetry}
        verdicts.append(safe_rewrite(turn, rewriter, [("user", "Hello")], **keywords).verdict)
    telemetry.log_answer("some id", "None of them.")
    assert verdicts[:3] == ["preserved", "changed", "preserved"]
    out = tmp_path / "out.jsonl"
    done = run("audit", str(triples.path), "--out", str(out))
    assert "5 checked, 1 without a rewrite, 0 lines" in done.stdout
    rows = [json.loads(line) for line in triples.path.read_text("utf-8").splitlines()]
    written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert rows[1]["rewrite"] == f"Rewritten query: {LOST[1]}"  # as it came: a later check cleans it anew
    assert [row["verdict"] for row in written] == verdicts[:5]
    assert [(row["id"], row["timestamp"]) for row in written] == [(row["id"], row["timestamp"]) for row in rows[:5]]


@pytest.mark.usefixtures("kept_workers")
def test_audit_says_which_rows_of_a_triple_log_it_judges_otherwise(tmp_path: Path) -> None:
    telemetry = Telemetry(log=(triples := TripleLog(tmp_path / "triples.jsonl")))
    guard = Guard(aliases={"IBM": ["Big Blue"]})
    known, last = ("user", "How long is the Carrowmore ferry?"), ("user", "And the weather?")
    asked = [
        ("And what did Big Blue earn in 2023?", "What did IBM earn in 2023?", [("user", "Tell me about Apple.")]),
        ("Who owns it?", "Who owns the Carrowmore ferry?", [known, *[last, ("assistant", "It was mild.")] * 11]),
        (KEPT[0], KEPT[1], [("user", "Hello")]),
    ]
    logged = [safe_rewrite(*each, guard=guard, telemetry=telemetry).verdict for each in asked]
    out = tmp_path / "out.jsonl"
    done = run("audit", str(triples.path), "--out", str(out), "--html", str(tmp_path / "page.html"), "--jobs", "2")
    written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    otherwise = [row["verdict"] != verdict for row, verdict in zip(written, logged, strict=True)]
    assert otherwise == [True, True, False]
    assert [row["logged_verdict"] for row in written] == logged
    assert [row.get("history_cut") for row in written] == [None, True, None]
    said = "2 rows are judged otherwise now, of 3 with a verdict in the log."
    cut = "1 row is judged by the last messages alone: the log holds no more of the history."
    page = (tmp_path / "page.html").read_text("utf-8")
    for text in (" ".join(done.stdout.split()), page):
        assert said in text
        assert cut in text
    assert page.count('"logged":"preserved"') == 3
    assert page.count('"cut":true') == 1


def test_audit_of_a_log_without_verdicts_says_nothing_of_them(tmp_path: Path) -> None:
    done = run("audit", str(log(tmp_path, triple(KEPT), {**triple(LOST), "history_turns": None, "verdict": ["odd"]})))
    assert "otherwise" not in done.stdout
    assert "the last messages alone" not in done.stdout


def test_a_log_of_first_turns_alone_is_no_wrong_usage(tmp_path: Path) -> None:
    done = run("audit", str(log(tmp_path, {"original": "Where is it?", "rewrite": None})))
    assert (done.exit_code, done.stdout.strip()) == (0, "0 checked, 1 without a rewrite, 0 lines could not be read")


MANY_DIGITS = '{"original": "a", "rewrite": "b", "n": ' + "1" * 5_000 + "}"


def test_one_line_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    path = log(tmp_path, MANY_DIGITS, {"id": ["a"], "answer": "b"}, {**triple(KEPT), "id": ["a"]})
    done = run("audit", str(path), "--out", str(tmp_path / "out.jsonl"))
    assert "line 1: not JSON that can be read: a number has too many digits" in done.stderr
    assert "1 checked, 1 line could not be read" in done.stdout
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8").splitlines()[1])["id"] is None


def test_targets_are_replaced_at_the_end_or_stay_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out, page = log(tmp_path, triple(KEPT)), tmp_path / "out.jsonl", tmp_path / "page.html"
    out.write_text("old", "utf-8")
    out.chmod(0o640)
    page.symlink_to(tmp_path / "real.html")
    (tmp_path / "real.html").write_text("old", "utf-8")
    before = sorted(tmp_path.iterdir())
    with monkeypatch.context() as broken:
        broken.setattr("rewriteguard.report.audit.page.Page.write", lambda *_: 1 / 0)
        assert runner.invoke(app, ["audit", str(path), "--out", str(out), "--html", str(page)]).exit_code == 1
    assert [each.read_text("utf-8") for each in (out, page)] == ["old", "old"]
    assert sorted(tmp_path.iterdir()) == before
    assert run("audit", str(path), "--out", str(out), "--html", str(page)).exit_code == 0
    assert sorted(tmp_path.iterdir()) == before
    assert page.is_symlink()
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert json.loads(out.read_text("utf-8"))["verdict"] == "preserved"
    assert out.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_a_device_is_written_to(tmp_path: Path) -> None:
    path = log(tmp_path, triple(KEPT))
    (reading, writing), before = os.pipe(), os.dup(1)
    os.dup2(writing, 1)
    try:
        assert run("audit", str(path), "--out", "/dev/stdout").exit_code == 0
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(writing)
    with os.fdopen(reading) as pipe:
        assert '"verdict": "preserved"' in pipe.read()


def test_audit_with_a_system_that_no_line_has(tmp_path: Path) -> None:
    path = log(tmp_path, {"original": "a", "rewrites": {"t5": "b"}})
    done = run("audit", str(path), "--system", "t6")
    assert done.exit_code == 2
    assert "--system: no line holds a rewrite by 't6'" in done.stderr


def test_audit_never_overwrites_its_log(tmp_path: Path) -> None:
    path = log(tmp_path, triple(KEPT))
    before = path.read_bytes()
    assert run("audit", str(path), "--out", str(path)).exit_code == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"turn": 3, "rewrite": "a"}, "no text under 'original' or 'turn'"),
        ({"turn": "a", "rewrite": 5}, "the rewrite is a number, not text"),
        ({"turn": "a"}, "no text under 'rewrite'$"),
        ({"turn": "a", "rewrites": {"t5": "b"}, "human": "c"}, "choose a system with --system: human, t5"),
        ({"turn": "a", "rewrite": "b", "reference_date": "May"}, "reference_date: expected YYYY-MM-DD, got 'May'"),
        ({"turn": "a", "rewrite": "b", "reference_date": 5}, "reference_date: expected YYYY-MM-DD, got 5"),
        ({"turn": "a", "rewrite": "b", "profile": "tidy"}, "profile: expected one of condense, .*, got 'tidy'"),
        ({"turn": "a", "rewrite": ["b", 5]}, "the rewrite is a list, not text"),
        ({"turn": "a", "rewrite": []}, "the rewrite is a list, not text"),
        ({"turn": "a", "rewrite": "b", "capture": "hash"}, "it was logged with capture='hash'"),
        ({"turn": "__REDACTION_FAILED__", "rewrite": "a"}, "its redactor failed"),
        ({"turn": "a", "rewrite": ["a", "__REDACTION_FAILED__"]}, "its redactor failed"),
        ({"turn": "a", "rewrite": "a", "history": [["user", "__REDACTION_FAILED__"]]}, "its redactor failed"),
    ],
)
def test_rows_that_cannot_be_read(row: dict[str, Any], message: str) -> None:
    with pytest.raises(LineError, match=message):
        read_row(row)


def test_rows_of_another_system_type() -> None:
    with pytest.raises(LineError, match="'rewrites' is a list"):
        read_row({"turn": "a", "rewrites": []}, "t5")


def test_lines_keep_their_numbers_and_deep_nesting_is_contained() -> None:
    lines = list(read_lines([b"\n", b"[" * 100_000, b'\xef\xbb\xbf{"turn": "a", "rewrite": "b"}']))
    assert [(line.number, line.error is None) for line in lines] == [(2, False), (3, True)]


def test_half_a_surrogate_pair_is_read_and_written(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    path = log(tmp_path, triple(("Is caf\ud800 open in 2021?", "Is caf\ud800 open?")))
    assert run("audit", str(path), "--out", str(out)).exit_code == 0
    assert json.loads(out.read_text("utf-8"))["verdict"] == "changed"


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31m[red]b\nc").plain == "a[31m[red]b\nc"
