"""Calendar dates and periods: days, months, quarters, halves, fiscal years, seasons, decades, centuries, years."""

from __future__ import annotations

import re
from datetime import date

from rewriteguard.extract.base import Form, group
from rewriteguard.extract.time.value import (
    DIGIT,
    MONTH_NAMES,
    MONTHS,
    SEASONS,
    WORDS,
    day,
    either,
    form,
    in_year,
    interval,
    months,
    numeric_day,
    ordinal,
    period,
    year_of,
    years,
)


def _iso_day(m: re.Match[str]) -> str | None:
    month = int(m["month"])
    return day(int(m["year"]), MONTH_NAMES[month - 1], str(int(m["day"])))


def _iso_span(m: re.Match[str]) -> str | None:
    try:
        first, behind = date.fromisoformat(m["a"]), date.fromisoformat(m["b"])
    except ValueError:  # 30 February
        return None
    return period(first, behind) if first < behind else None


def _numeric_day(m: re.Match[str]) -> str | None:
    year = year_of(m)
    return None if year is None else numeric_day(int(m["a"]), int(m["b"]), year)


def _date(m: re.Match[str]) -> str | None:
    name, year = m["month"], year_of(m)
    plain = name.islower() and name in WORDS["months_also_words"] and year is None and not m["th"]
    if plain and m.start("month") < m.start("day"):  # "may 5 people join?"
        return None
    return day(year, name.lower(), str(int(m["day"])))


def _days(m: re.Match[str]) -> str | None:
    year, name = year_of(m), m["month"].lower()
    first, last = day(year, name, m["day"]), day(year, name, m["to"])
    return join(first, last) if first and last else None


def _month(m: re.Match[str]) -> str | None:
    year = year_of(m)
    return None if year is None else months(year, MONTHS[m["month"].lower()])


def _iso_month(m: re.Match[str]) -> str | None:
    """2010-12 is December 2010 or the years 2010 to 2012; 2024-05 is May only."""
    year, number = int(m["year"]), int(m["b"])
    readings = [months(year, number)] if 1 <= number <= 12 else []
    if number > year % 100:
        readings.append(years(year, year - year % 100 + number))
    return "|".join(sorted(value for value in readings if value)) or None


def _quarter(m: re.Match[str]) -> str | None:
    number = int(group(m, "q") or ordinal(group(m, "ordinal")))
    if not 1 <= number <= 4:
        return None
    year = year_of(m)
    if group(m, "fy"):
        return f"FY{year or ''}-Q{number}"
    return months(year, 3 * number - 2, 3) if year else f"--Q{number}"


def _half(m: re.Match[str]) -> str | None:
    number, year = int(group(m, "h") or ordinal(group(m, "ordinal"))), year_of(m)
    if number not in (1, 2) or year is None:
        return None
    return f"FY{year}-H{number}" if group(m, "fy") else months(year, 6 * number - 5, 6)


def _fiscal(m: re.Match[str]) -> str:
    """FY2022/23 is named by the year in which it ends."""
    year = year_of(m) or 0
    return f"FY{year - year % 100 + int(m['second'][-2:])}" if m["second"] else f"FY{year}"


def _season(m: re.Match[str]) -> str:
    return f"{year_of(m)}-{SEASONS[m['season'].lower()]}"


def _century(m: re.Match[str]) -> str | None:
    if "Century" in m[0] and re.match(r"\s[A-Z]", m.string[m.end() : m.end() + 2]):  # 20th Century Fox
        return None
    number = ordinal(group(m, "ordinal"))
    if m["bc"]:
        return f"BC:century:{number}"
    return years(100 * (number - 1) or 1, 100 * number - 1)


def _decade(m: re.Match[str]) -> str | None:
    word, short = group(m, "word"), group(m, "short")
    start = 1900 + (WORDS["decades"][word] if word else int(short)) if word or short else int(m["year"])
    # The 1500s are the sixteenth century; the 2000s, in ordinary use, are the decade.
    span = 100 if start % 100 == 0 and start != 2000 else 10
    return years(start, start + span - 1)


def _years(m: re.Match[str]) -> str | None:
    first = int(m["year"])
    last = int(m["last"]) if len(m["last"]) == 4 else first - first % 100 + int(m["last"])
    return years(first, last) if first < last else None


def _era(m: re.Match[str]) -> str | None:
    number = int((m["bc"] or m["ad"] or m["ce"]).replace(",", ""))
    return f"BC:{number}" if m["bc"] else years(number, number)


def join(first: str, last: str) -> str | None:
    """The period from the beginning of one value to the end of the other; None where they do not fit together."""
    a, b = interval(first), interval(last)
    if b and not a:  # from June to August 2020
        a = in_year(first, b[0].year)
    if a and b:
        return period(a[0], b[1]) if a[0] < b[0] else None
    a, b = in_year(first, 2000), in_year(last, 2000)
    if a and b and a[0] < b[0]:
        return f"--{a[0].month:02}-{a[0].day:02}/--{b[1].month:02}-{b[1].day:02}"
    for start in ("T", "weekday:", "FY"):
        if first.startswith(start) and last.startswith(start) and "/" not in first + last:
            return f"{first}/{last}"
    return None


