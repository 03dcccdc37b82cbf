"""Where in the history the words of a rewrite come from."""

from __future__ import annotations

from collections.abc import Sequence

from rewriteguard.check.says import is_paraphrased
from rewriteguard.extract import same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.entity import canonical
from rewriteguard.extract.negation import EXCLUSION
from rewriteguard.language.words import Word
from rewriteguard.model.tokens import LITERAL, Kind, ProtectedToken
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.vocabulary import is_content


def source_of(token: ProtectedToken, rewrite: Reading, past: Past, facts: Facts) -> int | None:
    """The index of the latest history item that says what a token of the rewrite says; None where none does."""
    for message, reading in zip(reversed(past.messages), reversed(past.readings), strict=True):
        if _says(reading, token, facts):
            return message.index
    words = [w for w in rewrite.words_of(token) if any(c.isalnum() for c in w.text)]
    if token.kind in LITERAL and any(c.isdigit() for c in token.text):
        return _literal_source(token, past)
    return source_of_words(words, past)


def source_of_words(words: Sequence[Word], past: Past) -> int | None:
    """The index of the latest history item that supports all of `words`, or of all items together; else None."""
    if not words:
        return None
    for message, reading in zip(reversed(past.messages), reversed(past.readings), strict=True):
        vocabulary = reading.vocabulary
        if all(vocabulary.supports(w) for w in words) or vocabulary.expands(words):
            return message.index
    if past.messages and all(past.vocabulary.supports(w) for w in words):
        last = next(
            m
            for m, r in zip(reversed(past.messages), reversed(past.readings), strict=True)
            if r.vocabulary.supports(words[-1])
        )
        return last.index
    return None


def source_beside(token: ProtectedToken, rewrite: Reading, past: Past, facts: Facts) -> int | None:
    """The latest item that says a small word together with the content word before or behind it in the rewrite."""
    content = [w for w in rewrite.content if not token.start <= w.start < token.end]
    before = [w for w in content if w.end <= token.start][-1:]
    behind = [w for w in content if w.start >= token.end][:1]
    for message, reading in zip(reversed(past.messages), reversed(past.readings), strict=True):
        excluded = token.relation == EXCLUSION and reading.vocabulary.holds_stem(token.value)
        said = _says(reading, token, facts) or all(map(reading.vocabulary.holds, rewrite.words_of(token)))
        if excluded or (said and any(reading.vocabulary.holds(w) for w in (*before, *behind))):
            return message.index
    return None


def completes_name(token: ProtectedToken, rewrite: Reading, past: Past) -> bool:
    """True for "Trevor Horn" where the history says "Horn": every name that shares a word with it is a part of it.

    Where another name shares one ("Ann Horn"), the rewrite says another.
    """
    words = {canonical(w.text) for w in rewrite.words_of(token) if is_content(w)}
    names = [
        {canonical(w.text) for w in reading.words_of(t) if is_content(w)}
        for reading in past.readings
        for t in reading.tokens
        if t.kind is Kind.ENTITY
    ]
    sharing = [name for name in names if name & words]
    opening = any(w.text[:1].isupper() and canonical(w.text) in words for r in past.readings for w in r.words)
    return (opening or bool(sharing)) and all(name <= words for name in sharing)


def _says(reading: Reading, token: ProtectedToken, facts: Facts) -> bool:
    same = same_for(token.kind)
    if token.kind is Kind.ANSWER_TYPE and is_paraphrased(reading, token.value):
        return True
    return any(t.kind is token.kind and same(t, token, facts) is Match.SAME for t in reading.tokens)


def _literal_source(token: ProtectedToken, past: Past) -> int | None:
    """The latest item that holds the digits of a number, date or code as words of its own."""
    digits = [part for part in token.text.casefold().split() if any(c.isdigit() for c in part)]
    if not digits:
        return None
    for message, reading in zip(reversed(past.messages), reversed(past.readings), strict=True):
        lowers = {w.lower for w in reading.words}
        if all(part in lowers for part in digits):
            return message.index
    return None
