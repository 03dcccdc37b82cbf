"""The triple log: what its lines say, that they survive forks, threads and kills, and that it breaks no retrieval."""

import copy
import errno
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from opentelemetry import trace

from fakes import HISTORY, FakeGuard, probe
from rewriteguard import GuardedSearch, InputError, Policy, Telemetry, TripleLog, Verdict, asafe_rewrite, safe_rewrite
from rewriteguard.audit.log import read_lines, read_log
from rewriteguard.integrations._host import arewritten, one_query_plan, rewritten
from rewriteguard.integrations.langchain import GuardedRetriever
from rewriteguard.telemetry import log as triples
from rewriteguard.telemetry import spans
from rewriteguard.telemetry.content import Capture, Content

TURN = "And how much does a second permit cost?"
REWRITE = "How much does a second parking permit cost?"
SECRETS = ["second", "permit", "parking", "town desk", "fees-and-fines", "eleven euros"]


pytestmark = pytest.mark.usefixtures("no_switches")


@pytest.fixture
def log(tmp_path):
    return TripleLog(tmp_path / "triples.jsonl")


def search(query):
    return [SimpleNamespace(id=f"fees-and-fines-{place}", page_content="The second permit.") for place in range(3)]


def guarded(telemetry, find=search, verdict=Verdict.UNCERTAIN, rewriter=lambda turn, history: REWRITE, **settings):
    key = settings.pop("key", lambda item: item.id)
    return GuardedSearch(find, rewriter, guard=FakeGuard({REWRITE: verdict}), telemetry=telemetry, key=key, **settings)


def rows(log):
    return [json.loads(line) for line in log.path.read_text("utf-8").splitlines()]


def counted(seen):
    return {
        (labels["stage"], labels["error.type"]): point.value for labels, point in seen.points("rewriteguard.errors")
    }


# what a line says


def test_a_line_holds_the_triple_the_decision_and_what_each_arm_found(log):
    telemetry = Telemetry(rewriter="condense-v3", session_id="s-1", log=log)
    result = guarded(telemetry, k=2).run(TURN, HISTORY, reference_date=date(2024, 5, 6))
    (row,) = rows(log)
    assert row["id"] == result.id
    assert abs(datetime.fromisoformat(row["timestamp"]) - datetime.now().astimezone()) < timedelta(minutes=1)
    expected = {
        "session_id": "s-1",
        "rewriter": "condense-v3",
        "profile": "condense",
        "policy": "default",
        "capture": "full",
        "reference_date": "2024-05-06",
        "history": [{"role": role, "content": text} for role, text in HISTORY],
        "history_turns": 2,
        "original": TURN,
        "rewrite": REWRITE,
        "verdict": "uncertain",
        "action": "fuse",
        "proposed_action": "fuse",
        "reason": "dropped",
        "reasons": ["dropped.time"],
        "dependent": True,
        "results": {"count": 2, "ids": ["fees-and-fines-0", "fees-and-fines-1"]},
    }
    assert {name: row[name] for name in expected} == expected
    arms = {arm["origin"]: arm for arm in row["arms"]}
    assert set(arms) == {"original", "rewrite", "carried"}
    assert (arms["original"]["query"], arms["rewrite"]["query"]) == (TURN, REWRITE)
    assert arms["rewrite"]["ids"] == [f"fees-and-fines-{place}" for place in range(3)]
    assert (arms["rewrite"]["weight"], arms["rewrite"]["status"], arms["rewrite"]["count"]) == (2, "ok", 3)


async def test_every_way_in_is_logged_once(log):
    telemetry = Telemetry(log=log)
    search_ = guarded(telemetry)
    ids = [search_.run(TURN, HISTORY).id, (await search_.arun(TURN, HISTORY)).id, search_.run(TURN).id]
    safe_rewrite(TURN, REWRITE, HISTORY, guard=FakeGuard(), telemetry=telemetry)
    await asafe_rewrite(TURN, lambda turn: 1 / 0, HISTORY, guard=FakeGuard(), telemetry=telemetry)
    plan = one_query_plan({"guard": FakeGuard(), "telemetry": telemetry})
    rewritten(plan, TURN, HISTORY, lambda: REWRITE)
    await arewritten(plan, object(), HISTORY, partial(_later, REWRITE))
    found = rows(log)
    assert [row["id"] for row in found[:3]] == ids
    assert len({row["id"] for row in found}) == len(found) == 7
    told = [(row["reason"], row["rewrite"], row["original"]) for row in found]
    assert told == [
        ("dropped", REWRITE, TURN),
        ("dropped", REWRITE, TURN),
        ("first_turn", None, TURN),
        ("ok", REWRITE, TURN),
        ("rewriter_error", None, TURN),
        ("ok", REWRITE, TURN),
        ("guard_error", None, ""),
    ]


