"""Self-query retrievers: what a model writes into a filter, and what is searched with."""

import json
import operator
from datetime import date

import pytest
from langchain_classic.chains import create_history_aware_retriever
from langchain_classic.chains.query_constructor.schema import AttributeInfo
from langchain_classic.retrievers import SelfQueryRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_core.structured_query import (
    Comparator,
    Comparison,
    FilterDirective,
    Operation,
    Operator,
    StructuredQuery,
    Visitor,
)
from langchain_core.vectorstores import InMemoryVectorStore

from rewriteguard import Guard, InputError, Policy, ScopeError, UnsupportedChainError
from rewriteguard.integrations.langchain import (
    GuardedRetriever,
    create_guarded_history_aware_retriever,
    guard_history_aware_retriever,
    guard_query_constructor,
    guard_self_query,
)
from stores import empty_chroma

DOCUMENTS = [
    Document("Survey of the old bridge.", id="north-2019", metadata={"tenant": "north", "year": 2019}),
    Document("Survey of the old bridge, second round.", id="north-2022", metadata={"tenant": "north", "year": 2022}),
    Document("Survey of the old bridge. CANARY", id="south-2019", metadata={"tenant": "south", "year": 2019}),
    Document("Survey of the old bridge, again. CANARY", id="south-2022", metadata={"tenant": "south", "year": 2022}),
]
COMPARE = {
    "eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le,
}  # fmt: skip


class Letters(Embeddings):
    def embed_query(self, text):
        return [text.count(letter) + 0.1 for letter in "aeiou"]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


class ToFunction(Visitor):
    """For InMemoryVectorStore, whose filter is a function of the document."""

    def visit_comparison(self, comparison):
        holds = COMPARE[comparison.comparator]
        return lambda document: holds(document.metadata[comparison.attribute], comparison.value)

    def visit_operation(self, operation):
        parts = [part.accept(self) for part in operation.arguments]
        if operation.operator is Operator.NOT:
            return lambda document: not parts[0](document)
        joined = all if operation.operator is Operator.AND else any
        return lambda document: joined(part(document) for part in parts)

    def visit_structured_query(self, structured_query):
        if structured_query.filter is None:
            return structured_query.query, {}
        return structured_query.query, {"filter": structured_query.filter.accept(self)}


class ToMapping(Visitor):
    """For Chroma, as langchain-community's translator writes it."""

    allowed_operators = (Operator.AND, Operator.OR)

    def visit_comparison(self, comparison):
        return {comparison.attribute: {f"${comparison.comparator.value}": comparison.value}}

    def visit_operation(self, operation):
        return {f"${operation.operator.value}": [part.accept(self) for part in operation.arguments]}

    def visit_structured_query(self, structured_query):
        if structured_query.filter is None:
            return structured_query.query, {}
        return structured_query.query, {"filter": structured_query.filter.accept(self)}


class Seen(ToFunction):
    """Remembers what it was asked to translate."""

    def __init__(self):
        self.queries = []

    def visit_structured_query(self, structured_query):
        self.queries.append(structured_query)
        return super().visit_structured_query(structured_query)


def equals(attribute, value):
    return Comparison(Comparator.EQ, attribute, value)


def since(year):
    return Comparison(Comparator.GTE, "year", year)


def both(*parts):
    return Operation(Operator.AND, list(parts))


def in_memory():
    store = InMemoryVectorStore(Letters())
    store.add_documents(DOCUMENTS)
    return store


def chroma():
    store = empty_chroma("surveys", Letters())
    store.reset_collection()
    store.add_documents(DOCUMENTS)
    return store


def of_north(document):
    return document.metadata["tenant"] == "north"


STORES = {
    "in memory": (in_memory, ToFunction, of_north),
    "chroma": (chroma, ToMapping, {"tenant": "north"}),
}


def self_query(written: FilterDirective | None, *, limit=None, text="old bridge", store=None, to=None, **search_kwargs):
    """A self-query retriever whose model writes one and the same query, whatever it is asked."""
    query = StructuredQuery(query=text, filter=written, limit=limit)
    return SelfQueryRetriever(
        query_constructor=RunnableLambda(lambda payload: query),
        vectorstore=store or in_memory(),
        structured_query_translator=to or ToFunction(),
        search_kwargs=search_kwargs,
    )


