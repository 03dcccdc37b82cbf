"""VERSION: numbers of releases. The product's name is a name and stays outside the token.

The value is the number as written, without `v` or `version`: v2.1, 2.1 and version 2.1 are `2.1`; 3.10 is not 3.1. The
relation is the bound of "3.10 or later" and "older than version 2".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spacy.tokens import Doc

from rewriteguard.extract.base import claim, either, group, same_value, text_of, token
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

same = same_value

_TABLE = lexicon.section("version")
_MEASURES = frozenset(_TABLE["measures"])
_SCALES = frozenset(_TABLE["scales"])
_FLAGS = re.IGNORECASE | re.VERBOSE


_TAIL = r"""(?: \.[x*](?!\w) )? (?: [-.]? (?:alpha|beta|rc|preview|pre|snapshot|lts|dev)(?![a-z]) [-.]? \d{0,3} )?"""
_MANY = rf"\d{{1,5}} (?:\.\d{{1,6}}){{2,4}} {_TAIL}"  # 6.16.0
_DOTTED = rf"\d{{1,5}} (?: (?:\.\d{{1,6}}){{1,4}} {_TAIL} | \.[x*](?!\w) )"
_ANY = rf"\d{{1,5}} (?:\.\d{{1,6}}){{0,4}} {_TAIL}"
_END = r"(?! [\w@/\\] | [.,:-]\d | \s?[%€£°] )"
_FREE = r"(?<![\w.,:/$€£¥#@=+-])"
# The first pattern that fits a place wins; `number` is the value, the match is the token.
_PATTERNS = (
    re.compile(rf"(?<![\w.$-]) (?:{either(_TABLE['words'])} \s{{0,2}}) (?P<number>{_ANY}) {_END}", _FLAGS),
    re.compile(rf"(?<![\d.,$€£]) (?P<token> (?: (?<![a-z]) v\.?\s? )? (?P<known>)(?P<number>{_ANY}) ) {_END}", _FLAGS),
    re.compile(rf"{_FREE} (?P<number>\d{{1,3}} (?:\.\d{{1,3}}){{0,2}} \.x) (?!\w)", _FLAGS),
    re.compile(rf"{_FREE} (?P<number>{_MANY}) {_END}", _FLAGS),
    re.compile(rf"{_FREE} (?P<number>{_DOTTED}) (?= \s (?:release|version|update|branch|upgrade|sdk|api)\b )", _FLAGS),
    re.compile(
        rf"(?<!\w) (?P<product>[A-Z][\w.+]{{1,24}}) \s (?P<token>(?P<number>\d{{1,3}}\.\d{{1,3}} {_TAIL})) {_END}",
        re.VERBOSE,
    ),
)
_PRODUCT_BEFORE = re.compile(
    rf"""(?<![\w.$-]) (?: {either(_TABLE["products"])} | (?-i:{either(_TABLE["products_with_capital"])}) )
    (?P<gap> [\s-]{{0,2}} ) $""",
    _FLAGS,
)
_DIGIT = re.compile(r"\d", re.VERBOSE)
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:19|20)\d\d | (?:19|20)\d\d\.\d{1,2}\.\d{1,2}", re.VERBOSE)
_NEXT = re.compile(r"[\s-] ([a-z]{1,12})", _FLAGS)
_BOUND = {phrase: bound for bound, phrases in _TABLE["bounds"].items() for phrase in phrases}
_BOUND_BEFORE = {phrase: bound for bound, phrases in _TABLE["bounds_before"].items() for phrase in phrases}
_BEHIND = re.compile(rf"\s (?P<words>{either(_BOUND)}) (?!\w) | (?P<plus>\+) (?!\w)", _FLAGS)
_BEFORE = re.compile(rf"(?<![\w<>]) (?P<words>{either(_BOUND_BEFORE)}) \s{{0,2}} $", _FLAGS)
_ENGINE = ("engine", "engines", "motor", "car", "cars", "juice", "vaccine")


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The versions of `doc` in the order of the patterns."""
    text = text_of(doc)
    if not _DIGIT.search(text):
        return
    taken = bytearray(len(text))
    for pattern in _PATTERNS:
        for m in pattern.finditer(text):
            name = "token" if m.groupdict().get("token") else 0
            start, end = m.start(name), m.end(name)
            if _is_version(m) and claim(taken, start, end):
                yield _bounded(text, m, start, end)


def _is_version(m: re.Match[str]) -> bool:
    number = m["number"]
    if "known" in m.groupdict() and not _PRODUCT_BEFORE.search(m.string, max(0, m.start() - 24), m.start()):
        return False
    following = _NEXT.match(m.string, m.end())
    behind = following[1].lower() if following else ""
    if _DATE.fullmatch(number) or (behind in _MEASURES and behind != "or" and number.count(".") < 2):
        return False
    if behind in _ENGINE and "." not in number:  # a V8 engine
        return False
    product = m.groupdict().get("product")
    return product is None or product.lower() not in _SCALES


def _bounded(text: str, m: re.Match[str], start: int, end: int) -> ProtectedToken:
    value = m["number"].lower()
    if behind := _BEHIND.match(text, end):
        bound = ">=" if behind["plus"] else _BOUND[group(behind, "words")]
        return token(Kind.VERSION, text, start, behind.end(), value, bound)
    before = _BEFORE.search(text, max(0, m.start() - 16), m.start())
    if before is None:
        return token(Kind.VERSION, text, start, end, value)
    # The product may stand between the bound and the number; then the token is the number alone.
    own = before.start() if start == m.start() else start
    return token(Kind.VERSION, text, own, end, value, _BOUND_BEFORE[group(before, "words")])
