"""The dashboard, the alert rules and the metrics page speak of metrics that exist, and the dashboard of all of them."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from rewriteguard.telemetry import names

DOCS = Path(__file__).parents[2] / "docs"
PAGE = json.loads((DOCS / "dashboards" / "rewriteguard.json").read_text("utf-8"))
PANELS = [panel for panel in PAGE["panels"] if panel["type"] != "row"]
QUERIES = "\n".join(target["expr"] for panel in PANELS for target in panel["targets"])

HISTOGRAM = r"_(bucket|sum|count)"
# How Prometheus spells each metric: counters end in _total, and the unit stands in the name.
SPELLINGS = {
    names.DECISIONS: "_total",
    names.VIOLATIONS: "_total",
    names.ERRORS: "_total",
    names.FORBIDDEN_HITS: "_total",
    names.JUDGEMENTS: "_total",
    names.CHECK_DURATION: f"_seconds{HISTOGRAM}",
    names.RETRIEVE_DURATION: f"_seconds{HISTOGRAM}",
    names.LENGTH_RATIO: HISTOGRAM,
    names.ARM_OVERLAP: HISTOGRAM,
}


def metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\brewriteguard_\w+", text))


def unknown(found: set[str]) -> set[str]:
    known = re.compile("|".join(f"{name.replace('.', '_')}{ending}" for name, ending in SPELLINGS.items()))
    return {name for name in found if not known.fullmatch(name)}


@pytest.mark.parametrize("file", ["dashboards/rewriteguard.json", "dashboards/alerts.yml", "metrics.md"])
def test_each_metric_that_is_asked_for_exists(file):
    found = metrics_in((DOCS / file).read_text("utf-8"))
    assert found
    assert unknown(found) == set()


@pytest.mark.parametrize("metric", SPELLINGS)
def test_each_metric_is_on_the_dashboard(metric):
    assert re.search(rf"\b{metric.replace('.', '_')}{SPELLINGS[metric]}", QUERIES)


def test_each_stage_of_errors_is_watched_by_one_alert():
    stages = re.search(r"^`stage` is (.*?)\.$", (DOCS / "telemetry.md").read_text("utf-8"), re.M)[1]
    rules = re.split(r"- alert: ", (DOCS / "dashboards" / "alerts.yml").read_text("utf-8"))[1:]
    watched = {rule.split()[0]: re.search(r'errors_total\{stage=~"(\S+)"\}', rule) for rule in rules}
    watched = {name: found[1].split("|") for name, found in watched.items() if found}
    watched["RewriteguardRewriterFails"] = ["rewriter"]  # by the decisions
    assert sorted(stage for found in watched.values() for stage in found) == sorted(re.findall(r"`(\w+)`", stages))


def test_shares_leave_out_turns_without_a_verdict():
    shares = [
        target["expr"]
        for panel in PANELS
        if panel["title"] in ("Changed", "Uncertain", "Rejected", "Verdicts", "Rejected rewrites", "Faults")
        for target in panel["targets"]
    ]
    assert len(shares) == 9
    assert [query for query in shares if 'verdict!="none"' not in query.rsplit(" / ", 1)[1]] == []


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_each_panel_says_what_it_shows(panel):
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
    assert [target["expr"] for target in panel["targets"] if 'rewriter=~"$rewriter"' not in target["expr"]] == []


def test_panels_stand_side_by_side():
    places = [panel["gridPos"] for panel in PAGE["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    overlaps = [
        (one, other)
        for one, other in combinations(places, 2)
        if one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    ]
    assert overlaps == []
    assert len({panel["id"] for panel in PAGE["panels"]}) == len(PAGE["panels"])


def test_the_variables_are_those_of_the_queries():
    declared = {variable["name"] for variable in PAGE["templating"]["list"]}
    assert set(re.findall(r"\$(\w+)", QUERIES)) - {"__range"} | {"datasource"} == declared
