"""Canonical values of times, how they are written and which days they mean, and the grammar that finds times.

A value is one of

- `2023-07-01/2023-10-01`: a period, first day to the day behind the last (the third quarter of 2023);
- `--06-06`, `--06`, `--Q3`, `--05-04/--05-10`: a day, month, quarter or run of days of no stated year;
- `weekday:0`: Monday, any or the nearest one;
- `relative:year:-1`: the whole year before the current one; `relative:day:1:night`: the night of tomorrow;
- `relative:year:-3..0`: the three years up to today; `relative:year:-few..0` where no number is given;
- `relative:weekday-1:1`, `relative:month-06:-1`: next Tuesday, last June; `relative:year-to-date`; `present`;
- `FY2023`, `FY2023-Q3`: fiscal, never equal to a calendar period;
- `T17:00`: a time of day; `T17:00/T18:00`: a run of hours;
- `2019-summer`, `summer`, `christmas`, `morning`, `weekend`, `BC:44`: names that no calendar arithmetic resolves;
- `early:` and its kin in front of any of these: a part of the period;
- readings joined by `|` where the words allow several (06/07/2025, or 5:30 without am or pm).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import lru_cache

import dateparser

from rewriteguard.extract import base
from rewriteguard.extract.base import Form, group
from rewriteguard.language import lexicon

Interval = tuple[date, date]
WORDS = lexicon.section("time")
MONTHS: dict[str, int] = WORDS["months"] | WORDS["months_short"]
MONTH_NAMES: list[str] = list(WORDS["months"])
_PERIOD = re.compile(r"(\d{4}-\d\d-\d\d)/(\d{4}-\d\d-\d\d)")
_YEARLESS = re.compile(r"--(?:Q(?P<quarter>[1-4])|(?P<month>\d\d)(?:-(?P<day>\d\d))?(?:/--(?P<to>\d\d-\d\d))?)")
_RELATIVE = re.compile(
    r"relative:(?P<unit>[a-z]+)(?:-(?P<which>\d+))?:(?P<first>-?\d+)(?:\.\.(?P<last>-?\d+))?(?::[a-z]+)?"
)
_LEAP_YEAR = 2000  # every day of the calendar exists in it
_LAST_YEAR = 9998
UNIT_DAYS = {
    "day": 1, "week": 7, "weekend": 7, "month": 31, "quarter": 92, "year": 366, "decade": 3653, "century": 36525,
}  # fmt: skip


def period(first: date, behind: date) -> str:
    """The value of the days from `first` up to, not including, `behind`."""
    return f"{first.isoformat()}/{behind.isoformat()}"


def years(first: int, last: int) -> str | None:
    """The value of the years `first` to `last`, both included; None where the calendar does not hold them."""
    if not 1 <= first <= last <= _LAST_YEAR:
        return None
    return period(date(first, 1, 1), date(last + 1, 1, 1))


def months(year: int, first: int, count: int = 1) -> str | None:
    """The value of `count` months of a year from month `first` (1 to 12)."""
    if not 1 <= year <= _LAST_YEAR:
        return None
    start = date(year, first, 1)
    return period(start, _shift(start, "month", count))


def day(year: int | None, month: str, number: str) -> str | None:
    """The value of one day; of a yearless day where `year` is None. None where there is no such day.

    Args:
        year: The year, or None.
        month: Name or number of the month.
        number: Day of the month.
    """
    found = _calendar_day(f"{number} {month}")
    if found is None:
        return None
    if year is None:
        return f"--{found.month:02}-{found.day:02}"
    if not 1 <= year <= _LAST_YEAR or (found.month == 2 and found.day == 29 and not _is_leap(year)):
        return None
    start = found.replace(year=year)
    return period(start, start + timedelta(days=1))


def numeric_day(first: int, second: int, year: int) -> str | None:
    """The value of 06/07/2025: one day where only one order is possible, both readings where both are."""
    orders = [(second, first), (first, second)]  # day first, month first
    found = sorted(
        {value for m, d in orders if m <= 12 and (value := day(year, MONTH_NAMES[m - 1], str(d))) is not None}
    )
    return "|".join(found) or None


@lru_cache(maxsize=2048)
def _calendar_day(text: str) -> date | None:
    """The day of `text`, such as `6 June`, in a leap year.

    The year is put on by the caller, so that however many dates a text holds, only days of one year are parsed
    (1.5 ms each). Everything is explicit: nothing is taken from the clock.
    """
    found = dateparser.parse(
        f"{text} {_LEAP_YEAR}",
        languages=["en"],
        settings={
            "DATE_ORDER": "DMY",
            "PARSERS": ["absolute-time"],
            "REQUIRE_PARTS": ["day", "month", "year"],
            "RELATIVE_BASE": datetime(_LEAP_YEAR, 1, 1),
        },
    )
    return None if found is None or found.year != _LEAP_YEAR else found.date()


def warm_up() -> None:
    """Loads dateparser's English data, which takes a quarter of a second on first use."""
    _calendar_day("6 june")


