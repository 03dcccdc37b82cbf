"""Edits of dates: left out, another year, month or day, the other side of a date, and a date that nobody gave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question
from rewriteguard.evaluation.mutants.question import Ask, ask
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_MONTHS: list[str] = WORDS["shield"]["months"]
_MONTH = any_of(_MONTHS)
_DATE = re.compile(
    rf"""
    (?<![\w$€£.,/–-])(?:(?P<prep>in|during|on|since|until|till|before|after|by|from|of)\s(?:the\s)?)?(?P<date>
      (?:(?:(?P<day>\d{{1,2}})\s)?(?P<month>{_MONTH})\s(?:(?P<day2>\d{{1,2}}),?\s)?)?(?P<year>1[5-9]\d\d|20[0-4]\d)
      (?P<decade>['’]?s)?
    | (?P<month3>{_MONTH})\s(?P<day3>\d{{1,2}})
    | (?P<century>1?\d|20|21)(?:st|nd|rd|th)\scentury )
    (?![\w/–-]|\s?[-–]\s?\d|[.,]\d|\s[A-Z])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LAST = re.compile(r"\b(?P<word>last|this|next)\s(?P<span>year|month|week|season|decade)\b", re.IGNORECASE)
_RANGE = re.compile(r"\s(?:in|during|from)\s(?:1[5-9]|20)\d\d\s?(?:[-–]|to)\s?\d{2,4}(?=\s?\?)")
_CLAUSE = re.compile(
    r"\b(?:after|before|when|while|who|which|that|because|following|since|until|where|as|and|or|if|including|upon)\b",
    re.IGNORECASE,
)
_RELATIONS = {"before": "after", "after": "before", "since": "before", "until": "after", "till": "after"}
_YEAR = re.compile(r"(?<![\w$€£.,/-])(?:1[5-9]\d\d|20[0-4]\d)(?![\w/-]|[.,]\d)")
_YEARS = re.compile(r"(?<!\d)(?:1[5-9]\d\d|20[0-4]\d)(?!\d)")
_PLACED = ("in", "during", "since", "until", "before", "after", "on")
_ENDS = re.compile(r"\s?(?:[?,]|with\b|to\b|for\b|at\b|\Z)")
# A list of years says when each of many things was; one of them changed is hardly another question.
_MANY_YEARS = 3
# Words that a date behind them completes.
_BOUND = re.compile(r"\b(?:is|was|are|were|born|made|place|died|written|released|recorded|published|held)\s\Z")
_TIMELESS = re.compile(r"\b(?:when|after|before|while|during|in the|time|be|siblings|children|hobbies|mean|ever)\b|,")
_OFFSETS = (3, -3, 4, -4, 6, -6, 7, -7, 11, -11, 13, -13)


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the dates of a question, in the order of the text."""
    years = len(_YEARS.findall(question.text))
    if years > _MANY_YEARS:
        return
    clause = ask(question.text)
    dates = list(_DATE.finditer(question.text))
    for match in dates:
        if question.free(*match.span("date")):
            yield from _alter(question, match)
            yield from _relation(question, match)
            if clause:
                yield from _drop(question, clause, match)
    for match in _RANGE.finditer(question.text):
        start, end = match.start() + 1, match.end()
        if clause and question.free(start, end) and not _CLAUSE.search(question.text, clause.body, start):
            yield question.drop(MutantKind.DATE, (start, end), match[0].split()[-1])
    yield from _near(question)
    if clause and not years and not dates and not _LAST.search(question.text):
        yield from _invent(question, clause)


def _alter(question: Question, match: re.Match[str]) -> Iterator[Mutant]:
    trigger = match["date"]

    def put(group: str, value: str | None) -> Iterator[Mutant]:
        if value:
            yield question.replace(MutantKind.DATE, Edit.ALTER, match.span(group), value, trigger)

    if match["year"]:
        year = int(match["year"])
        if match["decade"]:
            yield from put("year", question.pick([str(year + d) for d in (-30, -20, 20)], match["year"]))
            return
        near = [str(year + d) for d in _OFFSETS if year + d < 2025]
        yield from put("year", question.pick(near, match["year"]))
        others = [y for y in dict.fromkeys(_YEAR.findall(question.context)) if y not in question.text]
        if others:
            yield from put("year", others[question.draw(len(others), "context")])
    month = next((g for g in ("month", "month3") if match[g]), None)
    if month:
        yield from put(month, question.pick(_MONTHS, match[month]))
    day = next((g for g in ("day", "day2", "day3") if match[g]), None)
    if day:
        yield from put(day, question.pick([str(d) for d in range(3, 29) if d != int(match[day])], match[day]))
    if match["century"]:
        value = int(match["century"])
        options = [f"{n}th" for n in (value - 3, value - 2, value + 2) if 3 < n < 21]
        start, end = match.span("century")
        after = question.pick(options, "century")
        if after:
            yield question.replace(MutantKind.DATE, Edit.ALTER, (start, end + 2), after, trigger)


def _relation(question: Question, match: re.Match[str]) -> Iterator[Mutant]:
    prep = (match["prep"] or "").lower()
    if prep in _RELATIONS:
        yield question.replace(MutantKind.DATE, Edit.ALTER, match.span("prep"), _RELATIONS[prep], prep)


def _drop(question: Question, clause: Ask, match: re.Match[str]) -> Iterator[Mutant]:
    """Only where the date belongs to what is asked, not to an event that is told beside it."""
    text, start = question.text, match.start()
    if (match["prep"] or "").lower() not in _PLACED or start <= clause.body:
        return
    told = _CLAUSE.search(text, clause.body, start) or _BOUND.search(text[:start])
    if _ENDS.match(text, match.end()) and not told:
        yield question.drop(MutantKind.DATE, (start, match.end()), match["date"])


def _near(question: Question) -> Iterator[Mutant]:
    for match in _LAST.finditer(question.text):
        if question.free(*match.span()) and not re.search(
            r"(?:\bthe|his|her|their|['’]s?)\s\Z", question.text[: match.start()]
        ):
            after = "this" if match["word"].lower() == "last" else "last"
            yield question.replace(MutantKind.DATE, Edit.ALTER, match.span("word"), after, match[0])


def _invent(question: Question, clause: Ask) -> Iterator[Mutant]:
    """A year at the end, near the years of the context where there are any."""
    years = [int(year) for year in _YEAR.findall(question.context)]
    anchor = years[question.draw(len(years), "anchor")] if years else 1990
    year = question.pick([str(anchor + d) for d in _OFFSETS if anchor + d < 2025], "invent")
    if clause.wh.startswith(("when", "how long", "how old", "how far")) or "year" in clause.noun or year is None:
        return
    rest = question.text[clause.body : clause.end]
    if clause.aux in ("did", "didn't") and not _TIMELESS.search(rest):
        yield question.replace(MutantKind.DATE, Edit.INVENT, (clause.end, clause.end), f" in {year}", year)
