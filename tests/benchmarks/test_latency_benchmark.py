"""The latency benchmark: how it times, what it compares, and that a missed bound or a crash ends a run with 1."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import datafiles
import latency
import latency_check
import latency_judge
import latency_process
import latency_tables
import latency_timing
import latency_workload
import latency_worst
import report
from latency_timing import Figure
from latency_workload import SYSTEM, Bench
from rewriteguard import Guard

MESSAGES = [
    {"role": "user", "text": "Which ferries sail to Lund?"},
    {"role": "assistant", "text": "Two ferries do."},
    {"role": "user", "text": "Do they sail in winter?"},
    {"role": "assistant", "text": "One of them does."},
]


def row(turn: int, original: str, rewrite: str, conversation: str = "a") -> dict[str, Any]:
    return {
        "conversation": conversation,
        "turn": turn,
        "original": original,
        "history": MESSAGES[: 2 * (turn - 1)],
        "rewrites": {SYSTEM: rewrite},
    }


ROWS = [
    row(3, "How long does it take?", "How long does the ferry to Lund take?"),
    row(1, "Which ferries sail to Lund?", "Which ferries sail to Lund?"),
    row(2, "Do they sail in winter?", "Do the ferries to Lund sail in winter?"),
    row(2, "Why not?", "Why not? "),
    row(2, "Who owns them?", "unused", "b") | {"rewrites": {}},
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    talks = latency_workload.conversations(ROWS)
    return Bench(talks, latency_workload.log_rows(talks, []), latency_workload.full_pipeline(), quick=True)


def test_a_quantile_is_one_of_the_times() -> None:
    times = [0.5, 0.1, 0.4, 0.2, 0.3]
    assert [latency_timing.quantile(times, share) for share in (0.0, 0.2, 0.5, 0.99)] == [0.1, 0.1, 0.3, 0.5]
    assert latency_timing.quantile(list(range(1, 301)), 0.99) == 297


def test_another_arm_goes_first_each_round_and_rounds_are_made_when_they_are_due() -> None:
    called: list[str] = []

    def rounds() -> Any:
        for number in range(3):
            called.append(f"round {number}")
            yield {name: lambda name=name: called.append(name) for name in "abc"}

    times = latency_timing.side_by_side(rounds())
    assert called == ["round 0", *"abc", "round 1", *"bca", "round 2", *"cab"]
    assert {name: len(found) for name, found in times.items()} == {"a": 3, "b": 3, "c": 3}


def test_ratios_are_of_medians_and_stand_in_their_interval() -> None:
    found = latency_timing.compared("k", {"guard": [1.0, 2.0, 30.0], "floor": [2.0, 4.0, 5.0]}, "guard", "floor")
    assert found["k-p50-x"].value == 0.5
    assert found["k-p50-x"].low <= 0.5 <= found["k-p50-x"].high
    assert found["k-p99-x"].value == 6.0
    assert (found["k-p50"].value, found["k-floor-p50"].value, found["k-p50"].unit) == (2000.0, 4000.0, "ms")


def test_conversations_come_in_the_order_of_their_turns() -> None:
    talks = latency_workload.conversations(ROWS)
    assert [len(talk) for talk in talks] == [4]
    assert [len(triple.history) for triple in talks[0]] == [0, 2, 2, 4]
    assert [triple.is_identical for triple in talks[0]] == [True, False, True, False]


class Watched(Guard):
    """A guard that keeps what it was given; `seen` is what earlier calls held when a call came."""

    def __init__(self) -> None:
        super().__init__()
        self.given: set[str] = set()

    def check(self, turn, rewrite, history=(), **keywords):
        texts = {text for _, text in history}
        Watched.calls.append((turn, rewrite, {turn, rewrite} & self.given, texts - self.given))
        self.given |= {turn, rewrite, *texts}
        return super().check(turn, rewrite, history, **keywords)


def calls_of(part: Any, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls of a part without those that only have a history read: turn, rewrite, seen of these, unseen history."""
    Watched.calls = []
    monkeypatch.setattr(latency_check, "Guard", Watched)
    part(bench)
    return [call for call in Watched.calls if call[:2] != latency_workload.OTHER_TURN]


def test_warm_checks_have_a_seen_history_and_a_new_turn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(latency_check.warm, bench, monkeypatch)
    assert [(seen, unseen) for _, _, seen, unseen in calls] == [(set(), set())] * 2
    assert all(turn != rewrite for turn, rewrite, _, _ in calls)


