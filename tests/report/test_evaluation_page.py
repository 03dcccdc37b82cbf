"""The page of an evaluation: its figures are those of the results, and words of the cases stay words."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from evaluation_sample import Sample, sample
from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.score.results import MissingWords, Ranked
from rewriteguard.policy.classes import Release
from rewriteguard.report.evaluation.page import regression_row, write_evaluation_page
from rewriteguard.report.evaluation.report import EvaluationReport, bar, interval
from rewriteguard.report.evaluation.tables import SCORES, gain_tables, score_tables
from rewriteguard.report.evaluation.verdicts import broken_clauses, conditions, fates, headline, kinds, turns, verdicts
from rewriteguard.report.table import BeforeAfter, decimal, percent, probability, signed, tied

HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)><!-- {{ 7 * 7 }} & \u2028 </title>'


class Read(HTMLParser):
    """What a browser finds in a page: tags, scripts, headings in order, and the cells of each table by its id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.titles: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.captions: list[str] = []
        self.text = ""
        self._rows: list[list[str]] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append((tag, values))
        if tag == "script":
            self.scripts.append("")
        elif tag in ("h2", "h3"):
            self.titles.append("")
        elif tag == "caption":
            self._rows = self.tables.setdefault(values["id"] or "", [])
            self.captions.append("")
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
            return
        self.text += data
        if self.captions and self.tags[-1][0] == "caption":
            self.captions[-1] += data.strip()
        if self.titles and self.tags[-1][0] in ("h2", "h3", "bdi"):
            self.titles[-1] += data.strip()
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] = " ".join(f"{self._rows[-1][-1]} {data}".split())


def written(report: EvaluationReport) -> str:
    target = io.StringIO()
    write_evaluation_page(target, report)
    return target.getvalue()


def read(report: EvaluationReport) -> Read:
    return Read(written(report))


@cache
def html_of_sample() -> str:
    return written(sample())


@cache
def page_of_sample() -> Read:
    """For tests that read the page of the sample as it is."""
    return Read(html_of_sample())


def changed(report: EvaluationReport, **results: Any) -> EvaluationReport:
    return replace(report, results=replace(report.results, **results))


def test_the_verdict_stands_first_and_the_conditions_last() -> None:
    titles = [title for _, title in re.findall(r"<(h2)[^>]*>([^<]+)", html_of_sample())]
    assert titles[0] == "Verdict"
    assert titles[-1] == "Conditions"


def test_every_table_has_a_name_of_its_own() -> None:
    report = sample()
    of_one_name = replace(report.results.groups[0], enforced=False)
    page = read(changed(report, groups=(*report.results.groups, of_one_name)))
    assert [caption for caption, times in Counter(page.captions).items() if times > 1] == []
    for told in ("Releases, and what decided them", "Words with zero document frequency"):
        assert any(caption.startswith(f"{told}: careful-2") for caption in page.captions)


def test_every_release_is_told_with_what_decided_it() -> None:
    report = sample()
    page = page_of_sample()
    for place, rewriter in enumerate(report.rewriters):
        rows = page.tables[f"verdict-{place}"][1:]
        told = {row[0].removesuffix(" class").removesuffix(" slice"): row[1:] for row in rows}
        own = [each for each in report.releases if each.rewriter == rewriter]
        assert len(own) == len(told) == 8
        for each in own:
            release, n, why = told[each.group]
            assert release == each.release.replace("_", " ")
            assert n == str(each.n)
            assert why == " ".join([each.reasons[0], "; ".join(each.reasons[1:])]).strip()


def test_classes_are_told_from_slices_of_the_same_name() -> None:
    report = sample()
    first = replace(report.releases[0], group="dates", enforced=False, release=Release.FALL_BACK)
    second = replace(report.releases[0], group="dates", enforced=True, release=Release.SHIP)
    both = EvaluationReport(report.results, [first, second], {}, [])
    assert [row[1].text for row in verdicts(both, "careful-2").rows] == ["ship", "fall back"]
    assert read(both).tables["overview"][1:] == [
        ["dates class", "ship", "–"],
        ["dates slice", "fall back", "–"],
    ]
    assert headline(both, "careful-2") == {"ship": ["dates"]}


