"""Tables as every form of a report shows them, and how numbers and codes read in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rewriteguard.evaluation.figure import Figure

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


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A share before and after, to be drawn as two points joined by a line."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Link:
    """Where the page shows what a cell counts: the id of a list, and the values of its filters."""

    list: str
    filters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: What it says.
        small: What is said beside it in small print, such as an interval.
        quoted: Whether the text is of the data, such as a label or a turn, and no word of the report.
        tone: A release or a verdict that colours the cell; the text says it too.
        drawing: What the page draws beside the words that say it too: a figure as a bar from 0 to 1, or a change.
        link: Where the page shows what the cell counts.
    """

    text: str
    small: str = ""
    quoted: bool = False
    tone: str = ""
    drawing: Figure | BeforeAfter | None = None
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: What stands above it.
        number: Whether its cells are numbers.
        drawn: Whether its cells are drawings alone, which only the page shows.
        quoted: Whether the name is of the data.
    """

    name: str
    number: bool = False
    drawn: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row names the row.

    Attributes:
        id: Unique on the page.
        caption: What it shows.
        columns: Its columns.
        rows: Its rows, as many cells in each as there are columns.
        note: What a reader should know of it.
        left_out: How many further rows were left out, for length.
    """

    id: str
    caption: str
    columns: Sequence[Column]
    rows: list[list[Cell]] = field(default_factory=list)
    note: str = ""
    left_out: int = 0
