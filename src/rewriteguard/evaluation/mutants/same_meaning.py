"""Edits that keep the meaning: polite words, phrases in another order, another way to write a value, another word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Match, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.question import WORDS, any_of, ask, is_plain, is_vague, sentences, whole

_LISTS = WORDS["controls"]

# Polite words

# "Who wrote it?" keeps its order in "Can you tell me who wrote it?"; "Who did he meet?" does not.
_SUBJECT_WH = re.compile(
    r"(?:who|what)\s(?=(?!is\b|was\b|are\b|were\b|did\b|does\b|do\b|has\b|have\b)"
    r"(?:[a-z]{2,12}ed|wrote|made|sang|won|led|happened|caused)\s)",
    re.IGNORECASE,
)


def fillers(question: Question) -> Iterator[Mutant]:
    """The controls with a polite opening, a polite closing, and an indirect question where its order allows that."""
    text = question.text
    subject = _SUBJECT_WH.match(text)
    if ask(text) is None and not subject:
        return
    start, end = sentences(text)[-1]
    if start == 0:
        opening = _LISTS["openings"][question.draw(len(_LISTS["openings"]), "opening")]
        small = is_plain(text.split(maxsplit=1)[0]) and text[1:2].islower() and not opening.endswith("! ")
        first = text[0].lower() if small else text[0]
        yield question.keep(MutantKind.FILLER, (0, 1), opening + first, opening.strip())
    closing = _LISTS["closings"][question.draw(len(_LISTS["closings"]), "closing")]
    yield question.keep(MutantKind.FILLER, (end, end), closing, closing.strip())
    if subject and text.rstrip().endswith("?"):
        after = f"Can you tell me {text[0].lower()}"
        yield question.keep(MutantKind.FILLER, (0, 1), after, "Can you tell me")


# Order

_WHAT_YEAR = re.compile(r"(?P<what>What year) (?=(?:did|was|were)\b)")
_IN_WHAT_YEAR = re.compile(r"(?P<what>In what year),? (?=(?:did|was|were)\b)", re.IGNORECASE)
_TIME = re.compile(
    rf"""
    \s(?P<phrase>(?:in|during|since|after|before|until|on)\s(?:the\s)?(?:(?:{any_of(WORDS["shield"]["months"])})\s)?
    (?:\d{{1,2}},?\s)?(?:1[5-9]|20)\d\d(?:['’]?s)?)\s?(?=\?)
    """,
    re.VERBOSE,
)
_TOLD = re.compile(
    r"\b(?:after|before|when|while|who|which|that|because|where|as|and|or|if|called|released|written|made|recorded)\b"
)
_LEAD = re.compile(
    rf"""
    ^(?P<lead>(?:{any_of(WORDS["shield"]["exclusions"])})\s[^,?]{{3,120}}),\s
    (?P<rest>(?:what|who|did|where|how|was|were|is|are|has)\b[^?,]{{5,160}}?)\s?\?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TRAIL = re.compile(
    r"""
    ^(?P<rest>(?:What|Who|Did|Where|How|Was|Were|Is|Are|Has|Which)\b[^?,]{5,160}?),?\s
    (?P<lead>(?:besides|aside\sfrom|other\sthan|apart\sfrom)\s
    (?![^?]{0,120}\b(?:is|are|was|were|about|does)\b)[^,?]{3,120}?)\s?\?
    """,
    re.VERBOSE,
)


def orders(question: Question) -> Iterator[Mutant]:
    """The controls with a phrase of time or of exclusion moved to the other end of the question."""
    text = question.text
    for pattern, after in ((_WHAT_YEAR, "In what year"), (_IN_WHAT_YEAR, "What year")):
        match = pattern.match(text)
        if match:
            yield question.keep(MutantKind.WORD_ORDER, match.span("what"), after, "year")
    yield from _time(question)
    if not is_vague(text) and len(sentences(text)) == 1:
        yield from _excluded(question)


def _excluded(question: Question) -> Iterator[Mutant]:
    """Moves what is left out of the answer: "Besides X, what else did Y do?"."""
    for pattern in (_LEAD, _TRAIL):
        match = pattern.match(question.text)
        if match is None or match["rest"].endswith(" in"):
            continue
        first, last = ("rest", "lead") if pattern is _LEAD else ("lead", "rest")
        after = f"{match[first][0].upper()}{match[first][1:]}, {match[last][0].lower()}{match[last][1:]}"
        trigger = match["lead"].split()[0].lower()
        yield question.keep(MutantKind.WORD_ORDER, (0, match.end() - 1), after, trigger)


def _time(question: Question) -> Iterator[Mutant]:
    """Moves a last date to the front: "In 1999, what did Y do?"."""
    text = question.text
    clause, match = ask(text), _TIME.search(text)
    if clause is None or match is None or clause.start or not question.free(*match.span("phrase")):
        return
    if not _TOLD.search(text, clause.body, match.start()) and "," not in text[: match.start()]:
        phrase = match["phrase"]
        after = f"{phrase[0].upper()}{phrase[1:]}, {text[0].lower()}{text[1 : match.start()]}"
        yield question.keep(MutantKind.WORD_ORDER, (0, match.end()), after, phrase)


# Formats

_WORDS: list[str] = WORDS["numbers"]["words"]
_VALUES: list[int] = WORDS["numbers"]["values"]
_MONTH = any_of(WORDS["shield"]["months"])
_THOUSANDS = re.compile(r"(?<![\w.,$€£-])(?P<number>\d{1,3},\d{3})(?![\w,.-])")
_PLAIN = re.compile(r"(?<![\w.,$€£/#-])(?P<number>[2-9]\d{3}|[1-9]\d{4,5})(?=\s[a-z]{3,20}s\b)")
_WORD = re.compile(rf"(?<![\w-])(?P<number>{any_of(_WORDS)})(?=\s[a-z]+s\b)")
_DIGITS = re.compile(
    r"(?<![\w.,:$€£/#-])(?<!stage\s)(?<!act\s)(?<!top\s)(?P<number>[2-9]|1[0-2])(?=\s[a-z]+s\b)", re.IGNORECASE
)
_ORDINALS = {"second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th"}
_ORDINAL = re.compile(
    rf"(?<=\w\s)(?P<number>{any_of(_ORDINALS)})(?=\s[a-z]{{3,}})(?!\s(?:world|language|degree|thoughts))"
)
_SCALE = re.compile(r"(?<=\d)(?P<scale>\smillion)\b")
_DAY = re.compile(rf"\b(?P<month>{_MONTH})\s(?P<day>\d{{1,2}}),\s(?P<year>\d{{4}})\b")
_DAY_FIRST = re.compile(rf"\b(?P<day>\d{{1,2}})\s(?P<month>{_MONTH})\s(?P<year>\d{{4}})\b")
_DECADE = re.compile(r"(?<=\bthe\s)(?P<decade>19[5-9]0)(?P<s>['’]?s)\b")
_DECADES = {"1950": "fifties", "1960": "sixties", "1970": "seventies", "1980": "eighties", "1990": "nineties"}
_RANGE = re.compile(
    r"\b(?P<prep>between|from|during)\s(?:1[5-9]|20)\d\d(?P<dash>\s?[-–]\s?)(?=(?:1[5-9]|20)\d\d\b(?!\s(?:season|time)))"
)
_IN_YEAR = re.compile(r"\bin\s(?=(?:1[5-9]|20)\d\d(?:\s?[?,]))")
_UNIT = re.compile(rf"(?<=\d\s)(?P<unit>{any_of(a for a, _ in WORDS['units']['spellings'])})(?![\w-])")


def formats(question: Question) -> Iterator[Mutant]:
    """The controls of the numbers, dates and units that a question holds."""
    table = (
        (_THOUSANDS, MutantKind.NUMBER_FORMAT, "number", lambda old: old.replace(",", "")),
        (_PLAIN, MutantKind.NUMBER_FORMAT, "number", lambda old: f"{int(old):,}"),
        (_WORD, MutantKind.NUMBER_FORMAT, "number", lambda old: str(_VALUES[_WORDS.index(old)])),
        (_DIGITS, MutantKind.NUMBER_FORMAT, "number", lambda old: _WORDS[_VALUES.index(int(old))]),
        (_ORDINAL, MutantKind.NUMBER_FORMAT, "number", _ORDINALS.__getitem__),
        (_SCALE, MutantKind.NUMBER_FORMAT, "scale", lambda _: "m"),
        (_DECADE, MutantKind.DATE_FORMAT, 0, lambda old: _DECADES[old[:4]]),
        (_IN_YEAR, MutantKind.DATE_FORMAT, 0, lambda _: "in the year "),
        (_UNIT, MutantKind.UNIT_FORMAT, "unit", dict(WORDS["units"]["spellings"]).__getitem__),
    )
    for pattern, kind, group, other in table:
        for match in question.free_places(pattern, group):
            yield question.keep(kind, match.span(group), other(match[group]), match[group])
    for match in question.free_places(_RANGE, "dash"):
        after = " and " if match["prep"] == "between" else " to "
        yield question.keep(MutantKind.DATE_FORMAT, match.span("dash"), after, match["dash"].strip())
    for pattern, form in ((_DAY, "{day} {month} {year}"), (_DAY_FIRST, "{month} {day}, {year}")):
        for match in pattern.finditer(question.text):
            yield question.keep(MutantKind.DATE_FORMAT, match.span(), form.format(**match.groupdict()), match[0])


# Short and full names

_NAMED = re.compile(r"(?P<full>[A-Z]\w+(?:\s(?:of|for|and|the)|\s[A-Z]\w+){1,6})\s\((?P<short>[A-Z]{2,6})\)")


def acronyms(question: Question) -> Iterator[Mutant]:
    """The controls that write a name in full or in short, from common knowledge and from the conversation."""
    pairs = dict(_LISTS["acronyms"])
    for match in _NAMED.finditer(question.context):
        words = [w for w in match["full"].split() if w[0].isupper()]
        for size in range(len(words)):
            if "".join(w[0] for w in words[size:]) == match["short"]:
                full = match["full"][match["full"].index(words[size]) :]
                pairs[full], pairs[match["short"]] = match["short"], full
    for name, other in pairs.items():
        for match in re.finditer(rf"(?<![\w.$]){re.escape(name)}(?![\w$])", question.text):
            if not any(a <= match.start() < b and question.text[a] in "\"'“‘([" for a, b in question.shielded):
                fitted = _fitted(question, match, other)
                if fitted and other not in question.text:
                    yield question.keep(MutantKind.ACRONYM, match.span(), fitted, name)


def _fitted(question: Question, match: Match, other: str) -> str | None:
    """The other form, with the article that a country's full name needs; None where an article would not fit."""
    before = question.text[: match.start()]
    if re.search(r"\ban?\s\Z", before):
        return None
    if other not in ("United States", "United Kingdom", "European Union") or re.search(
        r"\bthe\s\Z", before, re.IGNORECASE
    ):
        return other
    return f"the {other}" if re.search(r"\b(?:in|of|from|to|and|or|than)\s\Z", before) else None


# Words

_IS = (
    (re.compile(r"\b(?:what|who|where)(?P<is>\sis)\s(?=the\s|[A-Z])", re.IGNORECASE), "'s"),
    (re.compile(r"\b(?:what|who|where)(?P<is>['’]s)\s(?=the\s|a\s|[A-Z])", re.IGNORECASE), " is"),
)
_IS_NOT = re.compile(r"(?<=[a-z]\s)(?:did|do|does|was|were|is|are)(?P<not>n['’]t)\s(?=[a-z])")


def synonyms(question: Question) -> Iterator[Mutant]:
    """The controls that use another word of the same class."""
    text = question.text
    for old, new in _LISTS["synonyms"]:
        for match in whole([old]).finditer(text):
            opener = old in WORDS["shield"]["exclusions"]
            free = question.free(*match.span()) if not opener else not _inside_quotes(question, match.start())
            if free and _fits(text, match, old):
                yield question.keep(MutantKind.SYNONYM, match.span(), like(match[0], new), old)
    for old, new in WORDS["bounds"]["same"]:
        for match in re.finditer(rf"\b{old}(?=\s[$€£]?\d)", text, re.IGNORECASE):
            if question.free(*match.span()):
                yield question.keep(MutantKind.SYNONYM, match.span(), like(match[0], new), old)
    yield from _short_forms(question)


def _fits(text: str, match: Match, old: str) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if old == "only":
        return not re.search(r"\b(?:the|an|his|her|not)\s\Z", before, re.IGNORECASE) and not after.startswith(" child")
    if old == "must":
        return ask(text) is None or bool(re.search(r"\b(?:that|who|you|I|we)\s\Z", before))
    if old in ("started", "began"):
        return not re.search(r"\b(?:get|got|was|were|is|are|be|been|had|has|have)\s(?:\w+\s)?\Z", before)
    return True


def _inside_quotes(question: Question, at: int) -> bool:
    return any(a < at < b and question.text[a] in "\"'“‘([" for a, b in question.shielded)


def _short_forms(question: Question) -> Iterator[Mutant]:
    """Long and short forms: "What is" and "What's", and "didn't" in statements."""
    for pattern, after in _IS:
        for match in pattern.finditer(question.text):
            yield question.keep(MutantKind.SYNONYM, match.span("is"), after, match[0].strip().lower())
    for match in question.free_places(_IS_NOT):
        if match.start() > 4:
            yield question.keep(MutantKind.SYNONYM, match.span("not"), " not", "n't")