def test_without_rules_nothing_is_decided() -> None:
    report = sample()
    page = read(EvaluationReport(report.results))
    assert "No release rules were given" in page.text
    assert "verdict-0" not in page.tables


def test_the_five_scores_stand_apart_with_n_and_interval() -> None:
    report = sample()
    assert [score.id for score in SCORES] == ["preservation", "completeness", "evidence", "answers", "clarification"]
    found = {score.id: score_tables(score, report.arms) for score in SCORES}
    assert [len(found[score.id]) for score in SCORES] == [2, 2, 8, 0, 2]
    page = page_of_sample()
    rows = {tuple(row[:2]): row[2:] for row in page.tables["completeness-0"][1:]}
    for arm in report.arms:
        figure = arm.scores.completeness
        name = (arm.arm.replace("_", " "), arm.rewriter or "–")
        n = f"{figure.count} of {figure.n}"
        asked = " 3 requests were asked about and are left out" if arm.arm == "guarded" else ""
        assert rows[name] == [percent(figure.value), interval(figure), n + asked]
    assert "Nobody measured it here." in page.text
    assert "%" not in page.tables["evidence-0"][1][2]


def test_every_group_has_the_scores_of_every_arm() -> None:
    report = sample()
    page = page_of_sample()
    for place, group in enumerate(report.groups):
        rows = page.tables[f"group-{place}"]
        assert len(rows) == len(group.arms) + 1
        assert len(rows[0]) == 2 + 6  # clarification has two figures


def test_gains_and_losses_are_those_of_the_pairs() -> None:
    report = sample()
    page = page_of_sample()
    rows = page.tables["gains-0"][1:]
    rewrite = next(arm for arm in report.arms if (arm.rewriter, arm.arm) == ("careful-2", "rewrite"))
    pair = rewrite.over_original
    assert pair is not None
    lost, gained = pair.lost, pair.gained
    assert rows[0][:2] == ["all requests", "rewrite"]
    assert rows[0][3].startswith(percent((pair.both + lost) / pair.n))
    assert rows[0][4] == percent((pair.both + gained) / pair.n)
    assert rows[0][5].startswith(f"{lost} of {pair.both + lost} ")
    assert rows[0][6].startswith(f"{gained} of {gained + pair.neither} ")
    assert [row[1] for row in rows[:5] if "against" in row[1]] == ["guarded against the rewrite"]
    assert {row[1] for row in page.tables["gains-2"][1:]} == {"human", "without rewrite"}


def test_a_change_is_drawn_where_its_figures_are() -> None:
    (_, table), *_ = gain_tables(sample())
    change = table.rows[0][2].drawing
    assert isinstance(change, BeforeAfter)
    assert table.rows[0][3].text == percent(change.before)
    assert table.rows[0][4].text == percent(change.after)
    html = html_of_sample()
    assert f"M{change.before * 100:.2f},10H{change.after * 100:.2f}" in html
    assert html.count('class="change') == sum(len(gains.rows) for _, gains in gain_tables(sample()))


def test_a_pair_without_requests_has_no_figures() -> None:
    report = sample(4)  # fewer cases than groups
    page = read(report)
    empty = [row for row in page.tables["gains-0"][1:] if row[0].startswith("follow-ups") or row[3] == "– n = 0"]
    assert empty
    assert {row[8] for row in empty if row[3] == "– n = 0"} == {"–"}


def test_vetoes_are_told_with_their_documents() -> None:
    rows = page_of_sample().tables["vetoes-table"][1:]
    assert ["expanded", "careful-2", "forbidden", "returns-0000", "internal-notes", "3"] in rows
    report = sample()
    arms = tuple(replace(arm, scores=replace(arm.scores, forbidden=())) for arm in report.arms)
    assert "No forbidden and no unauthorised document came back" in read(changed(report, arms=arms)).text


def test_outcomes_and_stages_are_counted_for_every_arm() -> None:
    rows = page_of_sample().tables["outcomes-table"]
    assert rows[0][3:] == ["ok", "empty", "error", "clarified"] + [
        f"broke at {stage}" for stage in ("rewrite", "retrieval", "generation")
    ]
    assert rows[1] == ["original", "–", "60", "57", "1", "1", "1", "6", "5", "0"]


