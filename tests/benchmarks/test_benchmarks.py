"""The benchmarks: statistics, data, conditions, report, and that a crash or a moved figure ends a run with an error."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from spacy.language import Language

import checks
import datafiles
import disfl
import expectations
import fidelity
import labelled
import mutation
import report
import stats
from rewriteguard import Guard
from rewriteguard.check.assess import judge
from rewriteguard.evaluation.figure import share
from rewriteguard.language.pipeline import english
from rewriteguard.model.assessment import Violation
from rewriteguard.model.rules import Rule


@pytest.fixture(scope="session")
def parse() -> Language:
    return english()


# Reference values: Newcombe (1998), table I; and by hand.
@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval(count: int, n: int, low: float, high: float) -> None:
    found = share(count, n)
    assert (found.value, found.n, found.count) == (count / n, n, count)
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)


def test_share_of_nothing_has_no_value() -> None:
    assert share(0, 0).value is None


def test_likelihood_ratio_adds_one_hit_and_one_miss_to_each_class() -> None:
    found = stats.likelihood_ratio(14, 24, 16, 81)
    assert found.value == pytest.approx((15 / 26) / (17 / 83))
    assert found.low < found.value < found.high
    assert stats.likelihood_ratio(3, 10, 0, 10).value == pytest.approx(4.0)
    assert stats.likelihood_ratio(0, 57, 0, 160).value is None


def test_balanced_accuracy_gives_a_constant_answer_one_half() -> None:
    expected = [True] * 9 + [False]
    assert stats.balanced_accuracy(expected, [True] * 10).value == 0.5
    assert stats.balanced_accuracy(expected, expected).value == 1.0
    assert stats.balanced_accuracy([True], [True]).value is None


def test_area_under_curve_counts_ties_half() -> None:
    assert stats.area_under_curve([0.1, 0.2], [0.3, 0.4]).value == 1.0
    assert stats.area_under_curve([0.3], [0.3]).value == 0.5
    assert stats.area_under_curve([0.4], [0.3, 0.5]).value == 0.5


def test_best_threshold_stays_within_the_false_rejection_allowed() -> None:
    preserved = [0.5 + i / 100 for i in range(20)]
    threshold = stats.best_threshold([0.1, 0.505, 0.9], preserved, 0.05)
    assert sum(score < threshold for score in preserved) == 1
    assert sum(score < threshold for score in (0.1, 0.505, 0.9)) == 2


def write_rows(folder: Path, *rows: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Writes rows as a data file `rows` and returns the conditions' table for it."""
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "rows.jsonl").write_bytes(raw)
    return {"rows": {"file": "rows.jsonl", "sha256": hashlib.sha256(raw).hexdigest()}}


def test_rows_are_read_with_their_digest(tmp_path: Path) -> None:
    files = write_rows(tmp_path, {"id": "a"}, {"id": "b"})
    rows, source = datafiles.read("rows", files, tmp_path)
    assert [row["id"] for row in rows] == ["a", "b"]
    assert source == datafiles.Source("rows.jsonl", files["rows"]["sha256"], 2)


def test_another_file_is_refused(tmp_path: Path) -> None:
    files = write_rows(tmp_path, {"id": "a"})
    (tmp_path / "rows.jsonl").write_text('{"id": "b"}\n', "utf-8")
    with pytest.raises(datafiles.DataError, match=rf"rows\.jsonl: the sha256 is \w+, .* {files['rows']['sha256']}"):
        datafiles.read("rows", files, tmp_path)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(datafiles.DataError, match=r"rows\.jsonl: not in the data folder"):
        datafiles.read("rows", {"rows": {"file": "rows.jsonl", "sha256": ""}}, tmp_path)


def test_halves_go_by_the_first_message_or_the_turn() -> None:
    parity = int(hashlib.sha256(b"Is the mill open?").hexdigest(), 16) % 2
    first = {"role": "user", "text": "Is the mill open?"}
    assert datafiles.half({"history": [first, {"role": "user", "text": "x"}], "original": "Today?"}) == parity
    assert datafiles.half({"history": [], "original": "Is the mill open?"}) == parity