async def _later(value):
    return value


def test_the_id_is_the_trace_s_where_there_is_one(log, monkeypatch):
    seen = probe(monkeypatch)
    result = guarded(Telemetry(log=log)).run(TURN, HISTORY)
    traced = trace.format_trace_id(seen.span("rewriteguard.retrieve").context.trace_id)
    assert (result.id, rows(log)[0]["id"]) == (traced, traced)
    with spans.tracer().start_as_current_span("app") as app:
        safe_rewrite(TURN, REWRITE, HISTORY, guard=FakeGuard(), telemetry=Telemetry(log=log))
    assert rows(log)[1]["id"] == trace.format_trace_id(app.get_span_context().trace_id)


class Desk(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("The second permit.", id="fees"), Document("Fines.")]


def test_in_langchain_the_id_is_the_run_s_and_the_session_the_thread(log, monkeypatch):
    monkeypatch.setattr(spans, "tracer", trace.NoOpTracer)  # whatever provider another test has set up
    retriever = GuardedRetriever(
        retriever=Desk(), rewriter=lambda turn: REWRITE, guard=FakeGuard(), telemetry=Telemetry(log=log)
    )
    run = uuid.uuid4()
    config = {"configurable": {"chat_history": HISTORY}, "metadata": {"thread_id": "t-9"}}
    retriever.invoke(TURN, config, run_id=run)
    (row,) = rows(log)
    assert (row["id"], row["session_id"]) == (run.hex, "t-9")
    assert row["results"]["ids"] == ["fees", "Fines."]  # one without an id stands for itself


def test_ids_of_items_of_every_kind():
    content = Content(Capture.FULL)

    def told(item, key):
        return triples._name_of(key, content.text, item)

    assert told("no-card", None) == "no-card"
    assert told(17, None) == "17"
    assert told({"id": 4, "text": "a"}, lambda item: "other") == "4"
    assert told({"text": "a"}, lambda item: "own") == "own"
    assert told({"text": "a"}, lambda item: ("text", "a")) == "a"
    long = told("word " * 100, None)
    assert re.fullmatch("text:[0-9a-f]{16}", long)
    assert long == told("word " * 100, None) != told("word " * 101, None)
    assert told({"text": "a"}, lambda item: 1 / 0) == "unreadable"


def test_the_redactor_gets_each_id_once(log, monkeypatch):
    monkeypatch.setattr(spans, "tracer", trace.NoOpTracer)  # spans have their texts redacted apart
    documents = [SimpleNamespace(id=f"leaf-{place}", page_content="The second permit.") for place in range(100)]
    asked = []

    def redact(text):
        asked.append(text)
        return text

    guarded(Telemetry(redact=redact, log=log), find=lambda query: documents).run(TURN, HISTORY)
    (row,) = rows(log)
    assert [arm["count"] for arm in row["arms"]] == [100, 100, 100]
    assert row["results"] == {"count": 100, "ids": [f"leaf-{place}" for place in range(20)]}
    assert [text for text in asked if text.startswith("leaf-")] == row["results"]["ids"]


def test_a_long_history_is_cut_to_its_last_messages(log):
    talk = [(("user", "assistant")[place % 2], f"message {place} " * 1_200) for place in range(50)]
    guarded(Telemetry(log=log)).run(TURN, talk)
    (row,) = rows(log)
    assert (row["history_turns"], len(row["history"])) == (50, triples.MESSAGES)
    assert row["history"][-1]["content"] == talk[-1][1][:12_000] + f"... [{len(talk[-1][1]) - 12_000} more characters]"


def test_several_rewrites_of_one_turn_are_a_list(log, guard):
    several = ["parking permit price", '"cost of a second parking permit"']
    safe_rewrite(TURN, lambda turn: several, HISTORY, guard=guard, telemetry=Telemetry(log=log))
    (row,) = rows(log)
    assert row["rewrite"] == several
    (line,) = read_lines(log.path.open("rb"))
    assert line.triple.rewrite == tuple(several)


# the users' words


@pytest.mark.parametrize("capture", ["off", "hash"])
def test_no_word_is_logged_unless_words_are_captured(log, capture):
    telemetry = Telemetry(capture=capture, log=log)
    result = guarded(telemetry).run(TURN, HISTORY)
    telemetry.log_answer(result.id, "It costs eleven euros.")
    text = log.path.read_text("utf-8")
    assert [secret for secret in SECRETS if secret in text] == []
    assert ("blake2b:" in text, len(rows(log))) == ((True, 2) if capture == "hash" else (False, 1))
    found = list(read_lines(log.path.open("rb")))
    assert [line.error for line in found] == [
        f"it was logged with capture={capture!r}, so that there are no words to check"
    ]


