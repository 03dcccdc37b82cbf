"""The carried query: the turn and the most salient terms of the history, without a model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rewriteguard.conversation import Message, Role
from rewriteguard.language.lexicon import words
from rewriteguard.language.stem import stem

# The four settings were chosen on half of the conversations of MTRAG and CAsT 2021-22 with BM25: number of terms,
# length read of a message, decay an exchange, and the half weight of what the assistant said.
_TERMS = 4
_READ = 2_000
_DECAY = 0.7
_ASSISTANT_SHARE = 0.5
_ASSISTANT_TF = 2.0

_LONGEST = 64  # code points; a longer run without a space is no word

_STOP = words("carry", "stop")

_PLAIN = re.compile(
    r"""
    (?P<word> [^\W\d_]{2,64} | \d{1,4} )   # letters alone, or a number as short as a year
    """,
    re.VERBOSE,
)
_COMPOUND = re.compile(
    r"""
    (?P<first> [^\W\d_]{1,32} )
    (?P<others> (?: [-‐‑–—/] [^\W\d_]{1,32} ){1,6} )   # same-day, and/or; no digits, or part numbers would come apart
    """,
    re.VERBOSE,
)
_JOINT = re.compile(r"[-‐‑–—/]")
_CONTRACTION = re.compile(r"""(?: ['’] (?: s | t | re | ve | ll | d | m ) ) \Z""", re.VERBOSE | re.IGNORECASE)
_EDGES = " \t.,;:!?…()[]{}<>\"'`“”‘’«»*_~|"
_SIGNS = "-+–—"  # in front of a word they are list marks, or operators of a query language


@dataclass(frozen=True, slots=True)
class CarriedQuery:
    """The turn with history terms behind it.

    Attributes:
        text: The query: the turn, a space, the terms. Equal to the turn where there are no terms.
        terms: The history terms, most salient first.
    """

    text: str
    terms: tuple[str, ...]


def carried_query(turn: str, history: Sequence[Message]) -> CarriedQuery:
    """The turn and up to four terms of what user and assistant said before it.

    A term's score is the sum over the messages that hold it of 0.7 to the power of the message's age in exchanges,
    times 1 for a user's message and min(2, 1 + ln tf) / 2 for an assistant's. Terms whose stem is in the turn are left
    out. A token that is no plain word (an identifier, a URL, an e-mail, anything with query syntax) is a term only
    where a user said it. Equal scores keep the order of first appearance, from the latest message back.

    Args:
        turn: The user's turn as written.
        history: The messages before it, oldest first; tool and system messages are not read.
    """
    present = {stem(term) for term in _terms(turn)}
    users = (message for message in history if message.role is Role.USER)
    said = frozenset(term.casefold() for message in users for term in _terms(_read(message)))
    scores: dict[str, float] = {}
    surface: dict[str, str] = {}
    for message, age in _with_age(history):
        terms = [term for term in _terms(_read(message)) if _PLAIN.fullmatch(term) or term.casefold() in said]
        stems = [stem(term) for term in terms]
        for form, term in zip(stems, terms, strict=True):
            surface.setdefault(form, term)
        for form, count in Counter(stems).items():
            if form not in present:
                scores[form] = scores.get(form, 0.0) + _DECAY**age * _share(message.role, count)
    best = sorted(scores, key=lambda form: -scores[form])[:_TERMS]
    terms = [surface[form] for form in best]
    return CarriedQuery(" ".join([turn, *terms]) if terms else turn, tuple(terms))


def _share(role: Role, count: int) -> float:
    return 1.0 if role is Role.USER else min(_ASSISTANT_TF, 1 + math.log(count)) * _ASSISTANT_SHARE


def _with_age(history: Sequence[Message]) -> Iterator[tuple[Message, int]]:
    """User and assistant messages from the latest back, each with the number of exchanges after its own."""
    age = 0
    for message in reversed(history):
        if message.role in (Role.USER, Role.ASSISTANT):
            yield message, age
        if message.role is Role.USER:
            age += 1


def _read(message: Message) -> str:
    return message.text[:_READ]


def _terms(text: str) -> Iterator[str]:
    """The words of `text` that are no stop words: plain ones in lower case, all others as written."""
    for run in text.split():
        chunk = _CONTRACTION.sub("", run.strip(_EDGES).lstrip(_SIGNS))
        if _PLAIN.fullmatch(chunk) or _COMPOUND.fullmatch(chunk):
            parts = (part.lower() for part in _JOINT.split(chunk))
            yield from (part for part in parts if len(part) > 1 and part not in _STOP)
        elif 0 < len(chunk) <= _LONGEST and chunk.lower() not in _STOP:
            yield chunk
