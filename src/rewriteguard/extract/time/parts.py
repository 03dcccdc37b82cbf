"""What the patterns for times are put together from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rewriteguard.language import lexicon

Value = Callable[[re.Match[str]], str | None]
DIGIT = "0"  # stands for any digit in what a rule needs


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means.

    Attributes:
        pattern: Where the words may be a time.
        value: The value of a match; None where it is no time after all.
        needs: Runs of letters, in lower case, of which the text must hold one (or `DIGIT`) for the pattern to be
            tried at all; most texts hold none of them, and that is six times as fast.
    """

    pattern: re.Pattern[str]
    value: Value
    needs: frozenset[str]


WORDS = lexicon.section("time")
CARDINALS: dict[str, int] = lexicon.section("quantity")["cardinals"]
MONTHS: dict[str, int] = WORDS["months"] | WORDS["months_short"]
MONTH_NAMES: list[str] = list(WORDS["months"])
SEASONS: dict[str, str] = WORDS["seasons"]
UNITS: dict[str, str] = WORDS["units"]
FEW: list[str] = WORDS["few"]
_ORDINALS: dict[str, int] = WORDS["ordinals"]


def either(words: Iterable[str]) -> str:
    """An alternation of the words, longest first; a space stands for up to three."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s{1,3}").replace(r"\-", "[- ]") for word in ordered) + ")"


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


def rule(source: str, value: Value, needs: Iterable[str]) -> Rule:
    """A rule; of every word it needs, the first run of letters counts."""
    return Rule(pattern(source), value, frozenset(_LETTERS.findall(word.lower())[0] for word in needs))


def words_of(text: str) -> frozenset[str]:
    """The runs of letters of `text` in lower case, and `DIGIT` where it has one."""
    words = set(_LETTERS.findall(text.lower()))
    if any("0" <= word <= "9" for word in words):
        words.add(DIGIT)
    return frozenset(words)


_LETTERS = re.compile(r"[a-z]+ | [0-9]", re.VERBOSE)


def group(m: re.Match[str], name: str) -> str:
    """The words of a group in lower case with single spaces; empty where the pattern or the match lacks it."""
    return " ".join((m.groupdict().get(name) or "").lower().split())


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
