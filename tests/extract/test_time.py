from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.time import extract, resolve, same
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("Which grants closed in Q3 2023?", "Q3 2023", "2023-07-01/2023-10-01", ""),
    ("profit for the third quarter of 2023", "the third quarter of 2023", "2023-07-01/2023-10-01", ""),
    ("bookings 3Q23", "3Q23", "2023-07-01/2023-10-01", ""),
    ("the Q3 figures", "Q3", "--Q3", ""),
    ("H1 2024 output", "H1 2024", "2024-01-01/2024-07-01", ""),
    ("output in the first half of 2024", "the first half of 2024", "2024-01-01/2024-07-01", ""),
    ("margin in FY2023", "FY2023", "FY2023", ""),
    ("margin in fiscal 2023", "fiscal 2023", "FY2023", ""),
    ("spending in FY2022/23", "FY2022/23", "FY2023", ""),
    ("FY23 Q3 margin", "FY23 Q3", "FY2023-Q3", ""),
    ("delivered on 6 June 2025", "6 June 2025", "2025-06-06/2025-06-07", ""),
    ("delivered on Friday, June 6th, 2025", "Friday, June 6th, 2025", "2025-06-06/2025-06-07", ""),
    ("delivered on 2025-06-06", "2025-06-06", "2025-06-06/2025-06-07", ""),
    ("delivered on 06/06/2025", "06/06/2025", "2025-06-06/2025-06-07", ""),
    ("delivered on 06/07/2025", "06/07/2025", "2025-06-07/2025-06-08|2025-07-06/2025-07-07", ""),
    ("delivered on 25/07/2025", "25/07/2025", "2025-07-25/2025-07-26", ""),
    ("closed on 26 December", "26 December", "--12-26", ""),
    ("open May 4-9?", "May 4-9", "--05-04/--05-10", ""),
    ("visitors in June 2025", "June 2025", "2025-06-01/2025-07-01", ""),
    ("rain in May", "May", "--05", ""),
    ("events of 2015", "2015", "2015-01-01/2016-01-01", ""),
    ("What about 2019?", "2019", "2019-01-01/2020-01-01", ""),
    ("the battle in 1066", "1066", "1066-01-01/1067-01-01", ""),
    ("founded before 1871?", "before 1871", "1871-01-01/1872-01-01", "before"),
    ("prior to 1990", "prior to 1990", "1990-01-01/1991-01-01", "before"),
    ("pre-1990 houses", "pre-1990", "1990-01-01/1991-01-01", "before"),
    ("laws later than 2019", "later than 2019", "2019-01-01/2020-01-01", "after"),
    ("post-2010 films", "post-2010", "2010-01-01/2011-01-01", "after"),
    ("members since March", "since March", "--03", "since"),
    ("films from 2010 onwards", "from 2010 onwards", "2010-01-01/2011-01-01", "since"),
    ("cars from 2010 or later", "from 2010 or later", "2010-01-01/2011-01-01", "since"),
    ("shows 2010 to present", "2010 to present", "2010-01-01/2011-01-01", "since"),
    ("paid no later than 5 June 2024", "no later than 5 June 2024", "2024-06-05/2024-06-06", "by"),
    ("prices as of 2023", "as of 2023", "2023-01-01/2024-01-01", "as of"),
    ("open until noon", "until noon", "T12:00", "until"),
    ("between 1990 and 1995", "between 1990 and 1995", "1990-01-01/1996-01-01", ""),
    ("from July 1939 to July 1941", "from July 1939 to July 1941", "1939-07-01/1941-08-01", ""),
    ("from June to August 2020", "from June to August 2020", "2020-06-01/2020-09-01", ""),
    ("between 2007 - 2009", "between 2007 - 2009", "2007-01-01/2010-01-01", ""),
    ("the season 2005-07", "2005-07", "2005-01-01/2008-01-01|2005-07-01/2005-08-01", ""),
    ("storms in summer 2019", "summer 2019", "2019-summer", ""),
    ("bands of the 1990s", "1990s", "1990-01-01/2000-01-01", ""),
    ("bands of the nineties", "nineties", "1990-01-01/2000-01-01", ""),
    ("the early 1990s", "early 1990s", "early:1990-01-01/2000-01-01", ""),
    ("by the end of 2020", "by the end of 2020", "late:2020-01-01/2021-01-01", "by"),
    ("art of the 16th century", "the 16th century", "1500-01-01/1600-01-01", ""),
    ("art of the 1500s", "1500s", "1500-01-01/1600-01-01", ""),
    ("Rome in 44 BC", "44 BC", "BC:44", ""),
    ("rainfall last year", "last year", "relative:year:-1", ""),
    ("over the past 3 years", "the past 3 years", "relative:year:-3..0", ""),
    ("sales in the last quarter", "the last quarter", "relative:quarter:-1..0", ""),
    ("moved two weeks ago", "two weeks ago", "relative:week:-2", ""),
    ("open tomorrow morning?", "tomorrow morning", "relative:day:1:morning", ""),
    ("next Tuesday", "next Tuesday", "relative:weekday-1:1", ""),
    ("revenue year to date", "year to date", "relative:year-to-date", ""),
    ("Are they open on Mondays?", "Mondays", "weekday:0", ""),
    ("the current rate", "current", "present", ""),
    ("Is it open now", "now", "present", ""),
    ("doors close at 5 pm", "5 pm", "T17:00", ""),
    ("doors close at 17:00h", "17:00h", "T17:00", ""),
    ("doors close at 5:30", "5:30", "T05:30|T17:30", ""),
    ("from 9am to 5pm", "from 9am to 5pm", "T09:00/T17:00", ""),
    ("closed on Christmas Eve?", "Christmas Eve", "christmas-eve", ""),
]
LEFT_ALONE = [
    "the first time we met",
    "rides from 2023-13-45/2023-14-02",
    "rides in 2023-02-30..2023-03-01",
    "a long time at the same time",
    "Now that it works, may I ask more?",
    "May I bring a friend?",
    "a lamp 2034 and the model 2020",
    "5,000 tickets and 2000 calories",
    "a three-year plan for 3 days",
    "alternating current flows in a coil",
    "June Carter and Easter Island",
    "the last week of school",
    "Give me a second.",
    "Who owns The Tonight Show?",
    "more than 2000 of them",
    "the latest update and recent news",
]
KNOWN_MISSES = [
    ("open on 6/7?", "6/7", "--06-07", ""),
    ("at half past five", "half past five", "T05:30|T17:30", ""),
    ("a shop in '24", "'24", "2024-01-01/2025-01-01", ""),
    ("Blade Runner 2049 was set in the year it names", "2049", "2049-01-01/2050-01-01", ""),
    "The march 5 people joined was loud at 10:15 of the gospel",
]