def test_words_are_there_where_they_are_captured(log):
    telemetry = Telemetry(log=log)
    telemetry.log_answer(guarded(telemetry).run(TURN, HISTORY).id, "It costs eleven euros.")
    text = log.path.read_text("utf-8")
    assert [secret for secret in SECRETS if secret in text] == SECRETS


def test_every_text_is_redacted_and_a_redactor_that_fails_leaks_nothing(log):
    for redact in (lambda text: "gone", lambda text: 1 / 0):
        telemetry = Telemetry(redact=redact, log=log)
        telemetry.log_answer(guarded(telemetry).run(TURN, HISTORY).id, "It costs eleven euros.")
    text = log.path.read_text("utf-8")
    assert [secret for secret in SECRETS if secret in text] == []
    assert [row["answer"] for row in rows(log) if "answer" in row] == ["gone", "__REDACTION_FAILED__"]


def test_the_session_is_subject_to_the_same_rules(log):
    for settings in ({"redact": lambda text: "gone"}, {"capture": "hash"}):
        guarded(Telemetry(session_id="ann@example.org", log=log, **settings)).run(TURN, HISTORY)
    assert [row["session_id"] for row in rows(log)] == ["gone", Content(Capture.HASH).text("ann@example.org")]


@pytest.mark.parametrize(
    ("variable", "hidden"),
    [
        ("OPENINFERENCE_HIDE_INPUTS", {"original", "history", "query"}),
        ("OPENINFERENCE_HIDE_OUTPUTS", {"rewrite", "query", "ids", "answer"}),
        ("OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS", {"ids"}),
    ],
)
def test_the_switches_of_the_environment_act(log, monkeypatch, variable, hidden):
    monkeypatch.setenv(variable, "true")
    telemetry = Telemetry(log=log)
    telemetry.log_answer(guarded(telemetry).run(TURN, HISTORY).id, "It costs eleven euros.")
    names = {name for row in rows(log) for part in (row, row.get("results", {}), *row.get("arms", ())) for name in part}
    assert {"original", "history", "query", "rewrite", "ids", "answer"} - names == hidden


# answers, and reading them back


def test_answers_are_joined_to_their_lines(log, tmp_path):
    telemetry = Telemetry(log=log)
    search_ = guarded(telemetry)
    first, second = search_.run(TURN, HISTORY), search_.run(TURN, HISTORY)
    elsewhere = tmp_path / "other.jsonl"
    elsewhere.write_text(json.dumps({"id": second.id, "answer": "Nine."}) + "\n", "utf-8")
    telemetry.log_answer(first.id, "Eleven?")
    telemetry.log_answer(first.id, AIMessage("Eleven."))
    joined = {row["id"]: row["answer"] for row in read_log(log.path, elsewhere)}
    assert joined == {first.id: "Eleven.", second.id: "Nine."}
    assert [row["answer"] for row in read_log(log.path)] == ["Eleven.", None]


def test_the_latest_answer_counts_in_whatever_order_the_files_are_read(tmp_path):
    answers = [("early", "2024-05-06T10:00:01+00:00"), ("late", "2024-05-06T10:00:02+00:00"), ("undated", None)]
    paths = [tmp_path / name for name, _ in answers]
    for path, (name, at) in zip(paths, answers, strict=True):
        path.write_text(json.dumps({"id": "i", "timestamp": at, "answer": name}) + "\n", "utf-8")
    asked = tmp_path / "asked"
    asked.write_text('{"id": "i", "original": "a", "rewrite": "b"}\n', "utf-8")
    for order in (paths, paths[::-1]):
        assert [row["answer"] for row in read_log(asked, *order)] == ["late"]


@pytest.mark.parametrize("identity", [None, ["a"], {}, True])
def test_what_is_no_id_joins_no_answer(tmp_path, identity):
    path = tmp_path / "log"
    rows_ = [{"id": identity, "answer": "another's"}, {"id": "", "answer": "b"}, {"id": identity, "original": "a"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows_, {"original": "a"}]), "utf-8")
    assert [row["answer"] for row in read_log(path)] == [None, None]


def test_a_line_with_too_many_digits_is_left_out_and_told(tmp_path, caplog):
    path = tmp_path / "log"
    path.write_text('{"n": ' + "1" * 5_000 + '}\n{"id": "i", "original": "a"}\n', "utf-8")
    assert [row["id"] for row in read_log(path)] == ["i"]
    assert "line 1: not JSON that can be read: a number has too many digits" in caplog.text


