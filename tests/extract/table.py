"""Runs the table of examples of one kind: FOUND, LEFT_ALONE and KNOWN_MISSES."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import pytest
import spacy
from spacy.tokens import Doc

from rewriteguard.model.tokens import ProtectedToken

Found = tuple[str, str, str, str]
"""A text, the words that are the token, its canonical value and its relation."""

Extract = Callable[[Doc], Iterable[ProtectedToken]]

_TOKENISER = spacy.blank("en")


def bare(text: str) -> Doc:
    """The text cut into words, without tags and parse, as history messages come."""
    return _TOKENISER.make_doc(text)


def rows(found: Sequence[Found], left_alone: Sequence[str], misses: Sequence[Found | str] = ()) -> list[object]:
    """Parameters for `check`: found rows, texts in which nothing is found, and rows known to fail (strict xfail)."""
    known = [pytest.param(row, id=f"miss: {_name(row)}", marks=pytest.mark.xfail(strict=True)) for row in misses]
    return [pytest.param(row, id=_name(row)) for row in (*found, *left_alone)] + known


def check(extract: Extract, row: Found | str, read: Callable[[str], Doc] = bare) -> None:
    """Fails unless the row's token is among those found, or, where the row is only a text, nothing is found."""
    text = row if isinstance(row, str) else row[0]
    tokens = list(extract(read(text)))
    for token in tokens:
        assert text[token.start : token.end] == token.text, token
        assert token.text.strip() == token.text != "", token
    spans = sorted((token.start, token.end) for token in tokens)
    assert all(left[1] <= right[0] for left, right in pairwise(spans)), "tokens overlap"
    got = [(token.text, token.value, token.relation) for token in tokens]
    if isinstance(row, str):
        assert got == []
    else:
        assert row[1:] in got, got


def _name(row: Found | str) -> str:
    return row if isinstance(row, str) else f"{row[0]} | {row[1]}"