def ids(documents):
    return sorted(document.id for document in documents)


async def both_ways(retriever, question, config=None):
    found = ids(retriever.invoke(question, config)), ids(await retriever.ainvoke(question, config))
    assert found[0] == found[1]
    return found[0]


@pytest.fixture(scope="module")
def guard():
    return Guard()


@pytest.mark.parametrize(("store", "to", "own"), STORES.values(), ids=STORES)
@pytest.mark.parametrize("question", ["surveys of the old bridge", "surveys of the old bridge from south"])
async def test_a_written_tenant_replaces_the_applications_only_where_nothing_guards(store, to, own, question):
    retriever = self_query(equals("tenant", "south"), store=store(), to=to(), filter=own)
    assert await both_ways(retriever, question) == ["south-2019", "south-2022"]
    found = await both_ways(guard_self_query(retriever), question)
    assert set(found) <= {"north-2019", "north-2022"}
    assert retriever.search_kwargs == {"filter": own}


@pytest.mark.parametrize(("store", "to", "own"), STORES.values(), ids=STORES)
async def test_what_the_user_said_is_searched_beneath_the_applications_filter(store, to, own):
    retriever = self_query(since(2020), store=store(), to=to(), filter=own)
    assert await both_ways(retriever, "surveys since 2020") == ["north-2022", "south-2022"]
    assert await both_ways(guard_self_query(retriever), "surveys since 2020") == ["north-2022"]


@pytest.mark.parametrize(("store", "to"), [(s, t) for s, t, _ in STORES.values()], ids=STORES)
async def test_a_filter_of_the_applications_own_is_written_by_the_translator(store, to):
    retriever = self_query(both(since(2020), equals("tenant", "south")), store=store(), to=to())
    guarded = guard_self_query(retriever, developer_filter={"tenant": "north"})
    assert await both_ways(guarded, "surveys since 2020 of south") == ["north-2022"]
    nothing = guard_self_query(self_query(None, store=store(), to=to()), developer_filter=equals("tenant", "north"))
    assert await both_ways(nothing, "surveys") == ["north-2019", "north-2022"]


@pytest.mark.parametrize(
    ("own", "written"),
    [
        ({"tenant": {"$ne": "south"}}, Comparison(Comparator.NE, "tenant", "south")),
        ({"$not": {"tenant": "south"}}, Comparison(Comparator.NE, "tenant", "south")),
        ({"tenant": {"$in": ["north"]}, "level": {"$lt": 3}},
         both(Comparison(Comparator.IN, "tenant", ["north"]), Comparison(Comparator.LT, "level", 3))),
        (Operation(Operator.OR, [equals("tenant", "north"), equals("open", True)]),) * 2,
        ({"title": {"$not": {"$contain": "draft"}}},
         Operation(Operator.NOT, [Comparison(Comparator.CONTAIN, "title", "draft")])),
        (StructuredQuery(query="", filter=equals("tenant", "north")), equals("tenant", "north")),
        ({"meta": {"date": {"$gte": "2024-05-01"}, "tenant": "north"}},
         both(Comparison(Comparator.GTE, "meta.date", "2024-05-01"), equals("meta.tenant", "north"))),
    ],
)  # fmt: skip
def test_every_form_of_the_applications_filter_stays_whole(own, written):
    constructor = RunnableLambda(lambda _: StructuredQuery(query="surveys", filter=since(2020)))
    guarded = guard_query_constructor(constructor, developer_filter=own)
    assert guarded.invoke({"query": "surveys since 2020"}).filter == both(written, since(2020))
    assert guarded.invoke({"query": "surveys since 2010"}).filter == written


async def test_a_filter_that_cannot_be_joined_leaves_the_applications_alone():
    class ToText(ToFunction):
        def visit_structured_query(self, structured_query):
            return structured_query.query, {"filter": "year >= 2020"}

    retriever = guard_self_query(self_query(since(2020), to=ToText(), filter=of_north))
    assert await both_ways(retriever, "surveys since 2020") == ["north-2019", "north-2022"]


