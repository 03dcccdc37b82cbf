from __future__ import annotations

from itertools import pairwise

import pytest

from rewriteguard.language.pipeline import english
from rewriteguard.reading.text import Reading, read_all

Units = list[tuple[str, str]]

UNITS: list[tuple[str, Units]] = [
    # Plain questions and requests.
    ("I want to know why bread rises.", [("question", "why bread rises.")]),
    ("how do i prune a fig tree", [("question", "how do i prune a fig tree")]),
    ("which bus goes there", [("question", "which bus goes there")]),
    ("Compare tea and coffee.", [("request", "Compare tea and coffee.")]),
    ("Mona Lisa: where does it hang?", [("question", "Mona Lisa: where does it hang?")]),
    # Openings, greetings, thanks and comments on the answer before.
    ("Thanks! How long do figs keep?", [("filler", "Thanks!"), ("question", "How long do figs keep?")]),
    ("ok so what does it cost", [("filler", "ok so"), ("question", "what does it cost")]),
    ("By the way, is the lake clean?", [("filler", "By the way,"), ("question", "is the lake clean?")]),
    ("One more thing: can I bring a dog?", [("filler", "One more thing:"), ("question", "can I bring a dog?")]),
    ("Hello! How are you doing?", [("filler", "Hello!"), ("filler", "How are you doing?")]),
    ("Great, thank you.", [("filler", "Great, thank you.")]),
    ("Sure, go ahead.", [("filler", "Sure, go ahead.")]),
    ("That's not what I asked.", [("filler", "That's not what I asked.")]),
    (
        "That is helpful, thanks. And the price?",
        [("filler", "That is helpful, thanks."), ("filler", "And"), ("question", "the price?")],
    ),
    ("What a mess! How do I clean it?", [("filler", "What a mess!"), ("question", "How do I clean it?")]),
    # Corrections.
    ("No, I meant the night train.", [("filler", "No,"), ("correction", "the night train.")]),
    ("no, the other one", [("filler", "no,"), ("correction", "the other one")]),
    ("No, I mean just for new members.", [("filler", "No,"), ("correction", "just for new members.")]),
    ("Not quite. I want to know about the fees.", [("filler", "Not quite."), ("correction", "the fees.")]),
    (
        "You misunderstood me. I meant the night train.",
        [("filler", "You misunderstood me."), ("correction", "the night train.")],
    ),
    ("I was asking about ferries to Malta.", [("correction", "ferries to Malta.")]),
    ("Not documents, I was asking for attachments.", [("filler", "Not documents,"), ("correction", "attachments.")]),
    # Wrapping is no part of the unit.
    (
        "Can you tell me what the fine for late filing is?",
        [("question", "what the fine for late filing is?")],
    ),
    ("Do you know when the shop closes?", [("question", "when the shop closes?")]),
    ("I don't understand why ice floats", [("question", "why ice floats")]),
    ("Tell me more about the Bronze Age", [("request", "the Bronze Age")]),
    ("Show me flats with a balcony", [("request", "flats with a balcony")]),
    ("What about the return trip?", [("question", "the return trip?")]),
    # A clause or a sentence that sets the scene.
    (
        "As my lease ends in May, can I leave early?",
        [("statement", "As my lease ends in May,"), ("question", "can I leave early?")],
    ),
    (
        "Since I am a student, do I pay less?",
        [("statement", "Since I am a student,"), ("question", "do I pay less?")],
    ),
    ("I live in Leeds. Where can I swim?", [("statement", "I live in Leeds."), ("question", "Where can I swim?")]),
    ("I live in Leeds.", [("statement", "I live in Leeds.")]),
    # Several questions.
    ("What time is it? Where are we?", [("question", "What time is it?"), ("question", "Where are we?")]),
    (
        "what does the permit cost and does it include parking?",
        [("question", "what does the permit cost and"), ("question", "does it include parking?")],
    ),
    ("What is a lien and who can file one?", [("question", "What is a lien and"), ("question", "who can file one?")]),
    (
        "What is the dose for adults; what is it for children?",
        [("question", "What is the dose for adults;"), ("question", "what is it for children?")],
    ),
    # Left alone: words that open a unit elsewhere are part of what is asked here.
    ("no dairy recipes please", [("statement", "no dairy recipes please")]),
    ("Which hotels have no pool?", [("question", "Which hotels have no pool?")]),
    ("Not only fish but also birds?", [("question", "Not only fish but also birds?")]),
    ("No smoking rules in Ohio", [("statement", "No smoking rules in Ohio")]),
    ("Which is bigger, Oslo or Bergen?", [("question", "Which is bigger, Oslo or Bergen?")]),
    ("Although it rained, we went out.", [("statement", "Although it rained, we went out.")]),
    ("The Hobbit: An Unexpected Journey cast", [("statement", "The Hobbit: An Unexpected Journey cast")]),
    ('Is it "no" or "yes"?', [("question", 'Is it "no" or "yes"?')]),
    ("", []),
]
UNIT_MISSES: list[tuple[str, Units]] = [
    # An exclamation and a question word are told apart by the mark alone.
    ("What a cello costs is unclear", [("statement", "What a cello costs is unclear")]),
    # An interjection without a mark behind it.
    ("lol you're funny", [("filler", "lol you're funny")]),
    # A correction in a form that is not listed.
    ("what i meant was the blue one", [("correction", "the blue one")]),
    # A tag question asks nothing.
    ("There is no lift, is there?", [("question", "There is no lift, is there?")]),
]
WITHDRAWN = [
    ("Flights to Rome, no sorry, Naples on Friday", ["Rome, no sorry"]),
    ("Book a room in Paris, I mean Lyon", ["Paris, I mean"]),
    ("a table for two, no wait, three people", ["two, no wait"]),
    ("I need a visa for Japan, or rather Korea", ["Japan, or rather"]),
    ("Is it open on Monday, sorry, on Tuesday?", ["on Monday, sorry"]),
    ("send it to Anna - no, to Ben", ["to Anna - no"]),
    ("Which hotels have no pool?", []),
    ("Are there no ferries, or no ferries on Sunday?", []),
    ("I would rather fly to Rome", []),
    ("Is that word really what they mean?", []),
    ("say sorry to Ben", []),
]
WITHDRAWN_MISSES = [
    # A correction in the next sentence.
    ("I want flights to Rome. Sorry, Naples.", ["Rome"]),
    # The marker behind the correction.
    ("flights to Rome Naples I mean", ["Rome"]),
]


