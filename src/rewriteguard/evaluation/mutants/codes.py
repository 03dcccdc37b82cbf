"""Edits of version numbers and of identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question

_VERSION = re.compile(
    r"""
    (?P<word>\b(?:version|release|v\.?)\s?|(?<=[A-Za-z]\s))(?P<version>\d{1,3}(?:\.\d{1,3}){1,3})(?![\w.]*\w)(?!\s?%)
    (?!\s(?:million|billion|percent|thousand))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"""
    (?<![\w.,$€£/-])(?P<id>\#\d{3,10} | CVE-\d{4}-\d{4,6} | [A-Z]{1,6}[-_]?\d{2,10}(?:-[A-Z0-9]{1,4})?
    | \d{3,8}-[A-Z]{1,3} | (?:[A-Z]{2,6}\s)(?=\d{3,6}\b)\d{3,6})(?![\w/]|-\d|['’]s\sto)
    """,
    re.VERBOSE,
)
_PLACED = re.compile(
    r"\s(?:for|in|of|with|on|under)\s(?:the\s)?(?:(?!with\s|for\s|under\s)[a-z]{3,12}\s)?(?:no\.\s)?\Z"
)


def edits(question: Question) -> Iterator[Mutant]:
    """The mutants of the versions and identifiers that the question names."""
    for match in _VERSION.finditer(question.text):
        old = match["version"]
        if not match["word"].strip() and not re.search(r"[A-Z]\w*\s\Z", question.text[: match.start("version")]):
            continue
        after = next((version for version in _versions(old) if not question.known(version)), None)
        if after:
            yield question.replace(MutantKind.VERSION, Edit.ALTER, match.span("version"), after, old)
        start = match.start("word")
        placed = _PLACED.search(question.text[:start]) if match["word"].strip() else None
        yield question.drop(MutantKind.VERSION, (placed.start() + 1 if placed else start, match.end()), old)
    for match in _IDENTIFIER.finditer(question.text):
        old = match["id"]
        after = question.pick(_codes(old), old)
        if after:
            yield question.replace(MutantKind.IDENTIFIER, Edit.ALTER, match.span("id"), after, old)
        placed = _PLACED.search(question.text[: match.start()])
        if placed and re.match(r"\s?(?:[?,]|\Z)", question.text[match.end() :]):
            yield question.drop(MutantKind.IDENTIFIER, (placed.start() + 1, match.end()), old)


def _versions(old: str) -> list[str]:
    """Other versions, the ones that are easily confused first: 3.10 and 3.1, 2.4 and 4.2."""
    parts = old.split(".")
    last = parts[-1]
    shorter = [".".join([*parts[:-1], last[:-1]])] if len(last) > 1 else [f"{old}0"] if last != "0" else []
    options = [*shorter, ".".join(reversed(parts)), ".".join([*parts[:-1], str(int(last) + 3)])]
    return [option for option in options if option != old]


def _codes(old: str) -> list[str]:
    """The code with another last digit, and with its last two different digits swapped."""
    digits = [i for i, c in enumerate(old) if c.isdigit()]
    last = digits[-1]
    changed = old[:last] + str((int(old[last]) + 3) % 10) + old[last + 1 :]
    swapped = [old[:i] + old[j] + old[i] + old[j + 1 :] for i, j in pairwise(digits) if j == i + 1 and old[i] != old[j]]
    return [changed, *swapped[-1:]]
