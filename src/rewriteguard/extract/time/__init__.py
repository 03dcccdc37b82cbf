"""TIME: dates, periods, clock times and relative times, each with the word that relates it to the question.

Equal although written differently: Q3 2023 and third quarter of 2023; the 16th century and the 1500s; 5 pm and 17:00;
since and from; in, on, during, at, as of and no word at all. With a reference date also `last year` and the year it
is. Never equal: fiscal and calendar periods; different relations (since 2019, after 2019; before 1871, 1871).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from spacy.tokens import Doc

from rewriteguard.extract.base import Facts, Match, group, matches, text_of, token
from rewriteguard.extract.time.dates import DATES, YEARS, join
from rewriteguard.extract.time.value import (
    UNIT_DAYS,
    WORDS,
    either,
    in_year,
    interval,
    is_yearless,
    letters_in,
    nearest,
    resolve,
    warm_up,
)
from rewriteguard.extract.time.words import TIMES
from rewriteguard.model.tokens import Kind, ProtectedToken

__all__ = ["extract", "resolve", "same", "warm_up"]

_FORMS = (*DATES, *TIMES, *YEARS)
_WINDOW = 32  # the longest relation or part phrase with its article, in characters
_NOW = ("present", "relative:day:0")


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    value: str
    relation: str = ""


def _phrases(table: dict[str, list[str]]) -> tuple[dict[str, str], str]:
    meaning = {phrase: name for name, phrases in table.items() for phrase in phrases}
    glued = either(phrase[:-1] for phrase in meaning if phrase.endswith("-"))
    loose = either(phrase for phrase in meaning if not phrase.endswith("-"))
    return meaning, rf"(?: (?P<glued>{glued})- | (?P<loose>{loose})\s{{1,3}} )"


_RELATION, _relation_words = _phrases(WORDS["relations"])
_PART, _part_words = _phrases(WORDS["parts"])
_FLAGS = re.IGNORECASE | re.VERBOSE
_BEFORE = re.compile(rf"(?<![\w-]) {_relation_words} (?: (?:the|in|on|year|about) \s ){{0,3}} $", _FLAGS)
_PART_BEFORE = re.compile(rf"(?<![\w-]) {_part_words} (?: (?:the|in) \s )? $", _FLAGS)
_BEHIND_WORDS = {phrase: name for name, phrases in WORDS["relations_behind"].items() for phrase in phrases}
_BEHIND = re.compile(rf"\s{{1,2}} (?P<words>{either(_BEHIND_WORDS)})(?!\w) | (?P<plus>\+)(?!\w)", _FLAGS)
_TO = re.compile(r"\s{0,2} (?: - | \b(?:to|through|thru|until|till|til|up\sto)\b ) \s{0,2} (?:the\s)?", _FLAGS)
_AND = re.compile(r"\s{1,2} and \s{1,2} (?:the\s)?", _FLAGS)
_OPENS = re.compile(r"(?<!\w) (?P<word>between|from) \s{1,2} (?:the\s)? $", _FLAGS)
_RUN = re.compile(r"(?<!\d) \d{4} \s? [-/] \s? \d{2,4} $", re.VERBOSE)
_COMPARED = re.compile(r"(?<!\w) (?:differ|compar|chang|switch|mov) [a-z]{0,6} \b [^.?!]{0,24} $", _FLAGS)


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The times of `doc` in reading order; values as in `time.value`, relations as in the language table."""
    text = text_of(doc)
    found = matches(_FORMS, text, letters_in(text), bytearray(len(text)))
    for span in _joined(text, [_Span(*each) for each in sorted(found)]):
        whole = _related(text, span)
        yield token(Kind.TIME, text, whole.start, whole.end, whole.value, whole.relation)


def _joined(text: str, spans: list[_Span]) -> Iterator[_Span]:
    """The spans, those that are the two ends of one period made one."""
    index = 0
    while index < len(spans):
        pair = _pair(text, spans[index], spans[index + 1]) if index + 1 < len(spans) else None
        yield pair or _parted(text, spans[index])
        index += 2 if pair else 1


def _pair(text: str, first: _Span, last: _Span) -> _Span | None:
    opening = _OPENS.search(text, max(0, first.start - _WINDOW), first.start)
    word, start = (opening["word"].lower(), opening.start()) if opening else ("", first.start)
    linked = (_AND if word == "between" else _TO).fullmatch(text, first.end, last.start)
    if not linked or _COMPARED.search(text, max(0, start - _WINDOW), start):
        return None
    if last.value in _NOW and word != "between":
        return _Span(start, last.end, first.value, "since")
    value = join(first.value, last.value)
    return _Span(start, last.end, value) if value else None


def _parted(text: str, span: _Span) -> _Span:
    """The span with the words that name a part of it: early 1990s, the end of 2020."""
    m = _PART_BEFORE.search(text, max(0, span.start - _WINDOW), span.start)
    if m is None or span.value in _NOW:
        return span
    return replace(span, start=m.start(), value=f"{_name(m, _PART)}:{span.value}")


def _related(text: str, span: _Span) -> _Span:
    """The span with the words that relate it to the question: before 1871, 2010 or later."""
    if span.relation:
        return span
    if _RUN.search(text, span.start, span.end):  # "between 2007 - 2009", "from 2003-2013"
        opening = _OPENS.search(text, max(0, span.start - _WINDOW), span.start)
        return replace(span, start=opening.start()) if opening else span
    m = _BEFORE.search(text, max(0, span.start - _WINDOW), span.start)
    if m and m[0].lower().split() == ["through", "the"]:  # "through the 1990s" is during them
        m = None
    start, relation = (m.start(), _name(m, _RELATION)) if m else (span.start, "")
    behind = _BEHIND.match(text, span.end) if relation in ("", "from") else None
    if behind is None:
        return replace(span, start=start, relation=relation)
    name = "since" if behind["plus"] else _BEHIND_WORDS[group(behind, "words")]
    return replace(span, start=start, end=behind.end(), relation=name)


