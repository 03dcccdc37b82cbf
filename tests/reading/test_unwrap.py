"""What a model wraps around its query comes off; what belongs to the query stays."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriteguard.reading.unwrap import Wrapping, clean

CASES = Path(__file__).parents[3] / "shared" / "cases" / "field_faults.jsonl"

# raw output, the query in it, what was removed
TAKEN_OFF = [
    ("Standalone question: When does the night ferry leave?", "When does the night ferry leave?", "label"),
    ("Rewritten query: night ferry departure", "night ferry departure", "label"),
    ("Query: night ferry departure", "night ferry departure", "label"),
    ("Search query - night ferry departure", "night ferry departure", "label"),
    ("Utterance: is the quay open", "is the quay open", "label"),
    ("**Rewritten question:** Is the quay open?", "Is the quay open?", "label"),
    ("**Rewritten question**: Is the quay open?", "Is the quay open?", "label"),
    ("### Standalone Question:\nIs the quay open?", "Is the quay open?", "label"),
    ("Here is the rewritten query:\n\nIs the quay open?", "Is the quay open?", "label"),
    ("Sure, here's the standalone question: Is the quay open?", "Is the quay open?", "label"),
    ("Sure! Here is the question, rewritten to stand alone:\nIs the quay open?", "Is the quay open?", "preface"),
    ("The rewritten query would be: Is the quay open?", "Is the quay open?", "label"),
    ("Rewritten stand-alone question (English): Is the quay open?", "Is the quay open?", "label"),
    (
        "Follow Up Input: and Sunday?\nStandalone question: Is the quay open on Sunday?",
        "Is the quay open on Sunday?",
        "label",
    ),
    ('"is the quay open"', "is the quay open", "quotes"),
    ("“is the quay open”", "is the quay open", "quotes"),
    ("«is the quay open»", "is the quay open", "quotes"),
    ("`is the quay open`", "is the quay open", "quotes"),
    ("'when is Anna's boat due'", "when is Anna's boat due", "quotes"),
    ('"what does "carpe diem" mean"', 'what does "carpe diem" mean', "quotes"),
    ('"is the quay open', "is the quay open", "quotes"),
    ("```\nis the quay open\n```", "is the quay open", "code_fence"),
    ("```text\nis the quay open", "is the quay open", "code_fence"),
    ("is the quay open\n```mermaid\ngraph LR\n```", "is the quay open", "code_fence"),
    ("<think>The quay? In 2019.</think>\n\nis the quay open", "is the quay open", "think"),
    ("They mean the quay of 2019.\n</think>\nis the quay open", "is the quay open", "think"),
    ("<reasoning>a</reasoning><think>b</think> is the quay open", "is the quay open", "think"),
    ("is the quay open <think>was that right?</think>", "is the quay open", "think"),
    ("<think>I should find out which quay", "", "think"),
    ("is the quay open?\n\nExplanation: there were 2 quays.", "is the quay open?", "explanation"),
    ("is the quay open?\nNote: I kept the quay.", "is the quay open?", "explanation"),
    ("is the quay open? (Note: I kept the word quay (twice).)", "is the quay open?", "explanation"),
    ("is the quay open? (This query needs no history.)", "is the quay open?", "explanation"),
    ("is the quay open? This query is unrelated to the earlier talk.", "is the quay open?", "explanation"),
    ("is the quay open?\n\nI replaced 'it' by 'the quay'.", "is the quay open?", "explanation"),
    ("is the quay open?\nUser 1: thanks!\nUser 0: fine", "is the quay open?", "dialogue"),
    ("is the quay open?\nAssistant: It is.", "is the quay open?", "dialogue"),
    ("User: is the quay open?\nAssistant: It is.\nUser:", "is the quay open?", "label dialogue"),
    ("1. is the quay open\n2. quay opening hours", "is the quay open", "list"),
    ("1) is the quay open\n\n2) quay opening hours", "is the quay open", "list"),
    ("- is the quay open\n- quay opening hours", "is the quay open", "list"),
    ("Here are three queries:\n1. is the quay open\n2. quay hours", "is the quay open", "preface list"),
    ('{"query": "is the quay open"}', "is the quay open", "json"),
    ('```json\n{"standalone_question": "is the quay open", "why": "x"}\n```', "is the quay open", "code_fence json"),
    ('["is the quay open", "quay hours"]', "is the quay open", "json"),
    ("is the quay open<|im_end|>\n<|im_start|>user\nthanks", "is the quay open", "template"),
    ("<|im_start|>assistant\nis the quay open<|im_end|>", "is the quay open", "template"),
    ("<|start_header_id|>assistant<|end_header_id|>\n\nis the quay open<|eot_id|>", "is the quay open", "template"),
    ("[INST] rewrite: and the quay? [/INST] is the quay open</s>", "is the quay open", "template"),
    ("**is the quay open**", "is the quay open", "markdown"),
    ("## is the quay open", "is the quay open", "markdown"),
    ('The rewritten query is: "is the quay open" as you can see.', "is the quay open", "narration"),
    (
        'Based on "it" in the conversation, the query would be: "is the quay open?',
        "is the quay open?",
        "narration",
    ),
    ("is the q\u200buay open\u202e", "is the quay open", "invisible"),
    ("is the quay\ud800 open\x1b", "is the quay open", "invisible"),
    (
        'Rewritten query: "**is the quay open**"\n\nNote: nothing else.',
        "is the quay open",
        "label explanation markdown quotes",
    ),
    ("  is\tthe  quay\nopen ", "is the quay open", ""),
    ("ｉｓ the quay open", "is the quay open", ""),
    ("", "", ""),
    ("\u200b \n", "", "invisible"),
    ("<|im_end|>", "", "template"),
    ("``` ```", "", "code_fence"),
]

LEFT_ALONE = [
    "Python: list or tuple?",
    "Note taking apps: which is best?",
    "Query optimisation: where do I start?",
    "SQL query: how do I join three tables?",
    "query - cost per thousand",
    "Question of the day - who picks it?",
    "Search: turn it off in the browser",
    "AI: what is it?",
    "Q2: towns that lost residents",
    'what does "carpe diem" mean',
    '"carpe diem" or "memento mori"',
    "'til when is the kiosk open?",
    'How big is a 27"',
    "what does the <think> tag do in a prompt",
    "what does <s> mean in HTML",
    "1. FC Harbourtown fixtures",
    "-5 degrees: is the lake safe?",
    "3.5 mm or 2.5 mm jack",
    "[urgent] crane permit",
    "{name} placeholder in mail templates",
    "where is it? (the quay, not the pier)",
    "is 5 * 3 the same as 3 * 5",
    "how do I use `grep -v` on a log",
    "users: how many may share a licence?",
    "C# or F# for the driver",
    "Is \u201cThe Quay\u201d the same as \u201cThe Pier\u201d?",
    "Why? This query returns 0 rows.",
    "Sure Start centres: opening hours",
    "Here is Berlin: when was it filmed?",
    "\u041erbex discount codes",  # a Cyrillic first letter is another name, not a spelling
]


@pytest.mark.parametrize(("raw", "query", "removed"), TAKEN_OFF)
def test_taken_off(raw: str, query: str, removed: str) -> None:
    cleaned = clean(raw)
    assert cleaned.text == query
    assert set(cleaned.removed) == set(removed.split())


@pytest.mark.parametrize("raw", LEFT_ALONE)
def test_left_alone(raw: str) -> None:
    cleaned = clean(raw)
    assert cleaned.text == raw
    assert cleaned.removed == ()


@pytest.mark.parametrize("raw", [query for _, query, _ in TAKEN_OFF if query] + LEFT_ALONE)
def test_a_clean_query_stays_as_it_is(raw: str) -> None:
    assert clean(clean(raw).text).text == clean(raw).text


def test_codes_come_in_one_order() -> None:
    removed = clean('Rewritten query: "**is the quay open**"\n\nNote: nothing else.').removed
    assert list(removed) == [wrapping.value for wrapping in Wrapping if wrapping.value in removed]


def test_field_cases() -> None:
    if not CASES.exists():
        pytest.skip(f"no case file at {CASES.name}: it is not part of the project")
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    expected = {row["id"]: (row["rewrite"], row["expect"]["query"]) for row in rows if "query" in row["expect"]}
    assert expected
    assert {key: clean(raw).text for key, (raw, _) in expected.items()} == {key: q for key, (_, q) in expected.items()}


@pytest.mark.parametrize(
    "unit",
    [
        "<think>",
        "```",
        '"',
        "(note",
        "\n",
        "**",
        "1. a\n2. ",
        "query is: ",
        "[",
        "{",
        "User: \n",
        "( a",
        "\u200b",
        "<|x|>",
    ],
)
def test_time_is_bounded(unit: str) -> None:
    started = time.perf_counter()
    clean(unit * (200_000 // len(unit)))
    clean(unit * (19_000 // len(unit)))
    assert time.perf_counter() - started < 2


def test_a_very_long_output_is_kept_whole() -> None:
    raw = "Query: " + "spare keys " * 4_000
    assert clean(raw).text == " ".join(raw.split())


_TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("ﬁ½\u0301\u200b\u202e“’–\u00a0´ a1.")), max_size=60
)


@given(_TEXTS)
def test_clean_never_raises_and_gives_one_line(text: str) -> None:
    cleaned = clean(text).text
    assert cleaned == " ".join(cleaned.split())
