"""The page of an audit: its figures are those of the audit, its marks are right, and words of a log stay words."""

from __future__ import annotations

import io
import json
import re
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint
from typer.testing import CliRunner, Result

from rewriteguard import Guard
from rewriteguard.audit.log import Line, moment_of, read_row
from rewriteguard.audit.run import Tally
from rewriteguard.cli import app
from rewriteguard.evaluation.figure import share
from rewriteguard.evaluation.vocabulary import UnknownWords, words_of
from rewriteguard.model.rules import Verdict
from rewriteguard.report.audit.entry import Entry, Mark, entry_of, hidden, marks_of_rewrite, marks_of_turn, pieces, rank
from rewriteguard.report.audit.page import HEIGHT, WIDTH, Page, Summary, charts

HISTORY = [
    {"role": "user", "text": "Tell me about the Corvel observatory."},
    {"role": "assistant", "text": "The Corvel observatory stands on a hill. It has two telescopes."},
]
ASKED = "Which domes were not open in 2019?"
ROWS: list[dict[str, Any]] = [
    {
        "original": ASKED,
        "rewrite": ASKED,
        "rewriter": "a",
    },
    {"original": ASKED, "rewrite": "Which domes were open?", "rewriter": "a"},
    {
        "original": ASKED,
        "rewrite": "Which domes were not open in 2018?",
        "rewriter": "b",
    },
    {
        "original": "How tall is it?",
        "rewrite": "How tall is the Corvel observatory?",
        "history": HISTORY,
        "timestamp": "2024-05-06T10:20:00+02:00",
    },
    {"original": "How tall is it?", "rewrite": "How tall is it?", "history": HISTORY, "timestamp": 1715080000},
    {
        "original": "How tall is it?",
        "rewrite": "How tall is the dome that opened in 1931?",
        "history": HISTORY,
        "timestamp": "2024-05-09",
    },
]
HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)><!-- {{ 7 * 7 }} & \u2028 </title>'


