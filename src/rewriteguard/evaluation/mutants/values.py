"""Edits of values: dates, numbers with their bounds and units, versions and identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rewriteguard.evaluation.mutants.mutant import Edit, Match, Mutant, MutantKind, Question, holds, like
from rewriteguard.evaluation.mutants.question import WORDS, AskingClause, any_of, ask

# Dates

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
_OWNED = re.compile(r"(?:\bthe|his|her|their|['’]s?)\s\Z")
_OFFSETS = (3, -3, 4, -4, 6, -6, 7, -7, 11, -11, 13, -13)


def date_edits(question: Question) -> Iterator[Mutant]:
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
    yield from _relative(question)
    if clause and not years and not dates and not _LAST.search(question.text):
        yield from _invent(question, clause)


def _alter(question: Question, match: Match) -> Iterator[Mutant]:
    """Another year, month, day, century or relation in place of that of a date."""
    trigger = match["date"]

    def put(group: str, value: str | None) -> Iterator[Mutant]:
        yield from question.swap(MutantKind.DATE, match.span(group), value, trigger)

    if match["year"]:
        yield from put("year", question.pick(_near_years(match), match["year"]))
        others = [y for y in dict.fromkeys(_YEAR.findall(question.context)) if y not in question.text]
        if others and not match["decade"]:
            yield from put("year", others[question.draw(len(others), "context")])
    if match["decade"]:
        return
    for month in [group for group in ("month", "month3") if match[group]][:1]:
        yield from put(month, question.pick(_MONTHS, match[month]))
    for day in [group for group in ("day", "day2", "day3") if match[group]][:1]:
        yield from put(day, question.pick([str(d) for d in range(3, 29) if d != int(match[day])], match[day]))
    if match["century"]:
        value = int(match["century"])
        options = [f"{n}th" for n in (value - 3, value - 2, value + 2) if 3 < n < 21]
        start, end = match.span("century")
        yield from question.swap(MutantKind.DATE, (start, end + 2), question.pick(options, "century"), trigger)


def _near_years(match: Match) -> list[str]:
    year = int(match["year"])
    return [str(year + by) for by in (-30, -20, 20)] if match["decade"] else _near(year)


def _near(year: int) -> list[str]:
    return [str(year + by) for by in _OFFSETS if year + by < 2025]


def _relation(question: Question, match: Match) -> Iterator[Mutant]:
    prep = (match["prep"] or "").lower()
    yield from question.swap(MutantKind.DATE, match.span("prep"), _RELATIONS.get(prep), prep)


def _drop(question: Question, clause: AskingClause, match: Match) -> Iterator[Mutant]:
    """Only where the date belongs to what is asked, not to an event that is told beside it."""
    text, start = question.text, match.start()
    if (match["prep"] or "").lower() not in _PLACED or start <= clause.body:
        return
    told = _CLAUSE.search(text, clause.body, start) or _BOUND.search(text[:start])
    if _ENDS.match(text, match.end()) and not told:
        yield question.drop(MutantKind.DATE, (start, match.end()), match["date"])


def _relative(question: Question) -> Iterator[Mutant]:
    for match in question.free_places(_LAST):
        if not _OWNED.search(question.text[: match.start()]):
            after = "this" if match["word"].lower() == "last" else "last"
            yield question.replace(MutantKind.DATE, Edit.ALTER, match.span("word"), after, match[0])


def _invent(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """A year at the end, near the years of the context where there are any."""
    years = [int(year) for year in _YEAR.findall(question.context)]
    anchor = years[question.draw(len(years), "anchor")] if years else 1990
    year = question.pick(_near(anchor), "invent")
    if clause.wh.startswith(("when", "how long", "how old", "how far")) or "year" in clause.noun or year is None:
        return
    rest = question.text[clause.body : clause.end]
    if clause.aux in ("did", "didn't") and not _TIMELESS.search(rest):
        yield question.insert(MutantKind.DATE, clause.end, f" in {year}", year)


# Numbers, bounds and units

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
_OTHER_BOUNDS: dict[str, str] = dict(WORDS["bounds"]["flip"])
_OTHER_RATES: dict[str, str] = dict(WORDS["units"]["rates"])
_OTHER_UNITS: dict[str, str] = dict(WORDS["units"]["other"]) | {"kilometers": "miles", "kilometres": "miles"}
_MOVES = re.compile(r"\b(?:go|went|get|ran?|take)\s\Z")
_YEAR_NUMBER = re.compile(r"(?:1[5-9]|20)\d\d")
_BOUND_WORDS = re.compile(
    rf"(?<![\w-])(?P<bound>{any_of(_OTHER_BOUNDS)})\s(?P<number>[$€£]?{_NUMBER})(?!\w)",
    re.IGNORECASE,
)
_UNIT = re.compile(
    rf"(?<![\w.,-])(?P<number>{_NUMBER})\s?(?P<unit>{any_of(a for a, _ in WORDS['units']['other'])})(?![\w-])(?!\sold)"
)
_IN_UNITS = re.compile(r"(?<=\sin\s)(?P<unit>kilometers|kilometres|miles|kg|pounds|dollars|euros|feet)(?=\s?\?)")
_RATE = re.compile(rf"(?<![\w-])(?P<unit>{any_of(_OTHER_RATES)})(?![\w-])")
_SPAN = re.compile(r"\s(?:years|months|weeks|days|hours|minutes|decades)\b")
_SECOND = re.compile(r"\ssecond\s(?:world|language|degree|thoughts)")


def number_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the numbers, bounds and units of a question."""
    for match in question.free_places(_CARDINAL, "number"):
        if _counts(match):
            yield from _cardinal(question, match)
    for match in question.free_places(_ORDINAL):
        if not _SECOND.match(question.text, max(0, match.start() - 1)):
            after = question.pick([each for each in _ORDINALS[:4] if each != match["number"]], "ordinal")
            yield from question.swap(MutantKind.NUMBER, match.span("number"), after, match["number"])
    yield from _bounds(question)
    for pattern, others in ((_UNIT, _OTHER_UNITS), (_IN_UNITS, _OTHER_UNITS), (_RATE, _OTHER_RATES)):
        for match in question.free_places(pattern):
            yield from question.swap(MutantKind.UNIT, match.span("unit"), others[match["unit"]], match["unit"])


