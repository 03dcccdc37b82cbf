"""Which words of a question point outside it, by their form alone."""

from __future__ import annotations

import re

from rewriteguard.evaluation.mutants.words import WORDS

_POINTERS = frozenset(WORDS["twins"]["pointers"])
_IDLE = tuple(re.compile(pattern, re.VERBOSE) for pattern in WORDS["twins"]["idle"])
_WORD = re.compile(r"[a-z]+")


def pointers(text: str) -> frozenset[str]:
    """The words that point outside the text, in lower case.

    Left out are those that only fill a place or join clauses: "is it possible to", "I heard that", "are there". Where
    the form can be either, they are left out too: a twin that means the same as its question would blame the guard.
    """
    text = text.lower().replace("’", "'")
    idle = {found.start(1) for pattern in _IDLE for found in pattern.finditer(text)}
    return _POINTERS & {found[0] for found in _WORD.finditer(text) if found.start() not in idle}
