"""Inputs that are made to be slow: a finding comes back, and in bounded time."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from rewriteguard.check.assess import MAX_TOKENS
from rewriteguard.guard.guard import Guard

# Seconds of processor time; the slowest of these took 2.3 on two busy cores, and times of shared machines vary.
LONGEST = 12.0

SLOW = {
    "ten thousand digits": "1" * 10_000,
    "3,900 digits": "7" * 3_900,
    "fifty thousand letters": "a" * 50_000,
    "fifty thousand characters of words": "word " * 10_000,
    "nested brackets": "(" * 1_900 + ")" * 1_900,
    "five thousand dates": " ".join(f"{1 + i % 28} May 20{10 + i % 80}" for i in range(5_000)),
    "as many dates as are read": " ".join(f"{1 + i % 28} May 20{10 + i % 80}" for i in range(5_000))[:3_900],
    "numbers": " ".join(str(1_000 + i) for i in range(700)),
    "quotes": '"' * 3_900,
    "self-corrections": ("no sorry wait " * 300)[:3_900],
    "questions": ("What is it? " * 400)[:3_900],
    "addresses": ("http://a.b/c " * 350)[:3_900],
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW.keys())
@pytest.mark.parametrize("place", ["turn", "rewrite", "both", "history"])
def test_the_slowest_texts(text: str, place: str) -> None:
    """Each by a guard that has read nothing."""
    guard = Guard()
    turn = text if place in ("turn", "both") else "When does the mill open?"
    rewrite = text[::-1] if place == "both" else text if place == "rewrite" else "When does the old mill open?"
    history: Sequence[tuple[str, str]] = [("user", text), ("assistant", text)] if place == "history" else ()
    started = time.process_time()
    found = guard.check(turn, rewrite, history)
    assert time.process_time() - started < LONGEST
    assert found.verdict in ("changed", "uncertain", "preserved")


def test_a_crowd_of_tokens_is_not_compared(guard: Guard) -> None:
    crowd = " ".join(str(1_000 + i) for i in range(MAX_TOKENS + 1))[:3_990]
    few = " ".join(str(1_000 + i) for i in range(MAX_TOKENS // 4))
    assert guard.check(crowd, crowd).checked.gaps == ("size",)
    assert guard.check(few, few).verdict == "preserved"
    assert guard.check("When does it open?", crowd).verdict == "changed"


def test_messages_that_were_read_cost_hardly_anything(guard: Guard) -> None:
    """Fifty messages against five in histories that are new each time, of messages that are not."""
    text = "The mill number {} grinds corn for the village of Aldham and sells flour in Burford. " * 8
    talk = [(("user", "assistant")[i % 2], text.replace("{}", str(i))) for i in range(80)]
    guard.check("Is it old?", "Is the mill old?", talk)
    few, many = [], []
    for i in range(20):
        for size, times in ((5, few), (50, many)):
            started = time.process_time()
            guard.check(f"Who owns mill {i} of {size}?", f"Who owns the mill {i} of {size}?", talk[i : i + size])
            times.append(time.process_time() - started)
    # 1.08 as it is, 1.58 where the words of the history are looked up anew, 9 where messages are read anew.
    assert sorted(many)[10] < 1.35 * sorted(few)[10]