REFERENCE = date(2024, 5, 15)  # a Wednesday


def one(text: str) -> ProtectedToken:
    (token,) = extract(bare(text))
    return token


@pytest.mark.parametrize("row", rows(FOUND, LEFT_ALONE, KNOWN_MISSES))
def test_table(row: object) -> None:
    check(extract, row)


@pytest.mark.parametrize(
    ("ours", "theirs", "reference", "expected"),
    [
        ("in Q3 2023", "in the third quarter of 2023", None, Match.SAME),
        ("since 2019", "from 2019", None, Match.SAME),
        ("as of 2023", "in 2023", None, Match.SAME),
        ("since 2019", "after 2019", None, Match.DIFFERENT),
        ("before 1871", "in 1871", None, Match.DIFFERENT),
        ("in 2022", "in 2023", None, Match.DIFFERENT),
        ("in FY2023", "in 2023", None, Match.DIFFERENT),
        ("the 16th century", "the 1500s", None, Match.SAME),
        ("at 5 pm", "at 17:00", None, Match.SAME),
        ("at 5:30", "at 5:30 pm", None, Match.NARROWER),
        ("on 6 June", "on 6 June 2025", None, Match.NARROWER),
        ("on 6 June 2025", "on 6 June", None, Match.DIFFERENT),
        ("on 6 June", "on 6 June 2024", REFERENCE, Match.SAME),
        ("on 6 June", "on 6 June 2021", REFERENCE, Match.DIFFERENT),
        ("in Q3", "in FY2023 Q3", None, Match.NARROWER),
        ("in summer 2019", "in the 1990s", None, Match.UNKNOWN),
        ("on Friday", "on 17 May 2024", None, Match.NARROWER),
        ("on Friday", "on 17 May 2024", REFERENCE, Match.SAME),
        ("on Friday", "on 16 May 2024", None, Match.DIFFERENT),
        ("last year", "in 2023", None, Match.UNKNOWN),
        ("last year", "in 2023", REFERENCE, Match.SAME),
        ("last year", "in 2022", REFERENCE, Match.DIFFERENT),
        ("last year", "last month", None, Match.DIFFERENT),
        ("in the past 3 years", "since 2021", REFERENCE, Match.SAME),
        ("in the past 3 years", "since 2015", REFERENCE, Match.DIFFERENT),
        ("open today", "open now", None, Match.SAME),
        ("the current rate", "the rate of 2024", REFERENCE, Match.SAME),
        ("the current rate", "the rate of 2021", REFERENCE, Match.DIFFERENT),
        ("on 06/07/2025", "on 6 July 2025", None, Match.UNKNOWN),
        ("the 1990s", "the early 1990s", None, Match.NARROWER),
        ("the early 1990s", "the 1990s", None, Match.DIFFERENT),
        ("between 2005 and 2007", "in 2006", None, Match.DIFFERENT),
        ("in 2023", "in June 2023", None, Match.NARROWER),
    ],
)
def test_same(ours: str, theirs: str, reference: date | None, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts(reference_date=reference)) is expected


