"""Whether words stand in a text, whatever their case, accents and spacing."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rewriteguard.reading.unwrap import normalise

_POSSESSIVE = re.compile(r"(?<=\w)'s\b | (?<=s)'(?!\w)", re.VERBOSE)


@lru_cache(maxsize=65_536)
def folded(text: str) -> str:
    """The text in lower case, without accents and possessive endings, with single spaces."""
    return bare(text.casefold())


@lru_cache(maxsize=65_536)
def bare(text: str) -> str:
    """The text in its own case, without accents and possessive endings, with single spaces."""
    plain = unicodedata.normalize("NFKD", normalise(text).text)
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(_POSSESSIVE.sub("", letters).split())


@lru_cache(maxsize=65_536)
def spaced(text: str) -> str:
    """The text as written, in NFKC with straight quotes and single spaces."""
    return " ".join(normalise(text).text.split())


def stands(form: str, text: str) -> bool:
    """Whether the words of `form` stand in `text` as whole words; both in one of the forms above.

    "approved" does not stand in "non-approved", "2023" not in "2023-07", "5" not in "5.2" and "10" not in "10 %".
    """
    return bool(form) and form in text and _as_words(form).search(text) is not None


def places(form: str, text: str) -> list[tuple[int, int]]:
    """Where the words of `form` stand in `text`; half-open offsets."""
    return [match.span() for match in _as_words(form).finditer(text)] if form and form in text else []


def without(form: str, text: str) -> str:
    """`text` with a gap where the words of `form` stand."""
    return _as_words(form).sub(" | ", text) if form and form in text else text


@lru_cache(maxsize=65_536)
def _as_words(form: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?<! [\w$€£] ) (?<! \w[-@] ) (?<! \d[./,:] )
        {re.escape(form)}
        (?! \w | [-@]\w | [./,:]\d | [ ]?% )
        """,
        re.VERBOSE,
    )
