"""Texts that nobody writes but somebody sends: how long the longest check takes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from latency_timing import Figure, Figures, seconds
from latency_workload import Bench
from rewriteguard import Guard

_TURN = "When did the tunnel under Lake Vinter open?"
_LIMIT = 3_990  # characters: a turn or rewrite of this length is still read in full
_MONTHS = ("January", "March", "May", "July", "August", "October", "December")
PLACES = ("turn", "rewrite", "history")


def texts() -> dict[str, str]:
    """The texts by name."""
    draw = random.Random(3)
    dates = (f"{draw.randint(1, 31)} {draw.choice(_MONTHS)} {draw.randint(1100, 2100)}" for _ in range(5_000))
    prose = (f"Boat {n} of the {n % 90} that sailed from Lund was no longer seen after the storm." for n in range(700))
    return {
        "10000-digits": "".join(draw.choices("0123456789", k=10_000)),
        "50000-characters": " ".join(prose)[:50_000],
        "nested-brackets": "(" * 5_000 + "boat" + ")" * 5_000,
        "5000-dates": ", ".join(dates),
    }


def worst(bench: Bench) -> Figures:
    """Seconds of one check by a guard that has read nothing, by text and place, as a whole and cut to what is read."""
    found = {
        key: Figure(seconds(lambda check=check: Guard().check(*check)), 1, "s") for key, check in _checks(bench.quick)
    }
    slowest = max(figure.value for figure in found.values())
    return {f"worst-{key}": figure for key, figure in found.items()} | {"worst": Figure(slowest, len(found), "s")}


def _checks(quick: bool) -> Iterator[tuple[str, tuple[str, str, list[tuple[str, str]]]]]:
    for name, text in texts().items():
        cut = text[:_LIMIT]
        yield f"{name}-history", ("When did it open?", _TURN, [("user", text), ("assistant", text)])
        yield f"{name}-both-cut", (cut, f"{cut[:-9]} {cut[:8]}", [])
        if quick:  # the two that take longest
            continue
        yield f"{name}-turn", (text, _TURN, [])
        yield f"{name}-rewrite", (_TURN, text, [])
        yield f"{name}-turn-cut", (cut, _TURN, [])
        yield f"{name}-rewrite-cut", (_TURN, cut, [])
