from __future__ import annotations

import pytest
from table import check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.comparison import extract, is_graded, opposed, same
from rewriteguard.language.pipeline import english
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("is the museum closed on mondays", "closed", "direction:close", ""),
    ("can i cancel before paying", "before", "direction:befor", ""),
    ("What is the largest lake in Finland?", "largest", "large:superlative", ""),
    ("the biggest city", "biggest", "large:superlative", ""),
    ("which bike is cheaper", "cheaper", "cheap:comparative", ""),
    ("Is diesel more expensive than petrol?", "more expensive", "expensive:comparative", ""),
    ("the most popular dog breed in Chile", "most popular", "popular:superlative", ""),
    ("the least expensive phone", "least expensive", "cheap:superlative", ""),
    ("less salty soup", "less salty", "-salti:comparative", ""),
    ("my best option for a small garden", "best", "good:superlative", ""),
    ("the worst flood in the valley", "worst", "bad:superlative", ""),
    ("farthest planet", "farthest", "far:superlative", ""),
    ("what is the difference between lime and lemon", "difference between", "versus", ""),
    ("tea vs coffee for focus", "vs", "versus", ""),
    ("rent compared to wages", "compared to", "versus", ""),
    ("why did exports of coffee fall", "exports", "direction:export", ""),
    ("why did exports of coffee fall", "fall", "direction:fall", ""),
    ("What caused the increase in rents?", "increase", "direction:increas", ""),
    ("how to uninstall a printer driver", "uninstall", "direction:uninstal", ""),
    ("how do i disable notifications", "disable", "direction:disabl", ""),
    ("Is interest in chess growing?", "growing", "direction:grow", ""),
]
LEFT_ALONE = [
    "I want to know more",
    "most of the students",
    "at least two rooms",
    "at least as good",
    "rather warm weather",
    "the latest news",
    "give me more details",
    "Earlier you said it was busy",
    "a former mayor",
    "interesting towers in the river delta",
    "Is the left lane busy?",
]
KNOWN_MISSES = [
    # "more" and "less" without an adjective: people add and drop "more" too freely for it to count.
    ("what costs less", "less", "-much:comparative", ""),
    ("Which one drinks the most fuel?", "most", "much:superlative", ""),
    # Words of the closed pairs that name a thing and no direction.
    "the deposit I paid",
    "the lock of the door",
]
SAME = [
    ("the largest lake", "the biggest lake"),
    ("the most costly flat", "the most expensive flat"),
    ("the tallest tower", "the highest tower"),
    ("tea vs coffee", "the difference between tea and coffee"),
    ("did rents rise", "the increase in rents"),
    ("did rents fall", "the decrease in rents"),
    ("how to buy bonds", "how to buy a bond"),
    ("the cheapest phone", "the least expensive phone"),
    ("which costs less", "which is cheaper"),
]
DIFFERENT = [
    ("the largest lake", "the longest lake"),
    ("the largest lake", "a larger lake"),
    ("the oldest church", "the newest church"),
    ("a more expensive flat", "a less expensive flat"),
    ("imports of tea", "exports of tea"),
    ("did rents rise", "did rents fall"),
]
OPPOSED = [
    ("imports of tea", "exports of tea"),
    ("install a driver", "uninstall a driver"),
    ("why did rents increase", "why did rents decrease"),
    ("why did rents rise", "why did rents decrease"),
    ("did they buy shares", "did they sell shares"),
]
NOT_OPPOSED = [
    ("why did rents rise", "why did rents grow"),
    ("imports of tea", "imports of coffee"),
    ("install a driver", "download a driver"),
    ("the largest lake", "the smallest lake"),
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
    ],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected
    assert same(one(theirs), one(ours), Facts()) is expected


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [*((a, b, True) for a, b in OPPOSED), *((a, b, False) for a, b in NOT_OPPOSED)],
)
def test_opposed(ours: str, theirs: str, expected: bool) -> None:
    assert opposed(one(ours), one(theirs)) is expected
    assert opposed(one(theirs), one(ours)) is expected


@pytest.mark.parametrize(
    ("text", "graded"), [("the oldest church", True), ("imports of tea", False), ("tea vs coffee", False)]
)
def test_is_graded(text: str, graded: bool) -> None:
    assert is_graded(one(text)) is graded