def test_keywords_that_the_application_did_not_set_are_the_translators():
    class ToExpression(ToFunction):
        def visit_structured_query(self, structured_query):
            return structured_query.query, {"expr": "year >= 2020"}

    guarded = guard_self_query(self_query(since(2020), to=ToExpression(), filter=of_north))
    assert guarded.structured_query_translator.visit_structured_query(StructuredQuery(query="x", filter=None)) == (
        "x",
        {"expr": "year >= 2020"},
    )


CONFLICTS = {
    "wrong side": (Comparison(Comparator.LT, "year", 2020), "altered.time"),
    "not said": (since(2015), "altered.time"),
    "said by the assistant": (equals("author", "Odile Brandt"), "low_trust.entity"),
    "said by no one": (equals("author", "Ada"), "invented.entity"),
}


@pytest.mark.parametrize(("written", "code"), CONFLICTS.values(), ids=CONFLICTS)
async def test_what_the_user_did_not_say_is_not_searched_with(guard, written, code):
    seen, told = Seen(), []
    retriever = guard_self_query(self_query(written, to=seen), guard=guard, on_filter=told.append)
    history = [HumanMessage("Who surveyed the bridge?"), AIMessage("Odile Brandt did.")]
    wrapped = GuardedRetriever(retriever=retriever, rewriter=lambda turn: turn, guard=guard, policy=Policy.single())
    await both_ways(wrapped, "surveys since 2020", {"configurable": {"chat_history": history}})
    assert [query.filter for query in seen.queries] == [None, None]
    assert {query.query for query in seen.queries} == {"surveys since 2020"}  # its words are searched instead
    assert {violation.code for each in told for violation in each.violations} == {code}


def test_the_models_text_is_searched_where_filter_and_text_keep_the_question():
    constructor = RunnableLambda(lambda _: StructuredQuery(query="surveys of the old bridge", filter=since(2020)))
    guarded = guard_query_constructor(constructor)
    assert guarded.invoke({"query": "surveys of the old bridge since 2020"}).query == "surveys of the old bridge"
    lost = guarded.invoke({"query": "approved surveys of the old bridge since 2020"})
    assert lost.query == "approved surveys of the old bridge since 2020"
    assert lost.filter == since(2020)


@pytest.mark.parametrize(
    ("limit", "cap", "question", "expected"),
    [
        (2, 20, "two surveys of the bridge", 2),
        (500, 20, "the first 500 surveys", 20),
        (500, None, "the first 500 surveys", 500),
        (1, 20, "surveys of the bridge", None),
        (0, 20, "0 surveys", None),
    ],
)
def test_the_limit_is_the_users_and_capped(limit, cap, question, expected):
    constructor = RunnableLambda(lambda _: StructuredQuery(query="survey", filter=None, limit=limit))
    assert guard_query_constructor(constructor, max_limit=cap).invoke({"query": question}).limit == expected


async def test_a_guard_that_fails_leaves_the_applications_filter_alone(guard, caplog):
    class Broken(Guard):
        def check_filter(self, *args, **keywords):
            raise ZeroDivisionError("secret words")

    retriever = self_query(both(since(2020), equals("tenant", "south")), limit=1)
    guarded = guard_self_query(retriever, guard=Broken(), developer_filter={"tenant": "north"})
    with caplog.at_level("INFO", logger="rewriteguard"):
        assert await both_ways(guarded, "surveys since 2020") == ["north-2019", "north-2022"]
    assert "filter failed: ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text


def test_a_model_that_fails_fails_as_without_the_guard():
    def fail(payload):
        raise ConnectionError("no model")

    with pytest.raises(ConnectionError, match="no model"):
        guard_query_constructor(RunnableLambda(fail)).invoke({"query": "surveys"})


def test_a_callback_that_fails_breaks_no_search():
    def fail(assessment):
        raise ZeroDivisionError

    retriever = guard_self_query(self_query(since(2020)), on_filter=fail)
    assert ids(retriever.invoke("surveys since 2020")) == ["north-2022", "south-2022"]


