from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.quantity import extract, same, written
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("all 1,200 seats", "1,200", "1200", ""),
    ("twelve hundred seats", "twelve hundred", "1200", ""),
    ("two hundred and five seats", "two hundred and five", "205", ""),
    ("5 thousand seats", "5 thousand", "5000", ""),
    ("1.5k followers", "1.5k", "1500", ""),
    ("half a million fans", "half a million", "500000", ""),
    ("a dozen eggs", "a dozen", "12", ""),
    ("two albums", "two", "2", ""),
    ("the top 10 schools", "10", "10", ""),
    ("a third of the staff", "a third", "1/3", ""),
    ("two-thirds of them", "two-thirds", "2/3", ""),
    ("1/2 cup of rice", "1/2 cup", "0.5 cup", ""),
    ("2 1/2 cups of rice", "2 1/2 cups", "2.5 cup", ""),
    ("46% of votes", "46%", "46 percent", ""),
    ("46 per cent of votes", "46 per cent", "46 percent", ""),
    ("a fund of €3m", "€3m", "3000000 EUR", ""),
    ("a fund of $3bn", "$3bn", "3000000000 dollar", ""),
    ("a fund of 3 billion dollars", "3 billion dollars", "3000000000 dollar", ""),
    ("rent of CHF 5,000", "CHF 5,000", "5000 CHF", ""),
    ("US$ 5 a month", "US$ 5", "5 USD", ""),
    ("it weighs 5 pounds", "5 pounds", "5 GBP|2267.96185 gram", ""),
    ("a 5 km run", "5 km", "5000 metre", ""),
    ("a 5000 m run", "5000 m", "5000 metre", ""),
    ("seas of 20 °C", "20 °C", "293.15 kelvin", ""),
    ("seas of 68 °F", "68 °F", "293.15 kelvin", ""),
    ("16GB of memory", "16GB", "16000000000 byte", ""),
    ("a plot of 5 hectares", "5 hectares", "50000 square metre", ""),
    ("a supply of 3 kilovolts", "3 kilovolts", "3000 volt", ""),
    ("two carats of jade", "two carats", "2 carat", ""),
    ("a 30-minute walk", "30-minute", "1800 second", ""),
    ("a two-year lease", "two-year", "24 month", ""),
    ("one hour later", "one hour", "3600 second", ""),
    ("half an hour later", "half an hour", "1800 second", ""),
    ("two and a half hours", "two and a half hours", "9000 second", ""),
    ("over 5 km away", "over 5 km", "5000 metre", ">"),
    ("more than one pet", "more than one", "1", ">"),
    ("at least 5 rooms", "at least 5", "5", ">="),
    ("5+ years of work", "5+ years", "60 month", ">="),
    ("guests 18 or older", "18 or older", "18", ">="),
    ("homes under $50", "under $50", "50 dollar", "<"),
    ("up to 10 km", "up to 10 km", "10000 metre", "<="),
    ("no more than 3 bags", "no more than 3", "3", "<="),
    ("≤ 3 bags", "≤ 3", "3", "<="),
    ("exactly 4 bags", "exactly 4", "4", "="),
    ("roughly 4 bags", "roughly 4", "4", "~"),
    ("5 to 10 people", "5 to 10", "5..10", ""),
    ("between 5 and 10 people", "between 5 and 10", "5..10", ""),
    ("5 to 10 million", "5 to 10 million", "5000000..10000000", ""),
    ("from 500 m to 2 km", "from 500 m to 2 km", "500..2000 metre", ""),
    ("lows of -5 °C", "-5 °C", "268.15 kelvin", ""),
]
LEFT_ALONE = [
    "the first one, no one, one of them, that one",
    "at least one of the doors",
    "the 2nd and 10th floor",
    "a third option",
    "open 24/7",
    "a 3D film in 4K over 5G",
    "at 5pm, 9:30 or 5 o'clock",
    "my 401k",
    "version 3.5 and 6.16.0",
    "code HB-2207 on A4",
    "1. Wash the rice",
    "hundreds of people",
    "Which one won?",
]
KNOWN_MISSES = [
    ("stay for a week", "a week", "604800 second", ""),
    ("an hour and a half", "an hour and a half", "5400 second", ""),
    ("3 people at least", "3 people at least", "3", ">="),
    ("10 000 francs", "10 000 francs", "10000 franc", ""),
    ("5'10 tall", "5'10", "1.778 metre", ""),
    ("twice a day", "twice", "2 times", ""),
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
        ("1,200 seats", "twelve hundred seats", Match.SAME),
        ("over 5 km", "more than 5000 m", Match.SAME),
        ("over 5 km", "at least 5 km", Match.DIFFERENT),
        ("over 5 km", "5 km", Match.DIFFERENT),
        ("about 5 km", "5 km", Match.SAME),
        ("exactly 5", "5", Match.SAME),
        ("exactly 5", "about 5", Match.DIFFERENT),
        ("€5", "$5", Match.DIFFERENT),
        ("$5", "5 US dollars", Match.SAME),
        ("$5", "5 Canadian dollars", Match.NARROWER),
        ("C$5", "$5", Match.UNKNOWN),
        ("£5", "5 pounds", Match.SAME),
        ("20 degrees", "20 °C", Match.NARROWER),
        ("20 degrees", "30 °C", Match.DIFFERENT),
        ("5 to 10 people", "5 to 11 people", Match.DIFFERENT),
        ("60 minutes", "one hour", Match.SAME),
        ("46%", "46 percentage points", Match.DIFFERENT),
    ],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


@given(st.integers(min_value=1000, max_value=10**12))
def test_grouped_digits_are_the_plain_number(number: int) -> None:
    assert one(f"some {number:,} items").value == one(f"{number} items").value == str(number)


@given(st.fractions())
def test_written_numbers_read_back(number: Fraction) -> None:
    assert Fraction(written(number)) == number


@given(st.text(alphabet="0123456789 .,-$%kmto+onehalfand", max_size=60))
def test_spans_lie_in_the_text_and_apart(text: str) -> None:
    end = 0
    for token in extract(bare(text)):
        assert text[token.start : token.end] == token.text
        assert token.start >= end
        end = token.end
