from __future__ import annotations

import pytest

from rewriteguard.language.pipeline import english
from rewriteguard.language.words import Word, read_words
from rewriteguard.reading.vocabulary import Vocabulary, is_content

SUPPORTED = [
    # Inflection and derivation.
    ("kettle", "two kettles"),
    ("organised", "who organises the race"),
    ("prescription", "who prescribes it"),
    # Compounds and clippings.
    ("basin", "a clogged catchbasin"),
    ("veterinarian", "call the vet"),
    # Synonyms, adjective and dimension.
    ("size", "how big is it"),
    ("likelihood", "how likely is rain"),
    ("movie", "the longest film"),
    # Number words, abbreviations, countries, acronyms.
    ("2", "two tickets"),
    ("information", "any info on tides"),
    ("people", "how many ppl came"),
    ("American", "made in the U.S."),
    ("WMO", "the World Meteorological Organization"),
    # Spelling.
    ("restaurant", "a good restaraunt"),
    ("Cafe", "the café"),
]
UNSUPPORTED = [
    ("economy", "flights to Rome"),
    ("Naples", "flights to Rome"),
    ("teapot", "two kettles"),
    ("pike", "what bait works for trout"),
    ("LCIS", "the PLCIS code"),
    ("WTO", "the World Meteorological Organization"),
    ("3", "two tickets"),
    ("cat", "a car park"),
    ("nation", "the space station"),
]
MISSES = [
    # A common front of five letters joins words that have little to do with each other.
    ("international", "an internal memo", False),
    # A clipped word of less than five letters is only looked up, never compared by its looks.
    ("vet", "call the veterinarian", True),
    # Synonyms outside the lists.
    ("sofa", "a red couch", True),
]


def words(text: str) -> tuple[Word, ...]:
    return read_words(english().make_doc(text))


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        *((word, text, True) for word, text in SUPPORTED),
        *((word, text, False) for word, text in UNSUPPORTED),
        *(pytest.param(*row, marks=pytest.mark.xfail(strict=True)) for row in MISSES),
    ],
)
def test_supports(word: str, text: str, expected: bool) -> None:
    assert Vocabulary(words(text)).supports(words(word)[0]) is expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("World Meteorological Organization", "who runs the WMO", True),
        ("Bank of England", "rates of the BE", True),
        ("World Trade Organization", "who runs the WMO", False),
        ("World Meteorological Organization", "who runs the wmo", True),
        ("Norway", "the N", False),
    ],
)
def test_expands(name: str, text: str, expected: bool) -> None:
    assert Vocabulary(words(text)).expands(words(name)) is expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("kettle", True), ("5", True), ("the", False), ("get", False), ("?", False), ("Which", False)],
)
def test_is_content(word: str, expected: bool) -> None:
    assert is_content(words(word)[0]) is expected


def test_an_empty_text_supports_nothing() -> None:
    empty = Vocabulary(())
    assert not empty.supports(words("kettle")[0])
    assert not empty.expands(words("World Meteorological Organization"))
    assert not empty.holds_stem("kettl")
