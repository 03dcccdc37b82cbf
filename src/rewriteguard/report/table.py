"""Tables as every form of a report shows them: the page as HTML with bars, the summary as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bar:
    """A value between 0 and 1 and its interval, to be drawn beside the words that say it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Change:
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
        drawing: What the page draws; the words say it too.
        link: Where the page shows what the cell counts.
    """

    text: str
    small: str = ""
    quoted: bool = False
    tone: str = ""
    drawing: Bar | Change | None = None
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
