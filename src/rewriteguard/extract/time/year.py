"""When a bare number of four digits is a year, told by the words around it."""

from __future__ import annotations

import re

from rewriteguard.extract.time import value as time_value
from rewriteguard.extract.time.parts import DIGIT, WORDS, Rule, rule

# Without a word that dates it, a number is read as a year only where years are what such numbers mostly are.
_PLAIN = range(1900, 2036)
_LIKELY = range(1400, 2101)
_BEFORE = re.compile(
    r"((?:(?:later|earlier|older|newer)\s)?[a-z.'#]{1,14}-?) \s{0,2} [(\"']? $", re.VERBOSE | re.IGNORECASE
)
_AFTER = re.compile(r"\s{1,2} ([a-z.]{1,14})", re.VERBOSE | re.IGNORECASE)
_CODE = re.compile(r"[a-z]-$", re.VERBOSE | re.IGNORECASE)


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
    return time_value.years(number, number) if number in allowed else None


# "the 1200 guests" and "for 1000 of them" are counts more often than years.
_STRONG = [word for word in WORDS["year_words"] if word not in ("the", "for", "and", "or", "to", "of", "by")]


def _counts(number: int, behind: str) -> bool:
    """True where the next word says that the number counts: a unit, or after a round number any plural."""
    if behind.lower() in WORDS["not_year_after"]:
        return True
    plural = behind.islower() and behind.endswith("s") and not behind.endswith("ss") and len(behind) > 3
    return number % 100 == 0 and plural and behind not in WORDS["events"]


YEARS: tuple[Rule, ...] = (
    rule(
        r"(?<![\w.,$€£#/:&=+]) (?P<year>1\d{3}|20\d{2}|2100) (?! [\w%°@/+] | [.,:]\d | -\d | \s?[%$€£°] )",
        _year,
        {DIGIT},
    ),
    rule(
        r"(?<![\w.,$€£#/:&=+-]) (?P<year>19\d{2}|20\d{2}) (?= \+ (?!\w) )",
        _year,
        {DIGIT},
    ),
)