def interval(value: str) -> Interval | None:
    """The days of an absolute value; None for every other value."""
    match = _PERIOD.fullmatch(value)
    return (date.fromisoformat(match[1]), date.fromisoformat(match[2])) if match else None


def is_yearless(value: str) -> bool:
    """True for a day, month or quarter of no stated year."""
    return _YEARLESS.fullmatch(value) is not None


def in_year(value: str, year: int) -> Interval | None:
    """The days that a yearless value means in `year`; None where it is not yearless or that year lacks the day."""
    match = _YEARLESS.fullmatch(value)
    if match is None or not 1 < year < _LAST_YEAR:
        return None
    try:
        if match["quarter"]:
            start = date(year, 3 * int(match["quarter"]) - 2, 1)
            return start, _shift(start, "month", 3)
        start = date(year, int(match["month"]), int(match["day"] or 1))
        if match["to"]:
            behind = date.fromisoformat(f"{year:04}-{match['to']}")
            return start, behind if behind > start else behind.replace(year=year + 1)
    except ValueError:  # 29 February outside a leap year
        return None
    return start, (start + timedelta(days=1) if match["day"] else _shift(start, "month", 1))


def resolve(value: str, reference: date) -> Interval | None:
    """The days, half-open, that a relative value means on the day `reference`; None for every other value."""
    if value == "present":
        return reference, reference + timedelta(days=1)
    if value == "relative:year-to-date":
        return reference.replace(month=1, day=1), reference + timedelta(days=1)
    match = _RELATIVE.fullmatch(value)
    if match is None:
        return None
    unit, first = match["unit"], int(match["first"])
    try:
        if match["which"] is not None:
            return _named(unit, int(match["which"]), first, reference)
        if unit not in UNIT_DAYS:
            return None
        if match["last"] is not None:
            last = _shift(reference, unit, int(match["last"])) + timedelta(days=1)
            return _shift(reference, unit, first), last
        start = _shift(_floor(reference, unit), unit, first)
        return start, start + timedelta(days=2) if unit == "weekend" else _shift(start, unit, 1)
    except (ValueError, OverflowError):  # "last 9000 years"
        return None


def nearest(value: str, reference: date) -> list[Interval]:
    """The occurrences of a value next to `reference`: the running or latest one and the next one."""
    if value.startswith("weekday:"):
        ahead = timedelta(days=(int(value[8:]) - reference.weekday()) % 7)
        days = [reference + ahead] if not ahead else [reference + ahead - timedelta(days=7), reference + ahead]
        return [(d, d + timedelta(days=1)) for d in days]
    if is_yearless(value):
        found = [run for year in range(reference.year - 1, reference.year + 2) if (run := in_year(value, year))]
        past = [run for run in found if run[0] <= reference]
        return past[-1:] + [run for run in found if run[0] > reference][:1]
    only = interval(value) or resolve(value, reference)
    return [only] if only else []


def _named(unit: str, which: int, step: int, reference: date) -> Interval | None:
    if unit == "weekday":
        ahead = (which - reference.weekday()) % 7
        if step > 0:
            ahead = ahead or 7
        elif step < 0:
            ahead = ahead - 7
        start = reference + timedelta(days=ahead)
        return start, start + timedelta(days=1)
    start = reference.replace(month=which, day=1)
    if step > 0 and start <= reference:
        start = start.replace(year=start.year + 1)
    elif step < 0 and _shift(start, "month", 1) > reference:
        start = start.replace(year=start.year - 1)
    return start, _shift(start, "month", 1)


def _floor(day: date, unit: str) -> date:
    """First day of the period of that unit which holds `day`; weeks begin on Monday, weekends on Saturday."""
    if unit in ("week", "weekend"):
        return day - timedelta(days=day.weekday()) + timedelta(days=5 if unit == "weekend" else 0)
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
    span = {"year": 1, "decade": 10, "century": 100}.get(unit)
    return date(max(1, day.year - day.year % span), 1, 1) if span else day