def test_an_answer_without_a_log_or_that_is_no_text_breaks_nothing(log, caplog, monkeypatch):
    seen = probe(monkeypatch)
    Telemetry().log_answer("1", "Eleven.")
    Telemetry(log=log).log_answer("1", 11)
    assert [labels["stage"] for labels, _ in seen.points("rewriteguard.errors")] == ["log"]
    assert not log.path.exists()


# one file a process


def test_the_file_is_named_after_the_process_and_made_with_its_first_line(log, tmp_path):
    assert re.fullmatch(rf"triples\.{os.getpid()}-[0-9a-f]{{8}}\.jsonl", log.path.name)
    assert list(tmp_path.iterdir()) == []
    log.write({"id": "1"})
    assert list(tmp_path.iterdir()) == [log.path]


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = TripleLog("triples.jsonl")
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    log.write({"id": "1"})
    assert log.path.parent == tmp_path


@pytest.mark.parametrize("path", ["no-such-directory/triples.jsonl", ".", 7, None])
def test_a_path_that_cannot_be_used_is_said_at_once(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="path: expected a"):
        TripleLog(path)


@pytest.mark.parametrize("name", ["log", "judge"])
def test_telemetry_says_what_it_expects(name):
    with pytest.raises(InputError, match=f"{name}: expected a (TripleLog|Judge), got str"):
        Telemetry(**{name: "triples.jsonl"})


def test_copies_write_to_the_same_file(log):
    telemetry = Telemetry(log=log)
    for copied in (pickle.loads(pickle.dumps(log)), copy.deepcopy(log), copy.deepcopy(telemetry)._triples):
        copied.write({"id": "1"})
    assert len(rows(log)) == 3


def _write_in_child(log, held):
    log.write({"id": "child", "path": str(log.path)})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_writes_to_a_file_of_its_own_even_where_a_thread_held_the_lock(log, tmp_path):
    log.write({"id": "parent"})
    with log._file._lock:  # as where another thread writes at the moment of the fork
        child = multiprocessing.get_context("fork").Process(target=_write_in_child, args=(log, None))
        child.start()
        child.join(20)
        ended = child.exitcode
        child.kill()
    assert ended == 0
    log.write({"id": "parent"})
    assert [row["id"] for row in rows(log)] == ["parent", "parent"]
    (other,) = set(tmp_path.iterdir()) - {log.path}
    assert other.name.startswith(f"triples.{child.pid}-")
    assert json.loads(other.read_text("utf-8"))["path"] == str(other)


def test_threads_write_whole_lines(log):
    text = "x" * 20_000

    def write(name):
        for place in range(50):
            log.write({"id": f"{name}-{place}", "text": text})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = rows(log)
    assert len({row["id"] for row in found}) == len(found) == 400
    assert all(row["text"] == text for row in found)


def test_a_line_is_one_call_and_is_there_at_once(log, monkeypatch):
    log.write({"id": "1"})
    calls = []
    real = log._file._open

    class Counting:
        def fileno(self):
            return real.fileno()

        def write(self, data):
            calls.append(data)
            return real.write(data)

    monkeypatch.setattr(log._file, "_open", Counting())
    log.write({"id": "2", "text": "Zoë\nsaid \ud800"})
    assert calls == [b'{"id":"2","text":"Zo\xc3\xab\\nsaid \\ud800"}\n']
    assert rows(log)[1]["text"] == "Zoë\nsaid \ud800"


# what can go wrong


WRITER = """
import sys
from rewriteguard import TripleLog
log = TripleLog(sys.argv[1])
print(log.path, flush=True)
number = 0
while True:
    log.write({"id": str(number), "original": "How long is it?", "rewrite": "x" * 200_000})
    number += 1
"""


@pytest.mark.parametrize("wait", [0.05, 0.11, 0.23])
def test_a_killed_writer_loses_at_most_its_last_line_and_reading_says_so(tmp_path, wait, caplog):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "triples.jsonl")], stdout=subprocess.PIPE, text=True
    )
    path = Path(writer.stdout.readline().strip())
    while not path.exists():
        time.sleep(0.001)
    time.sleep(wait)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    whole = path.read_bytes().endswith(b"\n")
    lines = list(read_lines(path.open("rb")))
    good = [line for line in lines if line.error is None]
    assert [line.triple.id for line in good] == [str(number) for number in range(len(good))]
    assert len(lines) - len(good) == (0 if whole else 1)
    assert len(list(read_log(path))) == len(good) > 0
    assert ("the file ends within this line" in caplog.text) is not whole


