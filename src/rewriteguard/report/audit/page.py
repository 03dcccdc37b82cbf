"""The page of an audit: what was found in a log (extra `report`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from rewriteguard.evaluation.vocabulary import UnknownWords
from rewriteguard.model.assessment import KIND_NAMES, Verdict
from rewriteguard.report.audit.chart import charts
from rewriteguard.report.audit.summary import Summary
from rewriteguard.report.render import inert_json, write_page

if TYPE_CHECKING:
    from typing import TextIO

    from rewriteguard.audit.log import Tally
    from rewriteguard.report.audit.entry import Entry
    from rewriteguard.report.audit.summary import Group

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
        self._unknown: UnknownWords[tuple[int, int]] | None = None if vocabulary is None else UnknownWords(vocabulary)

    def add(self, entries: Iterable[Entry]) -> None:
        """Counts entries and keeps their rows."""
        for entry in entries:
            self._summary.add(entry)
            if self._unknown is not None:
                self._unknown.add(entry.turn, entry.rewrite, (entry.file, entry.line))
            self._rows.write(inert_json(entry.shown) + "\n")

    def write(self, target: TextIO, logs: Sequence[str], tally: Tally) -> None:
        """Writes the page about logs of these names; `tally` says how many lines could not be read."""
        unit, periods = self._summary.periods()
        names = {"kinds": KIND_NAMES, "logs": logs, "systems": self._summary.systems()}
        write_page(
            target,
            "report",
            {
                "logs": logs,
                "about": _about(logs),
                "tally": tally,
                "summary": self._summary,
                "verdicts": [verdict.value for verdict in _VERDICTS],
                "unit": unit,
                "periods": periods,
                "charts": charts(periods, _VERDICTS[:2]),
                "unknown": self._unknown,
                "words": self._unknown.most_frequent() if self._unknown else [],
                "most_words": _WORDS,
                "kinds": KIND_NAMES,
                "names": Markup(inert_json(names)),
                "rows": self._read_rows(),
            },
            {"highest": _highest},
        )

    def _read_rows(self) -> Iterator[Markup]:
        self._rows.seek(0)
        return map(Markup, self._rows)


def _about(logs: Sequence[str]) -> str:
    more = len(logs) - _NAMED
    return ", ".join(logs[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _highest(groups: Sequence[Group]) -> float:
    """The top of the bars of a table that compares the groups."""
    return max(group.of(verdict).high or 0.0 for group in groups for verdict in _VERDICTS[:2])
