"""The page of an audit: what it counts, its charts over time, and what was found in a log (extra `report`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup

from rewriteguard.evaluation.figure import share
from rewriteguard.evaluation.vocabulary import UnknownWords
from rewriteguard.model.assessment import KIND_NAMES
from rewriteguard.model.rules import Verdict
from rewriteguard.report.render import inert_json, write_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from rewriteguard.audit.run import Tally
    from rewriteguard.evaluation.figure import Figure
    from rewriteguard.report.audit.entry import Entry

    Step = Callable[[datetime], datetime]

WIDTH, HEIGHT = 1000, 100
_SCALES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)  # tops of the axis that read well
_MOST_PERIODS = 45  # that fit beside one another on a page
_MOST_SYSTEMS = 100  # labels that get a row of their own, the most frequent; the others are one row
_MOST_LABELS = 10_000  # that are counted apart; a log with a label for each row has no systems
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


@dataclass(slots=True)
class Summary:
    """Counts over the entries that were added; every count is of rows, a row with two faults counts under both."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    _by: dict[str, dict[str, Counter[Verdict]]] = field(default_factory=dict)
    _hours: dict[datetime, Counter[Verdict]] = field(default_factory=dict)
    _labels: dict[str, Counter[Verdict]] = field(default_factory=dict)
    _other_labels: Counter[Verdict] = field(default_factory=Counter)

    def add(self, entry: Entry) -> None:
        """Counts one entry."""
        self.verdicts[entry.verdict] += 1
        self._count("fault", entry.faults, entry.verdict)
        self._count("kind", entry.kinds, entry.verdict)
        self._count("dependence", ["dependent" if entry.dependent else "complete"], entry.verdict)
        if entry.system is not None:
            room = entry.system in self._labels or len(self._labels) < _MOST_LABELS
            counts = self._labels.setdefault(entry.system, Counter()) if room else self._other_labels
            counts[entry.verdict] += 1
        if entry.timestamp is not None:
            hour = entry.timestamp.replace(minute=0, second=0, microsecond=0)
            self._hours.setdefault(hour, Counter())[entry.verdict] += 1

    @property
    def checked(self) -> int:
        """The number of entries."""
        return self.verdicts.total()

    @property
    def dated(self) -> int:
        """The number of entries with a timestamp."""
        return sum(counts.total() for counts in self._hours.values())

    def share(self, verdict: str) -> Figure:
        """The share of one verdict."""
        return share(self.verdicts[Verdict(verdict)], self.checked)

    def groups(self, what: str) -> list[RowGroup]:
        """The groups by `fault`, `kind`, `system` or `dependence`, the largest first."""
        if what == "system":
            return self._by_system()
        found = [RowGroup(name, counts, self.checked, name) for name, counts in self._by.get(what, {}).items()]
        return sorted(found, key=lambda group: (-group.rows, group.name))

    def systems(self) -> list[str]:
        """The labels that have a group of their own, the most frequent first."""
        ranked = sorted(self._labels, key=lambda label: (-self._labels[label].total(), label))
        return ranked[:_MOST_SYSTEMS]

    def _by_system(self) -> list[RowGroup]:
        """A group for each of the `systems`, known to filters by its place among them, and behind them the others."""
        own = self.systems()
        groups = [RowGroup(label, self._labels[label], self.checked, str(place)) for place, label in enumerate(own)]
        others = sum((self._labels[label] for label in self._labels.keys() - set(own)), Counter(self._other_labels))
        return [*groups, RowGroup("(others)", others, self.checked, str(len(own)))] if others else groups

    def periods(self) -> tuple[str, list[RowGroup]]:
        """The unit (hour, day, week, month, year) and its periods, oldest first, also those without a row."""
        if not self._hours:
            return "", []
        first, last = min(self._hours), max(self._hours)
        unit = next((u for u in _UNITS if len(_starts(u, first, last, _MOST_PERIODS + 1)) <= _MOST_PERIODS), "year")
        floor, _, form = _UNITS[unit]
        merged = {start: Counter[Verdict]() for start in _starts(unit, first, last)}
        for hour, counts in self._hours.items():
            merged[floor(hour)].update(counts)
        return unit, [RowGroup(start.strftime(form), counts, self.dated) for start, counts in merged.items()]

    def _count(self, what: str, names: Iterable[str], verdict: Verdict) -> None:
        counted = self._by.setdefault(what, {})
        for name in names:
            counted.setdefault(name, Counter())[verdict] += 1


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The rows that have one thing in common, such as a fault.

    Attributes:
        name: What they have in common.
        verdicts: How many there are of each verdict.
        n: The number of rows that the share is taken of.
        value: What the filter of the page is set to for them.
    """

    name: str
    verdicts: Counter[Verdict]
    n: int
    value: str = ""

    @property
    def rows(self) -> int:
        """The number of rows of the group."""
        return self.verdicts.total()

    @property
    def share(self) -> Figure:
        """Its share of `n`."""
        return share(self.rows, self.n)

    def of(self, verdict: str) -> Figure:
        """The share of one verdict among the rows of the group."""
        return share(self.verdicts[Verdict(verdict)], self.rows)


@dataclass(frozen=True, slots=True)
class Point:
    """One period: its place, and those of the share and its interval, from the top left corner.

    `joined` says whether the period before it has rows too, so that a line may join them.
    """

    x: float
    y: float
    low: float
    high: float
    joined: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """The share of one verdict over time: the points of the periods that have rows, and the share at the axis's top."""

    verdict: str
    points: tuple[Point, ...]
    top: float


