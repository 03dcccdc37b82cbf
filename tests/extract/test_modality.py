from __future__ import annotations

import pytest
from table import check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.modality import extract, same
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("Must I declare the gift?", "Must", "obligation", ""),
    ("do I have to pay a deposit", "have to", "obligation", ""),
    ("He has to renew it", "has to", "obligation", ""),
    ("You need to sign twice", "need to", "obligation", ""),
    ("is a helmet required", "required", "obligation", ""),
    ("is it necessary to book", "is it necessary", "obligation", ""),
    ("we are obliged to report", "obliged", "obligation", ""),
    ("Should I water it daily?", "Should", "recommendation", ""),
    ("you ought to rest", "ought", "recommendation", ""),
    ("am I supposed to tip", "supposed to", "recommendation", ""),
    ("is it advisable to swim there", "advisable", "recommendation", ""),
    ("may I park here", "may", "permission", ""),
    ("Are dogs allowed in the park?", "allowed", "permission", ""),
    ("Are you permitted to record?", "permitted", "permission", ""),
    ("can I take the tram with a bike", "can", "ability", ""),
    ("Could it be repaired?", "Could", "ability", ""),
    ("is it possible to pay by card", "possible", "ability", ""),
    ("I can't open the file", "ca", "ability", ""),
]
LEFT_ALONE = [
    "what happened in May",
    "May 5 concert",
    "the required form",
    "what is the recommended dose of zinc",
    "the allowed range",
    "a can of beans",
    "does he need a visa",
    "the needs of children",
    "I will come",
    "would you say so",
]
KNOWN_MISSES = [
    # Not in the lists: the shortened "had better", and a modal that says a chance.
    ("I'd better go", "'d better", "recommendation", ""),
    ("What might go wrong?", "might", "ability", ""),
    # The tagger takes the noun for the verb.
    "it was a must",
]
SAME = [
    ("must I pay", "do I have to pay"),
    ("should I rest", "am I supposed to rest"),
    ("may I park here", "am I allowed to park here"),
    ("can I park here", "may I park here"),
    ("is it possible to swim", "could I swim"),
]
DIFFERENT = [
    ("must I pay", "should I pay"),
    ("must I pay", "can I pay"),
    ("should I rest", "may I rest"),
]


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
    assert same(one(theirs), one(ours), Facts()) is expected
