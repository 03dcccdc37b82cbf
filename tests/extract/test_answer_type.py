from __future__ import annotations

import pytest
from table import check, rows

from rewriteguard.extract.answer_type import STRONG, extract, paraphrases, same
from rewriteguard.extract.base import Facts, Match
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import Kind, ProtectedToken

FOUND = [
    ("Who painted the ceiling?", "Who", "person", ""),
    ("to whom should I write", "whom", "person", ""),
    ("When does the pool open?", "When", "time", ""),
    ("what year did the mill burn down", "what year", "time", ""),
    ("Since when is it closed?", "when", "time", ""),
    ("It closes when?", "when", "time", ""),
    ("Where can I park?", "Where", "place", ""),
    ("which country exports the most tea", "which country", "place", ""),
    ("In what city was she born?", "what city", "place", ""),
    ("Why is the sky dark at night?", "Why", "reason", ""),
    ("how come the lift is closed", "how come", "reason", ""),
    ("How many rooms are there?", "How many", "count", ""),
    ("how much does a ticket cost", "how much does", "cost", ""),
    ("How much flour do I need?", "How much", "amount", ""),
    ("How long does the visa take?", "How long", "duration", ""),
    ("How often should I prune roses?", "How often", "frequency", ""),
    ("How old is the oak?", "How old", "degree", ""),
    ("How do I prune roses?", "How", "manner", ""),
    ("What is a lien?", "What", "thing", ""),
    ("Is the pool heated?", "Is", "polar", ""),
    ("can I bring a dog", "can", "polar", ""),
    ("I wonder whether it is safe", "whether", "polar", ""),
    ("So, why did it fail?", "why", "reason", ""),
    ("tell me who won", "who", "person", ""),
    ("do you know how many people died", "how many", "count", ""),
    ("who wrote it and when?", "when", "time", ""),
    ("If I cancel, when do I get my money back?", "when", "time", ""),
    ("Thanks. What does it cost?", "What", "thing", ""),
]
LEFT_ALONE = [
    "The man who lives here",
    "I sing when it rains",
    "the year when it opened",
    "I know the place where we met",
    "Can you find the form?",
    "They can swim.",
    "You should see it.",
    "the shop will close",
    "Have a nice day",
]
KNOWN_MISSES = [
    # A question word behind a copula or behind "asked" is taken for a relative one.
    ("my question is who pays", "who", "person", ""),
    ("I asked who pays", "who", "person", ""),
    # Questions without a question word are known by their nouns only when two texts are compared.
    ("price of a stamp", "price of", "cost", ""),
    # A noun phrase that opens like a question.
    "will power",
    "dont ask me",
]
SAME = [
    ("person", "person"),
    ("thing", "manner"),
    ("polar", "thing"),
    ("cost", "amount"),
    ("count", "amount"),
    ("duration", "time"),
]
DIFFERENT = [("person", "time"), ("place", "time"), ("reason", "manner"), ("cost", "duration"), ("count", "frequency")]


def asking(value: str) -> ProtectedToken:
    return ProtectedToken(Kind.ANSWER_TYPE, "how", 0, 3, value)


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row, read=english())


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [*((a, b, Match.SAME) for a, b in SAME), *((a, b, Match.DIFFERENT) for a, b in DIFFERENT)],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(asking(ours), asking(theirs), Facts()) is expected
    assert same(asking(theirs), asking(ours), Facts()) is expected


def test_every_strong_type_has_words_that_ask_for_it() -> None:
    assert all(paraphrases(value) for value in STRONG)
    assert ("number", "of") in paraphrases("count")
    assert paraphrases("polar") == ()
