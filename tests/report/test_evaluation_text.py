"""The Markdown of an evaluation says what the page says, and GitHub reads no word of the cases as anything else."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evaluation_sample import sample
from rewriteguard.report.evaluation.markdown import (
    FILTERS,
    prose,
    quoted,
    write_json,
    write_markdown,
    write_summary,
)
from rewriteguard.report.evaluation.report import EvaluationReport
from rewriteguard.report.render import environment
from rewriteguard.report.table import Cell, Column, Table

HOSTILE = (
    "</script><img src=x> | \\| a\\ ` `` ``` *b* _c_ **d** [e](http://x.test) @someone #12 www.x.test <!-- "
    "\n# h\r\n- i\u2028"
)
TEMPLATES = environment(FILTERS).get_template("tables.md.j2").module
READER = MarkdownIt("commonmark", {"html": True}).enable("table")


class Text(HTMLParser):
    """The tags of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def summary(report: EvaluationReport) -> str:
    target = io.StringIO()
    write_summary(target, report)
    return target.getvalue()


def full(report: EvaluationReport) -> str:
    target = io.StringIO()
    write_markdown(target, report)
    return target.getvalue()


def test_the_text_says_what_the_scores_leave_out_and_what_they_rest_on() -> None:
    text = full(sample())
    assert text.count("(3 requests were asked about and are left out)") == 4
    assert text.count("the second table tells what the rewriter's output keeps by itself") == 2
    assert "**Constraints kept by the rewriter's own output**" in text
    assert "## Families" in text
    assert "take requests as independent" in summary(sample())
    report = sample()
    vocabulary = report.results.vocabulary or {}
    words = {"careful-2": replace(vocabulary["careful-2"], passed_over=1)}
    told = full(EvaluationReport(replace(report.results, vocabulary=words)))
    assert "others, met once, were not counted" in told


def test_the_summary_starts_with_the_verdict_of_each_rewriter() -> None:
    lines = summary(sample()).splitlines()
    assert lines[0] == "# Rewrite evaluation"
    assert lines[2].startswith("- `careful-2`: **ship** `exclusions`, `complete questions`; **fuse** `dates`")
    assert lines[3].startswith("- `terse-1`: **ship**")
    assert "nothing was decided" in summary(EvaluationReport(sample().results))


def test_the_summary_tells_what_decided_and_vetoes_and_stays_short() -> None:
    text = summary(sample(600))
    assert "| `dates` (class) | **fuse** | 100 | rewrite: regression 14.3 % of 84" in text
    assert "| expanded | `careful-2` | forbidden | `returns-0000` | `internal-notes` | 3 |" in text
    assert len(text) < 12_000


def test_the_full_text_holds_the_summary_and_all_sections() -> None:
    report = sample()
    text = full(report)
    assert text.startswith(summary(report))
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    for title in ("Score 1: constraint preservation", "Where requests broke", "Constraint matrix", "Regressions"):
        assert title in titles
    assert titles[-1] == "Conditions"
    assert "Nobody measured it here." in text
    assert "2: `doc-0-relevant` **relevant**" in text or "**relevant**" in text
    left = len(report.results.regressions) - 200
    assert (f"{left} more regressions left out" in text) is (left > 1)


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    for text in (full(sample(12)), full(sample(12, (HOSTILE, "b"), HOSTILE))):
        tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        assert len(tables) > 20
        for table in tables:
            rows = [line.count("|") for line in table.splitlines()]
            assert len(set(rows)) == 1


def is_no_character(code: int) -> bool:
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE


def test_hostile_words_stay_words() -> None:
    calm = Text(READER.render(full(sample(12))))
    found = Text(READER.render(full(sample(12, (HOSTILE, "b"), HOSTILE))))
    assert set(found.tags) <= set(calm.tags)
    assert found.tags.count("td") == calm.tags.count("td")
    assert found.tags.count("strong") == calm.tags.count("strong")
    assert found.tags.count("li") == calm.tags.count("li")
    assert "@someone #12 www.x.test" in found.text


@given(st.text(max_size=40))
@example("a\ufdd0b")
@example("a\U0001ffffb")
def test_quoted_words_come_out_as_they_went_in(text: str) -> None:
    cells = [[Cell(text, quoted=True), Cell("end")]]
    table = TEMPLATES.table(Table("t", "c", [Column("a"), Column("b")], cells))
    read = Text(READER.render(table))
    assert read.tags.count("td") == 2
    assert set(read.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    seen = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+", " ", text)
    seen = "".join(each for each in seen if not is_no_character(ord(each)))
    assert "".join(read.text.split()) == "".join(f"ab{seen}end".split())


@pytest.mark.parametrize(
    "text", ["@someone", "a|b", "see #12", "www.x.test", "http://x.test", "`", "*a*", "a_ _b", "<b>"]
)
def test_mentions_links_and_markup_are_never_bare(text: str) -> None:
    for told in (quoted(text), prose(text)):
        assert told.startswith(("`", "<code>")) or told == text.replace("<", "&lt;").replace(">", "&gt;")
        inner = re.sub(r"<code>.*?</code>|`[^`]*`", "", told)
        assert not set("@|#`*_") & set(inner)
        assert "www." not in inner


def test_names_in_code_and_signs_are_prose() -> None:
    intervals = ("−0.182 to +0.062", "54.3 to 100.0 % · 7 of 8")
    for text in ("p = 0.031", "original+rewrite", "constraint_preservation 61.0 %", "–", *intervals):
        assert prose(text) == text
    assert prose("p < 0.001") == "p &lt; 0.001"


def test_an_interval_is_never_code() -> None:
    told = [cell for cell in full(sample()).split("|") if re.search(r" to .*(?:·|&#183;)", cell, re.DOTALL)]
    assert len(told) > 20
    assert [cell for cell in told if "<code>" in cell or "`" in cell] == []


def test_the_json_is_the_report() -> None:
    report = sample(12, ("m\ud800",), "caf\udfff")
    target = io.StringIO()
    write_json(target, report)
    assert json.loads(target.getvalue().encode("utf-8")) == report.to_dict()
