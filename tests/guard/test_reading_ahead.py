"""Reading while the rewriter answers, batches and caches: none of it may lose, delay or change a finding."""

from __future__ import annotations

import threading
import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from rewriteguard import safe_rewrite
from rewriteguard.extract import DEFAULT_EXTRACTORS, extract_tokens
from rewriteguard.guard.guard import Guard

TALK = [("user", "Where is the mill?"), ("assistant", "The old mill stands in Aldham.")]


def broken_at(word):
    def extract(doc):
        if word in doc.text:
            raise ValueError(word)
        return ()

    return extract


def test_a_rewriter_that_fails_is_not_waited_for_by_the_reading() -> None:
    over = threading.Event()

    def slow(doc):
        over.wait(20)
        return ()

    def fails(turn, history):
        raise ConnectionError

    started = time.monotonic()
    decision = safe_rewrite("When was it built?", fails, TALK, guard=Guard(extractors=(slow,)), timeout=0.1)
    took = time.monotonic() - started
    over.set()
    assert took < 5
    assert decision.query == "When was it built?"


def test_prepare_changes_no_finding() -> None:
    one, other = Guard(), Guard()
    one.prepare("When was it built?", TALK)
    rows = ["When was the old mill built?", "When was the new mill in Aldham built?", "When was it built?"]
    for rewrite in rows:
        found = [guard.check("When was it built?", rewrite, TALK).to_dict() for guard in (one, other)]
        assert found[0] == found[1]


def test_an_extractor_that_raises_stops_only_its_row() -> None:
    guard = Guard(extractors=(*DEFAULT_EXTRACTORS, broken_at("bronze")))
    found = guard.check_batch([("Is it old?", "Is it old?"), ("Is it bronze?", "Is it bronze?")])
    assert next(found).verdict
    with pytest.raises(ValueError, match="bronze"):
        next(found)


def test_rows_before_a_stream_fails_are_checked(guard: Guard) -> None:
    def stream():
        yield "Who owns the mill?", "Who owns the mill?"
        raise OSError("the log is gone")

    found = guard.check_batch(stream())
    assert next(found).verdict == "preserved"
    with pytest.raises(OSError, match="the log is gone"):
        next(found)


def test_an_extractor_may_run_the_built_in_ones() -> None:
    guard = Guard(extractors=(lambda doc: extract_tokens(doc),))
    assert [token.text for token in guard.extract("Was it built in 1780?")] == [
        token.text for token in Guard().extract("Was it built in 1780?")
    ]


def test_a_moment_is_its_day(guard: Guard) -> None:
    moment = datetime(2024, 6, 6, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    asked = ("What opened yesterday?", "What opened on 5 June 2024?")
    assert guard.check(*asked, reference_date=moment).verdict == "preserved"
    assert guard.check(*asked, reference_date=date(2024, 6, 6)).verdict == "preserved"
    assert guard.check(*asked, reference_date=moment.astimezone(UTC)).verdict == "changed"


def test_long_conversations_are_not_kept(guard: Guard) -> None:
    """The same object comes back where a finding was kept."""
    asked = ("Who owns the mill today?", "Who owns the old mill today?")
    assert guard.check(*asked, TALK) is guard.check(*asked, TALK)
    long = [("user", "The mill. " * 3_000), *TALK]
    assert guard.check(*asked, long) is not guard.check(*asked, long)
