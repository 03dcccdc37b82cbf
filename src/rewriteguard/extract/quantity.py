"""QUANTITY: numbers, shares, money, measures, durations and ranges, each with its bound.

A value is a number and its unit: `1200`, `46 percent`, `3000000000 USD`, `5000 metre`, `5..10 metre` for a range, and
readings joined by `|` where the words allow two (pounds). Equal although written differently: 1,200 and twelve hundred;
5 km and 5000 m; $3bn and 3 billion dollars; over and more than. Amounts of money are never converted.

The registry is quantulum3's: it knows the names and spellings of some 450 units. Its readings of signs are not used
(`€3m` is metres there, `$3bn` barns), nor does it hold factors: both are in the language table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import quantulum3.load
from spacy.tokens import Doc

from rewriteguard.extract.base import Facts, Match, either, group, text_of, token
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

_WORDS = lexicon.section("quantity")
_SYMBOLS: dict[str, str] = _WORDS["symbols"]
_PREFIXES: dict[str, int | Fraction] = {
    "kilo": 1000, "mega": 10**6, "giga": 10**9, "tera": 10**12, "milli": Fraction(1, 1000), "micro": Fraction(1, 10**6),
}  # fmt: skip
_NOT_UNITS = frozenset(_WORDS["not_units"])
_ONLY_GLUED = frozenset({"in", "s", "x", "t", "A", "C", "F", "B", "N", "J"})  # "5 in stock", "5 A students"
_SHORTEST_NAME = 3
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
_CURRENCIES: dict[str, str] = _WORDS["currencies"]
_SIGNS: dict[str, str] = _WORDS["signs"]
_GENERAL: dict[str, list[str]] = _WORDS["general_money"]
_BOUND = {phrase: bound for bound, phrases in _WORDS["bounds"].items() for phrase in phrases}
_BOUND_BEHIND = {phrase: bound for bound, phrases in _WORDS["bounds_behind"].items() for phrase in phrases}
_POUNDS = ("pound", "pounds")
_WINDOW = 28  # the longest bound with its article, in characters
_CODES = [code.upper() for code in _CURRENCIES if len(code) == 3 and code not in ("yen", "won")]
_FIRST = re.compile(
    rf"""(?<![\w.,/:#@&=+⁄'-]) (?P<sign> {either(_SIGNS)} \s? | (?:{"|".join(_CODES)}) \s? )?
    (?P<minus> (?<!\d\s) - (?=[.\d]) | minus\s )? (?={START})""",
    _FLAGS,
)
_SKIPPED = re.compile(
    rf"""(?: {either(_WORDS["not_numbers"])} (?!\w)
    | \d{{1,2}} (?: :\d\d | (?:[:.]\d\d)? \s? [ap]\.?\s?m\b | \s o'?clock ) | \d{{1,4}} (?:st|nd|rd|th)\b
    | \d{{1,5}} (?:\.\d{{1,5}}){{2,9}} | \d{{1,4}}-[A-Z] | \d{{1,2}}'\d | [\d,.]{{1,24}} \w{{0,9}} [@_\\] )""",
    re.VERBOSE,
)
_VERSION_BEFORE = re.compile(r"(?<!\w) (?:version|release|v|ver\.?) \s? $", _FLAGS)
_LIST_MARK = re.compile(r"(?: ^ | \n ) \s{0,8} $", re.VERBOSE)
_LIST_NUMBER = re.compile(r"\d{1,2} [.)] (?: \s | $ )", re.VERBOSE)
_PERCENT = re.compile(rf"[\s-]? (?P<word>{either(_WORDS['percent'])}) (?!\w)", _FLAGS)
_MONEY_BEHIND = re.compile(rf"[\s-]? (?P<word> {either([*_CURRENCIES, *_POUNDS])} (?!\w) | [€£] )", _FLAGS)
_UNIT = re.compile(
    r"""(?P<gap> [\s-]? (?:an?\s)? ) (?P<words> [A-Za-z°µμ²³]{1,20} (?:/[A-Za-z]{1,6} | [23]\b)?
    (?: [\s-] [A-Za-z]{1,12} ){0,3} )""",
    re.VERBOSE,
)
_TO = re.compile(r"\s? (?: - | \b(?:to|up\sto)\b ) \s? (?:about\s)?", _FLAGS)
_AND = re.compile(r"\s and \s", _FLAGS)
_OPENS = re.compile(r"(?<!\w) (?P<word>between|from) \s $", _FLAGS)
_BEFORE = re.compile(
    rf"(?<![\w-]) (?P<words>{either(w for w in _BOUND if w[-1].isalpha() or w[-1] == '.')})\s{{1,3}} (?:the\s|a\s)? $",
    _FLAGS,
)
_SIGN_BEFORE = re.compile(rf"(?P<words>{either(w for w in _BOUND if not w[0].isalpha())}) \s? $", re.VERBOSE)
_BEHIND = re.compile(rf"\s (?P<words>{either(_BOUND_BEHIND)}) (?!\w)", _FLAGS)
_LETTER_OR_DIGIT = re.compile(r"[^\W_] | _ | [.,:/]\d", re.VERBOSE)
_FIRST_AGAIN = re.compile(_FIRST.pattern[_FIRST.pattern.index("(?P<sign>") :], _FLAGS)


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


@dataclass(frozen=True, slots=True)
class _Amount:
    start: int
    end: int
    number: Fraction
    units: tuple[str, ...] = ()
    bound: str = ""
    bare_one: bool = False
    scale: Fraction = Fraction(1)


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The quantities of `doc` in reading order; the span holds the bound, the number and its unit."""
    text = text_of(doc)
    position = 0
    for m in _FIRST.finditer(text):
        if m.start() < position:
            continue
        found = _quantity(text, m)
        if found is not None:
            position = found.end
            yield found


def _quantity(text: str, m: re.Match[str]) -> ProtectedToken | None:
    first = _amount(text, m)
    if first is None:
        return None
    opening = _OPENS.search(text, max(0, first.start - _WINDOW), first.start)
    word = opening["word"].lower() if opening else ""
    last = _other_end(text, first, word)
    if last is not None:
        start = opening.start() if opening else first.start
        return token(Kind.QUANTITY, text, start, last.end, _range(first, last))
    start, end, bound = _bounded(text, first)
    # "the first one", "one of them", "at least one": a pronoun or a quantifier, unless it measures something.
    if first.bare_one and not first.units and bound in ("", ">=", "~", "="):
        return None
    return token(Kind.QUANTITY, text, start, end, _value((first.number,), first.units), bound)


def _amount(text: str, m: re.Match[str]) -> _Amount | None:
    at = m.end()
    sign = (m["sign"] or "").strip()
    if _SKIPPED.match(text, at) or (_LIST_MARK.search(text, max(0, at - 9), at) and _LIST_NUMBER.match(text, at)):
        return None
    if _VERSION_BEFORE.search(text, max(0, at - 10), at):
        return None
    number = number_at(text, at, money=bool(sign))
    if number is None:
        return None
    value = -number.value if m["minus"] else number.value
    end, plus = number.end, text[number.end : number.end + 1] == "+"
    end += plus
    units: tuple[str, ...] = ()
    if sign:
        units = (_SIGNS.get(sign.upper()) or sign.upper(),)
        behind = _MONEY_BEHIND.match(text, end)
        if behind and _CURRENCIES.get(behind["word"].lower()) in (*units, *_GENERAL.get(units[0], ())):  # "$5 USD"
            units, end = (_CURRENCIES[behind["word"].lower()],), behind.end()
    elif found := _units(text, end):
        units, end = found
    if _LETTER_OR_DIGIT.match(text, end):  # 10th, A4, 1.2.3
        return None
    bound = ">=" if plus else ""
    return _Amount(m.start(), end, value, units, bound, number.bare_one, _scale(value, text[at:end]))


def _scale(value: Fraction, words: str) -> Fraction:
    """The factor that a magnitude gave to a number in digits, so that both ends of `5 to 10 million` get it."""
    digits = re.match(r"[\d,.]{1,24}", words)
    plain = Fraction(digits[0].replace(",", "").rstrip(".") or 0) if digits and digits[0].strip(",.") else value
    return abs(value / plain) if plain else Fraction(1)


def _units(text: str, end: int) -> tuple[tuple[str, ...], int] | None:
    """The units behind a number and the offset behind them."""
    if m := _PERCENT.match(text, end):
        return (_WORDS["percent"][group(m, "word")],), m.end()
    if m := _MONEY_BEHIND.match(text, end):
        word = group(m, "word")
        pounds = word in _POUNDS
        return ("GBP", "pound-mass") if pounds else (_SIGNS.get(word) or _CURRENCIES[word],), m.end()
    m = _UNIT.match(text, end)
    if m is None:
        return None
    words = m["words"]
    while words:
        if name := unit(" ".join(words.split()), glued=not m["gap"]):
            return (name,), m.start("words") + len(words)
        words = words[: max(words.rfind(" "), words.rfind("-"), words.rfind("\n"), 0)]
    return None


def _other_end(text: str, first: _Amount, word: str) -> _Amount | None:
    """The upper end of a range whose lower end is `first`."""
    link = (_AND if word == "between" else _TO).match(text, first.end)
    if link is None:
        return None
    m = _FIRST_AGAIN.match(text, link.end())
    last = _amount(text, m) if m else None
    if last is None or (first.units and last.units and _base(first) != _base(last)):
        return None
    lower, upper = (convert(amount.number, (first.units or last.units or ("",))[0])[0] for amount in (first, last))
    if first.units and last.units:
        upper = convert(last.number, last.units[0])[0]
    return last if lower <= upper else None


def _base(amount: _Amount) -> list[str]:
    return [convert(Fraction(1), name)[1] for name in amount.units]


def _range(first: _Amount, last: _Amount) -> str:
    lower = first.number
    if last.scale > 1 and first.scale == 1 and first.number < last.number / last.scale:
        lower *= last.scale  # 5 to 10 million
    if first.units and last.units and first.units != last.units:  # 500 m to 2 km
        last_number, last_unit = convert(last.number, last.units[0])
        return f"{written(convert(lower, first.units[0])[0])}..{written(last_number)} {last_unit}"
    return _value((lower, last.number), last.units or first.units)


def _value(numbers: tuple[Fraction, ...], units: tuple[str, ...]) -> str:
    """The numbers in the base unit of each reading: `5..10 metre`."""
    readings = []
    for name in units or ("",):
        amounts = [convert(number, name) for number in numbers]
        readings.append(f"{'..'.join(written(number) for number, _ in amounts)} {amounts[0][1]}".strip())
    return "|".join(readings)


def _bounded(text: str, amount: _Amount) -> tuple[int, int, str]:
    """Start, end and bound of the amount with the bound words before or behind it."""
    start, low = amount.start, max(0, amount.start - _WINDOW)
    before = _BEFORE.search(text, low, start) or _SIGN_BEFORE.search(text, low, start)
    behind = _BEHIND.match(text, amount.end)
    if before:
        return before.start(), amount.end, _BOUND[group(before, "words")]
    if behind:
        return start, behind.end(), _BOUND_BEHIND[group(behind, "words")]
    return start, amount.end, amount.bound


def same(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME for one amount and bound; NARROWER where the rewrite names the currency or scale that the turn left open."""
    if not _same_bound(ours.relation, theirs.relation):
        return Match.DIFFERENT
    if set(ours.value.split("|")) & set(theirs.value.split("|")):
        return Match.SAME
    (number, _, name), (other, _, their_name) = ours.value.rpartition(" "), theirs.value.rpartition(" ")
    if number == other and "USD" in (name, their_name) and "dollar" in (name, their_name):
        return Match.SAME
    if number == other and their_name in _GENERAL.get(name, ()):
        return Match.NARROWER
    if number == other and name in _GENERAL.get(their_name, ()):
        return Match.UNKNOWN
    if name == "degree" and their_name == "kelvin" and "/" not in number and ".." not in number:
        scales = ("degree Celsius", "degree fahrenheit")
        return (
            Match.NARROWER if other in [written(convert(Fraction(number), s)[0]) for s in scales] else Match.DIFFERENT
        )
    return Match.DIFFERENT


def _same_bound(ours: str, theirs: str) -> bool:
    plain = ("", "=", "~")
    return ours == theirs or ("" in (ours, theirs) and ours in plain and theirs in plain)
