"""Edits of names, told apart by their shape: a place, a person, a school, an organisation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Mutant, MutantKind, Question
from rewriteguard.evaluation.mutants.question import WORDS, AskingClause, any_of, ask, context_names

_LISTS = WORDS["names"]
_TOLD = re.compile(
    r"\b(?:after|before|when|while|who|which|that|because|following|since|until|where|as|and|or|if|called|than)\b",
    re.IGNORECASE,
)
# "the album X", but not "the album X made" and not a title that goes on.
_HEAD = re.compile(rf"\bthe\s(?P<head>{any_of(_LISTS['heads'])})\s\Z", re.IGNORECASE)
_WORK = re.compile(
    r"\s?[?,]|['’]s\b|\s(?:win|have|get|do|sell|form|tour|successful|released|received|popular|about|by|break|go)\b"
)
_SOMEWHERE = re.compile(
    r"\b(?:in|at|from|to)\s(?:the\s)?[A-Z]|,|\b(?:when|after|before|while|anywhere|country|city|be|from|where)\b"
)
_PLACED = re.compile(r"\s(?P<word>in|at|with|during)\s(?:the\s)?\Z")


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the names of a question that stand there once."""
    clause = ask(question.text)
    for start, end in question.names:
        name = question.text[start:end]
        if _repeated(question.text, name):
            continue
        for after in (_other(question, start, end), _from_context(question, start, end)):
            yield from question.swap(MutantKind.NAME, (start, end), after, name)
        if clause:
            yield from _drop(question, clause, (start, end))
    if clause:
        yield from _invent(question, clause)


def _shape(text: str, start: int, end: int) -> str | None:
    """Which of the lists the name may be replaced from; None where neither its shape nor the word before it tells."""
    name = text[start:end]
    words = name.split()
    if name in _LISTS["known_places"]:
        return "places"
    if (words[-1] in _LISTS["school_words"] and name not in _LISTS["any_school"]) or re.fullmatch(
        r"University of \w+(?: \w+)?", name
    ):
        return "schools"
    if len(words) > 1 and words[-1] == "Records":
        return "labels"
    if len(words) > 1 and words[-1].strip(".") in _LISTS["organisation_words"]:
        return "organisations"
    plain = all(re.fullmatch(r"[A-Z][\w'’.-]*|[A-Z]\.", word) for word in words) and words[-1] not in _LISTS["things"]
    plain = plain and not re.search(r"['’]s\s", name)
    if 1 < len(words) < 4 and words[0] in _LISTS["first_names"] and plain:
        return "persons"
    head = _HEAD.search(text[:start])
    return str(_LISTS["heads"][head["head"]]) if head and _WORK.match(text, end) else None


def _other(question: Question, start: int, end: int) -> str | None:
    shape = _shape(question.text, start, end)
    return question.pick(_LISTS[shape], question.text[start:end]) if shape else None


def _from_context(question: Question, start: int, end: int) -> str | None:
    """Another name of the context with the same shape, which is no other name for the same."""
    name, shape = question.text[start:end], _shape(question.text, start, end)
    if shape not in ("persons", "places", "schools", "organisations", "labels"):
        return None
    taken = {word.casefold() for word in re.findall(r"\w+", question.text)}
    others = [
        other
        for other in context_names(question.context)
        if _shape(other, 0, len(other)) == shape
        and not taken & {word.casefold() for word in re.findall(r"\w+", other)}
        and not _alias(question.context, name, other)
    ]
    return others[question.draw(len(others), name)] if others else None


def _alias(context: str, name: str, other: str) -> bool:
    """True where the context tells that both name the same, as in "Mary Brockert, known as Teena Marie"."""
    told = rf"[^.]{{0,80}}\b(?:{any_of(_LISTS['aliases'])})\b[^.]{{0,80}}"
    a, b = re.escape(name), re.escape(other)
    return re.search(rf"{a}{told}{b}|{b}{told}{a}|{a}\s\({b}|{b}\s\({a}", context) is not None


def _repeated(text: str, name: str) -> bool:
    """True where a word of the name stands in the text a second time."""
    words = [word for word in name.split() if word[0].isupper()]
    return any(len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) > 1 for word in words)


def _drop(question: Question, clause: AskingClause, span: tuple[int, int]) -> Iterator[Mutant]:
    """A name in a last phrase of place or company, where another name still says what is asked about."""
    text, (start, end) = question.text, span
    placed = _PLACED.search(text, 0, start)
    if placed is None or start < clause.body or not re.match(r"\s?\?", text[end:]):
        return
    cut = placed.start()
    before = re.findall(r"[\w'’-]+", text[:cut])[-1:]
    other = any(a >= clause.body and b <= cut for a, b in question.names)
    whole = clause.wh == "where" or (clause.aux in ("is", "are", "was", "were") and not clause.wh)
    bound = not before or not before[0].islower() or before[0] in _LISTS["bound_before"]
    if other and not whole and not bound and not _TOLD.search(text, clause.body, cut):
        yield question.drop(MutantKind.NAME, (cut + 1, end), text[start:end])


def _invent(question: Question, clause: AskingClause) -> Iterator[Mutant]:
    """A place that nobody named, where the question names none."""
    text = question.text[clause.body : clause.end]
    if clause.wh.startswith("where") or clause.aux != "did" or _SOMEWHERE.search(text):
        return
    place = question.pick(_LISTS["places"], "invent")
    if place:
        yield question.insert(MutantKind.NAME, clause.end, f" in {place}", place)
