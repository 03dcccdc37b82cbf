"""Edits of how many questions are asked: one of two left out, or one added."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, replaced
from rewriteguard.evaluation.mutants.question import ask, sentences
from rewriteguard.evaluation.mutants.words import WORDS

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


def edits(question: Question) -> Iterator[Mutant]:
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