# A later form does not read what an earlier one took.
DATES: tuple[Form, ...] = (
    form(r"(?<![\w.-]) (?P<a>\d{4}-\d\d-\d\d) (?:/|\.\.) (?P<b>\d{4}-\d\d-\d\d) (?![\w-])", _iso_span, {DIGIT}),
    form(
        r"""(?<![\w.-]) (?P<year>[12]\d{3}) (?P<sep>[-/.]) (?P<month>0?[1-9]|1[0-2]) (?P=sep)
            (?P<day>[12]\d|3[01]|0?[1-9]) (?![\d-])""",
        _iso_day,
        {DIGIT},
    ),
    form(
        r"""(?<![\w./-]) (?P<a>\d{1,2}) (?P<sep>[/.-]) (?P<b>\d{1,2}) (?P=sep)
            (?P<year>(?:1\d|20)\d\d) (?![\w/-])""",
        _numeric_day,
        {DIGIT},
    ),
    form(r"(?<![\w./-]) (?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d\d) (?![\w/-])", _numeric_day, {DIGIT}),
    form(r"\b <<WEEKDAY>> <<DAY>> <<TO_DAY>> \s+ (?:of\s+)? <<MONTH>> (?:\s?,?\s+<<YEAR>>)?", _days, MONTHS),
    form(r"\b <<WEEKDAY>> <<MONTH>> \s+ (?:the\s+)? <<DAY>> <<TO_DAY>> (?:\s?,?\s+<<YEAR>>)?", _days, MONTHS),
    form(
        r"(?<![\w.,$€£]) <<WEEKDAY>> (?:the\s+)? <<DAY>> [\s-]? (?:of\s+)? <<MONTH>> (?:\s?,?[\s-]{1,3}<<YEAR>>)?",
        _date,
        MONTHS,
    ),
    form(
        r"""\b <<WEEKDAY>> <<MONTH>> \s+ (?:the\s+)? <<DAY>> (?! [:.,]\d | \s?[ap]\.?m\b | \s?%)
            (?:\s?,?\s+<<YEAR>>)?""",
        _date,
        MONTHS,
    ),
    form(r"\b <<MONTH>> ,? \s+ (?:of\s+)? <<YEAR>>", _month, MONTHS),
    form(
        r"""\b (?: Q(?P<q>[1-4]) | (?:the\s+)? (?:fiscal\s+)? <<ORDINAL>> [\s-] (?:fiscal\s+)? quarter )
            [\s-]? (?:of\s+|in\s+|,\s+)? (?:the\s+)? <<FY>> <<SHORT_YEAR>>""",
        _quarter,
        ("q", "quarter"),
    ),
    form(r"\b (?P<fy>FY)\s? <<SHORT_YEAR>> [\s-]? Q(?P<q>[1-4])\b", _quarter, ("q", "fy")),
    form(
        r"""\b (?:the\s+)? (?: (?P<fy>fiscal)\s+<<ORDINAL>>\s+quarter ) (?:\s+(?:of\s+)?<<YEAR>>)?""",
        _quarter,
        ("quarter",),
    ),
    form(r"\b (?:the\s+)? <<ORDINAL>>\s+(?P<fy>fiscal)\s+quarter (?:\s+(?:of\s+)?<<YEAR>>)?", _quarter, ("quarter",)),
    form(
        r"""\b (?: Q(?P<q>[1-4]) | (?:the\s+)? <<ORDINAL>> [\s-] quarter ) \b
            (?: [\s,-]{0,2} (?:of\s+|in\s+)? (?:the\s+year\s+)? <<YEAR>> )""",
        _quarter,
        ("q", "quarter"),
    ),
    form(r"(?<![\w.,-]) (?P<q>[1-4])Q \s? <<SHORT_YEAR>>", _quarter, ("q",)),
    form(r"(?<![\w.,-]) <<YEAR>> [\s-]? Q(?P<q>[1-4])\b", _quarter, ("q",)),
    form(r"\b Q(?P<q>[1-4]) \b (?!-)", _quarter, ("q",)),
    form(
        r"""\b (?: H(?P<h>[12])\b | (?:the\s+)? <<ORDINAL>> [\s-] half ) [\s,-]{0,2} (?:of\s+|in\s+)?
            <<FY>>? <<YEAR>>""",
        _half,
        ("h", "half"),
    ),
    form(r"(?<![\w.,-]) (?P<h>[12])H \s? <<SHORT_YEAR>>", _half, ("h",)),
    form(r"(?<![\w.,-]) <<YEAR>> [\s-]? H(?P<h>[12])\b", _half, ("h",)),
    form(r"\b <<FY>> <<SHORT_YEAR>> (?: [/-] (?P<second>\d{4}|\d\d)\b )?", _fiscal, ("fy", "fiscal", "financial")),
    form(
        r"""(?<![\w.,-]) (?P<year>(?:19|20)\d\d) (?: [/-] (?P<second>\d{4}|\d\d) )?
            \s+ (?:fiscal|financial)\s+year\b""",
        _fiscal,
        ("fiscal", "financial"),
    ),
    form(r"\b (?:the\s+)? <<SEASON>> \s+ (?:of\s+)? <<YEAR>>", _season, SEASONS),
    form(
        r"""\b (?:the\s+)? <<ORDINAL>> [\s-] (?:century|centuries|c\.)(?!\w)
            (?P<bc> \s? (?:BCE?\b|B\.C\.(?:E\.)?) )?""",
        _century,
        ("century", "centuries", "c"),
    ),
    form(
        r"""<<ALONE>> (?: (?P<bc>\d{1,5}(?:,\d{3})?) \s? (?:BCE?\b|B\.C\.(?:E\.)?)
            | (?:AD|A\.D\.) \s? (?P<ad>[1-9]\d{0,3})\b
            | (?P<ce>[1-9]\d{0,3}) \s (?:AD\b|CE\b|A\.D\.|C\.E\.) )""",
        _era,
        ("bc", "bce", "b", "ad", "a", "ce", "c"),
    ),
    form(r"(?<![\w.,$-]) (?P<year>1\d\d0|20\d0) '? s\b", _decade, {DIGIT}),
    form(r"(?: (?<!\w)' | (?<=\bthe\s) | (?<=\bearly\s) | (?<=\blate\s) ) (?P<short>[2-9]0) '? s\b", _decade, {DIGIT}),
    form(
        rf"(?: (?<=\bthe\s) | (?<=\bearly\s) | (?<=\blate\s) ) (?P<word>{either(WORDS['decades'])})\b",
        _decade,
        WORDS["decades"],
    ),
    form(
        r"""<<ALONE>> (?P<year>1[4-9]\d\d|20\d\d) (?: \s?-\s? | / ) (?P<last>1[4-9]\d\d|20\d\d)
            (?! [\w/-] | [.,]\d )""",
        _years,
        {DIGIT},
    ),
    form(r"<<ALONE>> (?P<year>1[4-9]\d\d|20\d\d) / (?P<last>\d\d) (?! [\w/-] | [.,]\d )", _years, {DIGIT}),
    form(r"<<ALONE>> (?P<year>1[4-9]\d\d|20\d\d) - (?P<b>\d\d) (?! [\w/-] | [.,]\d )", _iso_month, {DIGIT}),
)


