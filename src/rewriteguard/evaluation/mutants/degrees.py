"""Edits of comparisons: the other end of a scale, the other direction, the other side of an event, no comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_LISTS = WORDS["comparison"]
_FLIP: dict[str, str] = dict(_LISTS["flip"])
_MORE_LESS = {"more": "less", "less": "more", "most": "least"}
_SIDES = {"before": "after", "after": "before"}
_SCALE = re.compile(
    rf"""
    (?<![\w-])(?P<word>{any_of(_FLIP)})
    (?![\w-])(?!\s(?:{any_of(_LISTS["idle_after"])})\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_IDLE_BEFORE = re.compile(rf"(?<!\w)(?:{any_of(_LISTS['idle_before'])})\s\Z", re.IGNORECASE)
_MOST = re.compile(
    r"""
    \b(?:the|['’]s|his|her|their|its|are|is|['’])\s(?P<word>most)\s(?!(?:of|known|recent|people|likely)\b)
    [a-z-]{3,16}\b(?P<noun>\s[a-z]{3,})?
    """,
    re.VERBOSE,
)
_MORE = re.compile(
    r"(?<!any\s)(?<!me\s)(?<!\bno\s)(?<!\bor\s)\b(?P<word>more|less)\s"
    r"(?=[a-z]{3,16}\s(?:[a-z]{1,16}\s){0,4}than\b|than\s(?!\d|[a-z]+\s(?:million|hundred)))"
)
# A superlative is left out only behind an owner: "his biggest role" may become "his role", "the smallest frog" not.
_OWNED = re.compile(
    r"(?<!world)(?<!country)(?:['’]s|\b(?:his|her|their|my))\s(?P<word>\w+est)\s(?!one\b|person\b)(?P<noun>[a-z]{3,16})\b"
)
_SIDE = re.compile(
    rf"""
    (?<=\w\s)(?P<word>before|after)\s
    (?!(?:{any_of(WORDS["sides"]["idle_after"] + WORDS["shield"]["months"])})\b)(?!\d)(?=\w|["'“])
    """,
    re.VERBOSE,
)
_SIDE_IDLE = re.compile(rf"\b(?:{any_of(WORDS['sides']['idle_before'])})\s\Z", re.IGNORECASE)
_THAN = re.compile(
    r"""
    \s(?P<phrase>(?P<word>compared\s(?:to|with)|as\sopposed\sto|versus|vs\.?|in\scomparison\s(?:to|with))\s
    [^?,]{2,60}?)(?=\s?\?)
    """,
    re.VERBOSE,
)


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the comparisons of a question, in the order of their classes."""
    yield from _scale(question)
    for pattern in (_MOST, _MORE):
        for match in pattern.finditer(question.text):
            if question.asked(*match.span("word")):
                yield _altered(question, match, _MORE_LESS[match["word"]])
    yield from _sides(question)
    yield from _drop(question)


def _altered(question: Question, match: re.Match[str], after: str) -> Mutant:
    word = match["word"]
    return question.replace(MutantKind.COMPARISON, Edit.ALTER, match.span("word"), like(word, after), word.lower())


def _scale(question: Question) -> Iterator[Mutant]:
    for match in _SCALE.finditer(question.text):
        if question.asked(*match.span("word")) and not _IDLE_BEFORE.search(question.text[: match.start()]):
            yield _altered(question, match, _FLIP[match["word"].lower()])


def _sides(question: Question) -> Iterator[Mutant]:
    """Asks for what came before an event in place of what came after it; left alone where both are named."""
    matches = list(_SIDE.finditer(question.text))
    if {match["word"] for match in matches} == set(_SIDES):
        return
    for match in matches:
        if question.asked(*match.span("word")) and not _SIDE_IDLE.search(question.text[: match.start()]):
            yield _altered(question, match, _SIDES[match["word"]])


def _drop(question: Question) -> Iterator[Mutant]:
    text = question.text
    for match in _MOST.finditer(text):
        if match["noun"] and question.asked(*match.span("word")):
            yield question.drop(MutantKind.COMPARISON, match.span("word"), "most")
    for match in _OWNED.finditer(text):
        known = match["word"] in _FLIP and match["noun"] not in _LISTS["idle_after"]
        if known and question.asked(*match.span("word")):
            yield question.drop(MutantKind.COMPARISON, match.span("word"), match["word"])
    for match in _THAN.finditer(text):
        if question.asked(*match.span("phrase")) and not re.search(r"\b(?:better|worse|best)\b", text):
            yield question.drop(MutantKind.COMPARISON, match.span("phrase"), match["word"])