def _name(m: re.Match[str], meaning: dict[str, str]) -> str:
    words = f"{m['glued']}-" if m["glued"] else m["loose"]
    return meaning[" ".join(words.lower().split())]


def same(ours: ProtectedToken, theirs: ProtectedToken, facts: Facts) -> Match:
    """How a time of the rewrite compares with one of the turn; see the head of the module."""
    if _agree(ours.relation, theirs.relation):
        return _compare(ours.value, theirs.value, facts.reference_date)
    # "the past three years" may be said as "since 2020".
    if ".." in ours.value and not ours.relation and theirs.relation in ("since", "from"):
        run = facts.reference_date and resolve(ours.value, facts.reference_date)
        days = interval(theirs.value)
        if run and days and _close(run[0], days[0], ours.value):
            return Match.SAME
    return Match.DIFFERENT


def _agree(ours: str, theirs: str) -> bool:
    plain = ("", "as of", "~", "from")
    return ours == theirs or (ours in plain and theirs in plain) or {ours, theirs} == {"from", "since"}


def _compare(ours: str, theirs: str, today: date | None) -> Match:
    if ours == theirs or (ours in _NOW and theirs in _NOW):
        return Match.SAME
    if "|" in ours or "|" in theirs:
        return _compare_readings(set(ours.split("|")), set(theirs.split("|")), ours.startswith("T"))
    if _names_more(ours, theirs):
        return Match.NARROWER
    frames = _frame(ours), _frame(theirs)
    if "fixed" in frames:
        return Match.DIFFERENT
    if "named" in frames:
        return Match.DIFFERENT if frames[0] == frames[1] else Match.UNKNOWN
    if frames == ("absolute", "absolute"):
        return _inside(ours, theirs)
    return _compare_to_calendar(ours, theirs, frames) if today is None else _compare_on(ours, theirs, today)


def _compare_readings(ours: set[str], theirs: set[str], clock: bool) -> Match:
    if not ours & theirs:
        return Match.DIFFERENT
    return Match.NARROWER if clock and theirs < ours else Match.UNKNOWN


def _names_more(ours: str, theirs: str) -> bool:
    """True where the rewrite adds a year or a part: Q3, FY2023-Q3; summer, 2019-summer; 1990s, early 1990s."""
    return theirs.endswith((f":{ours}", f"-{ours.removeprefix('--')}"))


def _frame(value: str) -> str:
    """What kind of comparison a value allows: by the calendar, only by name, or only with its like."""
    if value == "present" or (value.startswith("relative:") and "fiscal" not in value):
        return "relative"
    if value.startswith("weekday:") and "/" not in value:
        return "weekday"
    if is_yearless(value):
        return "yearless"
    if interval(value):
        return "absolute"
    return "named" if value.split("-")[-1].isalpha() and ":" not in value else "fixed"


def _inside(ours: str, theirs: str) -> Match:
    """NARROWER where the rewrite names a part of the turn's one year or month."""
    a, b = interval(ours), interval(theirs)
    if a is None or b is None:
        return Match.DIFFERENT
    unit = (a[1] - a[0]).days in (28, 29, 30, 31, 365, 366)
    return Match.NARROWER if unit and a[0] <= b[0] and b[1] <= a[1] else Match.DIFFERENT


def _compare_to_calendar(ours: str, theirs: str, frames: tuple[str, str]) -> Match:
    """Without a reference date."""
    if "relative" in frames:
        return Match.DIFFERENT if frames[0] == frames[1] else Match.UNKNOWN
    if frames[1] == "absolute":
        return Match.NARROWER if _consistent(ours, theirs) else Match.DIFFERENT
    if frames[0] == "absolute":
        return Match.DIFFERENT  # the year was lost
    if frames == ("yearless", "yearless"):
        a, b = in_year(ours, 2000), in_year(theirs, 2000)
        return Match.NARROWER if a and b and a[0] <= b[0] and b[1] <= a[1] else Match.DIFFERENT
    if frames == ("weekday", "yearless"):
        return Match.NARROWER  # a Monday, and which one
    return Match.DIFFERENT if frames[0] == frames[1] else Match.UNKNOWN


def _consistent(ours: str, theirs: str) -> bool:
    days = interval(theirs)
    if days is None:
        return False
    if ours.startswith("weekday:"):
        return (days[1] - days[0]).days == 1 and days[0].weekday() == int(ours[8:])
    own = in_year(ours, days[0].year)
    return own is not None and own[0] <= days[0] and days[1] <= own[1]


def _compare_on(ours: str, theirs: str, today: date) -> Match:
    """On a reference date: the same where any occurrence next to that day is the same."""
    mine, yours = nearest(ours, today), nearest(theirs, today)
    if not mine or not yours:
        return Match.UNKNOWN
    if any(a == b for a in mine for b in yours):
        return Match.SAME
    for run, other in ((ours, yours), (theirs, mine)):
        days = resolve(run, today)
        if ".." in run and days and any(all(map(_close, days, b, (run, run))) for b in other):
            return Match.SAME
    if "present" in (ours, theirs):
        other = yours if ours == "present" else mine
        return Match.SAME if any(a <= today < b for a, b in other) else Match.DIFFERENT
    return Match.DIFFERENT


def _close(ours: date, theirs: date, run: str) -> bool:
    """True where two ends of a run differ by no more than one of the units it counts."""
    return abs((ours - theirs).days) <= UNIT_DAYS.get(run.split(":")[1], 0)
