"""The demo shows what it says: real ranks of a real index, and a guard that helps where the rewriter errs."""

import io

import pytest
from langchain_core.documents import Document
from rich.console import Console

from rewriteguard import Action, Verdict
from rewriteguard.demo import BM25Retriever, conversation, documents
from rewriteguard.demo import run as demo


@pytest.fixture(scope="module")
def results() -> tuple[demo.Replayed, ...]:
    return demo.outcomes()


def test_every_answer_is_a_document() -> None:
    ids = [document.id for document in documents()]
    assert len(ids) == len(set(ids))
    assert {turn.answer for turn in conversation()} <= set(ids)


def test_the_retriever_ranks_by_score_and_leaves_its_documents_alone() -> None:
    corpus = documents()
    retriever = BM25Retriever(corpus, k=5)
    found = retriever.invoke("When does the last boat to Gull Island leave?")
    scores = [document.metadata["score"] for document in found]
    assert scores == sorted(scores, reverse=True)
    assert all("score" not in document.metadata for document in corpus)
    assert len(retriever.invoke("boat", k=2)) == 2
    assert retriever.invoke("zzz") == []


def test_rank() -> None:
    found = [Document(id="a", page_content=""), Document(id="b", page_content="")]
    assert demo.rank(found, "b") == 2
    assert demo.rank(found, "c") is None


def test_the_first_turn_is_not_rewritten(results: tuple[demo.Replayed, ...]) -> None:
    assert results[0].decision.action is Action.USE_ORIGINAL
    assert results[0].decision.assessment is None


def test_mistakes_are_seen_and_good_rewrites_are_kept(results: tuple[demo.Replayed, ...]) -> None:
    verdicts = {outcome.turn.user: outcome.decision.verdict for outcome in results[1:]}
    wrong = {outcome.turn.user for outcome in results if outcome.turn.mistake}
    assert {turn for turn, verdict in verdicts.items() if verdict is not Verdict.PRESERVED} == wrong


def test_the_guard_never_ranks_the_answer_lower_than_the_unguarded_chain(results: tuple[demo.Replayed, ...]) -> None:
    for outcome in results:
        assert outcome.guarded is not None, outcome.turn.user
        assert outcome.unguarded is None or outcome.guarded <= outcome.unguarded, outcome.turn.user


def test_the_mistakes_cost_the_unguarded_chain_rank(results: tuple[demo.Replayed, ...]) -> None:
    lost = [outcome for outcome in results if outcome.unguarded != 1]
    assert {outcome.turn.user for outcome in lost} == {o.turn.user for o in results if o.turn.mistake}


def test_it_prints_verdicts_ranks_and_spans() -> None:
    console = Console(file=io.StringIO(), width=120)
    demo.run(console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for word in ("CHANGED", "PRESERVED", "fall_back", "LangChain", "rewriteguard.check", "rewriteguard.search"):
        assert word in text
