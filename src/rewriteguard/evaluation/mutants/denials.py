"""Edits of negations: one left out, turned round, or put in where the question still makes sense."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.question import Ask, ask
from rewriteguard.evaluation.mutants.subjects import verb_after_subject
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_LISTS = WORDS["negation"]
_NOT = re.compile(
    rf"""
    (?<![\w-])(?P<before>\w+\s)?\b(?P<word>not|never)\s(?!(?:{any_of(_LISTS["idle_after"])})\b)(?=[a-z])
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "didn't like" becomes "did like": stressed, but what a rewriter leaves behind that drops the negation.
_CONTRACTED = re.compile(
    r"""
    (?:\b(?:why|which|what|who)\b(?:\s[a-z]+){0,2}\s | (?<=[a-z]\s))
    (?:did|does|do|is|are|was|were|has|have|could|should|would)(?P<word>n['’]t)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NON = re.compile(r"\b(?P<word>non-)(?=[A-Za-z])")
_WITH_NO = re.compile(r"\bwith\s(?P<word>no)\s(?=[a-z])", re.IGNORECASE)
_TURNED = (
    (re.compile(r"\b(?P<word>without)\s(?=\w)", re.IGNORECASE), "with"),
    (
        re.compile(
            rf"\b(?:{any_of(_LISTS['companions'])})\s(?P<word>with)\s(?!or\b|no\b|whom\b|each\b|it\b)(?=\w)",
            re.IGNORECASE,
        ),
        "without",
    ),
    (re.compile(r"(?<=\w\s)(?P<word>except(?:\sfor)?|excluding)\s(?=\w)", re.IGNORECASE), "including"),
)
_NEGATED = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
_STATE = re.compile(r"\s(?:[a-z]+ed|safe|able|eligible|allowed|used|considered|be|apply|use)\b")


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the negations of a question.

    A negated yes-or-no question ("Didn't they win?") asks the same as a plain one, so its negation is left alone.
    """
    clause = ask(question.text)
    polar = clause.start if clause and not clause.wh else len(question.text)
    for match in _NOT.finditer(question.text, 0, polar):
        previous = (match["before"] or "").strip().lower()
        if previous not in _LISTS["idle_before"]:
            yield from _dropped(question, match)
    for pattern in (_CONTRACTED, _WITH_NO):
        for match in pattern.finditer(question.text, 0, polar):
            yield from _dropped(question, match)
    for match in _NON.finditer(question.text):
        if not _paired(question.text, match) and question.asked(*match.span()):
            yield question.replace(MutantKind.NEGATION, Edit.DROP, match.span("word"), "", "non-")
    for pattern, after in _TURNED:
        for match in pattern.finditer(question.text):
            if question.asked(*match.span("word")):
                new, trigger = like(match["word"], after), match["word"].lower()
                yield question.replace(MutantKind.NEGATION, Edit.ALTER, match.span("word"), new, trigger)
    if clause and not _NEGATED.search(question.text):
        yield from _invent(question, clause)


def _dropped(question: Question, match: re.Match[str]) -> Iterator[Mutant]:
    if question.asked(*match.span("word")):
        yield question.drop(MutantKind.NEGATION, match.span("word"), match["word"].lower())


def _paired(text: str, match: re.Match[str]) -> bool:
    """True for "heme and non-heme", where the plain word stands beside the negated one."""
    word = re.match(r"\w+", text[match.end() :])
    return word is not None and re.search(rf"(?<![\w-]){re.escape(word[0])}\b", text) is not None


def _invent(question: Question, clause: Ask) -> Iterator[Mutant]:
    """Puts a negation where it is asked why something is so, or which things are."""
    verb = verb_after_subject(question, clause)
    at = clause.body
    if clause.wh == "why" and verb is not None:
        yield question.replace(MutantKind.NEGATION, Edit.INVENT, (verb, verb), "not ", "not")
    elif clause.wh == "why" and clause.aux in ("was", "is", "were", "are", "did", "does", "do"):
        yield question.replace(MutantKind.NEGATION, Edit.INVENT, (at, at), "n't", "n't")
    elif _asks_which(clause) and _STATE.match(question.text, at) and question.free(at, at + 2):
        yield question.replace(MutantKind.NEGATION, Edit.INVENT, (at, at), " not", "not")


def _asks_which(clause: Ask) -> bool:
    """True for "Who can ..." and "Which foods are ...", which ask for those of which something holds."""
    subject = clause.wh == "who" or (clause.wh == "which" and bool(clause.noun))
    return subject and clause.aux in _LISTS["verbs_of_wh"]
