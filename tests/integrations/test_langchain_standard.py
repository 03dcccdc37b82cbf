"""LangChain's own tests of a retriever pass for GuardedRetriever, on the real guard."""

from __future__ import annotations

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests

from rewriteguard import Guard, Policy
from rewriteguard.demo import BM25Retriever, documents
from rewriteguard.integrations.langchain import GuardedRetriever

QUESTION = "Can I rent an e-bike without a credit card?"
HISTORY = {"configurable": {"chat_history": [("human", "Where can I rent?"), ("ai", "At the Town Quay.")]}}


def lossy(turn, history):
    return "Can I rent an e-bike with a credit card?"


class Asked(GuardedRetriever):
    """A retriever with a history, so that the tests go through the rewriter, the guard and the fusion."""

    def invoke(self, input, config=None, **kwargs):  # noqa: A002
        return super().invoke(input, {**HISTORY, **(config or {})}, **kwargs)

    async def ainvoke(self, input, config=None, **kwargs):  # noqa: A002
        return await super().ainvoke(input, {**HISTORY, **(config or {})}, **kwargs)


def store() -> BaseRetriever:
    filled = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    filled.add_documents(documents())
    return filled.as_retriever()


class Standard(RetrieversIntegrationTests):
    """The five tests for one inner retriever and one policy."""

    kind: type[GuardedRetriever] = GuardedRetriever
    policy = Policy()

    @property
    def retriever_constructor(self):
        return self.kind

    @property
    def retriever_constructor_params(self):
        return {"retriever": self.inner(), "rewriter": lossy, "guard": Guard(), "policy": self.policy}

    @property
    def retriever_query_example(self):
        return QUESTION

    @staticmethod
    def inner() -> BaseRetriever:
        return BM25Retriever(documents())


class TestFirstTurn(Standard):
    """Without a history."""


class TestFused(Standard):
    """With a history: several searches, fused."""

    kind = Asked


class TestSingle(Standard):
    """With a history, and one search."""

    kind = Asked
    policy = Policy.single()


class TestVectorStore(Standard):
    """Around a vector store's retriever."""

    kind = Asked

    @staticmethod
    def inner() -> BaseRetriever:
        return store()


@pytest.mark.parametrize("config", [None, {}])
def test_the_retriever_under_test_is_guarded(config):
    decisions = []
    asked = Asked(retriever=BM25Retriever(documents()), rewriter=lossy, guard=Guard(), on_decision=decisions.append)
    assert asked.invoke(QUESTION, config)[0].id == "rent-no-card"
    assert [decision.verdict for decision in decisions] == ["changed"]
