"""The page of an evaluation in a real browser: Debian's Chromium, driven by its ChromeDriver."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from evaluation_sample import sample
from rewriteguard.evaluation.score.results import Regression
from rewriteguard.report.evaluation.page import write_evaluation_page
from rewriteguard.report.evaluation.report import EvaluationReport

pytest.importorskip("selenium.webdriver", reason="the extra `dashboards` is not installed")
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browsing import CONTRAST, DOUBLED, NAMELESS, Browser

pytestmark = pytest.mark.backend

HOSTILE = (
    '</script><script>window.hacked = "script"</script>',
    '<img src="http://127.0.0.1:9/x" onerror="window.hacked = 1">',
    '"><svg onload="window.hacked = 2">',
    "javascript:window.hacked=3 {{ 7 * 7 }} <!-- </style> \u202e\u2028\u0000",
)
OPEN = "for (const details of document.querySelectorAll('details')) details.open = true"


@pytest.fixture(scope="module")
def report() -> EvaluationReport:
    """An evaluation whose guarded arm has also lost requests that the rewrite had found."""
    drawn = sample(60)
    lost = [row for row in drawn.results.regressions if row.arm == "guarded"][:5]
    also = (replace(row, base="rewrite") for row in lost)
    return replace(drawn, results=replace(drawn.results, regressions=(*drawn.results.regressions, *also)))


@pytest.fixture(scope="module")
def page(report: EvaluationReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(report, tmp_path_factory.mktemp("evaluation") / "page.html")


@pytest.fixture
def regressions(report: EvaluationReport) -> Sequence[Regression]:
    return report.results.regressions


def written(report: EvaluationReport, path: Path) -> Path:
    with path.open("w", encoding="utf-8") as target:
        write_evaluation_page(target, report)
    return path


def wait(browser: Browser, until: Callable[[], bool]) -> None:
    WebDriverWait(browser.driver, 5).until(lambda _: until())


def test_no_error_and_no_request(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one("#more").click()
    assert browser.driver.get_log("browser") == []
    assert browser.requests() == [page.as_uri()]


def test_filters_change_the_regressions(browser: Browser, page: Path, regressions: Sequence[Regression]) -> None:
    browser.open(page)
    assert browser.count == f"10 of {len(regressions)} shown"
    browser.choose("rewriter", "terse-1")
    browser.choose("arm", "guarded")
    both = [row for row in regressions if (row.rewriter, row.arm) == ("terse-1", "guarded")]
    assert 0 < len(both) < len(regressions)
    assert f"of {len(both)} shown, {len(regressions)} in all" in browser.count
    assert all("guarded · terse-1" in text for text in browser.texts("#list .meta"))
    browser.choose("stage", "retrieval")
    assert set(browser.texts("#list .badge")) == {"lost at retrieval"}
    browser.one("#rows form [type=reset]").click()
    wait(browser, lambda: browser.count == f"10 of {len(regressions)} shown")


def test_a_class_shows_its_own_cases(
    browser: Browser, page: Path, report: EvaluationReport, regressions: Sequence[Regression]
) -> None:
    browser.open(page).choose("group", "class: dates")
    cases = set(report.members[1].cases)
    assert f"of {sum(row.case in cases for row in regressions)} shown" in browser.count
    shown = {re.findall(r"case (\S+)", text)[0] for text in browser.texts("#list .meta")}
    assert shown <= cases


def test_search_changes_the_regressions(browser: Browser, page: Path) -> None:
    browser.open(page).search("DOC-7-RELEVANT")
    shown = browser.texts("#list article")
    assert shown
    assert all("doc-7-relevant" in text for text in shown)
    browser.search("no regression has these words")
    assert browser.count.startswith("No regression matches")
    browser.press(Keys.ESCAPE)
    assert browser.count.startswith("10 of")


def test_both_rankings_stand_side_by_side_and_labels_are_words(browser: Browser, page: Path) -> None:
    browser.open(page)
    lefts = browser.js(
        "return [...document.querySelectorAll('#list article:first-child .ranked')].slice(0, 2)"
        ".map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().top])"
    )
    assert lefts[0][0] < lefts[1][0]
    assert lefts[0][1] == lefts[1][1]
    assert "relevant" in browser.texts("#list .ranked:first-child .tag")
    assert "near miss" in browser.texts("#list .ranked:last-child .tag")
    assert "None of them is relevant." in browser.texts("#list .ranked:last-child .small")


def test_a_number_of_lost_requests_leads_to_them(
    browser: Browser, page: Path, regressions: Sequence[Regression]
) -> None:
    browser.open(page)
    browser.choose("stage", "retrieval")
    link = browser.one("#gains a[data-filters]")
    lost = int(link.text.split(" of ")[0])
    browser.js("arguments[0].click()", link)
    wait(browser, lambda: f"of {lost} shown" in browser.count)
    assert browser.js("return document.getElementById('stage').value") == ""
    assert [box.is_selected() for box in browser.all("#rows [name=base]")] == [True, False]


def test_the_matrix_is_filtered_apart(
    browser: Browser, page: Path, report: EvaluationReport, regressions: Sequence[Regression]
) -> None:
    browser.open(page)
    clauses = report.results.constraints
    broken = [row for row in clauses if row.fate in ("altered", "dropped", "added")]
    count = "#matrix .count"
    assert browser.one(count).text == f"50 of {len(broken)} shown, {len(clauses):,} in all"
    browser.choose("clause-kind", "time")
    browser.choose("clause-fate", "dropped")
    wanted = [row for row in clauses if (row.kind, row.fate) == ("time", "dropped")]
    assert f"of {len(wanted)} shown" in browser.one(count).text
    assert len(browser.all("#matrix tbody.list tr")) == min(50, len(wanted))
    assert set(browser.texts("#matrix tbody.list .fate")) == {"dropped"}
    assert browser.count == f"10 of {len(regressions)} shown"
    browser.js("document.querySelector('#fates-table').closest('table').querySelector('a').click()")
    wait(browser, lambda: browser.js("return document.getElementById('clause-kind').value") == "")
    assert set(browser.texts("#matrix tbody.list .fate")) == {"kept"}


def test_the_cells_of_the_matrix_stand_below_their_heads(browser: Browser, page: Path) -> None:
    browser.open(page)
    lefts = """return [...document.querySelectorAll("table.clauses tr")].slice(0, 9)
      .map((row) => [...row.cells].map((cell) => Math.round(cell.getBoundingClientRect().left)))"""
    rows = browser.js(lefts)
    assert len(rows) == 9
    assert all(row == rows[0] for row in rows)


def test_the_contract_of_a_regression_is_told(browser: Browser, page: Path) -> None:
    browser.open(page).choose("arm", "rewrite")
    browser.js(OPEN)
    told = browser.texts("#list article:first-child .contract li")
    assert any("in 2023" in text for text in told)
    assert any("not to be assumed" in text for text in told)


def test_it_can_be_walked_with_the_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one("body").send_keys(Keys.TAB)
    assert browser.focus == "Skip to the regressions"
    browser.press(Keys.ENTER)
    assert browser.focus == "rows"
    order = []
    for _ in range(9):
        browser.press(Keys.TAB)
        order.append(browser.focus)
    assert order == ["search", "base", "base", "rewriter", "arm", "group", "stage", "Clear filters", "Keys"]
    browser.press(Keys.TAB)
    assert browser.focus.startswith("Queries and contract of regression 1")
    browser.press(Keys.ENTER)
    assert browser.js("return document.activeElement.parentElement.open")


def test_keys_move_filter_and_search(browser: Browser, page: Path, regressions: Sequence[Regression]) -> None:
    browser.open(page)
    browser.one("body").send_keys("j")
    browser.press("j", "j", "k")
    assert browser.focus.startswith("Queries and contract of regression 2")
    browser.press("o")
    assert browser.count == f"5 of 5 shown, {len(regressions)} in all"
    assert all("against the rewrite" in text for text in browser.texts("#list .meta"))
    browser.press("/")
    assert browser.focus == "search"
    browser.press("o", "r")
    wait(browser, lambda: browser.js("return document.getElementById('search').value") == "or")
    assert [box.is_selected() for box in browser.all("#rows [name=base]")] == [False, True]


def test_more_rows_come_and_the_focus_goes_to_the_first(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one("#more").send_keys(Keys.ENTER)
    assert len(browser.all("#list article")) == 110
    assert browser.focus.startswith("Queries and contract of regression 11")
    more = browser.one("#matrix .more")
    browser.js("arguments[0].click()", more)
    assert len(browser.all("#matrix tbody.list tr")) == 150
    assert browser.js("return document.activeElement.rowIndex") == 51


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast_enough(browser: Browser, page: Path, scheme: str) -> None:
    browser.open(page, scheme=scheme)
    browser.js(OPEN)
    seen, poor = browser.js(CONTRAST)
    assert seen > 2_000
    assert poor == []
    ground = browser.js("return getComputedStyle(document.body).backgroundColor")
    assert (int(re.findall(r"\d+", ground)[0]) < 40) is (scheme == "dark")


def test_gain_and_loss_differ_in_shape(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = "return [...document.querySelectorAll(arguments[0])].map((e) => getComputedStyle(e).strokeLinecap)"
    assert set(browser.js(script, ".change.gain .dot")) == {"round"}
    assert set(browser.js(script, ".change.loss .dot")) == {"square"}


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    browser.js(OPEN)
    assert browser.js("return document.scrollingElement.scrollWidth") <= width


def test_names_captions_and_labels(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.js(OPEN)
    assert browser.js(NAMELESS) == []
    assert browser.js(DOUBLED) == []
    assert all(browser.js("return [...document.querySelectorAll('table')].map((t) => t.caption?.textContent || '')"))
    names = browser.js("return [...document.querySelectorAll('h1,h2,h3,h4')].map((e) => e.tagName[1])")
    levels = [int(level) for level in names]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_nothing_shifts(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = """const done = arguments[0]; let sum = 0;
    new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value; })
      .observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 500);"""
    assert browser.driver.execute_async_script(script) == 0


def test_paper_shows_queries_and_contracts(browser: Browser, page: Path) -> None:
    browser.open(page, scheme="dark")
    count = "return document.querySelectorAll('#list details[open]').length"
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert browser.js(count) == 10
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.js(count) == 0
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert browser.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not browser.one("#filters").is_displayed()


def test_hostile_words_are_only_words(browser: Browser, tmp_path: Path) -> None:
    target = written(sample(24, (HOSTILE[0], HOSTILE[1], "__proto__"), *HOSTILE), tmp_path / "page.html")
    browser.open(target)
    browser.js(OPEN)
    assert browser.js("return window.hacked === undefined")
    assert browser.all("img, main script, article svg, style ~ style") == []
    assert browser.driver.get_log("browser") == []
    assert browser.requests() == [target.as_uri()]
    shown = "\n".join(browser.texts("#list article"))
    assert all(text.split("\u202e")[0] in shown for text in HOSTILE)
    browser.choose("rewriter", HOSTILE[0])
    assert all(HOSTILE[0] in text for text in browser.texts("#list .meta"))
    browser.choose("rewriter", "__proto__")
    assert browser.all("#list article")
    # Were anything ever taken for markup, the page's own policy would still not let it run.
    browser.js(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 9'; document.body.append(s)"
    )
    assert browser.js("return window.hacked === undefined")


def test_thousands_of_regressions(
    browser: Browser, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    report = sample(800, ("careful-2", "terse-1", "bold-3"))
    total = len(report.results.regressions)
    assert total > 1_200
    target = written(report, tmp_path / "page.html")
    assert target.stat().st_size < 16_000_000
    browser.open(target)
    assert browser.count == f"10 of {total:,} shown"
    ready = browser.js("return performance.getEntriesByType('navigation')[0].domInteractive")
    start = monotonic()
    browser.choose("rewriter", "terse-1")
    filtered = monotonic() - start
    start = monotonic()
    browser.search("doc-7-")
    searched = monotonic() - start
    figures = {"bytes": target.stat().st_size, "ready_ms": ready, "filter_s": filtered, "search_s": searched}
    for name, value in figures.items():
        record_property(name, value)
    assert ready < 5_000
    assert filtered < 2
    assert searched < 3
