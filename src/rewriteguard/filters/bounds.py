"""What a time or an amount lets through, so that it can be compared with what a comparator lets through.

"after 2020" keeps the days from 2021-01-01 on, and so do `> 2020-12-31`, `>= 2021-01-01` and `> 2020` of a field that
holds years.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction

from rewriteguard.extract import same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.quantity import START, convert, number_at, written
from rewriteguard.extract.time.value import UNIT_DAYS, WORDS, Interval, in_year, interval, nearest, period, resolve
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

Days = tuple[date | None, date | None]
"""The first day and the day behind the last; None where there is no end."""

RELATIONS: dict[str, dict[Kind, str]] = {
    "eq": {}, "in": {}, "contain": {}, "like": {},
    "gt": {Kind.TIME: "after", Kind.QUANTITY: ">", Kind.VERSION: ">"},
    "gte": {Kind.TIME: "since", Kind.QUANTITY: ">=", Kind.VERSION: ">="},
    "lt": {Kind.TIME: "before", Kind.QUANTITY: "<", Kind.VERSION: "<"},
    "lte": {Kind.TIME: "until", Kind.QUANTITY: "<=", Kind.VERSION: "<="},
}  # fmt: skip
"""The relation that a comparator gives to a token of a kind; other comparators are not understood."""

JOINT = ".."
"""Between the two ends of a range in its text and its value."""

_THOUSANDS = {Fraction(1000**power): power for power in range(6)}
_UNITS = [convert(Fraction(1), name) for name in lexicon.section("quantity")["factors"]]
_SCALES = {base: frozenset(scale for scale, each in _UNITS if each == base) for _, base in _UNITS}

NO_FACTS = Facts()
"""Nothing beside the two tokens: no month is that of one year."""

_YEARS = re.compile(rf"\d{{4}} (?:{re.escape(JOINT)}\d{{4}})?", re.VERBOSE)
_PART = re.compile(rf"(?:{'|'.join(WORDS['parts'])}):")
_NUMBER = re.compile(rf"(?<![\w.,]) {START}", re.IGNORECASE | re.VERBOSE)


def days_of(token: ProtectedToken, facts: Facts) -> tuple[Days, ...]:
    """The days that a time keeps, in each way it may be read; none where no calendar says it.

    "from 2020" is in 2020 or since 2020; a run up to the day of reference has no other end than that day.
    """
    running = token.value.startswith("relative") and token.relation in ("", "~")
    today = facts.reference_date
    found: list[Days] = []
    for first, behind in periods(token, facts):
        found += _kept(token.relation, first, behind)
        if running and today is not None and behind > today:
            found.append((first, None))
    return tuple(dict.fromkeys(found))


def _kept(relation: str, first: date, behind: date) -> list[Days]:
    kept: dict[str, list[Days]] = {
        "since": [(first, None)],
        "after": [(behind, None)],
        "before": [(None, first)],
        "until": [(None, behind)],
        "by": [(None, behind)],
        "from": [(first, behind), (first, None)],
        "as of": [(first, behind), (None, behind)],
    }
    return kept.get(relation, [(first, behind)])


def periods(token: ProtectedToken, facts: Facts) -> tuple[Interval, ...]:
    """The days that a time names, half-open, without its relation; several where it may be read in several ways."""
    found: list[Interval] = []
    for reading in token.value.split("|"):
        value = _PART.sub("", reading, count=1)
        days = interval(value)
        if days is not None:
            found.append(days)
        elif facts.reference_date is not None:
            near = resolve(value, facts.reference_date)
            found += [near] if near else nearest(value, facts.reference_date)
    return tuple(found)


def same_days(ours: ProtectedToken, theirs: ProtectedToken, facts: Facts) -> bool:
    """True where two times keep the same days, however they are written."""
    if same_for(Kind.TIME)(ours, theirs, facts) is Match.SAME:
        return True
    slack = UNIT_DAYS.get(ours.value.split(":")[1], 0) if ".." in ours.value else 0
    kept = days_of(ours, facts)
    pairs = [(days, own) for days in days_of(theirs, facts) for own in kept]
    if _PART.match(ours.value) and any(_holds(own, days) for days, own in pairs):  # "the early 1960s": no day is named
        return True
    return any(_close(days[0], own[0], slack) and _close(days[1], own[1], slack) for days, own in pairs)


def is_rougher(theirs: ProtectedToken, ours: ProtectedToken, facts: Facts) -> bool:
    """True for whole years in place of some of their days, where no day that the user wants is lost and no year added.

    So is one month or quarter for a day in it; a day is never the end of rougher times.
    """
    if _YEARS.fullmatch(theirs.text):
        wanted = {_whole_years(days) for days in days_of(ours, facts)}
        return any(days in wanted for days in days_of(theirs, facts))
    part = not theirs.relation and JOINT not in theirs.text
    return part and same_for(Kind.TIME)(theirs, ours, NO_FACTS) is Match.NARROWER  # a field of months holds all Junes


def _whole_years(days: Days) -> Days:
    """The calendar years that hold the days; an end stays open."""
    first, behind = days
    if behind is not None and (behind.month, behind.day) != (1, 1):
        behind = date(min(behind.year + 1, date.max.year), 1, 1)
    return first and date(first.year, 1, 1), behind


def related(token: ProtectedToken, comparator: str) -> ProtectedToken:
    """A value's token with the relation that the comparator gives it."""
    return replace(token, relation=RELATIONS[comparator].get(token.kind, token.relation))


