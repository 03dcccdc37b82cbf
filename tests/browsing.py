"""A real browser for the tests of pages: Debian's Chromium, driven by its ChromeDriver (extra `dashboards`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
SWITCHES = (
    "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync force-prefers-reduced-motion"
)

# The contrast of every text that is shown, as WCAG 2.1 computes it: those below 4.5 (3 for large text).
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgb = (colour) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
  .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const colour = rgb(getComputedStyle(each).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return rgb("white");
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), poor = [];
let seen = 0;
for (let node; (node = walker.nextNode());) {
  const element = node.parentElement;
  if (!node.data.trim() || !element.checkVisibility() || element.closest("script, option")) continue;
  seen += 1;
  const style = getComputedStyle(element);
  const pair = [light(rgb(style.color)), light(ground(element))].sort((a, b) => b - a);
  const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) poor.push([node.data.trim().slice(0, 40), ratio, element.className]);
}
return [seen, poor];
"""
NAMELESS = """
const named = (e) => (e.getAttribute("aria-label") || e.textContent || "").trim()
  || [...(e.labels || [])].some((label) => label.textContent.trim()) || e.getAttribute("aria-labelledby");
return [...document.querySelectorAll("a[href], button, input, select, summary, article, svg[role=img], [role=region]")]
  .filter((e) => e.checkVisibility() && !named(e)).map((e) => e.outerHTML.slice(0, 80));
"""
DOUBLED = """
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
const missing = [...document.querySelectorAll("[aria-labelledby]")].map((e) => e.getAttribute("aria-labelledby"))
  .filter((id) => !document.getElementById(id));
return [...ids.filter((id, place) => ids.indexOf(id) !== place), ...missing];
"""


class Browser:
    """One page at a time, with what the tests ask of it."""

    def __init__(self, folder: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for switch in (*SWITCHES.split(), f"user-data-dir={folder}"):
            options.add_argument(f"--{switch}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))

    def open(self, page: Path, *, scheme: str = "light", width: int = 1280) -> Browser:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        media = {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        for kind in ("browser", "performance"):  # what earlier pages left
            self.driver.get_log(kind)
        self.driver.get(page.as_uri())
        return self

    def js(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(script, *args)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def press(self, *keys: str) -> Browser:
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)
        return self

    @property
    def focus(self) -> str:
        return self.js("const e = document.activeElement; return e.id || e.name || e.textContent.trim()")

    @property
    def count(self) -> str:
        return self.one("#count").text

    def choose(self, name: str, value: str) -> None:
        self.js(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event('change', {bubbles: true}))",
            name,
            value,
        )

    def search(self, words: str) -> None:
        before = self.count
        self.one("#search").clear()
        self.one("#search").send_keys(words)
        WebDriverWait(self.driver, 5).until(lambda _: self.count != before)

    def requests(self) -> list[str]:
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