@pytest.mark.parametrize(
    ("original", "fluent", "wrong"),
    [
        (
            "Who built the bridge no sorry the castle in 1912?",
            "Who built the castle in 1912?",
            "Who built the bridge in 1912?",
        ),
        ("When did Anna er I mean Bernard retire?", "When did Bernard retire?", "When did Anna retire?"),
        (
            "Which river crosses Sweden or rather Norway?",
            "Which river crosses Norway?",
            "Which river crosses Sweden?",
        ),
        (
            "Where was no make that when was the treaty signed?",
            "When was the treaty signed?",
            "Where was the treaty signed?",
        ),
        (
            "How many ferries sank uh sailed in 1950?",
            "How many ferries sailed in 1950?",
            "How many ferries sank in 1950?",
        ),
        (
            "How many ferries sailed in 1950, no, 1960?",
            "How many ferries sailed in 1960?",
            "How many ferries sailed in 1950?",
        ),
        (
            "Who painted the old mill scratch that Lisbon Harbour?",
            "Who painted Lisbon Harbour?",
            None,  # a noun phrase and a name: not certain to be of one kind
        ),
    ],
)
def test_self_corrections_taken_apart(parse: Language, original: str, fluent: str, wrong: str | None) -> None:
    found = disfl.correction(original, fluent, parse)
    assert (found.wrong if found else None) == wrong


@pytest.mark.parametrize(
    ("original", "fluent"),
    [
        ("Who built the bridge?", "Who built the bridge?"),
        ("Who built the old stone bridge?", "Who built the bridge?"),  # no cue
        ("What is the no wait who runs the harbour?", "Who runs the harbour?"),  # broken off, nothing replaced
        ("Who built the bridge no sorry the bridges?", "Who built the bridges?"),  # no new word
        ("How much no how many boats sailed?", "How many boats sailed?"),  # asks the same
        ("Which was Ann uh King Olaf of Norway called?", "Which was King Olaf of Norway called?"),  # where does it end?
        ("Who lives in Baltic no Northern Europe?", "Who lives in Northern Europe?"),  # leaves its noun out
    ],
)
def test_unclear_self_corrections_are_left_out(parse: Language, original: str, fluent: str) -> None:
    assert disfl.correction(original, fluent, parse) is None


TURN = checks.Task("labelled", "own-1", "Which boats did not sail in 1950?", "Which boats did not sail in 1950?")


class Crashing(Guard):
    """A guard whose check fails."""

    def check(self, *args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("private words")


def test_a_crash_is_an_error_and_no_score(guard: Guard) -> None:
    row = {"history": [], "original": TURN.turn, "verdict": "preserved", "dependent": False, "stratum": "random"}
    about = labelled.about({**row, "system": "own", "faults": []})
    task = checks.Task("labelled", "own-2", TURN.turn, TURN.rewrite, (), about)
    good, bad = checks.outcome(task, guard), checks.outcome(task, Crashing())
    assert (good.verdict, good.error) == ("preserved", "")
    assert bad.verdict == ""
    assert bad.error.startswith("ZeroDivisionError at test_benchmarks.py:")
    assert "private" not in bad.error
    assert labelled.figures([good, bad])["labelled/all/confident"].n == 1


class Finding(Guard):
    """A guard that finds what it is told to."""

    def __init__(self, *rules: str) -> None:
        self.verdict, self.violations = judge([Violation(Rule(rule), None, ()) for rule in rules])

    def check(self, *args: Any, **kwargs: Any) -> Any:
        return SimpleNamespace(verdict=self.verdict, violations=self.violations, dependent=False)


@pytest.mark.parametrize(
    ("rules", "alone"),
    [
        ((), ()),
        (("dropped.negation",), ("dropped.negation",)),
        (("dropped.negation", "dropped.negation"), ("dropped.negation",)),
        (("dropped.negation", "altered.time"), ()),
        (("dropped.negation", "unresolved"), ("dropped.negation",)),
        (("unresolved", "dropped.topic"), ("unresolved",)),
    ],
)
def test_a_rule_decides_alone_where_the_verdict_is_less_grave_without_it(
    rules: tuple[str, ...], alone: tuple[str, ...]
) -> None:
    found = checks.outcome(TURN, Finding(*rules))
    assert found.error == ""
    assert set(found.rules) == set(rules)
    assert found.alone == alone


def run_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, conditions: dict[str, Any], short: dict[str, str] | None = None
) -> int:
    """Runs the labelled part on one own row under these conditions."""
    first = {"role": "user", "text": "The harbour of Lund"}  # in half 0
    row = {"id": "own-1", "original": TURN.turn, "rewrite": TURN.rewrite, "verdict": "preserved", "dependent": False}
    row |= {"history": [first], "stratum": "random", "system": "own", "faults": []}
    files = {"labelled": write_rows(tmp_path, row)["rows"]}
    held = {"data": files, "fidelity": {"seed": 1, "mutants_per_edit": 1, "figures": conditions, "short": short or {}}}
    monkeypatch.setattr(datafiles, "conditions", lambda: held)
    monkeypatch.setattr(fidelity, "RESULTS", tmp_path / "fidelity.json")
    monkeypatch.setattr(fidelity, "ITEMS", tmp_path / "items.jsonl")
    original = datafiles.read
    monkeypatch.setattr(datafiles, "read", lambda name, files, folder: original(name, files, tmp_path))
    return fidelity.main(["--parts", "labelled", "--jobs", "1"])