def test_turns_are_in_order_with_later_ones_together() -> None:
    report = sample()
    numbers = (*report.results.turns, replace(report.results.turns[0], turn="10"))
    table = turns(changed(report, turns=numbers))
    assert [column.name for column in table.columns[2:]] == [
        "Turn 1",
        "All later turns",
        "Turn 2",
        "Turn 3",
        "Turn 10",
    ]
    assert [cell.text for cell in table.rows[0][2:]] == ["0.700", "0.600", "0.500", "0.400", "0.700"]
    assert table.rows[1][-1].text == "–"


def test_the_matrix_counts_every_clause_once() -> None:
    report = sample()
    clauses = report.results.constraints
    counted = Counter((row.arm, row.rewriter, row.fate) for row in clauses)
    table = fates(report)
    names = [column.name for column in table.columns[2:]]
    told = {
        (row[0].text.replace("without rewrite", "without_rewrite"), row[1].text.strip("–"), fate): int(cell.text)
        for row in table.rows
        for fate, cell in zip(names, row[2:], strict=True)
        if cell.text != "0"
    }
    assert told == dict(counted)
    broken = sum(row.fate in ("altered", "dropped", "added") for row in clauses)
    assert len(broken_clauses(report).rows) + broken_clauses(report).left_out == broken
    kept = kinds(report)
    asked = [
        int(cell.small.split(",")[0].split(" of ")[1]) for row in kept.rows for cell in row[2:] if cell.text != "–"
    ]
    assert sum(asked) == sum(row.clause == "constraint" for row in clauses)


def test_the_rewriters_own_output_and_the_families_have_their_tables() -> None:
    report = sample()
    page = page_of_sample()
    for arm in report.arms:
        wanted = {"preservation-1": arm.scores.of_rewrite.preservation, "families-table": arm.scores.families}
        for name, figure in wanted.items():
            rows = {tuple(row[:2]): row[2] for row in page.tables[name][1:]}
            assert rows[arm.arm.replace("_", " "), arm.rewriter or "–"] == percent(figure.value)
    assert page.text.count("the second table tells what the rewriter's output keeps by itself") == 2
    assert "take requests as independent" in page.text
    none = Figure(None, 0, count=0)
    arms = tuple(replace(arm, scores=replace(arm.scores, families=none)) for arm in report.arms)
    assert "Families" not in read(changed(report, arms=arms)).titles


def test_words_that_were_not_counted_are_told() -> None:
    words = {"careful-2": MissingWords(9, 1_200, ())}
    assert "others, met 1,200 times, were not counted" in read(changed(sample(), vocabulary=words)).text
    assert "were not counted" not in page_of_sample().text


def test_without_contracts_there_is_no_matrix() -> None:
    page = read(changed(sample(), constraints=(), kinds=()))
    assert "No case has a contract." in page.text
    assert "clauses" not in page.tables


def test_unknown_words_are_told_by_rewriter() -> None:
    page = page_of_sample()
    assert len(page.tables["words-0"]) == 201
    assert "50 more are left out" in page.text
    assert page.tables["words-1"][1][:3] == ["word0", "30", "0"]
    assert "Words the index lacks" not in read(changed(sample(), vocabulary=None)).text


def test_conditions_are_flat() -> None:
    report = sample()
    told = [(row[0].text, row[1].text) for row in conditions(report).rows]
    assert told[0] == ("index.documents", "812")
    assert told[-1] == ("rewriters", "careful-2, terse-1")
    odd = EvaluationReport(report.results, conditions={"a": {"b": None, "c": []}, "d": {}})
    assert [(row[0].text, row[1].text) for row in conditions(odd).rows] == [("a.b", "–"), ("a.c", "–"), ("d", "–")]


def test_the_lists_hold_every_row() -> None:
    report = sample()
    names, rows, clauses, _ = map(str, read(report).scripts)
    assert [row["case"] for row in json.loads(rows)] == [row.case for row in report.results.regressions]
    assert [clause[:3] for clause in json.loads(clauses)] == [
        [row.case, row.rewriter, row.arm] for row in report.results.constraints
    ]
    groups = dict(json.loads(names)["groups"])
    assert tuple(groups["class: dates"]) == report.members[1].cases


