from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.version import extract, same
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("Is v3.11.4 safe?", "v3.11.4", "3.11.4", ""),
    ("the 2.x branch", "2.x", "2.x", ""),
    ("a wheel for Python 3.12", "3.12", "3.12", ""),
    ("a wheel for python3.12", "3.12", "3.12", ""),
    ("an app for iOS 17", "17", "17", ""),
    ("a driver for windows 10 users", "10", "10", ""),
    ("modules of Node 20", "20", "20", ""),
    ("records in java 8", "8", "8", ""),
    ("see version 3", "version 3", "3", ""),
    ("notes of release 4.2", "release 4.2", "4.2", ""),
    ("how about 6.16.0?", "6.16.0", "6.16.0", ""),
    ("what broke in 1.0.0-rc1", "1.0.0-rc1", "1.0.0-rc1", ""),
    ("Does Brontes 3.5 log this?", "3.5", "3.5", ""),
    ("the 2.1 release", "2.1", "2.1", ""),
    ("python 3.10 or later", "3.10 or later", "3.10", ">="),
    ("python 3.10+", "3.10+", "3.10", ">="),
    ("clients older than version 2", "older than version 2", "2", "<"),
]
LEFT_ALONE = [
    "a tank of 3.5 litres",
    "rated 4.5 stars",
    "2.5 million homes",
    "sent on 06.06.2025",
    "a GPA 3.5 student",
    "Is 3.5 enough?",
    "turn it by 90 degrees",
    "loosen the angular 90 degrees bracket",
    "a V8 engine",
    "Node 3 times in a row",
    "see section 1.2",
]
KNOWN_MISSES = [
    ("does grafana 9 run there?", "9", "9", ""),
    ("the third version", "third version", "3", ""),
    ("HTML5 video", "HTML5", "5", ""),
    "Tokyo 35.6 degrees and Paris 48.8 north",
]


def one(text: str) -> ProtectedToken:
    (token,) = extract(bare(text))
    return token


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("v2.1", "version 2.1", Match.SAME),
        ("Python 3.10", "Python 3.1", Match.DIFFERENT),
        ("Python 3.10+", "Python 3.10", Match.DIFFERENT),
        ("Python 3.10+", "Python 3.10 or newer", Match.SAME),
    ],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


@given(st.text(alphabet="0123456789 .vx+-rcNode", max_size=60))
def test_spans_lie_in_the_text(text: str) -> None:
    for token in extract(bare(text)):
        assert text[token.start : token.end] == token.text
