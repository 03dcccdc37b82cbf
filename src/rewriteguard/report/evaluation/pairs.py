"""The tables of gains and losses: every arm against the user's own words, on the same requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriteguard.report.evaluation.report import EvaluationReport, group_key
from rewriteguard.report.evaluation.tables import ARM_COLUMNS, rewriter_cell
from rewriteguard.report.evaluation.words import denominator, interval
from rewriteguard.report.table import Cell, Change, Column, Link, Table
from rewriteguard.report.wording import NOTHING, percent, probability, signed, worded

_CAPTION = "Requests that found a relevant document, before and after"
_EVERYTHING = "all requests"
TESTS_NOTE = (
    "McNemar's test and the p of the recall difference take requests as independent; where conversations or families "
    "hold several, the interval of the difference, which draws these, is the one to go by."
)
_FIGURES = (
    Column("before and after", drawn=True),
    Column("Before", number=True),
    Column("After", number=True),
    Column("Lost", number=True),
    Column("Gained", number=True),
    Column("McNemar p", number=True),
    Column("Recall difference", number=True),
)


def gain_tables(report: EvaluationReport) -> list[tuple[str, Table]]:
    """For each rewriter its arms, group by group, against the original; the guarded arm against the rewrite too.

    The last is that of the arms without a rewriter, under the label "".
    """
    columns = (Column("Group"), Column("Arm"), *_FIGURES)
    return [
        (rewriter, Table(f"gains-{place}", _caption(rewriter), columns, _rows(report, rewriter)))
        for place, rewriter in enumerate([*report.rewriters, ""])
    ]


def gains_of_all(report: EvaluationReport) -> Table:
    """The same for all requests alone, every rewriter in one table."""
    rows = [
        [Cell(worded(arm["arm"]), _against(pair)), rewriter_cell(arm["rewriter"]), *_figures(arm, pair, "")]
        for arm in report.arms
        for pair in _pairs(arm)
    ]
    return Table("gains-all", _CAPTION, (*ARM_COLUMNS, *_FIGURES), rows)


def _caption(rewriter: str) -> str:
    """Names the rewriter too, since the caption is what a screen reader calls the table by."""
    return f"{_CAPTION}: {rewriter}" if rewriter else f"{_CAPTION}, without a rewriter"


def _rows(report: EvaluationReport, rewriter: str) -> list[list[Cell]]:
    rows = []
    for group in ({"name": _EVERYTHING, "arms": report.arms}, *report.groups):
        key = group_key(group) if "enforced" in group else ""
        name = Cell(group["name"], key.partition(":")[0], quoted=bool(key))
        rows += [
            [name, Cell(worded(arm["arm"]), _against(pair)), *_figures(arm, pair, key)]
            for arm in group["arms"]
            if arm["rewriter"] == rewriter
            for pair in _pairs(arm)
        ]
    return rows


def _pairs(arm: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [pair for pair in (arm["over_original"], arm["over_rewrite"]) if pair is not None]


def _against(pair: Mapping[str, Any]) -> str:
    return "" if pair["base"] == "original" else f"against the {pair['base']}"


def _figures(arm: Mapping[str, Any], pair: Mapping[str, Any], group: str) -> list[Cell]:
    n = pair["n"]
    before, after = ((pair["both"] + pair[which]) / n if n else None for which in ("lost", "gained"))
    wanted = {"rewriter": arm["rewriter"], "arm": arm["arm"], "base": pair["base"], "group": group}
    drawn = Change(before, after) if before is not None and after is not None else None
    difference = pair["difference"]
    return [
        Cell("", drawing=drawn),
        Cell(percent(before), f"n = {n:,}"),
        Cell(percent(after)),
        Cell(*_share(pair["regression"]), link=Link("rows", wanted) if pair["lost"] else None),
        Cell(*_share(pair["gain"])),
        Cell(probability(pair["mcnemar"])),
        Cell(signed(difference["value"]), _difference(pair)),
    ]


def _difference(pair: Mapping[str, Any]) -> str:
    parts = [interval(pair["difference"], signed)]
    if pair["randomisation"] is not None:
        p = probability(pair["randomisation"])
        parts.append(f"p {p}" if p.startswith("<") else f"p = {p}")
    return ", ".join(part for part in parts if part)


def _share(figure: Mapping[str, Any]) -> tuple[str, str]:
    if figure["value"] is None:
        return NOTHING, ""
    return denominator(figure), f"{percent(figure['value'])}, {interval(figure)}" if interval(figure) else ""