def _counts(match: Match) -> bool:
    """True for a number that counts or measures something: no year, no list number, no pronoun."""
    behind = (match["behind"] or "").strip(" -")
    marked = match["currency"] or match["scale"]
    if _YEAR_NUMBER.fullmatch(match["number"]) and not marked:
        return False
    return bool(marked or (behind and behind not in WORDS["numbers"]["not_counted"]))


def _cardinal(question: Question, match: Match) -> Iterator[Mutant]:
    old = match["number"]
    if old in _WORDS:
        options = [w for w in _WORDS if w != old and abs(_WORDS.index(w) - _WORDS.index(old)) < 6]
    else:
        value = float(old.replace(",", ""))
        changed = [value * 2, value * 3, value + 4, value + 7]
        options = [_written(v, old) for v in changed if _written(v, old) != old]
    yield from question.swap(MutantKind.NUMBER, match.span("number"), question.pick(options, old), old)
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
    text = question.text
    for match in question.free_places(_BOUND_WORDS):
        word = match["bound"].lower()
        if word in ("over", "under") and _SPAN.match(text, match.end()):
            continue
        yield question.replace(
            MutantKind.BOUND, Edit.ALTER, match.span("bound"), like(match["bound"], _OTHER_BOUNDS[word]), word
        )
        if not _MOVES.search(text[: match.start("bound")]) and text.startswith(" ", match.end()):
            yield question.drop(MutantKind.BOUND, match.span("bound"), word)


# Versions and identifiers

_VERSION = re.compile(
    r"""
    (?P<word>\b(?:version|release|v\.?)\s?|(?<=[A-Za-z]\s))(?P<version>\d{1,3}(?:\.\d{1,3}){1,3})(?![\w.]*\w)(?!\s?%)
    (?!\s(?:million|billion|percent|thousand))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED = re.compile(r"[A-Z]\w*\s\Z")
_AT_END = re.compile(r"\s?(?:[?,]|\Z)")
_IDENTIFIER = re.compile(
    r"""
    (?<![\w.,$€£/-])(?P<id>\#\d{3,10} | CVE-\d{4}-\d{4,6} | [A-Z]{1,6}[-_]?\d{2,10}(?:-[A-Z0-9]{1,4})?
    | \d{3,8}-[A-Z]{1,3} | (?:[A-Z]{2,6}\s)(?=\d{3,6}\b)\d{3,6})(?![\w/]|-\d|['’]s\sto)
    """,
    re.VERBOSE,
)
_IN_PLACE = re.compile(
    r"\s(?:for|in|of|with|on|under)\s(?:the\s)?(?:(?!with\s|for\s|under\s)[a-z]{3,12}\s)?(?:no\.\s)?\Z"
)


def code_edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the versions and identifiers that the question names."""
    text = question.text
    for match in _VERSION.finditer(text):
        old, named = match["version"], bool(match["word"].strip())
        if named or _NAMED.search(text[: match.start("version")]):
            other = next((version for version in _versions(old) if not question.known(version)), None)
            yield from question.swap(MutantKind.VERSION, match.span("version"), other, old)
            placed = _IN_PLACE.search(text[: match.start("word")]) if named else None
            start = placed.start() + 1 if placed else match.start("word")
            yield question.drop(MutantKind.VERSION, (start, match.end()), old)
    for match in _IDENTIFIER.finditer(text):
        old = match["id"]
        yield from question.swap(MutantKind.IDENTIFIER, match.span("id"), question.pick(_codes(old), old), old)
        placed = _IN_PLACE.search(text[: match.start()])
        if placed and _AT_END.match(text, match.end()):
            yield question.drop(MutantKind.IDENTIFIER, (placed.start() + 1, match.end()), old)


def _versions(old: str) -> list[str]:
    """Other versions, the ones that are easily confused first: 3.10 and 3.1, 2.4 and 4.2."""
    parts = old.split(".")
    last = parts[-1]
    shorter = [".".join([*parts[:-1], last[:-1]])] if len(last) > 1 else [f"{old}0"] if last != "0" else []
    options = [*shorter, ".".join(reversed(parts)), ".".join([*parts[:-1], str(int(last) + 3)])]
    return [option for option in options if option != old]


def _codes(old: str) -> list[str]:
    """The code with another last digit, and with its last two different digits swapped."""
    digits = [i for i, c in enumerate(old) if c.isdigit()]
    last = digits[-1]
    changed = old[:last] + str((int(old[last]) + 3) % 10) + old[last + 1 :]
    swapped = [old[:i] + old[j] + old[i] + old[j + 1 :] for i, j in pairwise(digits) if j == i + 1 and old[i] != old[j]]
    return [changed, *swapped[-1:]]
