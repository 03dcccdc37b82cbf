"""Edits of what is asked: how many questions, and what kind of answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like, replaced
from rewriteguard.evaluation.mutants.question import WORDS, AskingClause, any_of, ask, sentences, verb_after_subject

# How many questions

_TIED = re.compile(
    r"""
    (?P<tail>,?\s(?:and,?\s)?if\sso,?\s(?:how|why|when|where|what|who)\b[^?]{0,80}
    | ,?\sand\s(?:how|why|when|where|what|who)\s(?:did|does|do|is|are|was|were|can|should|has|have)\b[^?]{0,120}
    )(?=\s?\?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEEDY = re.compile(
    r"\b(?:it|they|them|he|she|him|her|his|their|its|this|that|these|those|there|so|then)\b", re.IGNORECASE
)
_OPENS = re.compile(
    r"(?:and\s)?(?:who|what|when|where|why|how|which|is|are|was|were|did|does|do|can|has|have)\b", re.IGNORECASE
)


def question_edits(question: Question) -> Iterator[Mutant]:
    """The mutants with one question less, where two are asked, and with one more."""
    text = question.text
    asked = [span for span in sentences(text) if text[span[1] - 1] == "?"]
    if len(asked) > 1:
        first, last = asked[-2:]
        words = text[first[0] : first[1]], text[last[0] : last[1]]
        # "Really?" and the like ask for nothing.
        if len(words[0].split()) > 2 and _OPENS.match(words[1]):
            yield question.drop(MutantKind.QUESTION, last, words[1])
            if len(words[1].split()) > 4 and not _NEEDY.search(words[1]):
                yield question.replace(MutantKind.QUESTION, Edit.DROP, (first[0], last[0]), "", words[0])
    tied = _TIED.search(text)
    if tied and question.free(tied.start() + 1, tied.end()) and ask(text):
        yield question.replace(MutantKind.QUESTION, Edit.DROP, tied.span("tail"), "", tied["tail"].strip(" ,"))
    yield from _another(question)


def _another(question: Question) -> Iterator[Mutant]:
    """A second question that can be asked of anything, added, and taken away again."""
    text = question.text
    clause = ask(text)
    if clause is None or len(sentences(text)) > 1:
        return
    options = WORDS["questions"]["past" if clause.aux in ("did", "was", "were", "had") else "present"]
    more = options[question.draw(len(options), "question")]
    start = len(text.rstrip())
    base = f"{text[:start]} {more}"
    yield replaced(text, MutantKind.QUESTION, Edit.INVENT, (start, len(text)), f" {more}", more, seeded=True)
    yield replaced(base, MutantKind.QUESTION, Edit.DROP, (start, len(base)), "", more, seeded=True)


# What kind of answer

_LISTS = WORDS["answers"]
_HANGING = re.compile(rf"\b(?:{any_of(_LISTS['no_where'])})\Z", re.IGNORECASE)
_DO = ("did", "does", "do")
_ADVERBS = {"when": ("where", "why"), "where": ("when", "why"), "why": ("when", "where")}
_PLACED = re.compile(r"\b(?:in|at)\s[A-Z]|\b(?:go|live|come)\b")
_DATED = re.compile(r"\b(?:1[5-9]|20)\d\d\b|\bwhen\b")
_DONE = re.compile(r"\b(?:\w+ed|born|built|made|held|written|sold|sung|shot)\b")
_THOUGHT = re.compile(r"\b(?:think|believe|feel)\b")
# Questions to which "when" or "why" would not be the natural one with their words left as they are.
_OPEN = re.compile(r"\b(?:any|ever|also|or|still|anyone|anything|anybody|other|else|always|there|only)\b|n['’]t\b")
_NO_POLAR = re.compile(r"\bwhom?\b|\bgo\Z|\bgrow\b|\bget\b")
_MANY = re.compile(
    r"\b(?P<word>how many)\s(?P<noun>(?:[a-z-]{2,20}\s){1,3}?)(?=(?:did|does|do|were|was|are|have|has)\b)",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?P<word>what|which)\s(?P<noun>[a-z]{2,14}s)\s(?=(?:did|does|do|were|are|have|has)\b)", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?P<word>(?:in\s)?what\syear)\s(?=(?:did|was|were)\b(?![^?]{0,80}\bborn\b))", re.IGNORECASE)
