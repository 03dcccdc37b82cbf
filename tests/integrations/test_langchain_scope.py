"""A scope limits every search or stops it: LangChain drops keywords that a retriever does not take."""

import asyncio

import pytest
from langchain_classic.chains import create_history_aware_retriever
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    RePhraseQueryRetriever,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever
from pydantic import Field

from fakes import FakeGuard
from rewriteguard.errors import ScopeError
from rewriteguard.integrations.langchain import GuardedRetriever, guard_history_aware_retriever, with_scores
from rewriteguard.policy.policy import Policy

PROMPT = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
HISTORY = [HumanMessage("Where do I hand in a lost key?"), AIMessage("At the porter's lodge.")]
CANARIES = [
    Document("Keys are kept for a year.", id="north", metadata={"tenant": "north"}),
    Document("Keys are kept for a month.", id="south", metadata={"tenant": "south"}),
]
CONFIG = {"configurable": {"tenant": "north"}}
POLICIES = [Policy(), Policy.single(), Policy.observe()]


def by_tenant(config):
    return {"tenant": config["configurable"]["tenant"]}


def by_filter(config):
    tenant = config["configurable"]["tenant"]
    return {"filter": lambda document: document.metadata["tenant"] == tenant}


def of(tenant):
    return [each for each in CANARIES if tenant in (None, each.metadata["tenant"])]


class Swallowing(BaseRetriever):
    """Takes no keyword, so LangChain drops them all."""

    calls: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager):
        self.calls.append(query)
        return of(None)


class WithoutManager(BaseRetriever):
    def _get_relevant_documents(self, query):
        return of(None)


class OtherKeyword(Swallowing):
    def _get_relevant_documents(self, query, *, run_manager, lang=None):
        return of(None)


class OwnInvoke(Swallowing):
    """Its method takes the keyword and its `invoke` does not pass it on."""

    def _get_relevant_documents(self, query, *, run_manager, tenant=None):
        self.calls.append(query)
        return of(tenant)

    def invoke(self, input, config=None, **kwargs):  # noqa: A002
        return super().invoke(input, config)


class SwallowingTwin(Swallowing):
    """Its asynchronous method takes any keyword and uses none."""

    def _get_relevant_documents(self, query, *, run_manager, tenant=None):
        return of(tenant)

    async def _aget_relevant_documents(self, query, *, run_manager):
        return of(None)


class Tenant(BaseRetriever):
    """Synchronous only."""

    calls: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager, tenant=None):
        self.calls.append(tenant)
        return of(tenant)


class AnyKeyword(Tenant):
    def _get_relevant_documents(self, query, *, run_manager, **keywords):
        self.calls.append(keywords.get("tenant"))
        return of(keywords.get("tenant"))

    async def _aget_relevant_documents(self, query, *, run_manager, **keywords):
        return self._get_relevant_documents(query, run_manager=run_manager, **keywords)


class Untouched(BaseDocumentCompressor):
    def compress_documents(self, documents, query, callbacks=None):
        return documents


class Letters(Embeddings):
    def embed_query(self, text):
        return [text.count(letter) + 0.1 for letter in "aeiou"]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def filled(kind):
    made = kind(Letters())
    made.add_documents(CANARIES)
    return made


def store():
    return filled(InMemoryVectorStore)


class OtherSearchNames(InMemoryVectorStore):
    """Its search leaves the filter out; its search for variety, and one that it never calls, name it."""

    def similarity_search(self, query, k=4, **kwargs):
        return of(None)

    async def asimilarity_search(self, query, k=4, **kwargs):
        return of(None)

    def max_marginal_relevance_search(self, query, k=4, fetch_k=20, lambda_mult=0.5, filter=None, **kwargs):  # noqa: A002
        return super().max_marginal_relevance_search(query, k, fetch_k, lambda_mult, filter=filter)

    def similarity_search_by_image(self, path, filter=None):  # noqa: A002
        return of(None)


class TwinLeavesOut(InMemoryVectorStore):
    async def asimilarity_search(self, query, k=4, **kwargs):
        return of(None)


class ByHelper(InMemoryVectorStore):
    """Its searches hand any keyword on to a method of another name."""

    def similarity_search(self, query, k=4, **kwargs):
        return (lambda: self._looked_up(query, k, **kwargs))()

    async def asimilarity_search(self, query, k=4, **kwargs):
        return self._looked_up(query, k, **kwargs)

    def _looked_up(self, query, k, filter=None):  # noqa: A002
        return super().similarity_search(query, k, filter=filter)


class Renamed(InMemoryVectorStore):
    """The helper that takes any keyword leads back to where it was called, and nowhere else."""

    def similarity_search(self, query, k=4, **kwargs):
        return self._looked_up(query, k, **kwargs)

    def _looked_up(self, query, k, **kwargs):
        return of(None) if k else self.similarity_search(query, 1, **kwargs)


class Client:
    def search(self, query):
        return of(None)


class ByClient(InMemoryVectorStore):
    """Asks a client for a method that is called like one of the store's."""

    client = Client()

    def similarity_search(self, query, k=4, **kwargs):
        return self.client.search(query)


