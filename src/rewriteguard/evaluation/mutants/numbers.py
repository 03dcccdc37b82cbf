"""Edits of numbers, of the words that bound them, and of units."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, holds, like
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_WORDS: list[str] = WORDS["numbers"]["words"]
_ORDINALS: list[str] = WORDS["numbers"]["ordinals"]
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,3}}|\d{{1,9}}(?:\.\d{{1,3}})?|{any_of(_WORDS)})"
_CARDINAL = re.compile(
    rf"""
    (?<![\w.,/:#–-])(?<!\bno\s)(?<!\bno\.\s)(?<!number\s)(?<!stage\s)(?<!episode\s)(?P<currency>[$€£])?(?P<number>{_NUMBER})
    (?P<scale>\s?(?:million|billion|thousand|hundred|percent|per\scent|%))?
    (?P<behind>-[a-z]{{3,12}}|\s[a-z-]{{3,20}})?(?![\w/:–]|-\d|[.,]\d)
    """,
    re.VERBOSE,
)
_ORDINAL = re.compile(rf"(?<![\w-])(?P<number>{any_of(_ORDINALS)})\s(?P<behind>[a-z]{{3,20}})(?![\w-])")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_BOUND = re.compile(
    rf"(?<![\w-])(?P<bound>{any_of(a for a, _ in WORDS['bounds']['flip'])})\s(?P<number>[$€£]?{_NUMBER})(?!\w)",
    re.IGNORECASE,
)
_UNIT = re.compile(
    rf"(?<![\w.,-])(?P<number>{_NUMBER})\s?(?P<unit>{any_of(a for a, _ in WORDS['units']['other'])})(?![\w-])(?!\sold)"
)
_IN_UNITS = re.compile(r"(?<=\sin\s)(?P<unit>kilometers|kilometres|miles|kg|pounds|dollars|euros|feet)(?=\s?\?)")
_RATE = re.compile(rf"(?<![\w-])(?P<unit>{any_of(a for a, _ in WORDS['units']['rates'])})(?![\w-])")
_SPAN = re.compile(r"\s(?:years|months|weeks|days|hours|minutes|decades)\b")
_SECOND = re.compile(r"\ssecond\s(?:world|language|degree|thoughts)")


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the numbers, bounds and units of a question."""
    for match in _CARDINAL.finditer(question.text):
        if question.free(*match.span("number")) and _counts(match):
            yield from _cardinal(question, match)
    for match in _ORDINAL.finditer(question.text):
        if question.free(*match.span()) and not _SECOND.match(question.text, match.start() - 1 if match.start() else 0):
            after = question.pick([o for o in _ORDINALS[:4] if o != match["number"]], "ordinal")
            if after:
                yield question.replace(MutantKind.NUMBER, Edit.ALTER, match.span("number"), after, match["number"])
    yield from _bounds(question)
    yield from _units(question)


def _counts(match: re.Match[str]) -> bool:
    """True for a number that counts or measures something: no year, no list number, no pronoun."""
    behind = (match["behind"] or "").strip(" -")
    marked = match["currency"] or match["scale"]
    if _YEAR.fullmatch(match["number"]) and not marked:
        return False
    return bool(marked or (behind and behind not in WORDS["numbers"]["not_counted"]))


def _cardinal(question: Question, match: re.Match[str]) -> Iterator[Mutant]:
    old = match["number"]
    if old in _WORDS:
        options = [w for w in _WORDS if w != old and abs(_WORDS.index(w) - _WORDS.index(old)) < 6]
    else:
        value = float(old.replace(",", ""))
        changed = [value * 2, value * 3, value + 4, value + 7]
        options = [_written(v, old) for v in changed if _written(v, old) != old]
    after = question.pick(options, old)
    if after:
        yield question.replace(MutantKind.NUMBER, Edit.ALTER, match.span("number"), after, old)
    written = old.replace(",", "")
    others = [
        n
        for n in _numbers(question.context)
        if (n in _WORDS) == (old in _WORDS) and n.replace(",", "") != written and not holds(question.text, n)
    ]
    if others:
        other = others[question.draw(len(others), "context")]
        yield question.replace(MutantKind.NUMBER, Edit.ALTER, match.span("number"), other, old)


def _numbers(context: str) -> list[str]:
    """The numbers that the conversation counts or measures something with, each once, in the order of the text."""
    return list(dict.fromkeys(match["number"] for match in _CARDINAL.finditer(context) if _counts(match)))


def _written(value: float, model: str) -> str:
    """`value` written as `model` is."""
    places = len(model.partition(".")[2])
    return f"{value:,.{places}f}" if "," in model or value >= 100_000 else f"{value:.{places}f}"


def _bounds(question: Question) -> Iterator[Mutant]:
    flip: dict[str, str] = dict(WORDS["bounds"]["flip"])
    for match in _BOUND.finditer(question.text):
        if question.free(*match.span()):
            word = match["bound"].lower()
            if word in ("over", "under") and _SPAN.match(question.text, match.end()):
                continue
            start, end = match.span("bound")
            after = like(match["bound"], flip[word])
            yield question.replace(MutantKind.BOUND, Edit.ALTER, (start, end), after, word)
            if (
                not re.search(r"\b(?:go|went|get|ran?|take)\s\Z", question.text[:start])
                and question.text[match.end() :][:1] == " "
            ):
                yield question.drop(MutantKind.BOUND, (start, end), word)


def _units(question: Question) -> Iterator[Mutant]:
    other: dict[str, str] = dict(WORDS["units"]["other"])
    rates: dict[str, str] = dict(WORDS["units"]["rates"])
    other |= {"kilometers": "miles", "kilometres": "miles"}
    for pattern, table in ((_UNIT, other), (_IN_UNITS, other), (_RATE, rates)):
        for match in pattern.finditer(question.text):
            if question.free(*match.span()):
                unit = match["unit"]
                yield question.replace(MutantKind.UNIT, Edit.ALTER, match.span("unit"), table[unit], unit)