@pytest.mark.parametrize(
    ("value", "first", "behind"),
    [
        ("relative:year:-1", date(2023, 1, 1), date(2024, 1, 1)),
        ("relative:quarter:-1", date(2024, 1, 1), date(2024, 4, 1)),
        ("relative:week:1", date(2024, 5, 20), date(2024, 5, 27)),
        ("relative:weekend:0", date(2024, 5, 18), date(2024, 5, 20)),
        ("relative:day:-1:night", date(2024, 5, 14), date(2024, 5, 15)),
        ("relative:day:-10..0", date(2024, 5, 5), date(2024, 5, 16)),
        ("relative:weekday-2:1", date(2024, 5, 22), date(2024, 5, 23)),
        ("relative:month-06:-1", date(2023, 6, 1), date(2023, 7, 1)),
        ("relative:year-to-date", date(2024, 1, 1), date(2024, 5, 16)),
        ("present", date(2024, 5, 15), date(2024, 5, 16)),
    ],
)
def test_resolve(value: str, first: date, behind: date) -> None:
    assert resolve(value, REFERENCE) == (first, behind)


@pytest.mark.parametrize("value", ["2023-01-01/2024-01-01", "relative:year:-few..0", "relative:year:-99999", "summer"])
def test_resolve_knows_nothing_else(value: str) -> None:
    assert resolve(value, REFERENCE) is None


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2100, 12, 30)))
def test_every_day_reads_the_same_in_three_forms(day: date) -> None:
    name = f"{day:%B}"
    forms = [day.isoformat(), f"{day.day} {name} {day.year}", f"{name} {day.day}, {day.year}"]
    assert {one(form).value for form in forms} == {f"{day}/{day + timedelta(days=1)}"}


@given(st.text(alphabet="0123456789 /-:.'QJune20thsofFY", max_size=60))
def test_spans_lie_in_the_text(text: str) -> None:
    for token in extract(bare(text)):
        assert text[token.start : token.end] == token.text