def _shift(day: date, unit: str, count: int) -> date:
    """The day `count` units later; the last day of the month where that month is shorter."""
    if unit in ("day", "week", "weekend"):
        return day + timedelta(days=count * (1 if unit == "day" else 7))
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}[unit]
    total = day.year * 12 + day.month - 1 + count * months
    first = date(total // 12, total % 12 + 1, 1)
    length = (date(first.year + first.month // 12, first.month % 12 + 1, 1) - first).days
    return first.replace(day=min(day.day, length))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


DIGIT = "0"  # stands for any digit in what a form needs
CARDINALS: dict[str, int] = lexicon.section("quantity")["cardinals"]
SEASONS: dict[str, str] = WORDS["seasons"]
UNITS: dict[str, str] = WORDS["units"]
FEW: list[str] = WORDS["few"]
_ORDINALS: dict[str, int] = WORDS["ordinals"]
_LETTERS = re.compile(r"[a-z]+ | [0-9]", re.VERBOSE)


def either(words: Iterable[str]) -> str:
    """An alternation of the words, longest first; a space stands for up to three, a hyphen for a space too."""
    return base.either(words).replace(r"\-", "[- ]")


_PARTS = {
    "MONTH": rf"(?P<month>{either(MONTHS)})\b\.?",
    "FULL_MONTH": rf"(?P<month>{either(MONTH_NAMES)})\b",
    "DAY": r"(?P<day>3[01]|[12]\d|0?[1-9])(?P<th>st|nd|rd|th)?\b",
    "TO_DAY": r"\s?(?:-|to|through|until)\s?(?P<to>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\w:])",
    "YEAR": r"(?:(?P<year>1\d{3}|20\d{2}|2100)\b(?!\s?%)|'(?P<short>\d\d)\b)",
    "SHORT_YEAR": r"'?(?P<year>(?:19|20)\d\d|\d\d)\b",
    "FY": r"(?P<fy>FY\s?'?|(?:fiscal|financial)\s+(?:years?\s+)?)",
    "WEEKDAY": rf"(?:{either([*WORDS['weekdays'], *WORDS['weekdays_short']])}\b\.?,?\s+)?",
    "ORDINAL": rf"(?P<ordinal>{either(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))",
    "UNIT": rf"(?P<unit>{either(UNITS)})\b",
    "COUNT": rf"(?P<count>\d{{1,4}}|{either([*CARDINALS, *FEW])})",
    "SEASON": rf"(?P<season>{either(SEASONS)})\b",
    "MERIDIEM": r"(?P<half>[ap])\.?\s?m\b\.?",
    "ZONE": rf"(?:\s?(?P<zone>{either(WORDS['zones'])})\b)?",
    "ALONE": r"(?<![\w.,$€£#/:-])",
}


def pattern(source: str) -> re.Pattern[str]:
    """The pattern with its <<PARTS>> filled in; blanks in the source count for nothing, runs of spaces are bounded."""
    for name, part in _PARTS.items():
        source = source.replace(f"<<{name}>>", part)
    return re.compile(source.replace(r"\s+", r"\s{1,4}"), re.IGNORECASE | re.VERBOSE)


def form(source: str, value: Callable[[re.Match[str]], str | None], needs: Iterable[str]) -> Form:
    """A form of times.

    Args:
        source: Its pattern, with <<PARTS>>.
        value: The value of a match; None where it is no time after all.
        needs: Words, or `DIGIT`, of which a text must hold one for the pattern to be tried at all: most texts hold
            none of them, and that is six times as fast. Of every word the first run of letters counts.
    """
    return Form(pattern(source), value, frozenset(_LETTERS.findall(word.lower())[0] for word in needs))


def letters_in(text: str) -> frozenset[str]:
    """The runs of letters of `text` in lower case, and `DIGIT` where it has one."""
    words = set(_LETTERS.findall(text.lower()))
    if any("0" <= word <= "9" for word in words):
        words.add(DIGIT)
    return frozenset(words)


def year_of(m: re.Match[str]) -> int | None:
    """The year of a match; two digits mean 1950 to 2049, as no clock may be read here."""
    text = group(m, "year") or group(m, "short")
    if not text:
        return None
    return int(text) if len(text) > 2 else int(text) + (2000 if int(text) < 50 else 1900)


def ordinal(text: str) -> int:
    """The number of `third` or `3rd`."""
    word = text.lower().replace(" ", "-")
    return _ORDINALS[word] if word in _ORDINALS else int(word[:-2])


def count_of(m: re.Match[str]) -> str:
    """The number of a counted run of periods: digits, or `few`."""
    text = group(m, "count") or "1"
    return "few" if text in FEW else str(int(CARDINALS.get(text, text)))