class Read(HTMLParser):
    """What a browser finds in a page: the text of each figure, the data, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.groups: dict[str, list[str]] = {}
        self.shares: dict[str, str] = {}
        self.scripts: list[str] = []
        self._row: list[str] | None = None
        self._share: str | None = None
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append((tag, values))
        if tag == "tr":
            self._row = self.groups.setdefault(values["data-group"], []) if values.get("data-group") else None
        elif tag in ("td", "th") and self._row is not None:
            self._row.append("")
        elif tag == "script":
            self.scripts.append("")
        self._share = values.get("data-share")

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr":
            self._row = None

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
            return
        self.text += data
        if self._share:
            self.shares[self._share] = data
            self._share = None
        if self._row:
            self._row[-1] += data.strip()

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.scripts[1])
        return rows


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args), catch_exceptions=False)


def report(tmp_path: Path, rows: list[Any], *args: str, name: str = "page.html") -> Read:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = run("audit", str(log), "--html", str(tmp_path / name), *args)
    assert done.exit_code in (0, 5), done.output
    return Read((tmp_path / name).read_text("utf-8"))


def entry(guard: Guard, row: dict[str, Any], line: int = 1) -> Entry:
    triple = read_row(row)
    assert triple is not None
    return entry_of(Line(line), triple, guard.check(triple.conversation.turn, triple.rewrite, triple.conversation))


def marked(items: list[Any]) -> list[tuple[str, str]]:
    return [(item[0], item[1]) for item in items if not isinstance(item, str)]


def test_figures_are_those_of_the_audit(tmp_path: Path) -> None:
    page = report(tmp_path, [*ROWS, "no object"], "--out", str(tmp_path / "out.jsonl"))
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    checked = [row for row in found if "error" not in row]
    verdicts = Counter(row["verdict"] for row in checked)
    assert len(checked) == 6
    assert len(verdicts) == 3
    assert page.shares == {
        v: f"{verdicts[v] / 6:.1%}".replace("%", " %") for v in ("changed", "uncertain", "preserved")
    }
    assert "1 line could not be read" in page.text
    counted: dict[str, Counter[str]] = {}
    for row in checked:
        names = {f"fault:{violation['fault']}" for violation in row["violations"]}
        names |= {f"kind:{violation['kind']}" for violation in row["violations"] if violation["kind"]}
        for name in names:
            counted.setdefault(name, Counter())[row["verdict"]] += 1
    shown = {name: cells for name, cells in page.groups.items() if name.startswith(("fault:", "kind:"))}
    assert len(shown) >= 5
    assert {name: (cells[1], *cells[4:]) for name, cells in shown.items()} == {
        name: tuple(str(n) for n in (by.total(), by["changed"], by["uncertain"], by["preserved"]))
        for name, by in counted.items()
    }


def test_dependence_and_system_divide_the_rows(tmp_path: Path) -> None:
    page = report(tmp_path, ROWS)
    dependent = sum(row["dependent"] for row in page.rows)
    assert dependent == 3
    assert page.groups["dependence:dependent"][1] == page.groups["dependence:complete"][1] == "3"
    assert {name: cells[1:3] for name, cells in page.groups.items() if name.startswith("system:")} == {
        "system:a": ["2", "50.0 %"],
        "system:b": ["1", "100.0 %"],
    }


@pytest.mark.usefixtures("kept_workers")
def test_the_page_is_the_same_from_two_processes(tmp_path: Path) -> None:
    rows = [{**row, "history": [["user", f"Tell me about dome {n}."]]} for n in range(15) for row in ROWS]
    report(tmp_path, rows)
    report(tmp_path, rows, "--jobs", "2", name="two.html")
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.usefixtures("kept_workers")
def test_several_systems_of_one_log_are_compared(tmp_path: Path) -> None:
    made = {"old": ROWS[1]["rewrite"], "new": ROWS[0]["rewrite"]}
    rows = [{"original": ROWS[0]["original"], "rewrites": made}, {"original": "Why?", "rewrites": {"old": "Why?"}}] * 20
    out = tmp_path / "out.jsonl"
    page = report(tmp_path, rows, "--system", "old", "--system", "new", "--out", str(out), "--jobs", "2")
    assert page.groups["system:old"][1] == "40"
    assert page.groups["system:new"][1:3] == ["20", "0.0 %"]
    assert "20 without a rewrite" in page.text
    written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(row["line"], row["system"]) for row in written[:3]] == [(1, "old"), (1, "new"), (2, "old")]
    assert [row["line"] for row in written] == [row["line"] for row in page.rows] == sorted(r["line"] for r in written)


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (3, 8), (22, 396), (1, 10_000)])
def test_intervals_are_wilsons(count: int, n: int) -> None:
    found = share(count, n)
    assert (found.low, found.high) == pytest.approx(proportion_confint(count, n, method="wilson"), abs=1e-9)
    assert found.value == count / n


def test_a_share_of_nothing_has_no_figure(tmp_path: Path) -> None:
    assert share(0, 0).value is None
    page = report(tmp_path, [])
    assert set(page.shares.values()) == {"–"}
    assert page.rows == []


def test_every_status_is_marked(guard: Guard) -> None:
    lost = entry(guard, ROWS[1]).shown
    assert ("not", "dropped") in marked(lost["turn"])
    assert ("2019", "dropped") in [(text.removeprefix("in "), status) for text, status in marked(lost["turn"])]
    altered = entry(guard, ROWS[2]).shown
    assert any(text.endswith("2018") and status == "altered" for text, status in marked(altered["rewrite"]))
    assert any("2019" in note for _, status, _, note in altered["rewrite"][1::2] if status == "altered")
    carried = entry(guard, ROWS[3]).shown
    assert any("Corvel" in text and status == "carried" for text, status in marked(carried["rewrite"]))
    assert any("Corvel" in text and status == "carried" for text, status in marked(carried["history"][-1][2]))
    assert ("not", "kept") in marked(altered["turn"])
    invented = entry(guard, ROWS[5]).shown
    assert any("1931" in text and status == "invented" for text, status in marked(invented["rewrite"]))
    unresolved = entry(guard, ROWS[4]).shown
    assert ("it", "unresolved") in marked(unresolved["turn"] + unresolved["rewrite"])


def test_what_no_rule_blames_is_marked_all_the_same(guard: Guard) -> None:
    turn = marks_of_turn(replace(guard.check(ASKED, ROWS[1]["rewrite"]), violations=()))
    assert {(mark.status, mark.kind) for mark in turn} >= {("dropped", "negation"), ("dropped", "time")}
    found = replace(guard.check(ROWS[5]["original"], ROWS[5]["rewrite"], HISTORY), violations=())
    assert ("invented", "time") in {(mark.status, mark.kind) for mark in marks_of_rewrite(found)}


def test_marks_stand_where_the_words_do_beside_wide_characters(guard: Guard) -> None:
    shown = entry(guard, {**ROWS[1], "original": "🔭🔭 " + ROWS[1]["original"]}).shown
    assert ("not", "dropped") in marked(shown["turn"])


@given(
    st.text(max_size=30),
    st.lists(st.builds(Mark, st.integers(0, 35), st.integers(0, 35), st.sampled_from(["kept", "dropped"])), max_size=5),
    st.integers(0, 30),
)
def test_pieces_are_the_text(text: str, marks: list[Mark], start: int) -> None:
    found = pieces(text, marks, min(start, len(text)))
    assert "".join(item if isinstance(item, str) else item[0] for item in found) == text[start:]


def test_the_shorter_mark_shows_and_the_interrupted_one_says_so() -> None:
    found = pieces("a new red dome", [Mark(6, 9, "dropped", "topic"), Mark(0, 14, "question_lost")])
    assert found == [
        ["a new ", "question_lost", "", "", "more"],
        ["red", "dropped", "topic", ""],
        [" dome", "question_lost", "", "", "last"],
    ]


def test_what_other_marks_hide_is_told_all_the_same(guard: Guard) -> None:
    marks = [
        Mark(6, 9, "dropped", "topic"),
        Mark(6, 9, "drifted"),
        Mark(0, 14, "question_lost", note="a"),
        Mark(3, 3, "b"),
    ]
    text = "a new red dome"
    assert hidden(marks, pieces(text, marks), text) == [
        [text, "question_lost", "", "a"],
        ["red", "dropped", "topic", ""],
    ]
    far = "Which domes were open? " + "Are they tall? " * 100 + "Which were not open in 2019?"
    shown = entry(guard, {"original": far, "rewrite": "Which domes were open?"}).shown
    assert "2019" in [words.removeprefix("in ") for words, *_ in shown["hidden"][0]]
    assert "hidden" not in entry(guard, ROWS[0]).shown


def test_words_are_not_marked_within_longer_ones(guard: Guard) -> None:
    for turn, rewrite, said, words in [
        ("How many people work there?", "How many people work at the Art Museum?", "A party at the Art Museum.", "Art"),
        ("Who runs it?", "Who runs it in May?", "It may rain, maybe, and Maybelle says: in May it is dry.", "May"),
        ("And how old is he?", "How old is Al?", "Is Vital Al's brother?", "Al"),
    ]:
        found = marked(
            entry(guard, {"original": turn, "rewrite": rewrite, "history": [["user", said]]}).shown["history"][0][2]
        )
        assert any(words in text for text, _ in found), found
        for text, _ in found:
            assert re.search(rf"\b{re.escape(text)}\b", said)
    (fill,) = guard.check("And how old is he?", "How old is Al?", [("user", "Is Vital Al's brother?")]).checked.fills
    assert (fill.start, fill.end) == (9, 11)
    (fill,) = guard.check(
        "And how old is he?", "How old is Al?", [("user", "Is Al old?"), ("assistant", "Vital.")]
    ).checked.fills
    assert (fill.turn, fill.start, fill.end) == (0, 3, 5)


def test_long_texts_are_cut_and_say_by_how_much(guard: Guard) -> None:
    long = "Which domes were open? " * 400
    shown = entry(guard, {"original": long, "rewrite": long, "history": [["user", "a" * 900 + " Corvel"]]}).shown
    assert shown["turn"][-1][:2] == [f"… {len(long) - 1200:,} more characters", "cut"]
    assert len(json.dumps(shown)) < 12_000


def test_a_snippet_holds_its_evidence(guard: Guard) -> None:
    history = [["user", "Well, " + "and so on, " * 60 + "tell me about the Corvel observatory."], *[["user", "ok"]] * 9]
    shown = entry(guard, {**ROWS[3], "history": history}).shown
    assert shown["messages"] == 10
    assert [message[0] for message in shown["history"]] == [1, 9, 10]
    assert ("observatory", "carried") in marked(shown["history"][0][2])


def test_rank_puts_changed_first_then_more_and_reversing_findings(guard: Guard) -> None:
    def of(turn: str, rewrite: str) -> int:
        return rank(guard.check(turn, rewrite))

    turn = "Which domes were not open in 2019?"
    assert of(turn, "Which domes were open?") > of(turn, "Which domes were open in 2019?")
    assert of(turn, "Which domes were open in 2019?") > of(turn, "Which domes were not open?")
    assert of(turn, "Which domes were not open?") > rank(guard.check("Is it?", "Is it?", [("user", "Hello")]))
    assert rank(guard.check("Is it?", "Is it?", [("user", "Hello")])) > of(turn, turn)


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    row = {"id": HOSTILE, "original": HOSTILE, "rewrite": HOSTILE + "?", "history": [["user", HOSTILE]]}
    words = tmp_path / "words.txt"
    words.write_text("alert", "utf-8")
    calm = report(tmp_path, [{**row, "id": "a", "original": "a", "rewrite": "b", "history": [["user", "c"]]}])
    page = report(tmp_path, [{**row, "rewriter": HOSTILE}], "--vocabulary", str(words))
    assert [tag for tag, _ in page.tags].count("script") == [tag for tag, _ in calm.tags].count("script") == 3
    assert "img" not in {tag for tag, _ in page.tags}
    assert page.rows[0]["id"] == HOSTILE
    assert not set("<>&\u2028") & set(page.scripts[1])
    assert page.scripts[2] == calm.scripts[2]
    assert f"system:{HOSTILE}" in page.groups
    assert "{{ 7 * 7 }}" in page.groups[f"system:{HOSTILE}"][0]


def test_half_a_surrogate_pair_does_not_stop_the_page(tmp_path: Path) -> None:
    row = {"original": "caf\ud800?", "rewrite": "caf\udfff?", "rewriter": "m\ud800"}
    words = tmp_path / "words.txt"
    words.write_text("coffee", "utf-8")
    assert report(tmp_path, [row], "--vocabulary", str(words)).rows[0]["turn"][-1] == "\ud800?"


def test_nothing_is_fetched_and_only_its_own_script_may_run(tmp_path: Path) -> None:
    page = report(tmp_path, ROWS)
    targets = [value for _, attrs in page.tags for key, value in attrs.items() if key in ("src", "href", "action")]
    assert targets
    assert all(target is not None and target.startswith(("#", "data:,")) for target in targets)
    policy = next(attrs["content"] or "" for _, attrs in page.tags if "Content-Security-Policy" in attrs.values())
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "url(" not in (tmp_path / "page.html").read_text("utf-8")
    assert not any(key.startswith("on") for _, attrs in page.tags for key in attrs)


def test_without_jinja_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in ("rewriteguard.report.audit.page", "rewriteguard.report.render"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    log, page = tmp_path / "log.jsonl", tmp_path / "page.html"
    log.write_text(json.dumps(ROWS[0]), "utf-8")
    done = run("audit", str(log), "--html", str(page))
    assert done.exit_code == 2
    assert "--html needs jinja2; run: pip install 'rewriteguard[report]'" in done.stderr
    assert not page.exists()
    assert run("audit", str(log)).exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--html", "log.jsonl"], "--html: the log itself would be overwritten"),
        (["--html", "page", "--out", "page"], "--html: --out would be overwritten"),
        (["--html", "words", "--vocabulary", "words"], "--html: --vocabulary would be overwritten"),
        (["--vocabulary", "words"], "--vocabulary: only the page of --html shows"),
        (["--html", "page", "--vocabulary", "none"], "No such file"),
        (["--html", "page", "--vocabulary", "bytes"], "--vocabulary: bytes is not UTF-8"),
        (["--html", "page", "--vocabulary", "empty"], "vocabulary: expected the words of the corpus, found none"),
        (["--html", "no/page"], "No such file"),
    ],
)
def test_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text(json.dumps(ROWS[0]), "utf-8")
    Path("words").write_text("dome", "utf-8")
    Path("bytes").write_bytes(b"\xff\xfe")
    Path("empty").write_text("\n - \n", "utf-8")
    done = run("audit", "log.jsonl", *args)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert Path("words").read_text("utf-8") == "dome"


def test_words_that_no_document_holds() -> None:
    unknown: UnknownWords[int] = UnknownWords(["The", "dome's", "e-bike", "open", "which", "were", "in", "is\n"])
    for line, (turn, rewrite) in enumerate(
        [("Is Straße open?", "Is STRASSE Straße open, Straße?"), ("open?", "Which domes were open? the dome’s e-bike")],
        1,
    ):
        unknown.add(turn, rewrite, line)
    assert unknown.size == 9
    found = {word.word: (word.rows, word.by_user, word.places) for word in unknown.most_frequent()}
    assert found == {"straße": (1, 1, [1]), "strasse": (1, 0, [1]), "domes": (1, 0, [2])}
    assert "domes" in next(word.example for word in unknown.most_frequent() if word.word == "domes")


def test_words_in_letters_and_accents_are_those_in_one_character() -> None:
    one, apart = "café", "cafe\u0301"
    for known, said in ((one, apart), (apart, one)):
        unknown = UnknownWords([known])
        unknown.add("Where?", said, (0, 1))
        assert unknown.most_frequent() == []
    unknown = UnknownWords(["tea"])
    unknown.add("Where?", "Which of these places " * 10 + apart, (0, 1))
    assert one in next(word.example for word in unknown.most_frequent() if word.word == one)


def test_possessives_and_contractions_are_no_words() -> None:
    found = words_of("Don't the dome's Windows' l'eau 5 km/h state-of-the-art x_y")
    assert " ".join(found) == "don the dome windows l eau 5 km h state of the art x y"


def test_unknown_words_are_listed_most_frequent_first(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("﻿which\nwere\nnot\nopen\nin\nhow\ntall\nis\nit\nthe\n", "utf-8")
    page = report(tmp_path, ROWS, "--vocabulary", str(words))
    listed = [attrs["data-value"] for _, attrs in page.tags if attrs.get("data-filter") == "search"]
    assert listed[:1] == ["domes"]
    assert set(listed) == {"domes", "2019", "2018", "corvel", "observatory", "dome", "that", "opened", "1931"}
    assert "Words the index lacks" not in report(tmp_path, ROWS).text


def summed(*moments: str) -> Summary:
    summary = Summary()
    for number, moment in enumerate(moments):
        verdict = Verdict.CHANGED if number % 2 else Verdict.PRESERVED
        at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        summary.add(Entry(0, number, verdict, (), (), None, False, at, "", "", {}))
    return summary


@pytest.mark.parametrize(
    ("moments", "unit", "names"),
    [
        (
            ["2024-05-06T10:20", "2024-05-06T12:59"],
            "hour",
            [f"2024-05-06 {hour}:00" for hour in (10, 11, 12)],
        ),
        (["2024-02-28T23:00", "2024-03-01T01:00"], "hour", None),
        (["2024-02-28T23:00", "2024-03-01T23:00"], "day", ["2024-02-28", "2024-02-29", "2024-03-01"]),
        (["2024-01-01", "2024-03-01"], "week", None),
        (["2023-11-15", "2025-01-02"], "month", None),
        (["1999-05-05", "2024-05-05"], "year", [str(year) for year in range(1999, 2025)]),
    ],
)
def test_periods_are_as_fine_as_fits_and_have_no_holes(moments: list[str], unit: str, names: list[str] | None) -> None:
    found, periods = summed(*moments).periods()
    assert found == unit
    assert sum(period.rows for period in periods) == 2
    assert len(periods) <= 46
    assert periods[0].of("preserved").count == periods[-1].of("changed").count == 1
    if names:
        assert [period.name for period in periods] == names


def test_points_of_a_chart_lie_where_the_shares_are() -> None:
    _, periods = summed("2024-05-06T10:00", "2024-05-06T10:30", "2024-05-06T12:00").periods()
    changed, uncertain = charts(periods, [Verdict.CHANGED, Verdict.UNCERTAIN])
    assert changed.top == uncertain.top == 1.0
    assert [(point.x, point.y) for point in changed.points] == [(round(WIDTH / 6, 1), HEIGHT / 2), (833.3, HEIGHT)]
    assert all(point.low >= point.y >= point.high for point in changed.points)


def test_a_line_joins_neighbours_and_no_points_with_a_gap_between_them() -> None:
    _, periods = summed("2024-05-06T10:00", "2024-05-06T12:00", "2024-05-06T13:00").periods()
    (chart,) = charts(periods, [Verdict.CHANGED])
    assert [point.joined for point in chart.points] == [False, False, True]


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2024-05-06T10:20:00Z", "2024-05-06T10:20"),
        ("2024-05-06T10:20:00+02:00", "2024-05-06T08:20"),
        ("2024-05-06", "2024-05-06T00:00"),
        (1714990800, "2024-05-06T10:20"),
        (1714990800000, "2024-05-06T10:20"),
        (1712031151012, "2024-04-02T04:12"),
        ("20240506", "2024-05-06T00:00"),
        (1714990800.5, "2024-05-06T10:20"),
        *((value, None) for value in ("yesterday", 0, True, 1e300, float("nan"), [1], "0001-01-01T00:00+05:00", None)),
    ],
)
def test_timestamps(value: Any, moment: str | None) -> None:
    triple = read_row({**ROWS[0], "timestamp": value})
    assert triple is not None
    found = moment_of(triple.timestamp)
    assert (found and found.strftime("%Y-%m-%dT%H:%M")) == moment


def test_rows_over_time_stand_in_the_table(tmp_path: Path) -> None:
    page = report(tmp_path, ROWS)
    days = {name: cells[1] for name, cells in page.groups.items() if name.startswith("day:")}
    assert days == {"day:2024-05-06": "1", "day:2024-05-07": "1", "day:2024-05-08": "0", "day:2024-05-09": "1"}
    assert "3 of 6 rows carry a timestamp" in page.text


@pytest.mark.usefixtures("kept_workers")
def test_rows_of_several_logs_name_theirs(tmp_path: Path) -> None:
    logs = [tmp_path / f"day{number}.jsonl" for number in range(5)]
    for log in logs:
        log.write_text(json.dumps(ROWS[1]) + "\n", "utf-8")
    (tmp_path / "words").write_text("which", "utf-8")
    target = tmp_path / "page.html"
    done = run("audit", *map(str, logs), "--html", str(target), "--vocabulary", str(tmp_path / "words"), "--jobs", "2")
    assert done.exit_code == 0, done.output
    page = Read(target.read_text("utf-8"))
    assert [(row["file"], row["line"]) for row in page.rows] == [(number, 1) for number in range(5)]
    assert json.loads(page.scripts[0])["logs"] == [str(log) for log in logs]
    assert f"{logs[2]} and 2 more" in page.text
    assert f"{logs[1]} line 1" in page.text


def test_a_long_log_takes_no_more_memory(tmp_path: Path, guard: Guard) -> None:
    one = entry(guard, ROWS[3])
    big = replace(one, shown={**one.shown, "why": "x" * 5_000})
    with (
        (tmp_path / "rows").open("w+", encoding="utf-8") as rows,
        (tmp_path / "page").open("w", encoding="utf-8") as out,
    ):
        page = Page(rows, ["how"])
        page.add([big] * 10)
        page.write(io.StringIO(), ["warm.jsonl"], Tally())
        tracemalloc.start()
        page.add(big for _ in range(3_000))
        page.write(out, ["long.jsonl"], Tally())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (tmp_path / "page").stat().st_size > 15_000_000
    assert peak < 5_000_000


def test_a_label_for_each_row_makes_no_endless_table() -> None:
    summary = Summary()
    for number in range(12_000):
        summary.add(Entry(0, number, Verdict.PRESERVED, (), (), f"run {number}", False, None, "", "", {}))
    groups = summary.groups("system")
    assert len(groups) == 101
    assert (groups[-1].name, groups[-1].value, groups[-1].rows) == ("(others)", "100", 11_900)


def test_the_most_frequent_labels_have_groups_also_where_they_come_last() -> None:
    summary = Summary()
    for number, label in enumerate([*(f"run {number}" for number in range(200)), *["prod"] * 60]):
        summary.add(Entry(0, number, Verdict.CHANGED, (), (), label, False, None, "", "", {}))
    groups = summary.groups("system")
    assert [(group.name, group.value, group.rows) for group in (groups[0], groups[-1])] == [
        ("prod", "0", 60),
        ("(others)", "100", 101),
    ]
    assert [group.name for group in groups[:-1]] == summary.systems()


def test_the_page_of_a_conversation_log_counts_what_the_terminal_shows(shared: Path, tmp_path: Path) -> None:
    log = shared / "data" / "conversations" / "cast2021.jsonl"
    done = run("audit", str(log), "--system", "human", "--html", str(tmp_path / "page.html"))
    printed = re.findall(r"^│ (\w+) +│ +([\d,]+) │ +([\d.]+)% │$", done.stdout, re.MULTILINE)
    page = Read((tmp_path / "page.html").read_text("utf-8"))
    assert len(printed) > 8
    for name, rows, percent in printed:
        if name in page.shares:
            assert page.shares[name] == f"{percent} %"
        else:
            cells = page.groups.get(f"fault:{name}") or page.groups[f"kind:{name}"]
            assert cells[1:3] == [rows, f"{percent} %"]
