"""What the page counts: rows by fault, kind, system and dependence, and over time, each by verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rewriteguard.evaluation.figure import Figure, share
from rewriteguard.model.assessment import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rewriteguard.report.audit.entry import Entry

_MOST_PERIODS = 45  # that fit beside one another on a page
_MOST_SYSTEMS = 100  # labels that get a row of their own, the most frequent; the others are one row
_MOST_LABELS = 10_000  # that are counted apart; a log with a label for each row has no systems


@dataclass(frozen=True, slots=True)
class Group:
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

    def groups(self, what: str) -> list[Group]:
        """The groups by `fault`, `kind`, `system` or `dependence`, the largest first."""
        if what == "system":
            return self._by_system()
        found = [Group(name, counts, self.checked, name) for name, counts in self._by.get(what, {}).items()]
        return sorted(found, key=lambda group: (-group.rows, group.name))

    def systems(self) -> list[str]:
        """The labels that have a group of their own, the most frequent first."""
        ranked = sorted(self._labels, key=lambda label: (-self._labels[label].total(), label))
        return ranked[:_MOST_SYSTEMS]

    def _by_system(self) -> list[Group]:
        """A group for each of the `systems`, known to filters by its place among them, and behind them the others."""
        own = self.systems()
        groups = [Group(label, self._labels[label], self.checked, str(place)) for place, label in enumerate(own)]
        others = sum((self._labels[label] for label in self._labels.keys() - set(own)), Counter(self._other_labels))
        return [*groups, Group("(others)", others, self.checked, str(len(own)))] if others else groups

    def periods(self) -> tuple[str, list[Group]]:
        """The unit (hour, day, week, month, year) and its periods, oldest first, also those without a row."""
        if not self._hours:
            return "", []
        first, last = min(self._hours), max(self._hours)
        unit = next((u for u in _UNITS if len(_starts(u, first, last, _MOST_PERIODS + 1)) <= _MOST_PERIODS), "year")
        floor, _, form = _UNITS[unit]
        merged = {start: Counter[Verdict]() for start in _starts(unit, first, last)}
        for hour, counts in self._hours.items():
            merged[floor(hour)].update(counts)
        return unit, [Group(start.strftime(form), counts, self.dated) for start, counts in merged.items()]

    def _count(self, what: str, names: Iterable[str], verdict: Verdict) -> None:
        counted = self._by.setdefault(what, {})
        for name in names:
            counted.setdefault(name, Counter())[verdict] += 1


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


_Step = tuple["Callable[[datetime], datetime]", "Callable[[datetime], datetime]", str]
_UNITS: dict[str, _Step] = {
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