def test_identical_checks_are_of_turns_as_they_were(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(latency_check.identical, bench, monkeypatch)
    assert len(calls) == 3
    assert all(turn == rewrite and not seen and not unseen for turn, rewrite, seen, unseen in calls)


def test_cold_checks_have_read_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    history = tuple(("user", f"Is boat {n} in Lund?") for n in range(8))
    triple = latency_workload.Triple("c", "Who owns it?", "Who owns boat 7?", history)
    eight = Bench(((triple,),), (), bench.floor, quick=True)
    calls = calls_of(latency_check.cold, eight, monkeypatch)
    assert [(seen, len(unseen)) for _, _, seen, unseen in calls] == [(set(), 8)]


def test_the_texts_that_nobody_writes_are_as_long_as_they_are_called() -> None:
    texts = latency_worst.texts()
    assert len(texts["10000-digits"]) == 10_000
    assert len(texts["50000-characters"]) == 50_000
    assert texts["5000-dates"].count(",") == 4_999
    assert texts["nested-brackets"].count("(") == texts["nested-brackets"].count(")") == 5_000


def results_of(value: float, bound: dict[str, float], short: dict[str, str]) -> dict[str, Any]:
    figures = {"some-x": Figure(value, 9, "x").to_dict()}
    return {"parts": {"warm": {"figures": figures}}, "required": {"some-x": bound}, "short": short}


@pytest.mark.parametrize(
    ("value", "bound", "reason", "fails", "said"),
    [
        (0.9, {"at_most": 1.0, "tolerance": 0.1}, None, False, ""),
        (1.05, {"at_most": 1.0, "tolerance": 0.1}, None, False, "missed within the tolerance"),
        (1.2, {"at_most": 1.0, "tolerance": 0.1}, None, True, "NOT MET"),
        (1.2, {"at_most": 1.0, "tolerance": 0.1}, "two cores", False, "known to be short"),
        (0.95, {"at_most": 1.0, "tolerance": 0.1}, "two cores", False, ""),
        (0.8, {"at_most": 1.0, "tolerance": 0.1}, "two cores", True, "MET, and called short"),
        (1.3, {"at_least": 1.7, "tolerance": 0.1}, None, True, "NOT MET"),
        (1.6, {"at_least": 1.7, "tolerance": 0.1}, None, False, "missed within the tolerance"),
        (1.9, {"at_least": 1.7, "tolerance": 0.1}, "two cores", True, "MET, and called short"),
        (1, {"at_most": 0, "tolerance": 0.0}, None, True, "NOT MET"),
    ],
)
def test_a_missed_bound_fails_unless_it_is_close_or_explained(
    value: float, bound: dict[str, float], reason: str | None, fails: bool, said: str
) -> None:
    results = results_of(value, bound, {"some-x": reason} if reason else {})
    ((line, failed),) = latency_judge.judged(results, ["warm"])
    assert failed is fails
    assert line.endswith(said or f"{next(iter(bound.values())):g}")


def test_a_quick_run_has_wider_tolerances() -> None:
    results = results_of(1.4, {"at_most": 1.0, "tolerance": 0.1}, {})
    assert [failed for _, failed in latency_judge.judged(results, ["warm"], slack=0.5)] == [False]
    assert [failed for _, failed in latency_judge.judged(results, ["warm"], slack=0.2)] == [True]


def run_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: Any, *arguments: str) -> int:
    talks = latency_workload.conversations(ROWS)
    loaded = Bench(talks, (), latency_workload.full_pipeline(), quick=True)
    held = {"latency": {"quick_slack": 0.0, "short": {}, "bounds": {"warm-p50-x": {"at_most": 1.0, "tolerance": 0.1}}}}
    monkeypatch.setattr(datafiles, "conditions", lambda: held)
    monkeypatch.setattr(latency_workload, "load", lambda *_: (loaded, []))
    monkeypatch.setitem(latency._MEASURED, "warm", part)
    monkeypatch.setattr(latency, "RESULTS", tmp_path / "results" / "latency.json")
    return latency.main(["--parts", "warm", *arguments])


