from __future__ import annotations

import pytest
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.entity import extract, same
from rewriteguard.language.names import canonical, country
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import Kind, ProtectedToken

FOUND = [
    ("Did Marie Curie ever work in Warsaw?", "Marie Curie", "marie curie", ""),
    ("did marie curie ever work in Warsaw?", "marie curie", "marie curie", ""),
    ("opening hours of the Rijksmuseum", "Rijksmuseum", "rijksmuseum", ""),
    ("Does the FBI keep fingerprint records?", "FBI", "fbi", ""),
    ("who founded SpaceX", "SpaceX", "spacex", ""),
    ("how do I reset my iPhone", "iPhone", "iphone", ""),
    ("Is the U.S. embassy in Nairobi open?", "U.S.", "united states", ""),
    ("is the US dollar strong in Peru", "US", "united states", ""),
    ("Can US citizens enter Vietnam without a visa?", "Vietnam", "vietnam", ""),
    ("Tell me about the Treaty of Versailles", "Treaty of Versailles", "treaty of versailles", ""),
    ("What did Johnson & Johnson recall?", "Johnson & Johnson", "johnson & johnson", ""),
    ("Is Vincent van Gogh buried in Auvers?", "Vincent van Gogh", "vincent van gogh", ""),
    ("Beyoncé's first tour", "Beyoncé", "beyonce", ""),
    ("the University of São Paulo campus", "University of São Paulo", "university of sao paulo", ""),
    ("population of KENYA", "KENYA", "kenya", ""),
    ("Is GPT-4 cheaper?", "GPT-4", "gpt-4", ""),
    ("Can the BMW X5 tow a trailer?", "BMW X5", "bmw x5", ""),
    ("what does NASA's budget cover", "NASA", "nasa", ""),
    ("the Smiths' tour", "Smiths", "smiths", ""),
    ("Compare Oslo, Bergen and Tromsø", "Oslo", "oslo", ""),
    ("Compare Oslo, Bergen and Tromsø", "Bergen", "bergen", ""),
    ("Compare Oslo, Bergen and Tromsø", "Tromsø", "tromso", ""),
    ("When was the Łódź fair?", "Łódź", "lodz", ""),
]
LEFT_ALONE = [
    "does the pump need oil",
    "How do I descale a kettle?",
    "What is the best way to store onions?",
    "ok thanks, and what about the tea?",
    "it rained on Monday in the park",
    "Please help us with the forms",
    "I am on a diet",
    "Which tyres fit a road bike?",
    "Find a plumber. Compare their prices.",
]
KNOWN_MISSES = [
    # An acronym that is also a function word.
    ("which vaccine does the WHO recommend", "WHO", "who", ""),
    # A name at the start of a sentence that the tagger takes for another word: its capital says nothing there.
    ("Rust vs Go for web servers", "Rust", "rust", ""),
    # A lower-cased name swallows the verb behind it.
    ("what did angela merkel study", "angela merkel", "angela merkel", ""),
    # A hyphen cuts a name in two.
    ("Mercedes-Benz brakes", "Mercedes-Benz", "mercedes-benz", ""),
    # In shouted text every word looks like an acronym.
    "PLEASE HELP ME FIND THE FORM",
    # In title case only the tagger is left, and it errs.
    "What Are The Best Ways To Cook Rice At Home",
]
SAME = [
    ("Beyoncé's", "Beyonce"),
    ("BOSCH", "Bosch"),
    ("the Beatles", "Beatles"),
    ("the Smiths'", "The Smiths"),
    ("Ada\u2019s", "Ada's"),
    ("São Paulo", "Sao Paulo"),
    ("Tromsø", "Tromso"),
    ("Müller", "Mueller"),
    ("U.S.", "US"),
    ("U.S.A.", "United States"),
    ("American", "the US"),
    ("Holland", "the Netherlands"),
    ("Swiss", "Switzerland"),
    ("F.B.I.", "FBI"),
    ("Micheal Faraday", "Michael Faraday"),
    ("Wittgenstien", "Wittgenstein"),
]
DIFFERENT = [
    ("Iran", "Iraq"),
    ("Austria", "Australia"),
    ("Cork", "York"),
    ("PLCIS", "LCIS"),
    ("GPT-3", "GPT-4"),
    ("Airbus A320", "Airbus A321"),
    ("Ann Taylor", "Lord & Taylor"),
    ("Korea", "Japan"),
]
SAME_MISSES = [
    ("Danielle", "Daniele", Match.DIFFERENT),  # two names, one letter apart
]


def named(name: str) -> ProtectedToken:
    return ProtectedToken(Kind.ENTITY, name, 0, len(name), canonical(name))


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row, read=english())


def test_names_are_found_in_text_that_is_only_tokenised() -> None:
    text = "The slower boats that leave from Piraeus every morning belong to Blue Star Ferries."
    assert [t.text for t in extract(bare(text))] == ["Piraeus", "Blue Star Ferries"]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        *((a, b, Match.SAME) for a, b in SAME),
        *((a, b, Match.DIFFERENT) for a, b in DIFFERENT),
        *(pytest.param(*row, marks=pytest.mark.xfail(strict=True)) for row in SAME_MISSES),
    ],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(named(ours), named(theirs), Facts()) is expected
    assert same(named(theirs), named(ours), Facts()) is expected


def test_equivalents_of_the_conversation_are_the_same() -> None:
    facts = Facts(equivalents={"ibm": frozenset({"big blue"})})
    assert same(named("IBM"), named("Big Blue"), facts) is Match.SAME
    assert same(named("IBM"), named("Big Blue"), Facts()) is Match.DIFFERENT


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("U.K.", "united kingdom"),
        ("French", "france"),
        ("EU", "european union"),
        ("kettle", None),
        ("us", "united states"),
    ],
)
def test_country(word: str, name: str | None) -> None:
    assert country(word) == name
