"""The example of an evaluation holds what people should copy: every kind of case, with labels that name documents."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rewriteguard import Guard
from rewriteguard.model.tokens import Kind

FOLDER = Path(__file__).parents[2] / "examples" / "evaluation"
HASTY, CAREFUL = "hasty-1", "careful-1"


LABELS = ("relevant", "near_misses", "forbidden", "unauthorised")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    return rows("cases.jsonl")


def test_there_is_enough_of_each(cases: list[dict[str, Any]]) -> None:
    assert len(rows("corpus.jsonl")) >= 60
    assert len(cases) >= 30
    kinds = Counter(constraint["kind"] for case in cases for constraint in case["contract"]["constraints"])
    assert all(kinds[kind] >= 5 for kind in ("time", "version", "identifier", "negation", "entity"))
    assert sum("unresolved" in case["contract"] for case in cases) >= 3
    assert sum("forbidden_assumptions" in case["contract"] for case in cases) >= 5
    families = Counter(case["family"] for case in cases if "family" in case)
    assert sum(number >= 2 for number in families.values()) >= 5
    assert len({case["conversation"] for case in cases}) >= 10


def test_labels_name_documents_once(cases: list[dict[str, Any]]) -> None:
    documents = [row["id"] for row in rows("corpus.jsonl")]
    assert len(documents) == len(set(documents))
    for case in cases:
        labels = [id_ for field in LABELS for id_ in case.get(field, [])]
        assert set(labels) <= set(documents), case["id"]
        assert len(labels) == len(set(labels)), case["id"]
        assert case["relevant"], case["id"]
    assert any(case.get("unauthorised") for case in cases)


def test_histories_hold_the_turns_before(cases: list[dict[str, Any]]) -> None:
    assert len({case["id"] for case in cases}) == len(cases)
    said = {case["id"]: case["original"] for case in cases}
    for case in cases:
        history = case.get("history", [])
        assert len(history) == 2 * (case["turn"] - 1)
        before = [message["text"] for message in history if message["role"] == "user"]
        assert before == [said.get(f"{case['conversation']}-{n}", text) for n, text in enumerate(before, 1)]


def test_the_careful_rewriter_keeps_dates_and_the_hasty_one_loses_all(
    cases: list[dict[str, Any]], guard: Guard
) -> None:
    def has_date(text: str) -> bool:
        return any(token.kind is Kind.TIME for token in guard.extract(text))

    dated = [case for case in cases if any(c["kind"] == "time" for c in case["contract"]["constraints"])]
    assert len(dated) >= 10
    for case in dated:
        assert has_date(case["rewrites"][CAREFUL]), case["id"]
        assert not has_date(case["rewrites"][HASTY]), case["id"]


def test_only_the_hasty_rewriter_adds_assumptions(cases: list[dict[str, Any]]) -> None:
    added: Counter[str] = Counter()
    for case in cases:
        for label, rewrite in case["rewrites"].items():
            forbidden = case["contract"].get("forbidden_assumptions", [])
            added[label] += any(words.lower() in rewrite.lower() for words in forbidden)
    assert added[CAREFUL] == 0
    assert added[HASTY] >= 5
