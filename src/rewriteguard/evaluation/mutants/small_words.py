"""Edits of quantifiers: "only", "all", "any of", "first" and "last"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.question import ask
from rewriteguard.evaluation.mutants.subjects import verb_after_subject
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_LISTS = WORDS["quantifiers"]
_OWNER = r"(?P<owner>\b(?:the(?:\svery)?|his|her|their|its|my|your)|['’]s?)\s"
_FIRST = re.compile(rf"{_OWNER}(?P<word>first)\s(?!(?:{any_of(_LISTS['first_idle_after'])})\b)(?=[a-z])")
_LAST = re.compile(rf"{_OWNER}(?P<word>last)\s(?!(?:{any_of(_LISTS['last_idle_after'])})\b)(?=[a-z])")
_ONLY = re.compile(r"(?<!not\s)(?<!if\s)(?<!an\s)(?<!the\s)\b(?P<word>only)\s(?!way\b|child\b|so\b)(?=\w)")
_ALL_OWNED = re.compile(r"(?<!\bat\s)(?<!\bafter\s)\b(?P<word>all)\s(?=(?:the|his|her|their)\s)", re.IGNORECASE)
_ALL = re.compile(
    r"""
    (?<!\bat\s)(?<!\bof\s)(?<!\babove\s)(?<!\bafter\s)\b(?P<word>all)\s
    (?=of\s(?:the|his|her|their)\b|[a-z]+s\b)(?!this|is\b|was\b|times\b|has\b|does\b|his\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ANY_OF = re.compile(r"\b(?P<word>any)\s(?=of\s(?:the|his|her|their|its|these|those)\b)", re.IGNORECASE)
_BOTH_OF = re.compile(r"\b(?P<word>both)\s(?=of\s(?:the|his|her|their|them)\b)", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:did|does|were|was|has)\s(?P<word>every|each)\s(?!(?:other|one|time|day|year|now)\b)(?=[a-z])", re.IGNORECASE
)
_ALTERED = (
    (_ALL_OWNED, "some of"),
    (_ALL, "some"),
    (_ANY_OF, "all"),
    (_BOTH_OF, "one"),
    (_FIRST, "last"),
    (_LAST, "first"),
    (_EVERY, "any"),
)
_EXCLUSIVE = re.compile(rf"(?:{any_of(WORDS['verbs']['exclusive'])})\s(?!soon|back|again|up\b|out\b)\w")
# Words beside which an added "only" would say little or nothing.
_NO_ONLY = re.compile(
    r"\b(?:only|just|all|any|every|ever|anything|anyone|other|else|also|not|never|like|well|together|more)\b|n['’]t\b",
    re.IGNORECASE,
)


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the quantifiers of a question."""
    text = question.text
    for pattern, after in _ALTERED:
        for match in pattern.finditer(text):
            if question.asked(*match.span("word")):
                new = like(match["word"], after)
                yield question.replace(
                    MutantKind.QUANTIFIER, Edit.ALTER, match.span("word"), new, match["word"].lower()
                )
    for match in _ONLY.finditer(text):
        if question.asked(*match.span("word")):
            yield question.drop(MutantKind.QUANTIFIER, match.span("word"), "only")
    for match in (*_FIRST.finditer(text), *_LAST.finditer(text)):
        # "the film he made" would ask for something else than one of several; "his film" may be any of them.
        if question.asked(*match.span("word")) and not match["owner"].startswith("the"):
            yield question.drop(MutantKind.QUANTIFIER, match.span("word"), match["word"])
    yield from _invent(question)


def _invent(question: Question) -> Iterator[Mutant]:
    """The yes-or-no question with "only" before a verb that may have one object or place of several."""
    clause = ask(question.text)
    if clause is None or clause.wh or _NO_ONLY.search(question.text):
        return
    verb = verb_after_subject(question, clause)
    if verb is not None and _EXCLUSIVE.match(question.text, verb):
        yield question.replace(MutantKind.QUANTIFIER, Edit.INVENT, (verb, verb), "only ", "only")
