"""Edits of modal words: what must, should, can or may be done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.question import Ask, ask
from rewriteguard.evaluation.mutants.subjects import verb_after_subject
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_LISTS = WORDS["modality"]
_ALTER: dict[str, str] = dict(_LISTS["alter"])
_OBLIGATIONS: dict[str, str] = dict(_LISTS["obligations"])
# "Can you tell me" and "May I ask" are polite and hold no modal that matters.
_MODAL = re.compile(
    rf"(?<![\w'’-])(?P<word>{any_of(_ALTER)})(?![\w'’-])(?!\s(?:you|i\s(?:know|ask)|we\stalk)\b)", re.IGNORECASE
)
# Only who may choose can do a thing or must do it; what can cause a thing need not "must" cause it.
_WEAK = ("can", "could", "may", "might")
_DOER_BEFORE = re.compile(r"\b(?:I|we|they|people|who)\s\Z", re.IGNORECASE)
_DOER_BEHIND = re.compile(r"\s(?:I|we|they|people)\b", re.IGNORECASE)
_OBLIGED = re.compile(rf"\b(?P<word>{any_of(_OBLIGATIONS)})\b(?!\sdo\swith)", re.IGNORECASE)
_HAVE_TO = re.compile(rf"\b(?P<word>{any_of(_LISTS['dropped'])})\s(?!(?:do\swith|say|offer)\b)(?=[a-z])")
_HAD_TO = re.compile(r"\b(?P<word>had|has)\sto\s(?!do\swith)(?=[a-z])")
_FREE = re.compile(rf"(?:{any_of(WORDS['verbs']['free'])})\b")
_FORCED = re.compile(r"\b(?:have|need) to\b|\bever\b|n['’]t\b")
_DO = ("did", "does", "do")


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the modal words of a question."""
    text = question.text
    clause = ask(text)
    for match in _MODAL.finditer(text):
        if question.asked(*match.span()) and _matters(text, match, clause):
            word = match["word"].lower()
            yield question.replace(
                MutantKind.MODALITY, Edit.ALTER, match.span(), like(match["word"], _ALTER[word]), word
            )
    for match in _OBLIGED.finditer(text):
        if question.asked(*match.span()):
            new = like(match["word"], _OBLIGATIONS[match["word"].lower()])
            trigger = " ".join(match["word"].split()[-2:])
            yield question.replace(MutantKind.MODALITY, Edit.ALTER, match.span(), new, trigger)
    for match in _HAVE_TO.finditer(text):
        if question.asked(*match.span("word")) and clause and clause.aux in _DO:
            yield question.drop(MutantKind.MODALITY, match.span("word"), match["word"])
    for match in _HAD_TO.finditer(text):
        if question.asked(*match.span()):
            new = "wanted" if match["word"] == "had" else "wants"
            yield question.replace(MutantKind.MODALITY, Edit.ALTER, match.span("word"), new, f"{match['word']} to")
    if clause:
        yield from _invent(question, clause)


def _matters(text: str, match: re.Match[str], clause: Ask | None) -> bool:
    """False for a month, for a name, behind "how" ("How can I"), and where nobody could choose."""
    word = match["word"].lower()
    inside = match.start() > 0 and match["word"][0].isupper()
    if inside and (word == "may" or re.match(r"\s[A-Z]", text[match.end() :])):
        return False
    if clause is not None and clause.wh.startswith("how") and match.end() == clause.body:
        return False
    doer = _DOER_BEFORE.search(text[: match.start()]) or _DOER_BEHIND.match(text, match.end())
    return word not in _WEAK or doer is not None


def _invent(question: Question, clause: Ask) -> Iterator[Mutant]:
    """Makes an obligation of an act: "Why did X sell it" becomes "Why did X have to sell it"."""
    if clause.wh not in ("", "why", "when", "where") or _FORCED.search(question.text):
        return
    verb = verb_after_subject(question, clause)
    if verb is not None and not _FREE.match(question.text, verb):
        yield question.replace(MutantKind.MODALITY, Edit.INVENT, (verb, verb), "have to ", "have to")