class Passing(InMemoryVectorStore):
    def similarity_search(self, query, k=4, **kwargs):
        return super().similarity_search(query, k, **kwargs)


class Static(InMemoryVectorStore):
    def similarity_search(self, query, k=4, **kwargs):
        return self._looked_up(**kwargs)

    @staticmethod
    def _looked_up(filter=None):  # noqa: A002
        return [each for each in CANARIES if filter is None or filter(each)]


class Relevant(InMemoryVectorStore):
    def _select_relevance_score_fn(self):
        return lambda similarity: similarity


class Noting(VectorStoreRetriever):
    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        return super()._get_relevant_documents(query, run_manager=run_manager, **kwargs)


class OwnWay(VectorStoreRetriever):
    """Asks a search of the store that its search type does not name."""

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        return self.vectorstore.similarity_search_by_vector(Letters().embed_query(query), **kwargs)


class Blurred(InMemoryVectorStore):
    def similarity_search_by_vector(self, embedding, k=4, **kwargs):
        return of(None)


def find(query, *, tenant=None):
    return of(tenant)


def guarded(retriever, scope, policy=None):
    chain = create_history_aware_retriever(FakeListChatModel(responses=["How long are keys kept?"]), retriever, PROMPT)
    return guard_history_aware_retriever(chain, guard=FakeGuard(), scope=scope, policy=policy)


def ids(documents):
    return sorted(document.id for document in documents)


async def both_ways(chain, history=HISTORY):
    payload = {"input": "How long are they kept?", "chat_history": history}
    return [ids(chain.invoke(payload, CONFIG)), ids(await chain.ainvoke(payload, CONFIG))]


REFUSED = {
    "any keyword": lambda: AnyKeyword(calls=[]),
    "swallowing": lambda: Swallowing(calls=[]),
    "without run manager": WithoutManager,
    "another keyword": OtherKeyword,
    "own invoke": OwnInvoke,
    "swallowing twin": SwallowingTwin,
    "ensemble": lambda: EnsembleRetriever(retrievers=[Tenant(calls=[]), Tenant(calls=[])]),
    "merger": lambda: MergerRetriever(retrievers=[Tenant(calls=[])]),
    "multi query": lambda: MultiQueryRetriever.from_llm(Tenant(calls=[]), FakeListChatModel(responses=["q"])),
    "rephrase": lambda: RePhraseQueryRetriever.from_llm(Tenant(calls=[]), FakeListChatModel(responses=["q"])),
    "compression of an ensemble": lambda: ContextualCompressionRetriever(
        base_compressor=Untouched(), base_retriever=EnsembleRetriever(retrievers=[Tenant(calls=[])])
    ),
    "bound": lambda: Swallowing(calls=[]).bind(lang="en").with_config(tags=["t"]).with_retry(),
    "behind a step": lambda: RunnableLambda(str.lower) | Tenant(calls=[]),
    "behind a step that takes anything": lambda: RunnableLambda(lambda query, **_: query.lower()) | Tenant(calls=[]),
    "a function without the keyword": lambda: RunnableLambda(lambda query: of(None)),
    "a function whose twin takes anything": lambda: RunnableLambda(find, lambda query, **_: of(None)),
    "parallel": lambda: RunnableParallel(found=Tenant(calls=[])) | RunnableLambda(lambda each: each["found"]),
    "a store that knows no such keyword": lambda: store().as_retriever(),
}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("history", [HISTORY, []], ids=["history", "first turn"])
@pytest.mark.parametrize("retriever", REFUSED.values(), ids=REFUSED)
async def test_a_retriever_that_may_drop_the_scope_is_not_searched(retriever, history, policy):
    chain = guarded(retriever(), by_tenant, policy)
    payload = {"input": "How long are they kept?", "chat_history": history}
    with pytest.raises(ScopeError, match=r"scope: .*'tenant'.*nothing was searched.*RunnableLambda"):
        chain.invoke(payload, CONFIG)
    with pytest.raises(ScopeError, match=r"scope: .*'tenant'"):
        await chain.ainvoke(payload, CONFIG)


def test_the_refused_retriever_was_not_called_and_is_named():
    retriever = Swallowing(calls=[])
    with pytest.raises(ScopeError, match="Swallowing"):
        guarded(retriever, by_tenant).invoke({"input": "How long?", "chat_history": HISTORY}, CONFIG)
    assert retriever.calls == []


