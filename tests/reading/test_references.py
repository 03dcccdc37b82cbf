from __future__ import annotations

import pytest

from rewriteguard.language.pipeline import english
from rewriteguard.model.conversation import Message, Role
from rewriteguard.reading.references import open_references, ordinal_of
from rewriteguard.reading.text import Past, Reading, read_all

Pointers = list[tuple[str, str]]

TALK = (
    (Role.USER, "Which castles in Wales are open in winter?"),
    (Role.ASSISTANT, "Conwy Castle and Harlech Castle stay open. Would you like to see the opening hours?"),
)

DEPENDENT: list[tuple[str, Pointers]] = [
    # Pronouns without an antecedent in the turn.
    ("When was it built?", [("singular", "it")]),
    ("who built them", [("plural", "them")]),
    ("What does she charge?", [("singular", "she")]),
    ("Who is its owner?", [("singular", "its")]),
    ("what priority does it have", [("singular", "it")]),
    ("how do i get here", [("place", "here")]),
    # Demonstratives.
    ("Is that legal?", [("singular", "that")]),
    ("Does this happen often?", [("singular", "this")]),
    ("Are those castles free?", [("plural", "those castles")]),
    # Sets and ordinals.
    ("Which of these two is older?", [("set", "these two")]),
    ("Are both of them in Wales?", [("set", "both of them")]),
    ("Is the last one bigger?", [("ordinal", "the last one")]),
    ("Who painted the second?", [("ordinal", "the second")]),
    # Other, another, else, same.
    ("What else can I do?", [("other", "else")]),
    ("are there other castles in Scotland", [("other", "other")]),
    ("Does the same rule apply?", [("other", "same")]),
    ("Is there another one nearby?", [("other", "another"), ("one", "one")]),
    # Fragments.
    ("What about Scotland?", [("ellipsis", "")]),
    ("And in summer?", [("ellipsis", "")]),
    ("Why?", [("ellipsis", "")]),
    ("How much?", [("ellipsis", "")]),
    # A definite noun known from the history, and a relational noun without its complement.
    ("Do the castles have parking?", [("definite", "the castles")]),
    ("Is the castle heated?", [("definite", "the castle")]),
    ("What are the symptoms?", [("relational", "symptoms")]),
    ("How much is the fee?", [("relational", "fee")]),
    # Answers to an offer, and remarks.
    ("yes please", [("ellipsis", "")]),
    ("Sure, go ahead.", [("ellipsis", "")]),
    ("I love castles.", [("remark", "")]),
]
COMPLETE = [
    "How many castles are in Wales?",
    # An antecedent inside the turn.
    "My laptop is slow; how do I clean it?",
    "How do I keep bread so that it stays fresh?",
    "Did Ada Lovelace know Babbage and did he help her?",
    "Does Harlech have its own car park?",
    "I bought a kayak last week. Where can I use it?",
    # "it" and "there" that point to nothing.
    "Is it safe to swim in the Thames?",
    "Does it rain a lot in Bergen?",
    "How long does it take to learn Danish?",
    "Is it true that bats are blind?",
    "Is there a bus?",
    # A relative "that", and "those" with its clause.
    "What is the oldest bridge that crosses the Rhine?",
    "What do those who visit pay?",
    # Ordinals, nouns and sets with their complement.
    "Who was the first king of Wales?",
    "What are the symptoms of measles?",
    "What are the opening hours of the Louvre?",
    "Can both the driver and the owner sign?",
    "Is Conwy similar to Harlech?",
    # A definite noun that the history does not know; the current year.
    "Is the moon inhabited?",
    "This year, which castles closed?",
    # Nothing is asked.
    "Thanks!",
]
MISSES: list[tuple[str, Pointers]] = [
    # "one" as the subject counts as the number or as "one does".
    ("which one is older", [("one", "one")]),
    # "there" points only at the end of a turn.
    ("Can I go there by bus?", [("place", "there")]),
    # The tagger takes the demonstrative for a conjunction.
    ("How far is that castle from Cardiff?", [("singular", "that castle")]),
    # A bare request for more names nothing and has no unit of its own.
    ("Tell me more", [("ellipsis", "")]),
    # "former" in front of an adjective is taken for one itself.
    ("Was the former bigger than the latter?", [("ordinal", "the former"), ("ordinal", "the latter")]),
    # "it" of "what is it like to ..." points to nothing.
    ("What is it like to live in a castle?", []),
    # A refusal asks for nothing.
    ("no thanks", []),
    # The parser takes the verb for a noun, so that no clause is left for the antecedent.
    ("When dogs bark, what do they want?", []),
]


def reading(text: str) -> Reading:
    return next(read_all([text], english(), ()))


def spell(found: Reading, first: int, last: int) -> str:
    return found.text[found.words[first].start : found.words[last - 1].end] if last > first else ""


def past(talk: tuple[tuple[Role, str], ...]) -> Past:
    messages = tuple(Message(role, text, i) for i, (role, text) in enumerate(talk))
    return Past(messages, tuple(reading(message.text) for message in messages))


def pointers(turn: str, talk: tuple[tuple[Role, str], ...] = TALK) -> Pointers:
    found = reading(turn)
    return [(ref.pointer.value, spell(found, ref.first, ref.last)) for ref in open_references(found, past(talk))]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        *(pytest.param(*row, id=row[0]) for row in DEPENDENT),
        *(pytest.param(turn, [], id=turn) for turn in COMPLETE),
        *(pytest.param(*row, marks=pytest.mark.xfail(strict=True), id=f"miss: {row[0]}") for row in MISSES),
    ],
)
def test_table(turn: str, expected: Pointers) -> None:
    assert pointers(turn) == expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("When was it built?", [("singular", "it")]),
        ("Are both of them in Wales?", [("set", "both of them")]),
        # Without a history there is nothing that these could point to.
        ("Is the castle heated?", []),
        ("What are the symptoms?", []),
        ("Why?", []),
        ("yes please", []),
    ],
)
def test_without_a_history(turn: str, expected: Pointers) -> None:
    assert pointers(turn, ()) == expected


def test_assent_needs_an_offer() -> None:
    told = (TALK[0], (Role.ASSISTANT, "Conwy Castle and Harlech Castle stay open."))
    assert pointers("yes please", TALK) == [("ellipsis", "")]
    assert pointers("yes please", told) == []


def test_withdrawn_words_point_nowhere() -> None:
    assert pointers("Is the first one, no sorry, the second one heated?") == [("ordinal", "the second one")]


@pytest.mark.parametrize(
    ("turn", "number"),
    [("Who owns the first one?", 1), ("Is the 3rd one free?", 3), ("Is the last one free?", -1), ("Is it free?", 0)],
)
def test_ordinal_of(turn: str, number: int) -> None:
    found = reading(turn)
    (reference,) = open_references(found, past(TALK))
    assert ordinal_of(found, reference) == number
