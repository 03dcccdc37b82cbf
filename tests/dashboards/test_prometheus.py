"""A real Prometheus watches a real app: every metric, every panel and every alert rule is asked there."""

from __future__ import annotations

import json
import math
import re
import runpy
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import pytest
from opentelemetry.sdk.metrics import MeterProvider

from rewriteguard.telemetry.names import Instruments, make_instruments

watched = pytest.importorskip("metrics_app", reason="the extra `dashboards` is not installed")
pytestmark = [
    pytest.mark.backend,
    pytest.mark.skipif(not shutil.which("prometheus"), reason="Prometheus is not installed"),
]

HERE = Path(__file__).parent
DASHBOARDS = HERE.parents[1] / "docs" / "dashboards"
ALERTS = DASHBOARDS / "alerts.yml"
PAGE = json.loads((DASHBOARDS / "rewriteguard.json").read_text("utf-8"))
PANELS = [panel for panel in PAGE["panels"] if panel["type"] != "row"]

ROUNDS = 3
DECISIONS, JUDGED = 15, 11  # of one round
PATIENCE = 60  # seconds for a server to start, or for a scrape

CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: chat
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


@dataclass
class Prometheus:
    """The queries of one server, with the time of the scrape that saw the whole first round."""

    url: str
    since: float = 0

    def ask(self, path: str, **values: object) -> dict:
        """The data of an answer; an error of the server is raised with what it says."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(values)}") as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{values}: {error.read().decode()}") from error

    def now(self, query: str, **at: float) -> list[tuple[dict, float]]:
        """Labels and value of each series at this moment, or at another `time`."""
        return [(each["metric"], float(each["value"][1])) for each in self.ask("query", query=query, **at)["result"]]

    def over_time(self, query: str) -> list[list[float]]:
        """The values of each series since the first round, a second apart."""
        span = {"start": self.since, "end": time.time(), "step": 1}
        return [
            [float(v) for _, v in each["values"]] for each in self.ask("query_range", query=query, **span)["result"]
        ]

    def has_seen(self, rounds: int) -> bool:
        counted = {"decisions": DECISIONS, "judgements": JUDGED}
        found = {name: [value for _, value in self.now(f"sum(rewriteguard_{name}_total)")] for name in counted}
        return found == {name: [rounds * count] for name, count in counted.items()}

    def one(self, query: str) -> float:
        """The one value of a query that gives one."""
        ((_, value),) = self.now(query)
        return value


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(condition, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if condition():
                return
        except OSError:
            pass  # it does not listen yet
        time.sleep(0.2)
    raise TimeoutError(what)


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def app() -> Iterator[tuple[subprocess.Popen, int]]:
    """The app and the port of its metrics."""
    port = free_port()
    command = [sys.executable, str(HERE / "metrics_app.py"), str(port)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process, port
    finally:
        stop(process)


@pytest.fixture(scope="module")
def prometheus(app: tuple[subprocess.Popen, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has seen each round of the app's searches after the other."""
    (process, app_port), port = app, free_port()
    folder = tmp_path_factory.mktemp("prometheus")
    config = folder / "prometheus.yml"
    rules = folder / "alerts.yml"
    rules.write_text(ALERTS.read_text("utf-8").replace("    interval: 5m\n", ""), "utf-8")  # evaluated each second
    config.write_text(CONFIG.format(port=app_port, rules=rules), "utf-8")
    subprocess.run(["promtool", "check", "config", str(config)], check=True, capture_output=True)
    address = f"--web.listen-address=127.0.0.1:{port}"
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}", address]
    client = Prometheus(f"http://127.0.0.1:{port}")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for number in range(1, ROUNDS + 1):
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
            wait_for(partial(client.has_seen, number), f"the scrape of round {number}")
            client.since = client.since or client.one("max(timestamp(rewriteguard_decisions_total))")
        yield client
    finally:
        stop(server)


