"""Writes tables between the markers of a documentation page; all else on the page is left as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_BLOCK = re.compile(r"<!-- table (?:(?P<owner>[a-z]+)/)?(?P<name>[a-z-]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
Values = Mapping[str, Any]


class ReportError(Exception):
    """The page and the tables do not belong together."""


def fill(page: str, tables: Mapping[str, str], owner: str | None = None) -> str:
    """The page with each table between its markers `<!-- table NAME -->` and `<!-- end -->`.

    Args:
        page: A page that several benchmarks may write to.
        tables: The tables by name.
        owner: Whose tables they are: the places `<!-- table OWNER/NAME -->` are filled and all others left as they
            are; None fills those without an owner.

    Raises:
        ReportError: The page has no place for a table, or a place of this owner for a table that there is not.
    """
    places = [block["name"] for block in _BLOCK.finditer(page) if block["owner"] == owner]
    if sorted(places) != sorted(tables):
        raise ReportError(f"the page has places for {sorted(places)}, the report has {sorted(tables)}")

    def filled(block: re.Match[str]) -> str:
        if block["owner"] != owner:
            return block[0]
        marker = block[0].splitlines()[0]
        return f"{marker}\n\n{tables[block['name']]}\n\n<!-- end -->"

    return _BLOCK.sub(filled, page)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(figure: Values | None) -> str:
    """A share with its n and 95 % interval: `3.8 % (3 of 79; 1.3 to 10.6)`."""
    if figure is None or figure["value"] is None:
        return "-"
    ends = f"{100 * figure['low']:.1f} to {100 * figure['high']:.1f}" if "low" in figure else ""
    of = f"{figure['count']:,} of {figure['n']:,}" if "count" in figure else f"n {figure['n']:,}"
    return f"{100 * figure['value']:.1f} % ({of}; {ends})"


def short(figure: Values | None) -> str:
    """A share with its count alone: `3.8 % (3/79)`."""
    if figure is None or figure["value"] is None:
        return "-"
    return f"{100 * figure['value']:.1f} % ({figure['count']:,}/{figure['n']:,})"


def count(figure: Values | None) -> str:
    """How many; `-` where nothing was measured."""
    return "-" if figure is None else str(figure["count"])


def number(figure: Values | None) -> str:
    """A figure that is no share, with its 95 % interval: `4.0 (1.2 to 13.1)`."""
    if figure is None or figure["value"] is None:
        return "-"
    ends = f" ({figure['low']:.1f} to {figure['high']:.1f})" if "low" in figure else ""
    return f"{figure['value']:.1f}{ends}"
