from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import bare, check, rows

from rewriteguard.extract.base import Facts, Match
from rewriteguard.extract.identifier import extract, same
from rewriteguard.model.tokens import ProtectedToken

FOUND = [
    ("write to Desk.4@Example.org now", "Desk.4@Example.org", "desk.4@example.org", ""),
    ("see https://Docs.example.com/A/b.", "https://Docs.example.com/A/b", "docs.example.com/A/b", ""),
    ("is harbour.example up?", "harbour.example", "harbour.example", ""),
    ("what is in /etc/fstab?", "/etc/fstab", "/etc/fstab", ""),
    (r"open C:\Data\x.txt please", r"C:\Data\x.txt", r"c:\data\x.txt", ""),
    ("edit src/app/main.py", "src/app/main.py", "src/app/main.py", ""),
    ("what does setup.toml hold?", "setup.toml", "setup.toml", ""),
    ("where is KT-5190?", "KT-5190", "kt-5190", ""),
    ("where is kt-5190?", "kt-5190", "kt-5190", ""),
    ("the part XW90-3B-77", "XW90-3B-77", "xw90-3b-77", ""),
    ("look up INC0077123", "INC0077123", "inc0077123", ""),
    ("the state of #8813", "#8813", "8813", ""),
    ("the state of ticket 8813", "ticket 8813", "8813", ""),
    ("is flight QF 12 late, or flight QF 128?", "flight QF 128", "qf128", ""),
    ("why 0x8024402C?", "0x8024402C", "0x8024402c", ""),
    ("fix ORA-00942", "ORA-00942", "ora-00942", ""),
    ("a patch for CVE-2023-44487", "CVE-2023-44487", "cve-2023-44487", ""),
    ("why do I get HTTP 502?", "HTTP 502", "502", ""),
    ("why do I get a 502 error?", "502 error", "502", ""),
    ("call +41 44 123 45 67", "+41 44 123 45 67", "41441234567", ""),
    ("call (555) 010-4477", "(555) 010-4477", "5550104477", ""),
    ("find ISBN 978-3-16-148410-0", "ISBN 978-3-16-148410-0", "9783161484100", ""),
    ("parcel 998120034471", "998120034471", "998120034471", ""),
    ("what does retry_limit do", "retry_limit", "retry_limit", ""),
    ("what does maxRetries do", "maxRetries", "maxretries", ""),
    ("what does flush() do", "flush()", "flush", ""),
    ("what does os.path.join do", "os.path.join", "os.path.join", ""),
    ("add --dry-run there", "--dry-run", "--dry-run", ""),
    ("where is $HOME set", "$HOME", "$home", ""),
    ("a SocketTimeoutException again", "SocketTimeoutException", "sockettimeoutexception", ""),
    ('the "Grace  Period" clause', '"Grace  Period"', "grace period", ""),
    ("the 'grace period' clause", "'grace period'", "grace period", ""),
    ("the “grace period” clause", "“grace period”", "grace period", ""),
    ('the part "KT-5190" again', '"KT-5190"', "kt-5190", ""),
    ("strain H1N1", "H1N1", "h1n1", ""),
    ("files owner:Westgate", "owner:Westgate", "owner:westgate", ""),
    ("certified to ISO 27001", "ISO 27001", "iso 27001", ""),
    ("an H-1B visa", "H-1B", "h-1b", ""),
    ("rules of a 401(k)", "401(k)", "401k", ""),
    ("ping 192.168.0.1", "192.168.0.1", "192.168.0.1", ""),
]
LEFT_ALONE = [
    "an iPhone, a McDonald's, YouTube and PowerPoint",
    "vitamin B12 as mp3 in 4K or 3D over 5G",
    "the 1st and 2nd of the 90s",
    "Q3, FY23 and FY2023, pre-1990, Q3-2023",
    "10km at 5pm, 9:30, 24/7",
    "he/she and/or they at 60 km/h",
    "Node.js, e.g. in the U.S. and U.S.A",
    "It works.then what?",
    "what's it's don't; the dogs' and cats' food",
    "the '90s and '80s, rock 'n' roll",
    "2025-06-06 and 2005-2007 in 2020",
    "10000000 users",
    "python3 and GPT-4",
    'He said "we will all be home again before the night is over" to us',
    'Who is "he"?',
    "/what happened there?",
]
KNOWN_MISSES = [
    ("what is numpy.array", "numpy.array", "numpy.array", ""),
    ("the Boeing 747", "747", "747", ""),
    ("run it with -v", "-v", "-v", ""),
    ("what does PageRank do", "PageRank", "pagerank", ""),
    "the film inLove was late",
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
        ("ticket 8813", "#8813", Match.SAME),
        ("KT-5190", "kt-5190", Match.SAME),
        ("KT-5190", "KT-5191", Match.DIFFERENT),
        ("https://docs.example.com/A", "docs.example.com/A", Match.SAME),
        ("https://docs.example.com/A", "https://docs.example.com/a", Match.DIFFERENT),
        ('"Grace period"', "'grace period'", Match.SAME),
    ],
)
def test_same(ours: str, theirs: str, expected: Match) -> None:
    assert same(one(ours), one(theirs), Facts()) is expected


@given(st.text(alphabet="aB0123456789 ./:@#_-$\"'()", max_size=60))
def test_spans_lie_in_the_text_and_apart(text: str) -> None:
    spans = sorted((token.start, token.end) for token in extract(bare(text)))
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    for token in extract(bare(text)):
        assert text[token.start : token.end] == token.text