def joined(one: ProtectedToken, other: ProtectedToken) -> ProtectedToken | None:
    """The period or the range between a lower and an upper bound of one field; None where they are something else."""
    if one.kind is not other.kind:
        return None
    both = replace(one, text=f"{one.text}{JOINT}{other.text}", relation="")
    if one.kind is Kind.QUANTITY and (one.relation, other.relation) == (">=", "<="):
        return replace(both, value=f"{one.value.split()[0]}{JOINT}{other.value}")
    if one.kind is not Kind.TIME or one.relation not in ("since", "after") or other.relation not in ("before", "until"):
        return None
    lower, upper = days_of(one, NO_FACTS), days_of(other, NO_FACTS)
    if len(lower) != 1 or len(upper) != 1:
        return None
    first, behind = lower[0][0], upper[0][1]
    if first is None or behind is None or behind <= first:
        return None
    return replace(both, value=period(first, behind))


def in_its_year(part: ProtectedToken, year: ProtectedToken) -> ProtectedToken | None:
    """The days of a month or quarter in the year that another field holds; None where they are something else."""
    days = interval(year.value) if year.text.isdigit() else None
    if days is None or part.kind is not Kind.TIME or part.relation or year.relation:
        return None
    run = in_year(part.value, days[0].year)
    return run and replace(part, text=f"{part.text} {year.text}", value=period(*run))


def _holds(outer: Days, inner: Days) -> bool:
    first = outer[0] is None or (inner[0] is not None and outer[0] <= inner[0])
    behind = outer[1] is None or (inner[1] is not None and inner[1] <= outer[1])
    return first and behind


def _close(one: date | None, other: date | None, slack: int) -> bool:
    if one is None or other is None:
        return one is other
    return abs((one - other).days) <= slack


def numbers_of(token: ProtectedToken, measure: str | None = None) -> frozenset[str]:
    """The numbers that a field may hold for an amount, in any unit of its dimension; a share of one for a percentage.

    "5 km" is 5 in a field of kilometres and 5000 in one of metres; the ends of a range are joined by dots. Money is
    never converted.

    Args:
        token: The amount.
        measure: The unit that the field's name says, by its name in the unit registry. Where the amount is of its
            dimension the number is in that unit; a thousand bytes may be 1024.
    """
    said = list(_numbers_in(token.text))
    if token.value.endswith("percent"):
        return frozenset((_ends(said), token.value.split(" ")[0], _ends([number / 100 for number in said])))
    found: set[str] = set()
    for reading in token.value.split("|"):
        number, _, base = reading.partition(" ")
        scales = _SCALES.get(base, frozenset())
        own = convert(Fraction(1), measure) if measure else None
        exact = own is not None and own[1] == base and own[0] in scales
        amounts = [Fraction(end) for end in number.split(JOINT)] if scales else []
        for scale in (own[0],) if own and exact else scales:
            found.add(_ends([amount / scale for amount in amounts]))
            found |= _in_binary(said, amounts, scale) if base == "byte" else set()
        found |= set() if exact else {number, _ends(said)}
    return frozenset(found)


def _in_binary(said: list[Fraction], amounts: list[Fraction], scale: Fraction) -> set[str]:
    """16384 megabytes for 16 gigabytes."""
    if not said or not said[0] or len(said) != len(amounts):
        return set()
    steps = _THOUSANDS.get(amounts[0] / said[0], 0) - _THOUSANDS[scale]
    return {_ends([number * Fraction(1024) ** steps for number in said])}


def _ends(numbers: list[Fraction]) -> str:
    return JOINT.join(map(written, numbers))


def _numbers_in(text: str) -> Iterator[Fraction]:
    end = 0
    for m in _NUMBER.finditer(text):
        number = (
            number_at(text, m.start(), money="$" in text or "€" in text or "£" in text) if m.start() >= end else None
        )
        if number is not None:
            end = number.end
            yield number.value
