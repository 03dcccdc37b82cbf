"""Numbers in digits and in words, and the units that they count.

The registry is quantulum3's: it knows the names and spellings of some 450 units. Its readings of signs are not used
(`€3m` is metres there, `$3bn` barns), nor does it hold factors: both are in the language table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import quantulum3.load

from rewriteguard.extract.base import either
from rewriteguard.language import lexicon

_WORDS = lexicon.section("quantity")
_SYMBOLS: dict[str, str] = _WORDS["symbols"]
_PREFIXES: dict[str, int | Fraction] = {
    "kilo": 1000, "mega": 10**6, "giga": 10**9, "tera": 10**12, "milli": Fraction(1, 1000), "micro": Fraction(1, 10**6),
}  # fmt: skip
_NOT_UNITS = frozenset(_WORDS["not_units"])
_ONLY_GLUED = frozenset({"in", "s", "x", "t", "A", "C", "F", "B", "N", "J"})  # "5 in stock", "5 A students"
_SHORTEST_NAME = 3
_FACTORS: dict[str, tuple[str, Fraction]] = {
    unit: (entry.rpartition(" ")[0], Fraction(entry.rpartition(" ")[2])) for unit, entry in _WORDS["factors"].items()
}


@lru_cache(maxsize=1)
def _registry() -> dict[str, list[Any]]:
    surfaces: dict[str, list[Any]] = quantulum3.load.units().surfaces_all
    return surfaces


def warm_up() -> None:
    """Loads the unit registry, which takes two to four seconds once a process."""
    _registry()


@lru_cache(maxsize=4096)
def unit(words: str, glued: bool = False) -> str | None:
    """The registry's name of the unit written as `words`; None where they are no unit.

    Args:
        words: One to four words behind a number, single spaces between them.
        glued: Whether the first stands right behind the number, as in `5in`.
    """
    if not glued and words in _ONLY_GLUED:
        return None
    found = _SYMBOLS.get(words) or (_SYMBOLS.get(words.lower()) if len(words) > 1 else None)
    if found or len(words) < _SHORTEST_NAME or not words.replace(" ", "").replace("-", "").isalpha():
        return found
    for entry in _registry().get(words) or _registry().get(words.lower()) or ():
        if entry.entity.name not in ("currency", "dimensionless") and entry.name not in _NOT_UNITS:
            return str(entry.name)
    return None


def convert(number: Fraction, name: str) -> tuple[Fraction, str]:
    """The amount in the base unit of its dimension, and that unit; the unit itself where it is not converted."""
    if name == "degree Celsius":
        return number + Fraction("273.15"), "kelvin"
    if name == "degree fahrenheit":
        return (number + Fraction("459.67")) * Fraction(5, 9), "kelvin"
    if name in _FACTORS:
        base, factor = _FACTORS[name]
        return number * factor, base
    for prefix, scale in _PREFIXES.items():
        if name.startswith(prefix) and name[len(prefix) :] in _FACTORS:
            base, factor = _FACTORS[name[len(prefix) :]]
            return number * factor * scale, base
    return number, name


def written(number: Fraction) -> str:
    """The number in its one form: an integer, a decimal where it ends, else a fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    digits = str(abs((number * 10**places).numerator)).rjust(places + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-places]}.{digits[-places:]}"


_CARDINALS: dict[str, int] = _WORDS["cardinals"]
_TENS: dict[str, int] = _WORDS["tens"]
_MAGNITUDES: dict[str, int] = _WORDS["magnitudes"]
_FRACTIONS: dict[str, int] = _WORDS["fractions"]
_FLAGS = re.IGNORECASE | re.VERBOSE
DIGITS = r"(?: \d{1,3} (?:,\d{3}){1,5} (?:\.\d{1,9})? | \d{1,15} (?:\.\d{1,9})? | \.\d{1,9} )"
_DIGITS = re.compile(rf"(?P<whole>{DIGITS}) (?:\s? (?P<over>\d{{1,3}}) [/⁄] (?P<under>\d{{1,3}}) (?![\w/]) )?", _FLAGS)
_RATIO = re.compile(r"(?P<over>\d{1,3}) [/⁄] (?P<under>[1-9]\d{0,2}) (?! [\w/] | [.,]\d )", _FLAGS)
_AND_A_HALF = re.compile(r"\s and \s a \s half \b", _FLAGS)
_LETTER = re.compile(r"(?P<letter>[kKmMbBtT]) (?![\w])", re.VERBOSE)
_NUMERAL = either([*_CARDINALS, *_TENS, "hundred", "thousand", "million", "billion", "trillion", "dozen"])
START = rf"(?: {DIGITS} | {either([*_CARDINALS, *_TENS, 'half'])} (?![\w']) )"
_WORD_RUN = re.compile(rf"{_NUMERAL} (?: [\s-] (?:and\s)? {_NUMERAL} ){{0,11}} (?![\w'])", _FLAGS)
_NUMERAL_IN_RUN = re.compile(rf"(?P<link>[\s-] (?:and\s)?)? (?P<word>{_NUMERAL}) (?![\w'])", _FLAGS)
_FRACTION = re.compile(
    rf"""(?: half (?= \s (?:of|the|an?)\b )
    | (?P<over>{either([*_CARDINALS])}) (?:\s|-) (?P<under>{either([*_FRACTIONS])}) \b (?P<behind>\s of\b)? )""",
    _FLAGS,
)
_MAGNITUDE = re.compile(rf"(?: [\s-]? | \s an? \s ) (?P<word>{either([*_MAGNITUDES])}) \b", _FLAGS)


