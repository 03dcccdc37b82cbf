"""Units of measure: the name of a unit in the unit registry, and the value in the base unit of its dimension.

The registry is quantulum3's: it knows the names and spellings of some 450 units. Its readings of signs are not used
(`€3m` is metres there, `$3bn` barns), nor does it hold factors: both are in the language table.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import quantulum3.load

from rewriteguard.language import lexicon

_WORDS = lexicon.section("quantity")
_SYMBOLS: dict[str, str] = _WORDS["symbols"]
_FACTORS: dict[str, tuple[str, Fraction]] = {
    unit: (entry.rpartition(" ")[0], Fraction(entry.rpartition(" ")[2])) for unit, entry in _WORDS["factors"].items()
}
_PREFIXES: dict[str, int | Fraction] = {
    "kilo": 1000,
    "mega": 10**6,
    "giga": 10**9,
    "tera": 10**12,
    "milli": Fraction(1, 1000),
    "micro": Fraction(1, 10**6),
}
_NOT_UNITS = frozenset(_WORDS["not_units"])
_ONLY_GLUED = frozenset({"in", "s", "x", "t", "A", "C", "F", "B", "N", "J"})  # "5 in stock", "5 A students"
_SHORTEST_NAME = 3


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
