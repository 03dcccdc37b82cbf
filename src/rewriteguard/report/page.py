"""Writes the page: one HTML file that asks for nothing else, whatever the log holds (extra `report`)."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import rewriteguard
from rewriteguard.assessment import Verdict
from rewriteguard.explain import KIND_NAMES
from rewriteguard.report.chart import charts
from rewriteguard.report.summary import Summary
from rewriteguard.report.vocabulary import UnknownWords

if TYPE_CHECKING:
    from typing import TextIO

    from rewriteguard.audit import Tally
    from rewriteguard.report.entry import Entry
    from rewriteguard.report.summary import Group

_WORDS = 500  # unknown words that the page lists
_NAMED = 3  # logs that the title names
_VERDICTS = (Verdict.CHANGED, Verdict.UNCERTAIN, Verdict.PRESERVED)


class Page:
    """Gathers entries and writes the page.

    Args:
        rows: A file to write and read in which the rows wait, so that a log of any length can be shown.
        vocabulary: The words of the corpus; None where there is none to hold the rewrites against.
    """

    def __init__(self, rows: TextIO, vocabulary: Iterable[str] | None = None) -> None:
        self._rows = rows
        self._summary = Summary()
        self._unknown = None if vocabulary is None else UnknownWords(vocabulary)

    def add(self, entries: Iterable[Entry]) -> None:
        """Counts entries and keeps their rows."""
        for entry in entries:
            self._summary.add(entry)
            if self._unknown is not None:
                self._unknown.add(entry)
            self._rows.write(inert_json(entry.shown) + "\n")

    def write(self, target: TextIO, logs: Sequence[str], tally: Tally) -> None:
        """Writes the page about logs of these names; `tally` says how many lines could not be read."""
        script = _asset("report.js")
        unit, periods = self._summary.periods()
        pieces = (
            _environment()
            .get_template("report.html.j2")
            .generate(
                logs=logs,
                about=_about(logs),
                version=rewriteguard.__version__,
                tally=tally,
                summary=self._summary,
                verdicts=[verdict.value for verdict in _VERDICTS],
                unit=unit,
                periods=periods,
                charts=charts(periods, _VERDICTS[:2]),
                unknown=self._unknown,
                words=self._unknown.most_frequent() if self._unknown else [],
                most_words=_WORDS,
                style=Markup(_asset("report.css")),
                script=Markup(script),
                script_hash=b64encode(sha256(script.encode()).digest()).decode(),
                kinds=KIND_NAMES,
                names=Markup(inert_json({"kinds": KIND_NAMES, "logs": logs, "systems": self._summary.systems()})),
                rows=self._read_rows(),
            )
        )
        for piece in pieces:
            # Half a surrogate pair is no text that a browser could show.
            target.write(piece.encode("utf-8", "replace").decode("utf-8"))

    def _read_rows(self) -> Iterator[Markup]:
        """The rows as JSON, with a comma before each but the first."""
        self._rows.seek(0)
        yield from (Markup(line) for line in islice(self._rows, 1))
        yield from (Markup("," + line) for line in self._rows)


def inert_json(value: Any) -> str:
    """The value as JSON that stays data inside a script element: nothing in it opens or ends markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").encode("utf-8", "backslashreplace").decode()


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rewriteguard.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = _percent
    environment.filters["highest"] = _highest
    return environment


def _asset(name: str) -> str:
    return resources.files("rewriteguard.report").joinpath(name).read_text("utf-8")


def _about(logs: Sequence[str]) -> str:
    more = len(logs) - _NAMED
    return ", ".join(logs[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _percent(value: float) -> str:
    return f"{value:.1%}".replace("%", " %")


def _highest(groups: Sequence[Group]) -> float:
    """The top of the bars of a table that compares the groups."""
    return max(group.of(verdict).high for group in groups for verdict in _VERDICTS[:2])
