from __future__ import annotations

import pytest
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.topic import extract, same
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("How do I descale a kettle?", "kettle", "kettl", ""),
    ("what bait works for trout", "bait", "bait", ""),
    ("what bait works for trout", "trout", "trout", ""),
    ("rent and heating in Oslo", "heating", "heat", ""),
    ("rent and heating in Oslo", "Oslo", "oslo", ""),
    ("is the pH of the soil low", "soil", "soil", ""),
    ("Which glue holds leather?", "glue", "glue", ""),
    ("Which glue holds leather?", "leather", "leather", ""),
    ("my washing machine leaks", "machine", "machin", ""),
    ("the naïve painters of Haiti", "painters", "painter", ""),
    ("history of the café", "café", "café", ""),
]
LEFT_ALONE = [
    "what is the thing",
    "what kinds exist",
    "ok",
    "it is 5 km",
    "the way to go",
    "he ran fast",
    "give me more information",
    "who are they",
    "",
]
KNOWN_MISSES = [
    # Two letters are too few to tell a noun from a unit or an interjection.
    ("who won the tv quiz", "tv", "tv", ""),
    # Only nouns are topic; a verb that names the topic is not.
    ("how to whittle", "whittle", "whittl", ""),
]
SAME = [("a kettle", "two kettles"), ("the Painter", "some painters")]
DIFFERENT = [("a kettle", "a teapot"), ("a trout", "a pike")]


def one(text: str) -> ProtectedToken:
    (token,) = extract(english()(text))
    return token


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row, read=english())


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [*((a, b, Match.SAME) for a, b in SAME), *((a, b, Match.DIFFERENT) for a, b in DIFFERENT)],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


def test_nothing_is_found_without_tags() -> None:
    assert list(extract(bare("How do I descale a kettle?"))) == []