def test_a_ranking_keeps_every_document_with_a_label() -> None:
    regression = Sample(1, ("a",)).regression(("a", "rewrite"), 0)
    long = tuple(Ranked(str(place), "forbidden" if place == 29 else "") for place in range(30))
    documents, left = regression_row(replace(regression, results=long))["results"]
    assert [place for place, _, _ in documents] == [*range(1, 11), 30]
    assert left == 19
    cut = regression_row(replace(regression, rewrite="a" * 5_000, queries=("b" * 5_000,)))
    assert len(cut["rewrite"]) == len(cut["queries"][0]) == 1_202


def test_hostile_words_stay_words() -> None:
    calm, page = read(sample(12)), read(sample(12, (HOSTILE, "b"), HOSTILE))
    assert [tag for tag, _ in page.tags].count("script") == [tag for tag, _ in calm.tags].count("script") == 4
    assert "img" not in {tag for tag, _ in page.tags}
    assert page.scripts[3] == calm.scripts[3]
    for script in page.scripts[:3]:
        assert not set("<>&\u2028") & set(script)
    assert any(HOSTILE in row["case"] for row in json.loads(page.scripts[1]))
    assert "49" not in {row[0] for row in page.tables["overview"]}
    assert "{{ 7 * 7 }}" in page.tables["overview"][7][0]


def test_half_a_surrogate_pair_does_not_stop_the_page() -> None:
    written(sample(6, ("m\ud800",), "caf\udfff"))


def test_nothing_is_fetched_and_only_its_own_script_may_run() -> None:
    html, page = html_of_sample(), page_of_sample()
    targets = [value for _, attrs in page.tags for key, value in attrs.items() if key in ("src", "href", "action")]
    assert all(target is not None and target.startswith(("#", "data:,")) for target in targets)
    policy = next(attrs["content"] or "" for _, attrs in page.tags if "Content-Security-Policy" in attrs.values())
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "url(" not in html
    assert not any(key.startswith("on") for _, attrs in page.tags for key in attrs)


def test_links_lead_to_filters_that_exist() -> None:
    page = page_of_sample()
    links = [attrs for _, attrs in page.tags if "data-filters" in attrs]
    assert {link["href"] for link in links} == {"#rows", "#matrix"}
    offered = {value["value"] for tag, value in page.tags if tag in ("option", "input") and value.get("value")}
    for link in links:
        wanted = json.loads(link["data-filters"] or "")
        assert {value for value in wanted.values() if value} - {"original", "rewrite"} <= offered


def test_the_same_report_gives_the_same_page() -> None:
    assert written(sample()) == written(sample())


def test_nothing_at_all_still_gives_a_page() -> None:
    report = sample(0)
    page = read(
        changed(
            EvaluationReport(report.results), groups=(), regressions=(), constraints=(), turns=(), kinds=(), arms=()
        )
    )
    assert "0 requests" in page.text


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.05, 0.125, "5.0 to 12.5 %"), (None, 0.015, "at most 1.5 %"), (0.9, None, "at least 90.0 %"), (None, None, "")],
)
def test_intervals_are_worded(low: float | None, high: float | None, words: str) -> None:
    assert interval(Figure(0.5, 40, low, high)) == words


def test_figures_are_worded() -> None:
    assert (percent(None), decimal(None), signed(None), probability(None)) == ("–",) * 4
    assert (percent(0.95), decimal(0.4494), signed(-0.008), signed(0.0294)) == ("95.0 %", "0.449", "−0.008", "+0.029")
    assert signed(-0.00001) == "0.000"
    assert (probability(0.1114), probability(0.0009)) == ("0.111", "< 0.001")


def test_a_bar_stays_on_its_scale() -> None:
    assert bar(Figure(0.98, 9, 0.9, 1.02)) == Figure(0.98, 9, 0.9, 1.0)
    assert bar(Figure(0.0, 9, None, 0.015)) == Figure(0.0, 9, 0.0, 0.015)
    assert bar(Figure(None, 0)) is None


def test_short_parts_stay_on_one_line() -> None:
    assert tied("31.0 %, 19.9 to 42.1 % · n = 40").replace("\u00a0", "_") == "31.0_%, 19.9_to_42.1_%_· n_=_40"
    long = "guarded: every bound holds; rewrite: none"
    assert tied(long).replace("\u00a0", "_") == "guarded: every bound holds; rewrite:_none"