# One round: what each metric counts. Turns, rewrites and failures are in metrics_app.py.
COUNTED = {
    "sum(rewriteguard_decisions_total)": DECISIONS,
    'sum(rewriteguard_decisions_total{verdict!="none"})': 11,
    'sum(rewriteguard_decisions_total{verdict="preserved", action="fuse", reason="ok"})': 6,
    'sum(rewriteguard_decisions_total{verdict="uncertain", action="fuse", reason="unresolved"})': 1,
    'sum(rewriteguard_decisions_total{verdict="changed"})': 4,
    'sum(rewriteguard_decisions_total{verdict="changed", action="fall_back"})': 3,
    'sum(rewriteguard_decisions_total{verdict="changed", action="use_rewrite", proposed_action="fall_back"})': 1,
    'sum(rewriteguard_decisions_total{reason="dropped"})': 2,
    'sum(rewriteguard_decisions_total{reason="altered"})': 1,
    'sum(rewriteguard_decisions_total{reason="invented"})': 1,
    'sum(rewriteguard_decisions_total{reason="first_turn", verdict="none", action="use_original"})': 1,
    'sum(rewriteguard_decisions_total{reason="rewriter_error", verdict="none", action="fall_back"})': 1,
    'sum(rewriteguard_decisions_total{reason="rewriter_timeout", verdict="none", action="fall_back"})': 1,
    'sum(rewriteguard_decisions_total{reason="guard_error", verdict="none", action="fall_back"})': 1,
    'sum(rewriteguard_decisions_total{rewriter="condense-v1"})': 9,
    'sum(rewriteguard_decisions_total{rewriter="condense-v2", job="chat"})': 6,
    'sum(rewriteguard_decisions_total{profile="condense"})': DECISIONS,
    'sum(rewriteguard_decisions_total{dependent="true"})': 11,
    'sum(rewriteguard_violations_total{fault="dropped", kind="time", severity="critical"})': 2,
    'sum(rewriteguard_violations_total{fault="altered", kind="time", severity="critical"})': 1,
    'sum(rewriteguard_violations_total{fault="invented", kind="entity", rewriter="condense-v2"})': 1,
    'sum(rewriteguard_violations_total{fault="unresolved", kind="none"})': 1,
    # Told as 0 before any fails, so that the first counts.
    'sum(rewriteguard_decisions_total{reason="rewriter_timeout", rewriter="condense-v2", profile="condense"})': 0,
    "sum(rewriteguard_errors_total)": 5,
    'sum(rewriteguard_errors_total{stage="on_decision", error_type="LookupError", rewriter="condense-v1"})': 1,
    'sum(rewriteguard_errors_total{stage="guard", error_type="RecursionError", rewriter="condense-v1"})': 1,
    'sum(rewriteguard_errors_total{stage="rewriter", error_type="ConnectionError", rewriter="condense-v2"})': 1,
    'sum(rewriteguard_errors_total{stage="rewriter", error_type="TimeoutError", rewriter="condense-v1"})': 1,
    'sum(rewriteguard_errors_total{stage="search", error_type="ConnectionError", rewriter="condense-v2"})': 1,
    "sum(rewriteguard_judgements_total)": JUDGED,
    'sum(rewriteguard_judgements_total{verdict="preserved", judged="preserved", rewriter="condense-v1"})': 4,
    'sum(rewriteguard_judgements_total{verdict="uncertain", judged="changed"})': 1,
    'sum(rewriteguard_judgements_total{verdict="changed", judged="preserved", rewriter="condense-v2"})': 1,
    "sum(rewriteguard_forbidden_hits_total)": 3,
    'sum(rewriteguard_forbidden_hits_total{arm="original", rewriter="condense-v2"})': 1,
    'sum(rewriteguard_forbidden_hits_total{arm="rewrite"})': 1,
    'sum(rewriteguard_forbidden_hits_total{arm="carried"})': 1,
    'sum(rewriteguard_check_duration_seconds_count{verdict!="none"})': 11,
    'sum(rewriteguard_check_duration_seconds_bucket{le="+Inf", verdict="changed", rewriter="condense-v1"})': 1,
    'sum(rewriteguard_retrieve_duration_seconds_count{action="fuse"})': 7,
    'sum(rewriteguard_retrieve_duration_seconds_count{action="fall_back"})': 6,
    'sum(rewriteguard_retrieve_duration_seconds_count{action="use_rewrite", rewriter="condense-v2"})': 1,
    'sum(rewriteguard_retrieve_duration_seconds_bucket{le="10.0", action="use_original"})': 1,
    'sum(rewriteguard_rewrite_length_ratio_count{profile="condense"})': 11,
    'sum(rewriteguard_rewrite_length_ratio_bucket{verdict="preserved", le="1.5"})': 6,
    'sum(rewriteguard_rewrite_length_ratio_sum{verdict="preserved"})': 6 * len(watched.GOOD) / len(watched.TURN),
    "sum(rewriteguard_arm_overlap_count)": 6,
    'sum(rewriteguard_arm_overlap_sum{action="fuse", rewriter="condense-v1"})': 4 * 2 / 4,
}


