"""Made-up conversations: whatever is thrown at the guard, it answers, or raises an error of its own."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rewriteguard import Guard, HistoryError, InputError, Profile, Verdict

SOURCE = Path(__file__).resolve().parents[2] / "src" / "rewriteguard"
REQUEST_PATH = (
    "model", "language", "extract", "reading", "filters", "check", "policy", "guard", "telemetry", "retrieve",
    "integrations",
)  # fmt: skip
TOO_MUCH = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

EXPANSIONS = ("small business administration", "Royal Lake Railway", "value added tax", "asking", "small business")
ACRONYMS = ("SBA", "RLR", "VAT", "sba", "S.B.A.", "MSc", "BoE")
PLAIN = (
    "it", "the first one", "then", "there", "both", "not", "only", "no, wait,", "or", "and", "2023", "v3.2", "€5",
    "loans", "Who", "When", "cheaper than", "Löhne", "一", "\"", "?", "\n1. a\n2. b",
)  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from((*EXPANSIONS, *ACRONYMS, *PLAIN)), max_size=6).map(" ".join),
    st.text(max_size=12),
    st.sampled_from(("", " ", "Can I do a loan to open a business?", "What about the first one?")),
)
histories = st.lists(st.tuples(st.sampled_from(("user", "assistant", "tool")), texts), max_size=4)
values = st.one_of(texts, st.integers(-3, 2030), st.booleans(), st.none(), st.lists(texts, max_size=2))
comparisons = st.one_of(
    values, st.dictionaries(st.sampled_from(("$eq", "$ne", "$gte", "$lt", "$in", "$not", "date", "type")), values)
)
filters = st.recursive(
    st.dictionaries(st.sampled_from(("year", "status", "sba_loans", "metadata.rating", "")), comparisons, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from(("$and", "$or", "$not")), st.lists(inner, max_size=2), max_size=2),
    max_leaves=4,
)


def asked(call: Any, *arguments: Any, **keywords: Any) -> Any:
    """What a call gives; None where it refuses its arguments."""
    try:
        return call(*arguments, **keywords)
    except (InputError, HistoryError):
        return None


@TOO_MUCH
@given(texts, texts, histories)
@example(
    "Can I do a loan to open a business?", "SBA loans", [("user", "small business"), ("assistant", "asking")]
)  # an acronym that only the words of both messages together spell
def test_any_rewrite_of_any_turn_is_judged(guard: Guard, turn: str, rewrite: str, history: list[Any]) -> None:
    found = asked(guard.check, turn, rewrite, history)
    decided = asked(guard.decide, turn, rewrite, history)
    assert (found is None) is (decided is None)
    assert found is None or (found.explain() and decided.assessment == found)


@TOO_MUCH
@given(texts, st.lists(texts, max_size=3), histories, st.sampled_from(list(Profile)))
def test_any_set_of_rewrites_is_judged(
    guard: Guard, turn: str, rewrites: list[str], history: list[Any], profile: Profile
) -> None:
    found = asked(guard.check_all, turn, rewrites, history, profile=profile)
    assert found is None or (found.assessments and found.explain())


@TOO_MUCH
@given(filters, texts, histories)
def test_any_filter_is_judged(guard: Guard, structured: Any, turn: str, history: list[Any]) -> None:
    found = asked(guard.check_filter, structured, turn, history)
    assert found is None or (found.verdict in Verdict and found.explain())


def test_an_acronym_that_only_several_messages_together_spell_was_said_by_no_one(guard: Guard) -> None:
    history = [("user", "small business"), ("assistant", "asking")]
    found = guard.check("Can I do a loan to open a business?", "SBA loans", history)
    assert [token.text for token in found.comparison.invented] == ["SBA"]
    spelled = guard.check("Can I do a loan?", "SBA loans", [("user", "small business administration")])
    assert [(token.text, token.turn) for token in spelled.comparison.carried] == [("SBA", 0)]


@pytest.mark.parametrize("room", REQUEST_PATH)
def test_no_step_of_a_request_takes_the_next_of_what_may_be_empty(room: str) -> None:
    """`next()` without a default raises StopIteration, which ends a generator silently and a request loudly."""
    bare = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted((SOURCE / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("next", "anext") and len(node.args) < 2
    ]
    assert not bare
