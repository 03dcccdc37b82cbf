"""Edits of modifiers that pick one of several things: annual or monthly, draft or approved, male or female."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, like
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_LISTS = WORDS["qualifiers"]
_FLIP: dict[str, str] = dict(_LISTS["flip"])
_WORD = re.compile(
    rf"(?<![\w-])(?P<before>[\w'’]+\s{{1,2}})(?P<word>{any_of(_FLIP)})\s(?P<noun>[a-z][a-z-]{{2,20}})(?![\w-])"
)


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the modifiers of a question."""
    for match in _WORD.finditer(question.text):
        word, noun = match["word"], match["noun"]
        before = match["before"].strip().lower()
        if len(re.findall(rf"\b{word}\b", question.text)) > 1 or (noun == "community" and word == "international"):
            continue
        if noun in _LISTS["idle_after"] or not question.asked(*match.span("word")):
            continue
        if before not in _LISTS["openers"] and not before.endswith(("'s", "’s", "s'")):
            continue
        if not re.search(rf"\b{_FLIP[word]}\b", question.text):
            after = _FLIP[word]
            start = match.start("word")
            if before in ("a", "an"):
                article = ("an" if after[0] in "aeiou" else "a") + question.text[match.start() + len(before) : start]
                start = match.start()
                after = like(match["before"], article) + after
            yield question.replace(MutantKind.QUALIFIER, Edit.ALTER, (start, match.end("word")), after, word)
        started = re.search(r"\b(?:begin|start|commence|began|started)\b", question.text)
        if (
            before not in ("a", "an")
            and noun not in ("years", "age", "areas", "part", "parts", "services")
            and not started
        ):
            yield question.drop(MutantKind.QUALIFIER, match.span("word"), word)
