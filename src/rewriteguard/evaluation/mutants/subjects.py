"""Where the subject of a question ends and its verb begins, as far as that can be told without a parser."""

from __future__ import annotations

import re

from rewriteguard.evaluation.mutants.mutant import Question
from rewriteguard.evaluation.mutants.question import Ask
from rewriteguard.evaluation.mutants.words import WORDS, any_of

_PRONOUN = re.compile(r"\s(?:i|you|we|they|he|she|it)(?=\s[a-z])", re.IGNORECASE)
_GROUP = re.compile(
    r"\s(?:the|his|her|their)\s(?:band|group|album|team|song|film|movie|family|members|company|fans|people|critics)(?=\s[a-z])"
)
_VERB = re.compile(
    rf"\s(?P<verb>{any_of(WORDS['verbs']['plain'])})(?=\s|\?|$)(?!\s(?:take\splace|against\s[^?]{{1,40}}\stake\b))"
)


def verb_after_subject(question: Question, clause: Ask) -> int | None:
    """The offset of the main verb after "did", "does" or "do" and its subject; None where that is not plain.

    The subject must be one name, a pronoun, or a plain group such as "the band".
    """
    if clause.aux not in ("did", "does", "do"):
        return None
    ends = [end for start, end in question.names if start == clause.body + 1]
    for pattern in (_PRONOUN, _GROUP):
        match = pattern.match(question.text, clause.body)
        ends += [match.end()] if match else []
    for end in ends:
        verb = _VERB.match(question.text, end)
        if verb and verb.end() <= clause.end:
            return verb.start("verb")
    return None
