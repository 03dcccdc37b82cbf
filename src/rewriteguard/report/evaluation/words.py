"""How a report words an evaluation: arms, releases, figures with their n and interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rewriteguard.report.table import Bar, Cell
from rewriteguard.report.wording import NOTHING, percent

ARMS = {
    "original": "the user's turn as written",
    "human": "a person's stand-alone rewrite",
    "rewrite": "the rewriter's output, unchecked",
    "original+rewrite": "turn and rewrite fused as frameworks do, of equal weight",
    "guarded": "what the guard decides",
    "without_rewrite": "what the guard does where there is no rewrite",
    "expanded": "several rewrites of the turn, fused with it",
}
"""What each arm searches."""
RELEASES = {
    "ship": "the rewrite may be searched alone where the guard does not object",
    "fuse": "the rewrite is always searched beside the turn",
    "clarify": "as fuse, and the user is asked where the turn has several readings",
    "fall_back": "the rewriter is off: the turn and the carried query are searched",
}
"""What each release means, the freest first."""
Figure = Mapping[str, Any]
Form = Callable[[float | None], str]


def interval(figure: Figure, form: Form = percent) -> str:
    """The 95 % interval in words; empty where there is none."""
    low, high = figure["low"], figure["high"]
    if low is None:
        return "" if high is None else f"at most {form(high)}"
    return f"at least {form(low)}" if high is None else f"{form(low).removesuffix(' %')} to {form(high)}"


def denominator(figure: Figure) -> str:
    """What a figure was measured on, as `513 of 540` for a share and `540` for a mean."""
    return f"{figure['n']:,}" if figure["count"] is None else f"{figure['count']:,} of {figure['n']:,}"


def figure_cell(figure: Figure, form: Form = percent) -> Cell:
    """One cell with the value, and interval and n in small print."""
    if figure["value"] is None:
        return Cell(NOTHING, "not measured" if not figure["n"] else f"n = {figure['n']:,}")
    return Cell(form(figure["value"]), " · ".join(part for part in (interval(figure, form), _n(figure)) if part))


def bar(figure: Figure) -> Bar | None:
    """The figure as a bar; None where there is nothing to draw."""
    value = figure["value"]
    if value is None or not 0 <= value <= 1:
        return None
    low, high = (value if end is None else min(1.0, max(0.0, end)) for end in (figure["low"], figure["high"]))
    return Bar(value, low, high)


def _n(figure: Figure) -> str:
    return denominator(figure) if figure["count"] is not None else f"n = {figure['n']:,}"
