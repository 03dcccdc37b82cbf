"""Writes rewriteguard.json, the Grafana dashboard of rewriteguard's metrics; needs the extra `dashboards`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import dashboard, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataTransformerConfig,
    DynamicConfigValue,
    VariableOption,
    VariableRefresh,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from panels import JUDGED, SOURCE, chart, count, judgements, mean, number, quantile, query, rate, share, split, stacked

TARGET = Path(__file__).with_name("rewriteguard.json")

CHANGED = 'verdict="changed"'
UNCERTAIN = 'verdict="uncertain"'
# A class of requests that does without the rewriter falls back by plan, with the reason `skipped`.
REJECTED = f'{JUDGED}, action="fall_back", reason!="skipped"'
SHADOWED = f'{JUDGED}, action!="fall_back", proposed_action="fall_back", reason!="skipped"'
FAULTS = 'verdict!="none", reason!~"ok|skipped"'
ASKED = 'reason!~"first_turn|skipped"'
FAILED = 'reason=~"rewriter_error|rewriter_timeout|guard_error"'
COLOURS = {"preserved": "blue", "uncertain": "yellow", "changed": "red"}  # told apart without red and green


def verdicts() -> timeseries.Panel:
    """The shares of the three verdicts."""
    about = "Of all judged rewrites: the question was kept, is in doubt, or was changed."
    lines = {verdict: share(f'verdict="{verdict}"') for verdict in COLOURS}
    panel = stacked(chart("Verdicts", about, "percentunit", 12, **lines))
    for verdict, colour in COLOURS.items():
        panel.override_by_name(verdict, [DynamicConfigValue("color", {"mode": "fixed", "fixedColor": colour})])
    return panel


def columns() -> list[tuple[str, str, str]]:
    """Header, unit and expression of each column of the table of rewriters."""
    whole = {"over": "$__range", "by": "rewriter"}
    return [
        ("Rewrites", "short", count("decisions_total", JUDGED, **whole)),
        ("Changed", "percentunit", share(CHANGED, **whole)),
        ("Uncertain", "percentunit", share(UNCERTAIN, **whole)),
        ("Rejected", "percentunit", share(REJECTED, **whole)),
        ("Failed", "percentunit", share(FAILED, ASKED, **whole)),
        ("Length ratio, p50", "none", quantile(0.5, "rewrite_length_ratio", **whole)),
        ("Arm overlap, mean", "percentunit", mean("arm_overlap", **whole)),
        ("Check, p99", "s", quantile(0.99, "check_duration_seconds", **whole)),
    ]


def rewriters() -> table.Panel:
    """One line for each rewriter."""
    about = "Rewriters and prompt versions, over the whole time range. Failed: of the turns for which one was asked."
    panel = table.Panel().title("Rewriters compared").description(about).datasource(SOURCE).height(7).span(24)
    panel.unit("short").decimals(1)
    names, places = {"rewriter": "Rewriter"}, {"rewriter": 0}
    for place, (header, unit, expression) in enumerate(columns()):
        letter = chr(ord("A") + place)
        panel.with_target(query(expression, "", letter).instant().format(PromQueryFormat.TABLE))
        digits = {"Rewrites": 0, "Length ratio, p50": 2}.get(header, 1)
        panel.override_by_name(header, [DynamicConfigValue("unit", unit), DynamicConfigValue("decimals", digits)])
        names[f"Value #{letter}"], places[f"Value #{letter}"] = header, place + 1
    shown = {"excludeByName": {"Time": True}, "renameByName": names, "indexByName": places}
    panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
    return panel.with_transformation(DataTransformerConfig(id_val="organize", options=shown))


def summary() -> list[Any]:
    """What happened in the whole time range."""
    judged = count("decisions_total", JUDGED, "$__range")
    slow = quantile(0.99, "check_duration_seconds", over="$__range")
    of = "Of all judged rewrites in the time range"
    return [
        number("Judged rewrites", "Rewrites with a verdict. All shares are of these.", "short", judged, 0),
        number("Changed", f"{of}: the question was changed.", "percentunit", share(CHANGED, over="$__range")),
        number("Uncertain", f"{of}: in doubt.", "percentunit", share(UNCERTAIN, over="$__range")),
        number("Rejected", f"{of}: not searched.", "percentunit", share(REJECTED, over="$__range")),
        number(
            "Failed",
            "Of the turns for which a rewriter was asked: rewriter or guard failed, or took too long.",
            "percentunit",
            share(FAILED, ASKED, "$__range"),
        ),
        number("Check, p99", "What 99 of 100 checks took at most.", "s", slow),
    ]


def drift() -> list[Any]:
    """What rewrites do to the question."""
    faults = split(rate("decisions_total", FAULTS, by="reason"))
    kinds = split("100 * " + rate("violations_total", 'severity="critical"', by="kind"))
    return [
        verdicts(),
        chart(
            "Rejected rewrites",
            "Of all judged rewrites: not searched, and what would not have been searched but for shadow mode.",
            "percentunit",
            12,
            rejected=share(REJECTED),
            would_be_rejected_in_shadow_mode=share(SHADOWED),
        ),
        chart(
            "Faults",
            "Of all judged rewrites, the share with this gravest fault. A jump in one of them is a drift.",
            "percentunit",
            12,
            by_reason=faults,
        ),
        chart(
            "Critical findings per 100 rewrites, by kind",
            "What kind of words was dropped, altered or invented. A rewrite can have several; none: the whole.",
            "short",
            12,
            by_kind=kinds,
        ),
    ]


def by_rewriter() -> list[Any]:
    """Where a drift comes from."""
    words = 'verdict!="none", reason=~"invented|dropped"'
    return [
        rewriters(),
        chart(
            "Changed, by rewriter",
            "Of the judged rewrites of each rewriter: the question was changed.",
            "percentunit",
            8,
            by_rewriter=share(CHANGED, by="rewriter"),
        ),
        chart(
            "Invented or dropped, by rewriter",
            "Of the judged rewrites of each rewriter: the gravest fault is something invented or dropped.",
            "percentunit",
            8,
            by_rewriter=share(words, by="rewriter"),
        ),
        chart(
            "Length ratio, by rewriter",
            "Median length of the rewrite over that of the turn. A jump is another prompt or model, or other turns.",
            "none",
            8,
            by_rewriter=quantile(0.5, "rewrite_length_ratio", "rewriter"),
        ),
    ]


def effects() -> list[Any]:
    """What the guard does to the search."""
    ratio, overlap = "rewrite_length_ratio", "arm_overlap"
    return [
        chart(
            "Rewrite length ratio",
            "Length of the rewrite over that of the turn, median and the longest tenth; over 10 is shown as 10.",
            "none",
            8,
            p50=quantile(0.5, ratio),
            p90=quantile(0.9, ratio),
        ),
        chart(
            "Arm overlap",
            "What original and rewrite found in common, of all they found. Near 1 the rewrite changes nothing.",
            "percentunit",
            8,
            mean=mean(overlap),
            p50=quantile(0.5, overlap),
        ),
        stacked(
            chart(
                "Actions",
                "What was searched, of all turns, first turns included.",
                "percentunit",
                8,
                by_action=split(rate("decisions_total", by="action"), ""),
            )
        ),
    ]


def cost() -> list[Any]:
    """How long it takes, and what goes wrong."""
    check, retrieve = "check_duration_seconds", "retrieve_duration_seconds"
    return [
        chart(
            "Check latency",
            "Time of one check.",
            "s",
            12,
            p50=quantile(0.5, check),
            p99=quantile(0.99, check),
        ),
        chart(
            "Retrieval latency",
            "Time of one guarded retrieval that found an answer, rewriter and searches included.",
            "s",
            12,
            p50=quantile(0.5, retrieve),
            p99=quantile(0.99, retrieve),
        ),
        chart(
            "Errors and fallbacks",
            "Of the turns for which a rewriter was asked: why no rewrite was judged, and how many fell back in all.",
            "percentunit",
            8,
            by_reason=split(rate("decisions_total", FAILED, by="reason"), ASKED),
            all_fallbacks=share('action="fall_back", reason!="skipped"', ASKED),
        ),
        chart(
            "Errors by stage",
            "What failed, contained or not, within the time that is averaged over.",
            "short",
            8,
            by_stage=count("errors_total", by="stage"),
        ),
        chart(
            "Forbidden hits",
            "Hits that admit= vetoed, by arm, within the time that is averaged over.",
            "short",
            8,
            by_arm=count("forbidden_hits_total", by="arm"),
        ),
    ]


def judged() -> list[Any]:
    """What the judge says of a sample, where there is a judge."""
    verdicts = list(COLOURS)
    of = "Of the judge's sample"
    return [
        chart(
            "Judge agrees, by the guard's verdict",
            f"{of}, by the guard's verdict: the judge says the same. Its own calibration says what that is worth.",
            "percentunit",
            12,
            **{each: judgements(f'verdict="{each}"', f'judged="{each}"') for each in verdicts},
        ),
        chart(
            "Uncertain rewrites, by what the judge says",
            f"{of}, of the rewrites that the guard was in doubt about: what the judge says.",
            "percentunit",
            12,
            **{each: judgements(UNCERTAIN, f'judged="{each}"') for each in verdicts},
        ),
    ]


def label_variable(name: str, title: str, labels: str = "") -> dashboard.QueryVariable:
    """A choice among the values of a label, all of them at first."""
    return (
        dashboard.QueryVariable(name)
        .label(title)
        .datasource(SOURCE)
        .query(f"label_values(rewriteguard_decisions_total{labels}, {name})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text=["All"], value=["$__all"]))
    )


def build() -> str:
    """The dashboard as JSON text."""
    windows = ("5m", "15m", "1h", "6h", "1d")
    options = [VariableOption(selected=each == "1h", text=each, value=each) for each in windows]
    page = (
        dashboard.Dashboard("rewriteguard")
        .uid("rewriteguard")
        .description("What rewriters do to the questions that users ask, and what is done about it.")
        .tags(["rag", "rewriteguard"])
        .time("now-24h", "now")
        .refresh("1m")
        .timezone("browser")
        .editable()
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(label_variable("job", "Job"))
        .with_variable(label_variable("rewriter", "Rewriter", '{job=~"$job"}'))
        .with_variable(
            dashboard.IntervalVariable("window")
            .label("Averaged over")
            .values(",".join(windows))
            .options(options)
            .current(options[2])
        )
    )
    sections = {
        "In the time range": summary(),
        "What rewrites do to the question": drift(),
        "By rewriter": by_rewriter(),
        "What it does to the search": effects(),
        "Time and failures": cost(),
        "Where a judge is asked": judged(),
    }
    place = 0
    for title, panels in sections.items():
        page.with_row(dashboard.Row(title).id(place := place + 1))
        for panel in panels:
            page.with_panel(panel.id(place := place + 1))
    return json.dumps(page.build(), cls=JSONEncoder, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(build(), encoding="utf-8")
