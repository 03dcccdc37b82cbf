"""The carried query: the turn and the most salient terms of the history, without a model."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from rewriteguard.language.lexicon import stem, words
from rewriteguard.model.conversation import MAX_MESSAGES, Message, Role
from rewriteguard.reading.unwrap import TEMPLATE

# The four settings were chosen on half of the conversations of MTRAG and CAsT 2021-22 with BM25: number of terms,
# length read of a message, decay an exchange, and the half weight of what the assistant said.
_TERMS = 4
_READ = 2_000
_DECAY = 0.7
_ASSISTANT_SHARE = 0.5
_ASSISTANT_TF = 2.0

_EXCHANGES = 20  # that are read for the carried query: a word of the first weighs a thousandth of one of the last
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
# Alphabets with letters that look like Latin ones, and letters that nobody sees.
_LOOKALIKE = re.compile("[\u0370-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\uab70-\uabbf]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_UNSEEN = re.compile("[\u115f\u1160]")
_NUMBERED = "|".join(
    re.escape(name)
    for key in ("numbered", "errors")
    for name in sorted(words("identifier", key), key=lambda n: (-len(n), n))
)
# What may be a code although it is made of plain words and short numbers; of numbers only a year is none.
_CODE = re.compile(
    r"""
    (?P<shouted> \b [A-Z]{2,8} [ \t]? \d{1,4} \b )          # LH 442, HTTP 404
    | (?P<letters> \b [A-Z]{6,64} \b )                        # a booking code of letters alone
    | (?P<path> \b \w{1,32} (?: / \w{1,32} ){2,8} )
    | (?P<year> (?<! [\w.,-] ) (?: 1\d | 20 ) \d\d \b )
    | (?P<amount> (?<! [\w.,-] ) \d{1,4} (?! \w ) )
    """,
    re.VERBOSE,
)
# In front of four digits: what makes a year of them the number of a ticket.
_ANNOUNCES = re.compile(
    rf"\b (?: {_NUMBERED} ) (?: [ ] (?: number | no\.? | id ) )? (?: [ ] is | : )? [ ] \#? \Z",
    re.VERBOSE | re.IGNORECASE,
)
_ANNOUNCEMENT = 40  # characters, in which the longest of them stands
_NO_WORD = "\N{SECTION SIGN}"  # stands in its place, so that what was joined to it becomes no word either
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
    out. A token that is no plain word (a number that is no year, an identifier, a URL, an e-mail, anything with query
    syntax, or with letters that nobody sees or that look like others) is a term only where a user said it. Equal scores
    keep the order of first appearance, from the latest message back.

    Args:
        turn: The user's turn as written.
        history: The messages before it, oldest first; tool and system messages are not read.
    """
    present = {stem(term) for term in _terms(turn)}
    users = [_read(message) for message in history if message.role is Role.USER]
    said = {term.casefold(): term for text in users for term in _terms(text)}
    letters = any(_LOOKALIKE.search(text) for text in (turn, *users))
    scores: dict[str, float] = {}
    surface: dict[str, str] = {}
    for message, age in _with_age(history):
        found = (_admitted(term, said, letters) for term in _terms(_read(message)))
        terms = [term for term in found if term is not None]
        stems = [stem(term) for term in terms]
        for form, term in zip(stems, terms, strict=True):
            surface.setdefault(form, term)
        for form, count in Counter(stems).items():
            if form not in present:
                scores[form] = scores.get(form, 0.0) + _DECAY**age * _share(message.role, count)
    best = sorted(scores, key=lambda form: -scores[form])[:_TERMS]
    terms = [surface[form] for form in best]
    return CarriedQuery(" ".join([turn, *terms]) if terms else turn, tuple(terms))


def recent(history: Sequence[Message]) -> tuple[Message, ...]:
    """What user and assistant said in the last exchanges: what can still give a term to the carried query."""
    said = [message for message in history if message.role in (Role.USER, Role.ASSISTANT)][-MAX_MESSAGES:]
    asked = [place for place, message in enumerate(said) if message.role is Role.USER]
    return tuple(said[asked[-_EXCHANGES] :] if len(asked) > _EXCHANGES else said)


def digest(turn: str, history: Sequence[Message]) -> bytes:
    """Stands for a conversation of any length in the memory of carried queries."""
    return sha256(repr((turn, [(message.role.value, message.text) for message in history])).encode()).digest()


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
    text = message.text[:_READ]
    return text if message.role is Role.USER else _CODE.sub(_without_code, TEMPLATE.sub(" ", text))


def _without_code(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _ANNOUNCEMENT) : found.start()]
    return found[0] if found["year"] and not _ANNOUNCES.search(before) else _NO_WORD


def _admitted(term: str, said: Mapping[str, str], other_letters: bool) -> str | None:
    """The term as it may be searched: a plain word, or what a user said; None where it is neither."""
    if _is_plain(term, other_letters):
        return term
    user = said.get(term.casefold())
    return term if user is not None and term.isascii() else user


def _is_plain(term: str, other_letters: bool) -> bool:
    """True for a word or a short number whose letters are what they seem to be."""
    if not _PLAIN.fullmatch(term):
        return False
    if term.isascii():
        return True
    if unicodedata.normalize("NFKC", term) != term or _UNSEEN.search(term):
        return False
    return not _LOOKALIKE.search(term) or (other_letters and not _LATIN.search(term))


def _terms(text: str) -> Iterator[str]:
    """The words of `text` that are no stop words: plain ones in lower case, all others as written."""
    for run in text.split():
        chunk = _CONTRACTION.sub("", run.strip(_EDGES).lstrip(_SIGNS))
        if _PLAIN.fullmatch(chunk) or _COMPOUND.fullmatch(chunk):
            parts = (part.lower() for part in _JOINT.split(chunk))
            yield from (part for part in parts if len(part) > 1 and part not in _STOP)
        elif 0 < len(chunk) <= _LONGEST and chunk.lower() not in _STOP:
            yield chunk
