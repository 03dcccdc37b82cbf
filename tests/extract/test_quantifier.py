from __future__ import annotations

import pytest
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.quantifier import extract, same
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("Do only adults pay the tax?", "only", "only", ""),
    ("is it just for members", "just", "only", ""),
    ("solely for export", "solely", "only", ""),
    ("merely for one day", "merely", "only", ""),
    ("exclusively online", "exclusively", "only", ""),
    ("all museums in Vienna", "all", "all", ""),
    ("every bus stops at the depot", "every", "all", ""),
    ("Does each student get a locker?", "each", "all", ""),
    ("Is the whole house heated?", "whole", "all", ""),
    ("the entire city", "entire", "all", ""),
    ("Are both parents needed?", "both", "both", ""),
    ("do both the driver and the owner sign", "both", "both", ""),
    ("the first woman in space", "first", "1st", ""),
    ("who was the second president of Ghana", "second", "2nd", ""),
    ("what is the 4th amendment", "4th", "4th", ""),
    ("the last train to Utrecht", "last", "last", ""),
    ("What's the final score?", "final", "last", ""),
    ("any room with a view", "any", "any", ""),
    ("some of the plans", "some", "some", ""),
    ("most of the plans", "most", "majority", ""),
    ("all of the plans", "all", "all", ""),
    ("every one of the plans", "every", "all", ""),
    ("a few trains", "few", "few", ""),
]
LEFT_ALONE = [
    "all of them",
    "the first one",
    "both of them",
    "all these",
    "what about the second",
    "is it there at all",
    "after all it was cheap",
    "not only cheap",
    "the first time I saw it",
    "first aid kit",
    "first of all, is it safe",
    "what is your last name",
    "see each other",
    "I just want to know",
    "tell me all about it",
]
KNOWN_MISSES = [
    # "one" behind it is taken for a pronoun.
    ("all one hundred seats", "all", "all", ""),
    # Fixed phrases outside the lists.
    "second hand shops",
    "first and last name",
    "can I turn them all off?",
]
SAME = [
    ("every museum", "all museums"),
    ("the final round", "the last round"),
    ("just for members", "only for members"),
]
DIFFERENT = [
    ("all museums", "both museums in Bern and Thun"),
    ("the first woman", "the last woman"),
    ("the 2nd act", "the third act"),
    ("only adults", "all adults"),
]


def one(text: str) -> ProtectedToken:
    (token,) = extract(english()(text))
    return token


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row, read=english())


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        *((a, b, Match.SAME) for a, b in SAME),
        *((a, b, Match.DIFFERENT) for a, b in DIFFERENT),
        ("the second act", "the 2nd act", Match.SAME),
    ],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


def test_found_in_text_that_is_only_tokenised() -> None:
    assert [t.value for t in extract(bare("Only the first tram serves all stops."))] == ["only", "1st", "all"]