ACCEPTED = {
    "by name": (lambda: Tenant(calls=[]), by_tenant),
    "bound": (lambda: Tenant(calls=[]).with_config(tags=["t"]).with_retry(), by_tenant),
    "first step": (lambda: Tenant(calls=[]) | RunnableLambda(lambda documents: documents), by_tenant),
    "compression": (
        lambda: ContextualCompressionRetriever(base_compressor=Untouched(), base_retriever=store().as_retriever()),
        by_filter,
    ),
    "function": (lambda: RunnableLambda(find), by_tenant),
    "vector store": (lambda: store().as_retriever(), by_filter),
    "vector store, mmr": (lambda: store().as_retriever(search_type="mmr"), by_filter),
    "vector store, the search in use": (lambda: filled(OtherSearchNames).as_retriever(search_type="mmr"), by_filter),
    "vector store, by a helper": (lambda: filled(ByHelper).as_retriever(), by_filter),
    "vector store, by the one above it": (lambda: filled(Passing).as_retriever(), by_filter),
    "vector store, by a static method": (lambda: filled(Static).as_retriever(), by_filter),
    "vector store, by a threshold": (
        lambda: filled(Relevant).as_retriever(
            search_type="similarity_score_threshold", search_kwargs={"score_threshold": -2.0}
        ),
        by_filter,
    ),
    "vector store, with scores": (lambda: with_scores(store().as_retriever()), by_filter),
    "vector store, a retriever of its own": (lambda: Noting(vectorstore=store()), by_filter),
}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("history", [HISTORY, []], ids=["history", "first turn"])
@pytest.mark.parametrize(("retriever", "scope"), ACCEPTED.values(), ids=ACCEPTED)
async def test_a_scope_reaches_every_search(retriever, scope, history, policy):
    unlimited = guarded(retriever(), None).invoke({"input": "How long?", "chat_history": history})
    assert "south" in ids(unlimited)
    assert await both_ways(guarded(retriever(), scope, policy), history) == [["north"], ["north"]]


NO_FILTER = {
    "another search names it": lambda: filled(OtherSearchNames).as_retriever(),
    "scores": lambda: with_scores(filled(OtherSearchNames).as_retriever()),
    "twin": lambda: filled(TwinLeavesOut).as_retriever(),
    "by a client": lambda: filled(ByClient).as_retriever(),
    "in a circle": lambda: filled(Renamed).as_retriever(),
    "a retriever that asks another search": lambda: OwnWay(vectorstore=filled(Blurred)),
    "inside another": lambda: ContextualCompressionRetriever(
        base_compressor=Untouched(), base_retriever=filled(OtherSearchNames).as_retriever()
    ),
}


@pytest.mark.parametrize("retriever", NO_FILTER.values(), ids=NO_FILTER)
async def test_a_store_must_take_the_scope_in_the_search_that_is_used(retriever):
    with pytest.raises(ScopeError, match="'filter'"):
        await both_ways(guarded(retriever(), by_filter))
    with pytest.raises(ScopeError, match="'filter'"):
        await guarded(retriever(), by_filter).ainvoke({"input": "How long?", "chat_history": []}, CONFIG)


@pytest.mark.parametrize(
    ("retriever", "scope"),
    [
        (lambda: Tenant(calls=[]).bind(tenant="south").with_config(tags=["t"]), by_tenant),
        (lambda: store().as_retriever(search_kwargs={"filter": lambda document: False}), by_filter),
        (
            lambda: ContextualCompressionRetriever(
                base_compressor=Untouched(),
                base_retriever=store().as_retriever(search_kwargs={"filter": lambda document: False}),
            ),
            by_filter,
        ),
    ],
    ids=["bound", "search_kwargs", "inside another"],
)
async def test_a_scope_never_replaces_a_filter_that_the_developer_set(retriever, scope):
    chain = guarded(retriever(), scope)
    payload = {"input": "How long?", "chat_history": HISTORY}
    with pytest.raises(ScopeError, match="already carries"):
        chain.invoke(payload, CONFIG)
    with pytest.raises(ScopeError, match="already carries"):
        await chain.ainvoke(payload, CONFIG)


async def test_the_guarded_retriever_holds_to_the_same_rule():
    def made(retriever):
        return GuardedRetriever(retriever=retriever, rewriter=lambda turn: turn, guard=FakeGuard(), scope=by_tenant)

    assert ids(made(Tenant(calls=[])).invoke("How long?", CONFIG)) == ["north"]
    assert ids(await made(Tenant(calls=[])).ainvoke("How long?", CONFIG)) == ["north"]
    with pytest.raises(ScopeError, match="EnsembleRetriever"):
        made(EnsembleRetriever(retrievers=[Tenant(calls=[])])).invoke("How long?", CONFIG)


async def test_a_scope_that_limits_nothing_needs_no_keyword():
    assert await both_ways(guarded(Swallowing(calls=[]), lambda config: {})) == [["north", "south"]] * 2


async def test_keywords_reach_a_synchronous_retriever_from_an_event_loop():
    retriever = Tenant(calls=[])
    chain = guarded(retriever, None)
    payload = {"input": "How long are they kept?", "chat_history": HISTORY}
    assert ids(await chain.ainvoke(payload, tenant="south")) == ["south"]
    assert retriever.calls == ["south"] * 3


async def test_a_synchronous_retriever_with_keywords_holds_up_no_loop():
    class Slow(Tenant):
        def _get_relevant_documents(self, query, *, run_manager, tenant=None):
            asyncio.run(asyncio.sleep(0))  # raises inside a running loop
            return of(tenant)

    assert await both_ways(guarded(Slow(calls=[]), by_tenant)) == [["north"], ["north"]]