@pytest.mark.parametrize("query", COUNTED)
def test_each_metric_answers_with_the_right_number(prometheus: Prometheus, query: str) -> None:
    assert prometheus.one(query) == pytest.approx(ROUNDS * COUNTED[query])


def metric_names() -> list[str]:
    made = make_instruments(MeterProvider().get_meter("rewriteguard"))
    return [getattr(made, field.name).name for field in fields(Instruments)]


@pytest.mark.parametrize("name", metric_names())
def test_each_metric_is_asked_for_above(name: str) -> None:
    assert any(query.startswith(f"sum({name.replace('.', '_')}") for query in COUNTED)


def test_times_are_seconds(prometheus: Prometheus) -> None:
    for name in ("check", "retrieve"):
        metric = f"rewriteguard_{name}_duration_seconds"
        assert 0 < prometheus.one(f"sum({metric}_sum) / sum({metric}_count)") < 2


# the dashboard


def asked(expression: str, rewriter: str = ".*", over: str = "2m") -> str:
    """An expression with the dashboard's variables filled in, over a time that holds all rounds where none is given."""
    values = {"job": ".*", "rewriter": rewriter, "window": over, "__range": over}
    for name, value in values.items():
        expression = expression.replace(f"${name}", value)
    assert "$" not in expression
    return expression


TARGETS = {f"{panel['title']} {target['refId']}": target for panel in PANELS for target in panel["targets"]}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_each_panel_has_data(prometheus: Prometheus, target: dict) -> None:
    query = asked(target["expr"])
    if target.get("instant"):
        found = [value for _, value in prometheus.now(query)]
    else:
        found = [value for series in prometheus.over_time(query) for value in series]
    assert found
    assert any(math.isfinite(value) for value in found)


def values_of(prometheus: Prometheus, title: str, rewriter: str = ".*") -> dict[str, float]:
    """What the panel shows of all rounds but the first, by legend; some series begin before that one, others in it."""
    (found,) = [panel for panel in PANELS if panel["title"] == title]
    now = time.time()
    over = f"{round(1_000 * (now - prometheus.since + 0.3))}ms"  # with that scrape, a second after the one before
    return {
        re.sub(r"\{\{(\w+)\}\}", lambda label: labels[label[1]], target["legendFormat"]): value  # noqa: B023
        for target in found["targets"]
        for labels, value in prometheus.now(asked(target["expr"], rewriter, over), time=now)
    }


SHOWN = [
    ("Changed", ".*", {"": 4 / 11}),
    ("Changed", "condense-v2", {"": 3 / 5}),
    ("Uncertain", ".*", {"": 1 / 11}),
    ("Rejected", ".*", {"": 3 / 11}),
    ("Failed", ".*", {"": 3 / 14}),
    ("Failed", "condense-v1", {"": 2 / 8}),
    ("Verdicts", ".*", {"preserved": 6 / 11, "uncertain": 1 / 11, "changed": 4 / 11}),
    ("Verdicts", "condense-v2", {"preserved": 2 / 5, "uncertain": 0, "changed": 3 / 5}),
    ("Rejected rewrites", "condense-v2", {"rejected": 2 / 5, "would be rejected in shadow mode": 1 / 5}),
    ("Faults", ".*", {"dropped": 2 / 11, "altered": 1 / 11, "invented": 1 / 11, "unresolved": 1 / 11}),
    ("Judge agrees, by the guard's verdict", ".*", {"preserved": 1, "uncertain": 0, "changed": 3 / 4}),
    ("Uncertain rewrites, by what the judge says", ".*", {"preserved": 0, "uncertain": 0, "changed": 1}),
    ("Changed, by rewriter", ".*", {"condense-v1": 1 / 6, "condense-v2": 3 / 5}),
    ("Invented or dropped, by rewriter", ".*", {"condense-v1": 1 / 6, "condense-v2": 2 / 5}),
    ("Actions", ".*", {"fuse": 7 / 15, "fall_back": 6 / 15, "use_rewrite": 1 / 15, "use_original": 1 / 15}),
    (
        "Errors and fallbacks",
        ".*",
        {"rewriter_error": 1 / 14, "rewriter_timeout": 1 / 14, "guard_error": 1 / 14, "all fallbacks": 6 / 14},
    ),
]