KEY = "labelled/all/confident"


def test_a_run_ends_well_where_nothing_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run_with(monkeypatch, tmp_path, {KEY: {"at_least": 0.75, "expected": 1.0, "tolerance": 0.02}}) == 0
    part = json.loads((tmp_path / "fidelity.json").read_text("utf-8"))["parts"]["labelled"]
    assert part["figures"][KEY]["n"] == part["n"] == 1
    assert part["required"] == {KEY: {"at_least": 0.75}}
    assert set(part["machine"]) == {"cores", "python", "platform"}
    assert part["data"][0]["sha256"]


@pytest.mark.parametrize(
    "condition",
    [{KEY: {"expected": 0.9, "tolerance": 0.02}}, {"labelled/all/no such": {"expected": 1, "tolerance": 1}}],
)
def test_a_run_fails_where_a_figure_moved_or_is_missing(
    condition: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_with(monkeypatch, tmp_path, condition) == 1
    assert "MOVED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("bound", "short", "code", "said"),
    [
        ({"at_most": 0.5}, {}, 1, "NOT MET"),
        ({"at_most": 0.5}, {KEY: "three rows resist"}, 0, "known to be short"),
        ({"at_least": 0.5}, {KEY: "three rows resist"}, 1, "MET, and called short"),
    ],
)
def test_a_bound_that_is_not_met_needs_a_reason(
    bound: dict[str, float],
    short: dict[str, str],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_with(monkeypatch, tmp_path, {KEY: bound | {"tolerance": 0.02}}, short) == code
    assert said in capsys.readouterr().out


def test_a_run_fails_where_a_check_crashed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Guard, "check", Crashing.check)
    assert run_with(monkeypatch, tmp_path, {}) == 1
    assert "ERROR labelled own-1: ZeroDivisionError" in capsys.readouterr().out


def test_a_run_without_its_data_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(datafiles, "FOLDER", tmp_path)
    held = {"data": {"labelled": {"file": "gone.jsonl", "sha256": ""}}, "fidelity": {"figures": {}, "short": {}}}
    monkeypatch.setattr(datafiles, "conditions", lambda: held)
    monkeypatch.setattr(fidelity, "RESULTS", tmp_path / "fidelity.json")
    assert fidelity.main(["--parts", "labelled"]) == 2
    assert "gone.jsonl" in capsys.readouterr().err


def test_items_leave_out_half_1() -> None:
    outcomes = [
        checks.Outcome(checks.Task("labelled", str(half), "a", "b", (), {"half": half}), "changed") for half in (0, 1)
    ]
    assert [item["id"] for item in fidelity.items(outcomes)] == ["0"]


def test_expected_values_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "conditions.toml"
    path.write_text(
        '[fidelity.figures]\n"a/b" = { at_most = 0.04, tolerance = 0.02 }\n'
        '"a/c" = { tolerance = 0.02, expected = 0.5 }\n"a/d" = { tolerance = 0.02 }\n',
        "utf-8",
    )
    assert expectations.record(path, {"a/b": {"value": 0.03}, "a/c": {"value": 0.25}}) == 2
    assert datafiles.conditions(path)["fidelity"]["figures"] == {
        "a/b": {"at_most": 0.04, "tolerance": 0.02, "expected": 0.03},
        "a/c": {"tolerance": 0.02, "expected": 0.25},
        "a/d": {"tolerance": 0.02},
    }


def test_every_condition_is_one_of_a_part_and_can_be_recorded() -> None:
    figures = datafiles.conditions()["fidelity"]["figures"]
    assert {expectations.part_of(key) for key in figures} <= set(fidelity.PARTS)
    text = datafiles.CONDITIONS.read_text("utf-8")
    assert len(expectations.LINE.findall(text)) == len(figures)