def charts(periods: Sequence[RowGroup], verdicts: Sequence[Verdict]) -> list[Chart]:
    """One chart for each verdict, all with one axis, so that their heights can be compared."""
    shares = [[(place, period.of(v)) for place, period in enumerate(periods) if period.rows] for v in verdicts]
    highest = max((share.high or 0.0 for points in shares for _, share in points), default=0.0)
    top = next(scale for scale in _SCALES if scale >= highest)
    step = WIDTH / max(1, len(periods))
    return [
        Chart(verdict.value, tuple(_points(points, step, top)), top)
        for verdict, points in zip(verdicts, shares, strict=True)
    ]


def _points(shares: Sequence[tuple[int, Figure]], step: float, top: float) -> Iterator[Point]:
    before = None
    for place, figure in shares:
        parts = (figure.value, figure.low, figure.high)
        y, low, high = (round(HEIGHT * (1 - (part or 0.0) / top), 2) for part in parts)
        yield Point(round((place + 0.5) * step, 1), y, low, high, joined=before == place - 1)
        before = place


def _about(logs: Sequence[str]) -> str:
    more = len(logs) - _NAMED
    return ", ".join(logs[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _highest(groups: Sequence[RowGroup]) -> float:
    """The top of the bars of a table that compares the groups."""
    return max(group.of(verdict).high or 0.0 for group in groups for verdict in _VERDICTS[:2])


def _starts(unit: str, first: datetime, last: datetime, most: int | None = None) -> list[datetime]:
    """The starts of the periods from `first` to `last`, no more than `most`."""
    floor, following, _ = _UNITS[unit]
    starts = [floor(first)]
    while (start := following(starts[-1])) <= last and len(starts) != most:
        starts.append(start)
    return starts


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0)


def _monday(moment: datetime) -> datetime:
    return _midnight(moment) - timedelta(days=moment.weekday())


def _next_month(start: datetime) -> datetime:
    return datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=UTC)


_UNITS: dict[str, tuple[Step, Step, str]] = {
    "hour": (lambda moment: moment, lambda start: start + timedelta(hours=1), "%Y-%m-%d %H:00"),
    "day": (_midnight, lambda start: start + timedelta(days=1), "%Y-%m-%d"),
    "week": (_monday, lambda start: start + timedelta(days=7), "%Y-%m-%d"),
    "month": (lambda moment: _midnight(moment).replace(day=1), _next_month, "%Y-%m"),
    "year": (
        lambda moment: _midnight(moment).replace(month=1, day=1),
        lambda start: start.replace(year=start.year + 1),
        "%Y",
    ),
}
