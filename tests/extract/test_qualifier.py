from __future__ import annotations

import pytest
from table import check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.qualifier import clash, extract, same
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("expired passports", "expired", "expired", ""),
    ("the approved budget", "approved", "approved", ""),
    ("is the draft public", "public", "public", ""),
    ("annual rainfall in Bergen", "annual", "annual", ""),
    ("GDP per year", "per year", "annual", ""),
    ("average salary of a nurse", "average", "average", ""),
    ("per capita income", "per capita", "per-capita", ""),
    ("net income", "net", "net", ""),
    ("the fiscal year", "fiscal", "fiscal", ""),
    ("toys for children", "children", "children", ""),
    ("courses for beginners", "beginners", "beginners", ""),
    ("answer in French", "in French", "in french", ""),
    ("explain it step by step", "step by step", "limit:step by step", ""),
    ("in one sentence please", "in one sentence", "limit:in one sentence", ""),
    ("a one-way ticket", "one-way", "one-way", ""),
    ("a round trip to Rome", "round trip", "round-trip", ""),
    ("non-refundable fares", "non-refundable", "non-refundable", ""),
    ("part time jobs", "part time", "part-time", ""),
    ("direct flights to Oslo", "direct", "direct", ""),
    ("gluten-free bread", "gluten-free", "gluten-free", ""),
    ("used cars", "used", "used", ""),
    ("Are expired passports accepted?", "expired", "expired", ""),
    ("is it free", "free", "free", ""),
]
LEFT_ALONE = [
    "children in Roman times",
    "an expert on bees",
    "I used a knife",
    "he supported the motion",
    "she drafts a letter",
    "draft the letter",
    "the Federal Reserve",
    "French bread",
    "what does mean mean",
    "they expired yesterday",
    "single-page app",
    "public-key cryptography",
]
KNOWN_MISSES = [
    # The thing asked about, not what narrows it.
    "the economy of Peru",
    "the public",
    # A verb that the tagger takes for an adjective.
    "how do I free memory",
    # An audience without "for" is taken for the topic.
    ("the adult ticket", "adult", "adult", ""),
]
SAME = [
    ("the annual fee", "the yearly fee"),
    ("nonstop flights to Oslo", "direct flights to Oslo"),
    ("a part-time job", "a part time job"),
    ("toys for kids", "toys for children"),
]
CLASH = [
    ("the approved budget", "the draft budget"),
    ("net income", "gross income"),
    ("a one-way ticket", "a round trip to Rome"),
    ("the monthly fee", "the annual fee"),
    ("toys for children", "toys for adults"),
]
NO_CLASH = [
    ("the annual fee", "the yearly fee"),
    ("the approved budget", "the annual budget"),
    ("answer in French", "answer in German"),  # both may be wanted
]


def one(text: str) -> ProtectedToken:
    (token,) = extract(english()(text))
    return token


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row, read=english())


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [*((a, b, Match.SAME) for a, b in SAME), *((a, b, Match.DIFFERENT) for a, b in CLASH)],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"), [*((a, b, True) for a, b in CLASH), *((a, b, False) for a, b in NO_CLASH)]
)
def test_clash(ours: str, theirs: str, expected: bool) -> None:
    assert clash(one(ours), one(theirs)) is expected
    assert clash(one(theirs), one(ours)) is expected