@pytest.mark.parametrize(("title", "rewriter", "shown"), SHOWN)
def test_panels_show_the_right_shares(prometheus: Prometheus, title: str, rewriter: str, shown: dict) -> None:
    assert values_of(prometheus, title, rewriter) == pytest.approx(shown)


def test_panels_count_by_kind(prometheus: Prometheus) -> None:
    shown = values_of(prometheus, "Critical findings per 100 rewrites, by kind")
    assert shown["time"] == pytest.approx(100 * 3 / 11)
    assert shown["entity"] == pytest.approx(100 * 1 / 11)


def test_each_choice_of_a_variable_is_a_label_in_prometheus(prometheus: Prometheus) -> None:
    chosen = {each["name"]: each["query"] for each in PAGE["templating"]["list"] if each["type"] == "query"}
    found = {}
    for name, query in chosen.items():
        metric, label = re.fullmatch(r"label_values\((?P<metric>.+), (?P<label>\w+)\)", query).groups()
        found[name] = sorted({labels[label] for labels, _ in prometheus.now(asked(metric))})
    assert found == {"job": ["chat"], "rewriter": ["condense-v1", "condense-v2"]}


def test_the_dashboard_is_what_the_script_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    dashboard = pytest.importorskip("grafana_foundation_sdk.models.dashboard")
    encoder = pytest.importorskip("grafana_foundation_sdk.cog.encoder").JSONEncoder
    monkeypatch.syspath_prepend(str(DASHBOARDS))
    script = runpy.run_path(str(DASHBOARDS / "build.py"))
    assert json.loads(script["build"]()) == PAGE
    assert json.loads(json.dumps(dashboard.Dashboard.from_json(PAGE), cls=encoder)) == PAGE  # nothing it does not know


# the queries of the documentation

METRICS_PAGE = (DASHBOARDS.parent / "metrics.md").read_text("utf-8")
EXAMPLES = [
    block for block in re.findall(r"^```text\n(.*?)^```$", METRICS_PAGE, re.M | re.S) if "rewriteguard_" in block
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("query", EXAMPLES)
def test_each_example_of_the_page_has_an_answer(prometheus: Prometheus, query: str) -> None:
    assert any(math.isfinite(value) for _, value in prometheus.now(query))


# alert rules


def test_promtool_accepts_the_alert_rules() -> None:
    done = subprocess.run(["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_on_drift_and_are_silent_without() -> None:
    command = ["promtool", "test", "rules", str(HERE / "alerts_test.yml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_evaluates_every_rule(prometheus: Prometheus) -> None:
    def rules() -> list[dict]:
        return [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]

    wait_for(lambda: all(rule["health"] != "unknown" for rule in rules()), "rules are evaluated")
    assert {rule["health"] for rule in rules()} == {"ok"}


@pytest.mark.parametrize(
    "selector", sorted(set(re.findall(r"rewriteguard_\w+(?:\{[^}]*\})?", ALERTS.read_text("utf-8"))))
)
def test_what_alerts_select_exists(prometheus: Prometheus, selector: str) -> None:
    assert prometheus.now(selector)


def test_the_first_error_of_the_guard_fires_at_once(prometheus: Prometheus) -> None:
    def firing() -> set[tuple[str, str]]:
        alerts = prometheus.ask("alerts")["alerts"]
        return {(each["labels"]["alertname"], each["labels"].get("error_type", "")) for each in alerts}

    wait_for(lambda: ("RewriteguardGuardError", "RecursionError") in firing(), "the alert")
