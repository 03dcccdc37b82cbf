from __future__ import annotations

import pytest
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.negation import CONTRAST, EXCLUSION, extract, same
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("recipes for nut-free cakes", "nut-free", "nut", ""),
    ("why not?", "not", "", ""),
    ("why am i unable to log in", "unable", "log", ""),
    ("which hotels do not allow dogs", "not", "allow", ""),
    ("Which plants don't need direct sun?", "n't", "need", ""),
    ("It doesnt work on my laptop", "nt", "work", ""),
    ("I cant find the setting", "nt", "find", ""),
    ("We cannot print from the tablet", "not", "print", ""),
    ("What can I cook without an oven?", "without", "oven", ""),
    ("climbing without a safety harness", "without", "har", ""),
    ("meals with no dairy", "no", "dairi", ""),
    ("Which dishes contain no nuts and no eggs?", "no", "nut", ""),
    ("Which dishes contain no nuts and no eggs?", "no", "egg", ""),
    ("Show every museum except the Louvre.", "except", "louvr", EXCLUSION),
    ("all airlines other than Ryanair", "other than", "ryanair", EXCLUSION),
    ("apart from rice, what grows there", "apart from", "rice", EXCLUSION),
    ("cities excluding London", "excluding", "london", EXCLUSION),
    ("Use honey instead of sugar", "instead of", "sugar", CONTRAST),
    ("Which candidates never voted for the bill?", "never", "vote", ""),
    ("Unless I cancel, will it renew?", "Unless", "cancel", ""),
    ("What happens if nobody claims the prize?", "nobody", "claim", ""),
    ("paint that is free of lead", "free of", "lead", ""),
    ("Which of these is not a mammal?", "not", "mammal", ""),
    ("What shouldn't I eat while pregnant?", "n't", "eat", ""),
    ("Why won't the lamp turn on?", "n't", "turn", ""),
    ("seats that are hardly ever free", "hardly", "free", ""),
]
LEFT_ALONE = [
    "Isn't the bridge closed?",
    "Don't whales sleep?",
    "dont whales sleep?",
    "So don't they need a permit?",
    "The museum is free, isn't it?",
    "The museum is free isnt it?",
    "Why not take the bus?",
    "should I stay or not",
    "Whether or not to sell",
    "No, I want the blue one",
    "no thanks",
    "no sorry, the other one",
    "not only fish but also birds",
    "I'm not sure what size to buy",
    "knot theory basics",
    "a non-stop flight",
]
KNOWN_MISSES = [
    # Negation inside a word is only seen when two texts are compared.
    ("unpaid leave", "unpaid", "paid", ""),
    # A mark behind "no" makes it an answer, and a hyphen counts as a mark.
    ("Is there a no-fly zone?", "no", "fli", ""),
    # A number, not a negation.
    "minus five degrees",
    # "neither" is read with the next word, not with the verb.
    ("neither of the two trains stops here", "neither", "stop", ""),
]
SAME = [
    ("hotels that do not allow dogs", "hotels that don't allow dogs"),
    ("what works without sugar", "what works with no sugar"),
    ("all trains except the Bernina", "all trains other than the Bernina"),
    ("i cant log in", "Why am I not able to, I cannot log in"),
]
DIFFERENT = [
    ("trains that do not stop", "trains that do not smoke"),
    ("cakes without nuts", "cakes without eggs"),
]


def one(text: str) -> ProtectedToken:
    return list(extract(english()(text)))[-1]


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row, read=english())


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [*((a, b, Match.SAME) for a, b in SAME), *((a, b, Match.DIFFERENT) for a, b in DIFFERENT)],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


def test_found_in_text_that_is_only_tokenised() -> None:
    assert [(t.text, t.value) for t in extract(bare("Cakes without nuts, except almonds."))] == [
        ("without", "nut"),
        ("except", "almond"),
    ]