def reading(text: str) -> Reading:
    return next(read_all([text], english(), ()))


def spell(found: Reading, first: int, last: int) -> str:
    return found.text[found.words[first].start : found.words[last - 1].end]


def params(table: list[tuple[str, list]], misses: list[tuple[str, list]]) -> list[object]:
    known = [pytest.param(*row, marks=pytest.mark.xfail(strict=True), id=f"miss: {row[0]}") for row in misses]
    return [pytest.param(*row, id=row[0]) for row in table] + known


@pytest.mark.parametrize(("text", "units"), params(UNITS, UNIT_MISSES))
def test_units(text: str, units: Units) -> None:
    found = reading(text)
    assert [(unit.kind.value, spell(found, unit.first, unit.last)) for unit in found.regions.units] == units


@pytest.mark.parametrize(("text", "runs"), params(WITHDRAWN, WITHDRAWN_MISSES))
def test_withdrawn(text: str, runs: list[str]) -> None:
    found = reading(text)
    assert [spell(found, repair.first, repair.resumed).rstrip(" ,") for repair in found.regions.repairs] == runs


@pytest.mark.parametrize(
    ("text", "wrapped"),
    [
        ("Could you tell me where the keys are?", True),
        ("please explain tides", True),
        ("Where are the keys?", False),
        ("Compare tea and coffee.", False),
    ],
)
def test_wrapped(text: str, wrapped: bool) -> None:
    assert reading(text).regions.wrapped is wrapped


@pytest.mark.parametrize(
    ("text", "protected", "scene"),
    [
        ("Thanks! Which ferry goes to Malta?", "Which ferry goes to Malta ?", ""),
        ("I live in Leeds. Where can I swim?", "Where can I swim ?", "I live in Leeds ."),
        ("I live in Leeds.", "I live in Leeds .", ""),
        ("Flights to Rome, no sorry, Naples", "Flights to Naples", ""),
    ],
)
def test_what_is_protected_and_what_sets_the_scene(text: str, protected: str, scene: str) -> None:
    found = reading(text)
    regions = found.regions
    assert " ".join(w.text for w in found.words if regions.protects(w.i)) == protected
    assert " ".join(w.text for w in found.words if regions.sets_scene(w.i)) == scene


@pytest.mark.parametrize("text", [row[0] for row in UNITS])
def test_units_are_in_order_and_share_no_word(text: str) -> None:
    found = reading(text)
    units = found.regions.units
    assert all(0 <= unit.first <= unit.last <= len(found.words) for unit in units)
    assert all(left.last <= right.first for left, right in pairwise(units))
