"""The tables of gains and losses: every arm against the user's own words, on the same requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriteguard.report.evaluation_report import EvaluationReport, group_key
from rewriteguard.report.evaluation_words import denominator, interval
from rewriteguard.report.table import Cell, Change, Column, Link, Table
from rewriteguard.report.wording import NOTHING, percent, probability, signed, worded

EVERYTHING = "all requests"
_COLUMNS = (
    Column("Group"),
    Column("Arm"),
    Column("Found evidence, before and after", drawn=True),
    Column("Base", number=True),
    Column("Arm", number=True),
    Column("Lost", number=True),
    Column("Gained", number=True),
    Column("McNemar p", number=True),
    Column("Recall difference", number=True),
    Column("p", number=True),
)


def gain_tables(report: EvaluationReport) -> list[tuple[str, Table]]:
    """For each rewriter its arms, group by group, against the original; the guarded arm against the rewrite too."""
    return [
        (rewriter, _table(f"gains-{place}", "Against the original", report, rewriter))
        for place, rewriter in enumerate(report.rewriters)
    ] + [("", _table("gains-shared", "Arms that need no rewriter, against the original", report, ""))]


def _table(id_: str, caption: str, report: EvaluationReport, rewriter: str) -> Table:
    rows = [
        _row(group, arm, pair)
        for group in ({"name": EVERYTHING, "arms": report.arms}, *report.groups)
        for arm in group["arms"]
        if arm["rewriter"] == rewriter
        for pair in (arm["over_original"], arm["over_rewrite"])
        if pair is not None
    ]
    return Table(id_, caption, _COLUMNS, rows)


def _row(group: Mapping[str, Any], arm: Mapping[str, Any], pair: Mapping[str, Any]) -> list[Cell]:
    n, key = pair["n"], group_key(group) if "enforced" in group else ""
    against = f"against the {pair['base']}" if pair["base"] != "original" else ""
    before, after = ((pair["both"] + pair[which]) / n if n else None for which in ("lost", "gained"))
    wanted = {"rewriter": arm["rewriter"], "arm": arm["arm"], "base": pair["base"], "group": key}
    drawn = Change(before, after) if before is not None and after is not None else None
    difference = pair["difference"]
    return [
        Cell(group["name"], key.partition(":")[0], quoted=bool(key)),
        Cell(worded(arm["arm"]), against),
        Cell("", drawing=drawn),
        Cell(percent(before), f"n = {n:,}"),
        Cell(percent(after)),
        Cell(*_share(pair["regression"]), link=Link("rows", wanted) if pair["lost"] else None),
        Cell(*_share(pair["gain"])),
        Cell(probability(pair["mcnemar"])),
        Cell(signed(difference["value"]), interval(difference, signed)),
        Cell(probability(pair["randomisation"])),
    ]


def _share(figure: Mapping[str, Any]) -> tuple[str, str]:
    if figure["value"] is None:
        return NOTHING, ""
    return denominator(figure), f"{percent(figure['value'])}, {interval(figure)}" if interval(figure) else ""