def test_mutants_are_drawn_by_the_seed_and_checked_against_their_base() -> None:
    history = [{"role": "user", "text": "Boats"}]
    rows = [
        {
            "id": str(year),
            "original": "Which of them did not sail?",
            "human": f"Which boats did not sail from Lund in {year}?",
            "history": history,
        }
        for year in range(1950, 1960)
    ]
    drawn = mutation.tasks(rows, seed=1, per_edit=2)
    groups = [
        (task.about["set"], task.about["kind"], task.about["edit"])
        for task in drawn
        if task.about["set"] in {"mutants", "controls"}
    ]
    assert drawn
    assert max(groups.count(group) for group in groups) == 2
    assert drawn == mutation.tasks(rows, seed=1, per_edit=2)
    assert drawn != mutation.tasks(rows, seed=2, per_edit=2)
    assert all((task.turn != task.rewrite) == (task.about["set"] != "unchanged") for task in drawn)
    talks = [task for task in drawn if task.about["set"] == "mutants, in conversation"]
    assert talks
    assert {task.turn for task in talks} == {"Which of them did not sail?"}
    assert {task.about["kind"] for task in talks} == {"negation", "answer_word"}  # the name and the year are not its
    negations = [
        task
        for task in drawn
        if task.about["set"] == "mutants" and task.about["kind"] == "negation" and task.about["edit"] == "drop"
    ]
    assert [task.about["seeded"] for task in negations] == [False, False]  # each question has one of its own


def test_mutants_of_words_in_no_list_stand_apart() -> None:
    about = {"set": "mutants", "kind": "modality", "edit": "drop", "seeded": False, "of": "row"}
    outcomes = [
        checks.Outcome(checks.Task("mutants", str(listed), "a", "b", (), {**about, "listed": listed}), verdict)
        for listed, verdict in ((True, "changed"), (False, "preserved"))
    ]
    found = mutation.figures(outcomes)
    assert found["mutants/modality/not PRESERVED"].value == 1.0
    assert found["mutants, unlisted words/modality/not PRESERVED"].value == 0.0


def test_questions_that_are_open_even_unchanged_are_told_apart() -> None:
    about = {"set": "controls", "kind": "filler", "edit": "keep", "seeded": False, "listed": True}
    outcomes = [
        checks.Outcome(checks.Task("mutants", row, "a", "a", (), {"set": "unchanged"}), verdict)
        for row, verdict in (("open", "uncertain"), ("whole", "preserved"))
    ] + [
        checks.Outcome(checks.Task("mutants", f"{row}:1", "a", "b", (), {**about, "of": row}), verdict)
        for row, verdict in (("open", "uncertain"), ("whole", "preserved"))
    ]
    found = mutation.figures(outcomes)
    assert found["controls/filler/PRESERVED"].value == 0.5
    assert found["controls/filler/whole questions/PRESERVED"].value == 1.0
    assert found["unchanged/PRESERVED"].value == 0.5


def test_report_fills_only_the_places_of_its_tables() -> None:
    page = "Before\n\n<!-- table one -->\nold\n<!-- end -->\n\nAfter\n"
    filled = report.fill(page, {"one": report.table(("a", "b"), [("1", "2")])})
    assert filled == "Before\n\n<!-- table one -->\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<!-- end -->\n\nAfter\n"
    assert report.fill(filled, {"one": "new"}) == page.replace("old", "\nnew\n")
    with pytest.raises(report.ReportError, match="two"):
        report.fill(page, {"one": "", "two": ""})


@pytest.mark.parametrize("page", fidelity.PAGES, ids=lambda page: page.name)
def test_the_documentation_holds_what_the_results_say(page: Path) -> None:
    results = json.loads(fidelity.RESULTS.read_text("utf-8"))
    text = page.read_text("utf-8")
    assert report.fill(text, fidelity.PAGES[page](results)) == text, "run: python benchmarks/fidelity.py --report"


def test_the_results_name_their_data_and_nothing_of_the_machine() -> None:
    text = fidelity.RESULTS.read_text("utf-8")
    parts = json.loads(text)["parts"]
    files = datafiles.conditions()["data"].values()
    known = {(entry["file"], entry["sha256"]) for entry in files}
    assert tuple(parts) == fidelity.PARTS
    assert all((item["file"], item["sha256"]) in known for part in parts.values() for item in part["data"])
    assert all(part["errors"] == [] for part in parts.values())
    assert str(Path.home()) not in text
    assert sys.prefix not in text


def test_labelled_rows_read_from_the_shared_data(shared: Path) -> None:
    rows, source = datafiles.read("labelled", datafiles.conditions()["data"], shared / "data")
    tasks = labelled.tasks(rows)
    assert source.n == len(tasks) == 240
    assert {task.about["half"] for task in tasks} == {0, 1}