HISTORY = [HumanMessage("Which surveys of the old bridge are there since 2020?"), AIMessage("One of 2022.")]
CONFIG = {"configurable": {"chat_history": HISTORY}}


async def test_each_arm_is_checked_against_the_users_own_turn(guard):
    """The rewrite says 2015, which the user did not: a filter with it is searched by no arm."""
    seen = Seen()
    wrapped = GuardedRetriever(
        retriever=self_query(since(2015), to=seen).with_config(tags=["t"]),
        rewriter=lambda turn: "surveys of the old bridge since 2015",
        guard=guard,
    )
    await both_ways(wrapped, "And those of the old bridge?", CONFIG)
    assert len(seen.queries) >= 4
    assert {query.filter for query in seen.queries} == {None}


async def test_what_the_user_said_earlier_is_kept_in_each_arm(guard):
    seen = Seen()
    wrapped = GuardedRetriever(retriever=self_query(since(2020), to=seen), rewriter=lambda turn: turn, guard=guard)
    assert await both_ways(wrapped, "And those of the old bridge?", CONFIG) == ["north-2022", "south-2022"]
    assert all(query.filter == since(2020) for query in seen.queries)


PROMPT = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
REWRITE = "surveys of the old bridge since 2015"


def chains(retriever, guard):
    model = FakeListChatModel(responses=[REWRITE])
    yield guard_history_aware_retriever(create_history_aware_retriever(model, retriever, PROMPT), guard=guard)
    yield create_guarded_history_aware_retriever(model, retriever, PROMPT, guard=guard)


async def test_the_guarded_chains_guard_the_filter_too(guard):
    for written, expected in ((since(2015), None), (since(2020), since(2020))):
        seen = Seen()
        for chain in chains(self_query(written, to=seen), guard):
            payload = {"input": "And those of the old bridge?", "chat_history": HISTORY}
            assert ids(chain.invoke(payload)) == ids(await chain.ainvoke(payload))
        assert {str(query.filter) for query in seen.queries} == {str(expected)}


async def test_a_retriever_that_was_put_in_later_is_guarded_too(guard):
    seen = Seen()
    wrapped = GuardedRetriever(retriever=in_memory().as_retriever(), rewriter=lambda turn: turn, guard=guard)
    *_, chain = chains(in_memory().as_retriever(), guard)
    wrapped.retriever = chain.bound.retriever = self_query(since(2015), to=seen)
    await both_ways(wrapped, "Surveys?", CONFIG)
    chain.invoke({"input": "Surveys?"})
    assert [query.filter for query in seen.queries] == [None] * 5  # two arms each way, and a first turn


async def test_a_guarded_retriever_inside_another_keeps_its_own_filter(guard):
    retriever = guard_self_query(self_query(since(2020)), guard=guard, developer_filter={"tenant": "north"})
    wrapped = GuardedRetriever(retriever=retriever, rewriter=lambda turn: turn, guard=guard)
    assert await both_ways(wrapped, "And those of the old bridge?", CONFIG) == ["north-2022"]


async def test_shadow_mode_searches_with_what_the_model_wrote(guard):
    seen = Seen()
    retriever = self_query(since(2015), to=seen)
    wrapped = GuardedRetriever(retriever=retriever, rewriter=lambda turn: turn, guard=guard, policy=Policy.observe())
    await both_ways(wrapped, "surveys", CONFIG)
    assert [query.filter for query in seen.queries] == [since(2015), since(2015)]


async def test_relative_periods_are_those_of_the_calls_date(guard):
    seen = Seen()
    wrapped = GuardedRetriever(retriever=self_query(equals("year", 2022), to=seen), rewriter="unused", guard=guard)
    await both_ways(wrapped, "surveys from last year", {"configurable": {"reference_date": date(2023, 4, 1)}})
    await both_ways(wrapped, "surveys from last year", {"configurable": {"reference_date": date(2021, 4, 1)}})
    assert [query.filter for query in seen.queries] == [equals("year", 2022)] * 2 + [None] * 2