# Without a word that dates it, a number is read as a year only where years are what such numbers mostly are.
_PLAIN = range(1900, 2036)
_LIKELY = range(1400, 2101)
_BEFORE = re.compile(
    r"((?:(?:later|earlier|older|newer)\s)?[a-z.'#]{1,14}-?) \s{0,2} [(\"']? $", re.VERBOSE | re.IGNORECASE
)
_AFTER = re.compile(r"\s{1,2} ([a-z.]{1,14})", re.VERBOSE | re.IGNORECASE)
# "the 1200 guests" and "for 1000 of them" are counts more often than years.
_STRONG = [word for word in WORDS["year_words"] if word not in ("the", "for", "and", "or", "to", "of", "by")]


def _year(m: re.Match[str]) -> str | None:
    number = int(m["year"])
    before = _BEFORE.search(m.string, max(0, m.start() - 24), m.start())
    after = _AFTER.match(m.string, m.end(), m.end() + 18)
    word, behind = (before[1].lower() if before else ""), (after[1] if after else "")
    glued = m.string[m.start() - 1 : m.start()] == "-"
    if glued and word not in WORDS["year_words"]:  # HB-2019
        return None
    if word in WORDS["not_year_before"] or _counts(number, behind):
        return None
    allowed = range(1000, 2101) if word in _STRONG else _LIKELY if word in WORDS["year_words"] else _PLAIN
    return years(number, number) if number in allowed else None


def _counts(number: int, behind: str) -> bool:
    """True where the next word says that the number counts: a unit, or after a round number any plural."""
    if behind.lower() in WORDS["not_year_after"]:
        return True
    plural = behind.islower() and behind.endswith("s") and not behind.endswith("ss") and len(behind) > 3
    return number % 100 == 0 and plural and behind not in WORDS["events"]


YEARS: tuple[Form, ...] = (
    form(
        r"(?<![\w.,$€£#/:&=+]) (?P<year>1\d{3}|20\d{2}|2100) (?! [\w%°@/+] | [.,:]\d | -\d | \s?[%$€£°] )",
        _year,
        {DIGIT},
    ),
    form(r"(?<![\w.,$€£#/:&=+-]) (?P<year>19\d{2}|20\d{2}) (?= \+ (?!\w) )", _year, {DIGIT}),
)