_AGE = re.compile(r"\b(?P<word>how\sold)\s(?=(?:was|were)\b[^?]{2,80}\swhen\s)", re.IGNORECASE)
_LONG = re.compile(
    r"\b(?P<word>how\slong)\s(?=(?:did|does|do)\b(?![^?]{0,80}\b(?:take|last|live|stay|spend|serve)\b))", re.IGNORECASE
)
_WHO = re.compile(
    r"^(?P<word>who)\s(?=(?!is\b|was\b|has\b|does\b)[a-z]{2,12}(?:ed|ote|ang|ook|ave|ade|ew|aught)\s)", re.IGNORECASE
)
_PHRASES = (
    (_MANY, "which"),
    (_WHICH, "how many"),
    (_YEAR, "why"),
    (_AGE, "where"),
    (_LONG, "when"),
    (_WHO, "how many people"),
)


def answer_edits(question: Question) -> Iterator[Mutant]:
    """The mutants that ask for another kind of answer."""
    clause = ask(question.text)
    if clause is None:
        return
    yield from _adverb(question, clause)
    yield from _phrase(question, clause)
    yield from _to_wh(question, clause)
    yield from _to_polar(question, clause)
    yield from _what(question, clause)


def _altered(question: Question, span: tuple[int, int], after: str, trigger: str) -> Mutant:
    new = like(question.text[span[0]], after)
    return question.replace(MutantKind.ANSWER_WORD, Edit.ALTER, span, new, trigger)


def _adverb(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Puts one of "when", "where" and "why" in the place of another."""
    rest = question.text[clause.body : clause.end]
    if clause.wh not in _ADVERBS or clause.noun or _HANGING.search(rest) or _THOUGHT.search(rest):
        return
    if clause.aux not in (*_DO, "was", "were") or (clause.aux in ("was", "were") and not _DONE.search(rest)):
        return
    options = list(_ADVERBS[clause.wh])
    if _PLACED.search(rest):
        if clause.wh == "where":
            return
        options.remove("where")
    if _DATED.search(rest) or clause.aux in ("does", "do"):
        options = [word for word in options if word != "when"]
    if re.search(r"\bborn\b", rest):
        options = [word for word in options if word != "why"]
    if options:
        after = options[question.draw(len(options), "adverb")]
        yield _altered(question, (clause.start, clause.start + len(clause.wh)), after, clause.wh)


def _phrase(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Puts a phrase that asks for another kind in the place of "how many", "what year" and the like."""
    for pattern, after in _PHRASES:
        match = pattern.search(question.text, clause.start)
        if match is None or not question.free(*match.span("word")):
            continue
        noun = (match.groupdict().get("noun") or "").lower().split()
        if pattern is _WHICH and noun[-1] in _LISTS["not_plural"]:
            continue
        if pattern is _MANY and (noun[-1] in _LISTS["not_listed"] or not noun[-1].endswith("s")):
            continue
        yield _altered(question, match.span("word"), after, match["word"].lower())


def _to_wh(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Asks when, why or how something was done in place of whether it was."""
    rest = question.text[clause.body : clause.end]
    if clause.wh or clause.aux != "did" or _OPEN.search(rest) or _DATED.search(rest):
        return
    if verb_after_subject(question, clause) is not None:
        start = clause.start
        after = ("when", "why", "how")[question.draw(3, "polar")]
        yield _altered(question, (start, start + 1), f"{after} {question.text[start].lower()}", "did")


def _to_polar(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Asks whether something was done in place of when, why or where."""
    rest = question.text[clause.body : clause.end]
    if clause.wh not in _ADVERBS or clause.noun or clause.aux not in _DO:
        return
    if not _HANGING.search(rest) and not _NO_POLAR.search(rest):
        at = clause.body - len(clause.aux)
        yield _altered(question, (clause.start, at + 1), question.text[at].lower(), clause.wh)


def _what(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """Asks where in place of what, with a verb that needs no object."""
    verb = verb_after_subject(question, clause)
    if clause.wh != "what" or clause.noun or verb is None:
        return
    rest = question.text[verb : clause.end]
    word = re.match(r"\w+", rest)
    if word and word[0] in _LISTS["loose"] and not _HANGING.search(rest) and not _PLACED.search(rest):
        yield _altered(question, (clause.start, clause.start + 4), "where", "what")
