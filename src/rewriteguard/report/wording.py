"""How numbers and codes read in a report."""

from __future__ import annotations

import re

_BREAK = re.compile(r"(?P<sign> , | ; | [ ]· ) [ ]", re.VERBOSE)
_SHORT = 24  # characters of a part that is kept on one line

NOTHING = "–"
"""What stands where there is no figure."""


def worded(code: str) -> str:
    """A code as words, as `fall back`."""
    return code.replace("_", " ")


def percent(value: float | None) -> str:
    """A share, as `12.5 %`."""
    return NOTHING if value is None else f"{value:.1%}".replace("%", " %")


def decimal(value: float | None) -> str:
    """A mean, as `0.449`."""
    return NOTHING if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """A difference, as `+0.029` or `−0.008`."""
    if value is None:
        return NOTHING
    text = f"{value:+.3f}"
    return "0.000" if text[1:] == "0.000" else text.replace("-", "−")


def probability(value: float | None) -> str:
    """The p of a test, as `0.112`."""
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def many(number: int, thing: str) -> str:
    """A number of things, as `1,200 requests`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def tied(text: str) -> str:
    """The text with its short parts, as `5.0 to 12.5 %` and `n = 40`, kept on one line each."""
    parts = _BREAK.sub(lambda match: f"{match['sign']}\n", text).split("\n")
    return " ".join(part.replace(" ", "\u00a0") if len(part) <= _SHORT else part for part in parts)
