"""Edits that keep the meaning: polite words around a question, and its phrases in another order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question
from rewriteguard.evaluation.mutants.question import ask, is_plain, is_vague, sentences
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_LISTS = WORDS["controls"]
# "Who wrote it?" keeps its order in "Can you tell me who wrote it?"; "Who did he meet?" does not.
_SUBJECT_WH = re.compile(
    r"(?:who|what)\s(?=(?!is\b|was\b|are\b|were\b|did\b|does\b|do\b|has\b|have\b)"
    r"(?:[a-z]{2,12}ed|wrote|made|sang|won|led|happened|caused)\s)",
    re.IGNORECASE,
)
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
        yield question.replace(MutantKind.FILLER, Edit.KEEP, (0, 1), opening + first, opening.strip())
    closing = _LISTS["closings"][question.draw(len(_LISTS["closings"]), "closing")]
    yield question.replace(MutantKind.FILLER, Edit.KEEP, (end, end), closing, closing.strip())
    if subject and text.rstrip().endswith("?"):
        after = f"Can you tell me {text[0].lower()}"
        yield question.replace(MutantKind.FILLER, Edit.KEEP, (0, 1), after, "Can you tell me")


def orders(question: Question) -> Iterator[Mutant]:
    """The controls with a phrase of time or of exclusion moved to the other end of the question."""
    text = question.text
    for pattern, after in ((_WHAT_YEAR, "In what year"), (_IN_WHAT_YEAR, "What year")):
        match = pattern.match(text)
        if match:
            yield question.replace(MutantKind.WORD_ORDER, Edit.KEEP, match.span("what"), after, "year")
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
        yield question.replace(MutantKind.WORD_ORDER, Edit.KEEP, (0, match.end() - 1), after, trigger)


def _time(question: Question) -> Iterator[Mutant]:
    """Moves a last date to the front: "In 1999, what did Y do?"."""
    text = question.text
    clause, match = ask(text), _TIME.search(text)
    if clause is None or match is None or clause.start or not question.free(*match.span("phrase")):
        return
    if not _TOLD.search(text, clause.body, match.start()) and "," not in text[: match.start()]:
        phrase = match["phrase"]
        after = f"{phrase[0].upper()}{phrase[1:]}, {text[0].lower()}{text[1 : match.start()]}"
        yield question.replace(MutantKind.WORD_ORDER, Edit.KEEP, (0, match.end()), after, phrase)