async def test_the_history_of_a_chain_without_the_guard_reaches_the_constructor(guard):
    constructor = guard_query_constructor(RunnableLambda(lambda _: StructuredQuery(query="x", filter=since(2020))))
    assert constructor.invoke({"query": "And those of the old bridge?"}).filter is None
    assert constructor.invoke({"query": "And those of the old bridge?"}, CONFIG).filter == since(2020)
    assert (await constructor.ainvoke({"query": "And those of the old bridge?"}, CONFIG)).filter == since(2020)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("history", [HISTORY, []], ids=["history", "first turn"])
async def test_a_scope_fails_closed_in_front_of_a_self_query_retriever(guard, guarded, history):
    """It takes no search keyword, so LangChain would drop the scope."""
    seen = Seen()
    retriever = self_query(since(2020), to=seen)
    retriever = guard_self_query(retriever) if guarded else retriever
    wrapped = GuardedRetriever(
        retriever=retriever, rewriter=lambda turn: turn, guard=guard, scope=lambda config: {"filter": of_north}
    )
    config = {"configurable": {"chat_history": history}}
    with pytest.raises(ScopeError, match="SelfQueryRetriever"):
        wrapped.invoke("surveys since 2020", config)
    with pytest.raises(ScopeError, match="SelfQueryRetriever"):
        await wrapped.ainvoke("surveys since 2020", config)
    assert seen.queries == []


def from_llm(answer, **keywords):
    return SelfQueryRetriever.from_llm(
        FakeListChatModel(responses=[f"```json\n{json.dumps(answer)}\n```"]),
        in_memory(),
        "surveys",
        [AttributeInfo(name=name, description=name, type="string") for name in ("tenant", "year", "date")],
        structured_query_translator=ToFunction(),
        enable_limit=True,
        **keywords,
    )


async def test_the_real_query_constructor(guard):
    """LangChain's prompt, parser and grammar, with the answer of a model."""
    answer = {"query": "old bridge", "filter": 'or(eq("tenant", "south"), gte("year", 2020))', "limit": 1}
    unguarded = from_llm(answer, search_kwargs={"filter": of_north})
    assert (await both_ways(unguarded, "surveys since 2020"))[0].startswith("south")
    guarded = guard_self_query(from_llm(answer, search_kwargs={"filter": of_north}), guard=guard)
    assert await both_ways(guarded, "surveys since 2020") == ["north-2019", "north-2022"]


async def test_dates_of_the_grammar():
    answer = {"query": " ", "filter": 'and(gte("date", "2020-01-01"), lt("date", "2021-01-01"))'}
    constructor = from_llm(answer).query_constructor
    written = constructor.invoke({"query": "surveys of 2020"}).filter
    assert written.arguments[0].value == {"date": "2020-01-01", "type": "date"}
    kept = guard_query_constructor(constructor).invoke({"query": "surveys of 2020"})
    assert kept.filter.arguments == written.arguments
    assert kept.query == "surveys of 2020"  # the model left no text
    assert guard_query_constructor(constructor).invoke({"query": "surveys of 2021"}).filter is None


def test_what_cannot_be_guarded_is_said():
    with pytest.raises(UnsupportedChainError, match=r"query_constructor.*VectorStoreRetriever"):
        guard_self_query(in_memory().as_retriever())
    guarded = guard_self_query(self_query(None))
    with pytest.raises(UnsupportedChainError, match="already"):
        guard_self_query(guarded)
    with pytest.raises(InputError, match=r"developer_filter: .*function"):
        guard_self_query(self_query(None), developer_filter=of_north)
    with pytest.raises(InputError, match=r"developer_filter: .*'regex'"):
        guard_self_query(self_query(None), developer_filter={"tenant": {"$regex": "n.*"}})
    with pytest.raises(InputError, match="max_limit: expected a whole number above 0"):
        guard_self_query(self_query(None), max_limit=0)
    with pytest.raises(InputError, match="unknown keywords limit"):
        guard_self_query(self_query(None), limit=3)
