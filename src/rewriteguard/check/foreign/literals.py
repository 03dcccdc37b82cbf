"""Literals of a text in any language: dates, numbers, codes, versions and names in Latin letters.

Values: `2025-03-14`, `2025-03`, `--03-14`, `2025`, `14:30`, `weekday:6` for times; a number without separators of
thousands, both readings joined by `|` where 1.200 may be either; folded case for the rest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from dateparser.data.date_translation_data import de, es, fr, it, ja, ko, nl, pt, ru, zh

from rewriteguard.language.detect import LATIN
from rewriteguard.model.tokens import Kind, ProtectedToken

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LATIN: dict[str, Any] = {"de": de, "es": es, "fr": fr, "it": it, "nl": nl, "pt": pt, "ru": ru}
_EAST: dict[str, Any] = {"ja": ja, "ko": ko, "zh": zh}
_SHORTEST = 5  # letters of a weekday's name that stands alone; shorter ones are other words too ("so", "mar", "dom")
_NOT_DAYS = frozenset({"terça", "quarta", "quinta", "sexta", "segunda"})  # ordinals as well
_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_NUMERALS = "".join((*_DIGITS, *_TENS))
Found = tuple[Kind, str] | None
_CJK = rf"(?: \d{{1,4}} | [{_NUMERALS}]{{1,4}} )"
_COUNTED = "日月天年时時点點分人名个個回次周週岁歳枚本台泊号晚张張円元折件页頁층"
_ORDINAL = r"\d | 番目 | [つ個人回]目 | 번째 | [ºª°]"  # the second one is named instead
_SCALES = {"千": 1_000, "万": 10_000, "萬": 10_000, "億": 10**8, "亿": 10**8, "만": 10_000, "억": 10**8}
# Languages that set names apart by capitals and do not inflect them.
_CAPITALS = frozenset({"da", "es", "fr", "it", "nl", "no", "pt", "sv"})
_LONGEST_ACRONYM = 5  # letters; longer words in capitals are said aloud: "URGENTE"
_HEADLINE_WORDS = 4  # fewer may all be names
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NEAR = r"(?: (?:er|º|°|ª|\.)? \s (?:de\s|d')? )"
_OF_YEAR = r"\s (?:de[l]?\s)? (?P<year>[12]\d{3}) (?!\d)"
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,40} (?: -[A-Za-z\u00c0-\u024f]{1,40} ){0,3}", re.VERBOSE)


def _calendar_names(modules: dict[str, Any], keys: tuple[str, ...], shortest: int) -> dict[str, int]:
    return {
        name.casefold(): number
        for module in modules.values()
        for number, key in enumerate(keys)
        for name in module.info[key]
        if len(name) >= shortest and name.casefold() not in _NOT_DAYS and name[0].isalpha()
    }


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))


# Numbers by names in folded case; months from 1, Monday 0. A month counts only beside a day or a year, so that three
# letters are enough; the languages do not disagree on them.
_MONTH_OF = {name: number + 1 for name, number in _calendar_names(_LATIN, _MONTHS, 3).items()}
_WEEKDAY_OF = _calendar_names(_LATIN, _WEEKDAYS, _SHORTEST) | _calendar_names(_EAST, _WEEKDAYS, 2)
_MONTH, _WEEKDAY = _any_of(_MONTH_OF), _any_of(_WEEKDAY_OF)


def _number_of(numeral: str) -> int:
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


def literals_of(text: str, language: str) -> tuple[ProtectedToken, ...]:
    """The literals of a text in its normal form, in reading order; capitals make names in some languages only."""
    taken = bytearray(len(text))
    found: list[ProtectedToken] = []
    for pattern, value in _RULES:
        for m in pattern.finditer(text):
            said = value(m) if taken.find(1, m.start(), m.end()) < 0 else None
            if said is not None:
                taken[m.start() : m.end()] = b"\1" * (m.end() - m.start())
                found.append(ProtectedToken(said[0], m[0], m.start(), m.end(), said[1]))
    found += [t for t in _names(text, language) if taken.find(1, t.start, t.end) < 0]
    return tuple(sorted(found, key=lambda t: t.start))


def folded(text: str) -> str:
    """Folded case; Latin letters without accents, and without the "e" that may stand for an umlaut."""
    plain = "".join(_bare(c) for c in text.casefold())
    return plain.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _bare(character: str) -> str:
    if character.isascii() or not unicodedata.name(character, "").startswith("LATIN"):
        return character
    return "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))


def _date(m: re.Match[str]) -> Found:
    parts = m.groupdict()
    name = (parts.get("name") or "").casefold()
    month = _MONTH_OF[name] if name else _number_of(parts["month"]) if parts.get("month") else None
    day = _number_of(parts["day"]) if parts.get("day") else None
    year = _number_of(parts["year"]) if parts.get("year") else None
    if month is None or not 1 <= month <= 12 or not 1 <= (day or 1) <= 31 or (year or 1000) < 1000:
        return None
    return Kind.TIME, f"{year or '-'}-{month:02}" + (f"-{day:02}" if day else "")


def _day_and_month(m: re.Match[str]) -> Found:
    """5/11: the fifth of November, in East Asia the eleventh of May."""
    one, other = int(m["one"]), int(m["other"])
    day, month = (other, one) if _EAST_ASIAN.search(m.string) else (one, other)
    return (Kind.TIME, f"--{month:02}-{day:02}") if 0 < month < 13 and 0 < day < 32 else None


def _clock(m: re.Match[str]) -> Found:
    """A time of day; a full hour has the value of its number, since 18 h, 18 Uhr and 18:00 are one."""
    hour, minute = int(m["hour"]), int(m["minute"])
    return (Kind.TIME, f"{hour}:{minute:02}".removesuffix(":00")) if hour < 25 and minute < 60 else None


def _weekday(m: re.Match[str]) -> Found:
    return Kind.TIME, f"weekday:{_WEEKDAY_OF[m[0].casefold()]}"


def _year(m: re.Match[str]) -> Found:
    return Kind.TIME, m["year"]


def _code(m: re.Match[str]) -> Found:
    glued = re.fullmatch(r"\d[\d.,]{0,12}[a-zµ]{1,3}", m[0])  # 5km, 20min, 1er
    counted = re.fullmatch(r"\d{1,9}-[A-Za-z]*[a-z]{2}[A-Za-z-]*", m[0])  # 3-Zimmer-Wohnung
    mixed = any(c.isdigit() for c in m[0]) and any(c.isalpha() for c in m[0])
    return (Kind.IDENTIFIER, m[0].casefold()) if mixed and not glued and not counted else None


def _address(m: re.Match[str]) -> Found:
    return Kind.IDENTIFIER, m[0].casefold().rstrip(".,;:!?/")


def _version(m: re.Match[str]) -> Found:
    thousands = re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,5}", m[0])
    return None if thousands else (Kind.VERSION, m[0])


def _number(m: re.Match[str]) -> Found:
    readings = _readings(m["digits"])
    if m["scale"]:
        readings = [f"{float(reading) * _SCALES[m['scale']]:.0f}" for reading in readings[-1:]]
    return Kind.QUANTITY, "|".join(readings)


def _readings(digits: str) -> list[str]:
    """What a number is worth; a point or comma before three digits may part thousands or decimals."""
    plain = re.sub(r"[\s']", "", digits)
    marks = [c for c in plain if c in ".,"]
    if not marks:
        return [str(int(plain))]
    whole, _, rest = plain.rpartition(marks[-1])
    decimal = f"{re.sub('[.,]', '', whole)}.{rest}".removesuffix(".00")
    if len(rest) != 3 or (len(set(marks)) == 2 and len(marks) > 1):
        return [decimal]
    thousands = str(int(re.sub("[.,]", "", plain)))
    return [thousands] if len(marks) > 1 else [thousands, decimal]


def _counted(m: re.Match[str]) -> Found:
    number = _number_of(m["numeral"])
    return None if number == 1 and m["counter"] in "个個" else (Kind.QUANTITY, str(number))  # 一个: an article


# What says a literal, in VERBOSE patterns without regard to case, those first that take words away from later ones.
_GRAMMAR: tuple[tuple[str, Callable[[re.Match[str]], Found]], ...] = (
    (r"(?: https?:// | www\. ) [!-~]{3,200} | [\w.+-]{1,64}@[\w.-]{3,64}", _address),
    (
        rf"(?P<year>{_CJK}) \s? [年년] \s? (?P<month>{_CJK}) \s? [月월] (?: \s? (?P<day>{_CJK}) \s? [日号號일] )?",
        _date,
    ),
    (rf"(?P<month>{_CJK}) \s? [月월] \s? (?P<day>{_CJK}) \s? [日号號일]", _date),
    (r"(?<![\w.-]) (?P<year>[12]\d{3})([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?) (?![\d-])", _date),
    (r"(?<![\w./-]) (?P<day>\d\d?)([-/.])(?P<month>\d\d?)\2(?P<year>[12]\d{3}) (?![\d-])", _date),
    (r"(?<![\w./-]) (?P<day>\d\d?)\.(?P<month>\d\d?)\. (?!\d)", _date),
    (rf"(?<![\w.]) (?P<day>\d\d?) {_NEAR} (?P<name>{_MONTH})\b \.? (?: {_OF_YEAR} )?", _date),
    (r"(?<![\w./-]) (?P<one>\d\d?)/(?P<other>\d\d?) (?![\w/])", _day_and_month),
    (rf"\b (?P<name>{_MONTH})\b \.? {_OF_YEAR}", _date),
    (r"(?<![\w.:]) (?P<hour>\d\d?) (?::|\s?h\s?|[时時点點]) (?P<minute>\d\d) (?![\d:])", _clock),
    (r"(?<![\w.:]) (?P<hour>\d\d?)\.(?P<minute>\d\d) (?=\s?Uhr)", _clock),
    (rf"(?<![^\W\u3040-\u30ff\u3400-\u9fff]) (?: {_WEEKDAY} ) (?![a-zà-ÿ])", _weekday),
    (
        r"(?-i: (?<![A-Za-z0-9.,/-]) [A-Za-z0-9]{1,24} (?:[-_./][A-Za-z0-9]{1,24}){0,6} (?![A-Za-z0-9]) )",
        _code,
    ),
    (r"(?<![\d.,]) \d{1,5} (?:\.\d{1,5}){2,4} (?![\d,])", _version),
    (r"(?<![\d.,$€£¥-]) (?P<year>(?:19|20)\d\d) (?! \d | [.,]\d | \s?[€$£%円元] )", _year),
    (
        rf"""(?<! \d | 第 )
        (?P<digits> \d{{1,3}} (?:[ ']\d{{3}}){{1,4}} (?:[.,]\d{{1,4}})? (?!\d) | \d{{1,15}} (?:[.,]\d{{1,9}}){{0,4}} )
        (?! {_ORDINAL} ) (?P<scale> [{"".join(_SCALES)}] )?""",
        _number,
    ),
    (
        rf"(?<! [第{_NUMERALS}] ) (?P<numeral>[{_NUMERALS}]{{1,6}}) (?! {_ORDINAL} ) (?= (?P<counter>[{_COUNTED}]) )",
        _counted,
    ),
)
_RULES = tuple((re.compile(pattern, re.VERBOSE | re.IGNORECASE), value) for pattern, value in _GRAMMAR)


def _names(text: str, language: str) -> Iterable[ProtectedToken]:
    """Latin words in a text of another script; capitalised words inside a sentence; words with inner capitals."""
    words = list(_LATIN_WORD.finditer(text))
    longer = [m for m in words if len(m[0]) > 3]
    headline = len(longer) >= _HEADLINE_WORDS and all(m[0][0].isupper() for m in longer)
    for m in words:
        loud = m[0].isupper() and (len(m[0]) > _LONGEST_ACRONYM or text.isupper())
        inner = any(c.isupper() for c in m[0][1:]) and not loud
        capital = m[0][0].isupper() and language in _CAPITALS and not headline and not _opens(text, m.start())
        if language not in LATIN or inner or capital:
            yield ProtectedToken(Kind.ENTITY, m[0], m.start(), m.end(), folded(m[0]).replace("-", ""))


def _opens(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \"'(¿¡-")
    return not before or before[-1] in ".?!:\n" or text[start - 1] in "¿¡"