@pytest.mark.parametrize(("value", "code"), [(0.8, 0), (1.3, 1)])
def test_a_run_ends_by_what_was_measured(
    value: float, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run_with(monkeypatch, tmp_path, lambda _: {"warm-p50-x": Figure(value, 3, "x")}) == code
    part = json.loads((tmp_path / "results" / "latency.json").read_text("utf-8"))["parts"]["warm"]
    assert part["figures"] == {"warm-p50-x": {"value": value, "n": 3, "unit": "x"}}
    assert set(part) >= {"machine", "packages", "sources", "data"}


def test_a_crash_fails_the_run_and_is_no_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_with(monkeypatch, tmp_path, lambda _: 1 / 0) == 1
    assert "ERROR warm: ZeroDivisionError" in capsys.readouterr().out
    assert "figures" not in json.loads((tmp_path / "results" / "latency.json").read_text("utf-8"))["parts"]["warm"]


def test_a_part_that_cannot_be_measured_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def part(_: Bench) -> Any:
        raise latency_process.Skipped("no such command")

    assert run_with(monkeypatch, tmp_path, part, "--quick") == 0
    assert "skipped warm: no such command" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_a_run_without_its_data_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(datafiles, "FOLDER", tmp_path)
    assert latency.main(["--quick", "--parts", "warm"]) == 2
    assert "mtrag.jsonl" in capsys.readouterr().err


def test_a_real_part_gives_its_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run_with(monkeypatch, tmp_path, latency_check.warm) in (0, 1)
    figures = json.loads((tmp_path / "results" / "latency.json").read_text("utf-8"))["parts"]["warm"]["figures"]
    assert figures["warm-p50-x"]["n"] == 2
    assert {"warm-p50", "warm-p99", "warm-floor-p50", "warm-floor-p99", "warm-p99-x", "warm-own-p50-x"} <= set(figures)


def test_each_benchmark_fills_its_own_places() -> None:
    page = "<!-- table one -->\nold\n<!-- end -->\n\n<!-- table latency/one -->\nold\n<!-- end -->\n"
    ours = report.fill(page, {"one": "new"}, "latency")
    assert ours == "<!-- table one -->\nold\n<!-- end -->\n\n<!-- table latency/one -->\n\nnew\n\n<!-- end -->\n"
    assert report.fill(ours, {"one": "new"}, "latency") == ours
    assert report.fill(page, {"one": "new"}).endswith("<!-- table latency/one -->\nold\n<!-- end -->\n")
    with pytest.raises(report.ReportError, match="two"):
        report.fill(page, {"one": "", "two": ""}, "latency")


def test_every_bound_has_a_name_and_a_tolerance() -> None:
    settings = datafiles.conditions()["latency"]
    assert set(settings["bounds"]) == set(latency_tables.LABELS)
    assert set(settings["short"]) <= set(settings["bounds"])
    assert all(
        set(bound) in ({"at_most", "tolerance"}, {"at_least", "tolerance"}) for bound in settings["bounds"].values()
    )


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (None, "-"),
        ({"value": 1.0344, "unit": "x"}, "1.03x"),
        ({"value": 0.61, "unit": "x", "low": 0.58, "high": 0.64}, "0.61x (0.58 to 0.64)"),
        ({"value": 0.0471, "unit": "ms"}, "0.047 ms"),
        ({"value": 1234.5, "unit": "MB"}, "1,234 MB"),
        ({"value": 0, "unit": "findings"}, "0 findings"),
    ],
)
def test_figures_are_shown_with_their_unit(figure: dict[str, Any] | None, text: str) -> None:
    assert latency_tables.shown(figure) == text


def test_the_documentation_holds_what_the_results_say() -> None:
    text = latency.PAGE.read_text("utf-8")
    filled = report.fill(text, latency_tables.tables(latency.results()), latency.OWNER)
    assert filled == text, "run: python benchmarks/latency.py --report"


def test_the_results_name_their_data_and_nothing_of_the_machine() -> None:
    text = latency.RESULTS.read_text("utf-8")
    results = json.loads(text)
    known = {(entry["file"], entry["sha256"]) for entry in datafiles.conditions()["data"].values()}
    assert tuple(results["parts"]) == latency.PARTS
    assert not [name for name, part in results["parts"].items() if "error" in part]
    measured = [part for part in results["parts"].values() if "figures" in part]
    assert measured
    assert all((item["file"], item["sha256"]) in known for part in measured for item in part["data"])
    assert all(part["sources"] and part["packages"] and part["machine"] for part in measured)
    assert str(Path.home()) not in text
    assert sys.prefix not in text