def test_a_file_cut_at_any_byte_of_its_last_line_keeps_the_others_and_says_so(tmp_path, caplog):
    path = tmp_path / "triples.jsonl"
    row = {"id": "é", "original": "Où est le café {2}?", "rewrite": "café", "history": []}
    lines = [json.dumps({**row, "id": number}, ensure_ascii=False).encode() + b"\n" for number in range(3)]
    whole = b"".join(lines)
    for cut in range(1, len(lines[2]) + 1):
        path.write_bytes(whole[:-cut])
        caplog.clear()
        found = list(read_lines(path.open("rb")))
        read = [row["id"] for row in read_log(path)]
        errors = [line.error for line in found if line.error]
        if cut == 1:  # the end of the line alone is missing: the object is whole
            assert ([line.triple.id for line in found], read, caplog.text) == (["0", "1", "2"], [0, 1, 2], "")
        elif cut == len(lines[2]):
            assert (len(found), errors, read) == (2, [], [0, 1])
        else:
            assert [line.triple.id for line in found[:2]] == ["0", "1"]
            assert (found[2].number, read) == (3, [0, 1])
            assert "the file ends within this line" in errors[0]
            assert f"{path}, line 3: not " in caplog.text


class Full:
    """An open file on a disk that takes only so many bytes more."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def fileno(self):
        return self.file.fileno()

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = self.file.write(data[: self.room])
        self.room -= taken
        return taken


def test_a_disk_that_fills_up_breaks_no_retrieval_and_is_counted_and_told_once(log, monkeypatch, caplog):
    seen = probe(monkeypatch)
    search_ = guarded(Telemetry(log=log))
    first = search_.run(TURN, HISTORY)
    disk = Full(log._file._open, 100)
    monkeypatch.setattr(log._file, "_open", disk)
    assert [len(search_.run(TURN, HISTORY).items) for _ in range(3)] == [3, 3, 3]
    counted = {
        (labels["stage"], labels["error.type"]): point.value for labels, point in seen.points("rewriteguard.errors")
    }
    assert counted == {("log", "OSError"): 3}
    assert [text for text in caplog.messages if "triple log" in text] == ["the triple log misses lines: OSError"]
    disk.room = 10**6
    last = search_.run(TURN, HISTORY)
    lines = list(read_lines(log.path.open("rb")))
    assert [line.triple and line.triple.id for line in lines] == [first.id, None, last.id]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_device_that_is_full(log, monkeypatch):
    with Path("/dev/full").open("ab", buffering=0) as full:
        monkeypatch.setattr(log._file, "_open", full)
        with pytest.raises(OSError, match="No space"):
            log.write({"id": "1"})


def test_a_vanished_directory_breaks_no_retrieval_and_the_log_goes_on_when_it_is_back(tmp_path, monkeypatch, caplog):
    seen = probe(monkeypatch)
    folder = tmp_path / "logs"
    folder.mkdir()
    log = TripleLog(folder / "triples.jsonl")
    search_ = guarded(Telemetry(log=log))
    search_.run(TURN, HISTORY)
    log.path.unlink()
    folder.rmdir()
    assert [len(search_.run(TURN, HISTORY).items) for _ in range(2)] == [3, 3]
    counted = {
        (labels["stage"], labels["error.type"]): point.value for labels, point in seen.points("rewriteguard.errors")
    }
    assert counted == {("log", "FileNotFoundError"): 2}
    assert caplog.messages.count("the triple log misses lines: FileNotFoundError") == 1
    folder.mkdir()
    assert search_.run(TURN, HISTORY).id == rows(log)[0]["id"]


def test_a_search_that_fails_is_still_raised(log):
    def broken(query):
        raise OSError("no index")

    with pytest.raises(OSError, match="no index"):
        guarded(Telemetry(log=log), find=broken).run(TURN, HISTORY)
    assert not log.path.exists()


def test_shadow_mode_is_logged_with_what_would_have_been_done(log):
    guarded(Telemetry(log=log), verdict=Verdict.CHANGED, policy=Policy.observe()).run(TURN, HISTORY)
    (row,) = rows(log)
    assert (row["action"], row["proposed_action"]) == ("use_rewrite", "fall_back")


def test_cost_of_a_line(log):
    """A loose bound against accidents; docs/logs.md has the measured figure."""
    search_ = guarded(Telemetry(log=log))
    search_.run(TURN, HISTORY)
    keep = partial(_line_of, log, search_)
    assert min(keep() for _ in range(200)) < 2_000e-6


def _line_of(log, search_):
    row = rows(log)[0]
    started = time.perf_counter()
    log.write(row)
    return time.perf_counter() - started
