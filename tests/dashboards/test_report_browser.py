"""The page of an audit in a real browser: Debian's Chromium, driven by its ChromeDriver."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from typer.testing import CliRunner

from rewriteguard.audit import Tally, find, read_lines
from rewriteguard.cli import app
from rewriteguard.report.audit.entry import Entry, entry_of
from rewriteguard.report.audit.page import Page

pytest.importorskip("selenium.webdriver", reason="the extra `dashboards` is not installed")
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browsing import CONTRAST, DOUBLED, NAMELESS, Browser

pytestmark = pytest.mark.backend

SYSTEM = "mtrag_official_mixtral-8x7b"
HOSTILE = [
    '</script><script>window.hacked = "script"</script>',
    '<img src="http://127.0.0.1:9/x" onerror="window.hacked = 1">',
    '"><svg onload="window.hacked = 2">',
    "javascript:window.hacked=3 {{ 7 * 7 }} <!-- </style> \u202e\u2028\u0000",
    "__proto__",
]


@pytest.fixture(scope="module")
def log(shared: Path) -> Path:
    return shared / "data" / "conversations" / "mtrag.jsonl"


@pytest.fixture(scope="module")
def page(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the log, held against the words of its own conversations."""
    folder = tmp_path_factory.mktemp("report")
    said = (item["text"] for row in log.read_text("utf-8").splitlines() for item in json.loads(row)["history"])
    (folder / "words").write_text("\n".join(sorted({w for text in said for w in re.findall(r"\w+", text)})), "utf-8")
    command = ["audit", str(log), "--system", SYSTEM, "--html", str(folder / "page.html")]
    done = CliRunner().invoke(app, [*command, "--vocabulary", str(folder / "words"), "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    return folder / "page.html"


@pytest.fixture(scope="module")
def findings(page: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (page.parent / "out").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def entries(log: Path) -> list[Entry]:
    with log.open("rb") as lines:
        return [entry for part in find(read_lines(lines, [SYSTEM]), view=entry_of) for entry in part.views]


def faults_of(row: dict[str, Any]) -> set[str]:
    return {violation["fault"] for violation in row["violations"]}


def test_no_error_and_no_request(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one("#more").click()
    assert browser.driver.get_log("browser") == []
    assert browser.requests() == [page.as_uri()]


def test_shares_are_those_of_the_findings(browser: Browser, page: Path, findings: list[dict[str, Any]]) -> None:
    browser.open(page)
    assert browser.count == f"25 of {len(findings)} shown"
    for verdict in ("changed", "uncertain", "preserved"):
        share = sum(row["verdict"] == verdict for row in findings) / len(findings)
        assert browser.one(f"[data-share={verdict}]").text == f"{share * 100:.1f} %"


def test_filters_change_the_rows(browser: Browser, page: Path, findings: list[dict[str, Any]]) -> None:
    browser.open(page)
    for box in browser.all("#filters [name=verdict]")[1:]:
        box.click()
    changed = [row for row in findings if row["verdict"] == "changed"]
    assert set(browser.texts("#list .badge")) == {"changed"}
    assert f"of {len(changed)} shown, {len(findings)} in all" in browser.count
    browser.choose("fault", "dropped")
    both = [row for row in changed if "dropped" in faults_of(row)]
    assert 0 < len(both) < len(changed)
    assert browser.count == f"{len(both)} of {len(both)} shown, {len(findings)} in all"
    assert all("dropped" in text for text in browser.texts("#list .codes"))
    browser.one("#filters [type=reset]").click()
    WebDriverWait(browser.driver, 5).until(lambda _: browser.count == f"25 of {len(findings)} shown")
    dependent = sum(row["dependent"] for row in findings)
    browser.choose("dependence", "dependent")
    assert f"of {dependent} shown" in browser.count
    browser.choose("kind", "negation")
    assert all("negation" in text for text in browser.texts("#list .codes"))
    assert len(browser.all("#list article")) == sum(
        row["dependent"] and any(v["kind"] == "negation" for v in row["violations"]) for row in findings
    )


def test_order_is_by_rank_or_as_in_the_log(browser: Browser, page: Path) -> None:
    browser.open(page)
    verdicts = browser.texts("#list .badge")
    assert verdicts == sorted(verdicts, key=["changed", "uncertain", "preserved"].index)
    browser.choose("order", "line")
    lines = [int(re.findall(r"line (\d+)", text)[0]) for text in browser.texts("#list .meta")]
    assert lines == sorted(lines)


def test_search_changes_the_rows(browser: Browser, page: Path, findings: list[dict[str, Any]]) -> None:
    browser.open(page).search("VacCine")
    shown = browser.texts("#list article")
    assert shown
    assert all("vaccine" in text.lower() for text in shown)
    assert len(shown) >= sum("vaccine" in (row["turn"] + row["rewrite"]).lower() for row in findings) > 0
    browser.search("no turn has these words")
    assert browser.count.startswith("No turn matches")
    assert browser.all("#list article") == []
    browser.press(Keys.ESCAPE)
    assert browser.count == f"25 of {len(findings)} shown"


def test_a_name_in_a_table_leads_to_its_rows(browser: Browser, page: Path, findings: list[dict[str, Any]]) -> None:
    browser.open(page)
    browser.choose("kind", "time")
    browser.js("document.querySelector('[data-filter=fault][data-value=altered]').click()")
    altered = sum("altered" in faults_of(row) for row in findings)
    WebDriverWait(browser.driver, 5).until(lambda _: browser.count.startswith(f"{altered} of {altered} shown"))
    assert browser.js("return document.getElementById('kind').value") == ""
    word = browser.one("#words tbody a")
    browser.js("arguments[0].click()", word)
    WebDriverWait(browser.driver, 5).until(lambda _: browser.js("return search.value") == word.text)
    assert all(word.text in text.lower() for text in browser.texts("#list article"))


def test_words_the_index_lacks_are_in_no_history(browser: Browser, page: Path, log: Path) -> None:
    browser.open(page)
    listed = browser.texts("#words tbody th")
    known = set((page.parent / "words").read_text("utf-8").lower().split())
    assert len(listed) > 20
    assert not set(listed) & known


def test_it_can_be_walked_with_the_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one("body").send_keys(Keys.TAB)
    assert browser.focus == "Skip to the turns"
    assert browser.js("return document.activeElement.getBoundingClientRect().top >= 0")
    browser.press(Keys.ENTER)
    assert browser.focus == "rows"
    order = []
    for _ in range(11):
        browser.press(Keys.TAB)
        order.append(browser.focus)
        outline = (
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
        )
        assert browser.js(outline) == ["solid", 3]
    assert order[:9] == ["search", *["verdict"] * 3, "fault", "kind", "dependence", "system", "order"]
    assert order[9:] == ["Clear filters", "Keys"]
    browser.press(Keys.TAB)
    assert browser.focus.startswith("Evidence of turn 1")
    browser.press(Keys.ENTER)
    assert browser.js("return document.activeElement.parentElement.open")


def test_keys_move_filter_and_search(browser: Browser, page: Path, findings: list[dict[str, Any]]) -> None:
    browser.open(page)
    browser.one("body").send_keys("j")
    assert browser.focus.startswith("Evidence of turn 1")
    browser.press("j", "j", "k")
    assert browser.focus.startswith("Evidence of turn 2")
    browser.press("p")
    kept = sum(row["verdict"] == "preserved" for row in findings)
    assert f"of {len(findings) - kept} shown" in browser.count
    browser.one("body").send_keys("/")
    assert browser.focus == "search"
    browser.press("c", "u", "p")
    WebDriverWait(browser.driver, 5).until(lambda _: browser.js("return search.value") == "cup")
    assert [box.is_selected() for box in browser.all("[name=verdict]")] == [True, True, False]
    browser.press(Keys.ESCAPE)
    browser.one(".keys summary").click()
    browser.one("#shortcuts").click()
    browser.one("body").send_keys("p")
    assert [box.is_selected() for box in browser.all("[name=verdict]")] == [True, True, False]


def test_more_rows_come_and_the_focus_goes_to_the_first(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one("#more").send_keys(Keys.ENTER)
    assert len(browser.all("#list article")) == 125
    assert browser.focus.startswith("Evidence of turn 26")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast_enough(browser: Browser, page: Path, scheme: str) -> None:
    browser.open(page, scheme=scheme)
    browser.js("for (const details of document.querySelectorAll('details')) details.open = true")
    seen, poor = browser.js(CONTRAST)
    assert seen > 1_000
    assert poor == []
    ground = browser.js("return getComputedStyle(document.body).backgroundColor")
    assert (int(re.findall(r"\d+", ground)[0]) < 40) is (scheme == "dark")


def test_marks_differ_in_words_and_in_shape(browser: Browser, page: Path) -> None:
    browser.open(page)
    shapes = browser.js(
        """return [...document.querySelectorAll(".legend .words")].map((e) => {
        const style = getComputedStyle(e); return style.textDecorationLine + " " + style.textDecorationStyle})"""
    )
    assert len(shapes) == len(set(shapes)) == 6
    browser.one("#more").click()
    for status in ("dropped", "altered", "invented", "carried"):
        assert status in browser.texts(f"#list .mark.{status} .tag")
    titles = browser.js("return [...document.querySelectorAll('#list .mark')].map((e) => e.title)")
    assert any(re.fullmatch(r"carried \(name\): from message \d+", title) for title in titles)
    assert all(titles)


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    browser.js("for (const details of document.querySelectorAll('details')) details.open = true")
    assert browser.js("return document.scrollingElement.scrollWidth") <= width


def test_names_captions_and_labels(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.js(NAMELESS) == []
    assert browser.js(DOUBLED) == []
    tables = browser.js("return [...document.querySelectorAll('table')].map((t) => t.caption?.textContent || '')")
    assert len(tables) == 5
    assert all(tables)
    levels = [
        int(level) for level in browser.js("return [...document.querySelectorAll('h1,h2,h3')].map((e) => e.tagName[1])")
    ]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_nothing_shifts(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = """const done = arguments[0]; let sum = 0;
    new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value; })
      .observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 500);"""
    assert browser.driver.execute_async_script(script) == 0


def test_paper_shows_the_evidence(browser: Browser, page: Path) -> None:
    browser.open(page, scheme="dark")
    count = "return document.querySelectorAll('#list details[open]').length"
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert browser.js(count) == 25
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.js(count) == 0
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert browser.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not browser.one("#filters").is_displayed()


def test_hostile_words_are_only_words(browser: Browser, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [
        {"id": t, "original": t, "rewrite": f"{t}?", "history": [["user", t], ["assistant", t]], "rewriter": t}
        for t in HOSTILE
    ]
    log.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    (tmp_path / "words").write_text("nothing", "utf-8")
    target = tmp_path / "page.html"
    command = ["audit", str(log), "--html", str(target), "--vocabulary", str(tmp_path / "words")]
    assert CliRunner().invoke(app, command).exit_code == 0
    browser.open(target)
    browser.js("for (const details of document.querySelectorAll('details')) details.open = true")
    assert browser.js("return window.hacked === undefined")
    assert browser.all("img, main script, article svg, style ~ style") == []
    assert browser.driver.get_log("browser") == []
    assert browser.requests() == [target.as_uri()]
    shown = "\n".join(browser.texts("#list article"))
    assert all(text.split("\u202e")[0] in shown for text in HOSTILE)
    browser.choose("system", str(sorted(HOSTILE).index(HOSTILE[0])))
    assert len(browser.all("#list article")) == 1
    # Were anything ever taken for markup, the page's own policy would still not let it run.
    browser.js(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 9'; document.body.append(s)"
    )
    assert browser.js("return window.hacked === undefined")


def page_of(tmp_path: Path, rows: list[dict[str, Any]], *args: str) -> Path:
    log, target = tmp_path / "log.jsonl", tmp_path / "page.html"
    log.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    assert CliRunner().invoke(app, ["audit", str(log), "--html", str(target), *args]).exit_code == 0
    return target


ASKED = {"original": "Is it open in 2023?", "rewrite": "Is it open in 2023?"}


def test_every_system_leads_to_its_rows(browser: Browser, tmp_path: Path) -> None:
    labels = {"prod": 30, "": 9, "a\r\nb": 8, "a\nb": 7, " lead": 6, "(others)": 5, "m\ud800": 4}
    many = [f"commit {number:03}" for number in range(100)]
    rows = [
        {**ASKED, "rewriter": label} for label in (*many, *(label for label, n in labels.items() for _ in range(n)))
    ]
    browser.open(page_of(tmp_path, [*rows, ASKED]))
    links = browser.all("#found a[data-filter=system]")
    assert len(links) == 101
    assert all(link.text for link in links)
    for place, expected in [*enumerate(labels.values()), (7, 1), (100, 7)]:
        browser.js("arguments[0].click()", links[place])
        most = min(expected, 25)
        ready = f"{most} of {expected} shown, {len(rows) + 1} in all"
        WebDriverWait(browser.driver, 5).until(lambda _, ready=ready: browser.count == ready)
    assert "(empty)" in browser.texts("#found a[data-filter=system]")


def test_the_focus_stays_where_a_key_takes_rows_away(browser: Browser, page: Path) -> None:
    browser.open(page)
    verdict = "return document.activeElement.closest('article')?.className"
    browser.one("body").send_keys("j")
    browser.press("j", "j")
    words = browser.js("return document.activeElement.closest('article').querySelector('.said').textContent")
    browser.press("p")
    assert browser.focus.startswith("Evidence of turn 3")
    browser.press("c")
    assert browser.focus.startswith("Evidence of turn 1")
    assert browser.js(verdict) == "card uncertain"
    browser.press("c", "u")
    assert browser.js(verdict) == "card changed"
    browser.press("c")
    assert browser.focus == "rows"
    browser.one("#filters [type=reset]").click()
    assert words in browser.js("return document.querySelector('#list').textContent")


def test_clearing_the_filters_leaves_the_keys_off(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.one(".keys summary").click()
    browser.one("#shortcuts").click()
    browser.one("[name=verdict]").click()
    before = browser.count
    browser.one("#filters [type=reset]").click()
    WebDriverWait(browser.driver, 5).until(lambda _: browser.count != before)
    browser.js("document.querySelector('[data-filter=verdict]').click()")
    WebDriverWait(browser.driver, 5).until(lambda _: "in all" in browser.count)
    assert not browser.one("#shortcuts").is_selected()


def test_words_compared_names_what_other_marks_hide(browser: Browser, tmp_path: Path) -> None:
    target = page_of(tmp_path, [{"original": "Which domes were not open in 2019?", "rewrite": "Thanks."}])
    (row,) = json.loads(
        re.findall(r'<script type="application/json" id="data">(.*?)</script>', target.read_text("utf-8"), re.S)[0]
    )
    apart = [words for words, *_ in row["hidden"][0]]
    assert apart
    browser.open(target)
    browser.one("#list summary").click()
    listed = browser.texts(".words-list .quoted")
    assert set(apart) <= set(listed)


def test_search_finds_letters_in_one_character_or_in_two(browser: Browser, tmp_path: Path) -> None:
    apart = {"original": "Is the cafe\u0301 open?", "rewrite": "Is it open?"}
    browser.open(page_of(tmp_path, [apart, ASKED]))
    for words in ("café", "cafe\u0301"):
        browser.search(words)
        assert browser.count == "1 of 1 shown, 2 in all"
        browser.one("#search").send_keys(Keys.ESCAPE)


def test_a_row_that_is_judged_otherwise_says_so_and_is_found(browser: Browser, tmp_path: Path) -> None:
    browser.open(
        page_of(tmp_path, [{**ASKED, "verdict": "changed", "history_turns": 30}, {**ASKED, "verdict": "preserved"}])
    )
    browser.search("judged otherwise")
    (meta,) = browser.texts("#list .meta")
    assert "judged otherwise now, logged as changed · the log holds the last messages alone" in meta


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_of_intervals_have_contrast_enough(browser: Browser, tmp_path: Path, scheme: str) -> None:
    browser.open(page_of(tmp_path, [{**ASKED, "timestamp": f"2024-05-0{day}"} for day in (1, 2, 3)]), scheme=scheme)
    helpers = CONTRAST.split("const walker")[0]
    ratio = "const a = light(rgb(one)), b = light(rgb(other)); return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);"
    whisker = "const s = getComputedStyle(document.querySelector('.whisker'));"
    assert browser.js(f"{whisker} return s.opacity") == "1"
    figure = "const other = `rgb(${ground(document.querySelector('.chart')).slice(0, 3)})`;"
    assert browser.js(f"{helpers} {whisker} {figure} const one = s.stroke; {ratio}") >= 3
    line = "const s = getComputedStyle(document.querySelector('.range')), one = s.backgroundColor;"
    rim = "const other = /^rgb[^)]*[)]/.exec(s.boxShadow)[0];"
    assert browser.js(f"{helpers} {line} {rim} {ratio}") >= 3


def test_ten_thousand_rows(
    browser: Browser, entries: list[Entry], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    tally, target = Tally(), tmp_path / "page.html"
    with (tmp_path / "rows").open("w+", encoding="utf-8") as rows, target.open("w", encoding="utf-8") as out:
        long = Page(rows)
        for line in range(1, 10_001):
            entry = entries[line % len(entries)]
            long.add([replace(entry, line=line, shown={**entry.shown, "line": line})])
            tally.verdicts[entry.verdict.value] += 1
        long.write(out, ["long.jsonl"], tally)
    assert target.stat().st_size < 16_000_000
    browser.open(target)
    assert browser.count == "25 of 10,000 shown"
    ready = browser.js("return performance.getEntriesByType('navigation')[0].domInteractive")
    start = monotonic()
    browser.choose("fault", "dropped")
    filtered = monotonic() - start
    start = monotonic()
    browser.search("vaccine")
    searched = monotonic() - start
    figures = {"bytes": target.stat().st_size, "ready_ms": ready, "filter_s": filtered, "search_s": searched}
    for name, value in figures.items():
        record_property(name, value)
    assert ready < 5_000
    assert filtered < 2
    assert searched < 3