@dataclass(frozen=True, slots=True)
class Number:
    """A number that ends at offset `end`; `bare_one` is the word `one`, which is a pronoun more often than a number."""

    end: int
    value: Fraction
    bare_one: bool = False


def number_at(text: str, start: int, money: bool = False) -> Number | None:
    """The number that begins at `start`; None where there is none, or where it is part of a word.

    Args:
        text: The text.
        start: Offset of its first digit or letter.
        money: Whether a currency sign stands before it, so that `3m` is three million.
    """
    found = _fraction(text, start) or _digits(text, start) or _in_words(text, start)
    if found is None:
        return None
    if half := _AND_A_HALF.match(text, found.end):
        return Number(half.end(), found.value + Fraction(1, 2))
    letters = _WORDS["money_letters" if money else "letters"]
    if (m := _LETTER.match(text, found.end)) and m["letter"] in letters:
        return Number(m.end(), found.value * letters[m["letter"]])
    value, end = found.value, found.end
    for _ in range(2):  # "hundred thousand"
        if m := _MAGNITUDE.match(text, end):
            value, end = value * _MAGNITUDES[m["word"].lower()], m.end()
    return Number(end, value, found.bare_one and end == found.end)


def _digits(text: str, start: int) -> Number | None:
    if m := _RATIO.match(text, start):
        over, under = int(m["over"]), int(m["under"])
        return Number(m.end(), Fraction(over, under)) if over < under or under in (2, 3, 4, 8, 16) else None
    m = _DIGITS.match(text, start)
    if m is None:
        return None
    value = Fraction(m["whole"].replace(",", ""))
    if m["over"] and m.end("whole") != m.start("over") and int(m["under"]):
        return Number(m.end(), value + Fraction(int(m["over"]), int(m["under"])))
    return Number(m.end("whole"), value)


def _fraction(text: str, start: int) -> Number | None:
    m = _FRACTION.match(text, start)
    if m is None:
        return None
    if not m["over"]:
        return Number(m.end(), Fraction(1, 2))
    over, under = _CARDINALS[m["over"].lower()], m["under"].lower()
    # "a third option", "a quarter" of the year: a share only before "of", in the plural or with a number.
    share = m["behind"] or (under.endswith("s") and over > 1) or (over == 1 and m["over"].lower() == "one")
    end = m.start("behind") if m["behind"] else m.end()
    return Number(end, Fraction(over, _FRACTIONS[under])) if share else None


def _in_words(text: str, start: int) -> Number | None:
    run = _WORD_RUN.match(text, start)
    if run is None:
        return None
    total = current = 0
    end, count, last = start, 0, ""
    for m in _NUMERAL_IN_RUN.finditer(text, start, run.end()):
        word = m["word"].lower()
        linked = "and" in (m["link"] or "").lower()
        if m.start() != end or (linked and last not in _MAGNITUDES) or not _fits(word, current, count):
            break
        if word in _MAGNITUDES:
            current = max(current, 1) * _MAGNITUDES[word]
            if word != "hundred":
                total, current = total + current, 0
        else:
            current += _CARDINALS.get(word, 0) + _TENS.get(word, 0)
        end, count, last = m.end(), count + 1, word
    first = text[start:end].lower()
    if count == 0 or first in ("a", "an"):
        return None
    return Number(end, Fraction(total + current), bare_one=first == "one")


def _fits(word: str, current: int, count: int) -> bool:
    """True where the word may follow in one number: twenty, one; not one, two."""
    if word in ("a", "an"):
        return count == 0
    if word in _MAGNITUDES:
        return count > 0
    if word in _TENS:
        return current % 100 == 0
    return current % 10 == 0 and (_CARDINALS[word] < 10 or current % 100 == 0)
