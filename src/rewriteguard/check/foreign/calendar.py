"""Names of months and weekdays of other languages, from dateparser's data, and numerals of Chinese and Japanese."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dateparser.data.date_translation_data import de, es, fr, it, ja, ko, nl, pt, ru, zh

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LATIN: dict[str, Any] = {"de": de, "es": es, "fr": fr, "it": it, "nl": nl, "pt": pt, "ru": ru}
_EAST: dict[str, Any] = {"ja": ja, "ko": ko, "zh": zh}
_SHORTEST = 5  # letters of a weekday's name that stands alone; shorter ones are other words too ("so", "mar", "dom")
_NOT_DAYS = frozenset({"terça", "quarta", "quinta", "sexta", "segunda"})  # ordinals as well


def _names(modules: dict[str, Any], keys: tuple[str, ...], shortest: int) -> dict[str, int]:
    return {
        name.casefold(): number
        for module in modules.values()
        for number, key in enumerate(keys)
        for name in module.info[key]
        if len(name) >= shortest and name.casefold() not in _NOT_DAYS and name[0].isalpha()
    }


# A month counts only beside a day or a year, so that three letters are enough; the languages do not disagree on them.
MONTHS = MappingProxyType({name: number + 1 for name, number in _names(_LATIN, _MONTHS, 3).items()})
"""Number of each month, by its name in folded case."""

WEEKDAYS = MappingProxyType(_names(_LATIN, _WEEKDAYS, _SHORTEST) | _names(_EAST, _WEEKDAYS, 2))
"""Number of each weekday, Monday 0, by its name in folded case."""

_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
NUMERALS = "".join((*_DIGITS, *_TENS))
"""The characters of Chinese and Japanese numerals."""


def number_of(numeral: str) -> int:
    """The number of digits or of a Chinese or Japanese numeral: 14, 十四 and 一四 are fourteen."""
    if numeral.isdecimal():
        return int(numeral)
    total = section = digit = 0
    for character in numeral:
        if character in _DIGITS:
            digit = digit * 10 + _DIGITS[character]
        elif character == "万":
            total, section, digit = (total + section + digit or 1) * 10_000, 0, 0
        else:
            section, digit = section + (digit or 1) * _TENS[character], 0
    return total + section + digit
