"""The LangChain side, on the real guard and on chains that langchain-classic itself makes."""

import asyncio
import math
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import Field

from fakes import FakeGuard, probe
from rewriteguard import Guard, Kind, Predicate, Release, RequestClass, Verdict
from rewriteguard.errors import ClarificationNeeded, InputError, ScopeError, UnsupportedChainError
from rewriteguard.integrations.langchain import (
    FAITHFUL_CONDENSE_PROMPT,
    GuardedRetriever,
    create_guarded_history_aware_retriever,
    guard_history_aware_retriever,
    with_scores,
)
from rewriteguard.model.decision import Action
from rewriteguard.policy.policy import Policy
from rewriteguard.telemetry import spans

DOCUMENTS = [
    Document("Reading cards are valid for three years and can be renewed at the desk.", id="card-validity"),
    Document("Lost reading cards are replaced at the desk within a week.", id="card-lost"),
    Document("Fees of 2023, members not living in the town: 40 crowns.", id="fees-2023-others"),
    Document("Members living in the town pay fees of 5 crowns for reservations.", id="fees-reservations"),
    Document("Members living in the town pay late fees of 1 crown a day.", id="fees-late"),
    Document("The reading room opens at nine, on Sundays at eleven.", id="opening"),
    Document("Guests pay a deposit for headphones.", id="deposit"),
]
HISTORY = [
    HumanMessage("How do I get a reading card?"),
    AIMessage("Ask for a reading card at the desk and bring proof of your address."),
]
FOLLOW_UP = {"input": "How long is it valid?", "chat_history": HISTORY}
GOOD = "How long is a reading card valid?"
FEES = {"input": "What fees did members not living in the town pay in 2023?", "chat_history": HISTORY}
LOSSY = "What fees do members living in the town pay?"
TALK = [MessagesPlaceholder("chat_history"), ("human", "{input}")]
PROMPT = ChatPromptTemplate.from_messages([("system", "Rephrase."), *TALK])


class Words(BaseRetriever):
    """Ranks by the summed idf of shared words; remembers queries, keywords, tags."""

    documents: list[Document] = DOCUMENTS
    k: int = 2
    calls: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager, k=None):
        self.calls.append((query, k, tuple(run_manager.tags)))
        words = [set(re.findall(r"\w+", each.page_content.lower())) for each in self.documents]
        frequency = Counter(word for each in words for word in each)
        asked = set(re.findall(r"\w+", query.lower()))

        def score(place):
            return sum(math.log(1 + len(words) / frequency[word]) for word in asked & words[place])

        best = sorted(range(len(words)), key=lambda place: -score(place))
        return [self.documents[place] for place in best if score(place) > 0][: k or self.k]

    async def _aget_relevant_documents(self, query, *, run_manager, k=None):
        return self._get_relevant_documents(query, run_manager=run_manager, k=k)


class Plain(BaseRetriever):
    """Takes no count; synchronous only."""

    calls: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager):
        self.calls.append(query)
        return DOCUMENTS[:2] if "reading" in query else DOCUMENTS[1:4]


class AsyncOnly(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        raise NotImplementedError

    async def _aget_relevant_documents(self, query, *, run_manager):
        await asyncio.sleep(0)
        return DOCUMENTS[:2]


@pytest.fixture(scope="module")
def guard():
    return Guard()


def chains(answers, retriever=None, **keywords):
    """LangChain's own chain and the guarded one, each with a model and a retriever of its own."""
    made = [
        create_history_aware_retriever(FakeListChatModel(responses=answers), each, PROMPT)
        for each in (retriever or Words(calls=[]), retriever or Words(calls=[]))
    ]
    return made[0], guard_history_aware_retriever(made[1], **keywords)


def ids(documents):
    return [document.id for document in documents]


def answering(chain):
    """The chain inside create_retrieval_chain; the answer is the context's ids."""
    return create_retrieval_chain(chain, RunnableLambda(lambda x: " ".join(ids(x["context"]))))


async def four_ways(chain, payload):
    """The documents by invoke, ainvoke, batch, abatch, stream and astream."""
    found = [chain.invoke(payload)["context"], (await chain.ainvoke(payload))["context"]]
    found += [each["context"] for each in chain.batch([payload, payload])]
    found += [each["context"] for each in await chain.abatch([payload])]
    found += [chunk["context"] for chunk in chain.stream(payload) if "context" in chunk]
    found += [chunk["context"] async for chunk in chain.astream(payload) if "context" in chunk]
    return [ids(documents) for documents in found]


async def test_a_good_rewrite_gives_the_same_documents(guard):
    own, guarded = chains([GOOD], guard=guard)
    assert await four_ways(answering(guarded), FOLLOW_UP) == await four_ways(answering(own), FOLLOW_UP)
    assert ids(own.invoke(FOLLOW_UP)) == ["card-validity", "card-lost"]


async def test_a_rewrite_that_lost_not_and_the_year_gives_the_answering_document(guard):
    seen = []
    own, guarded = chains([LOSSY], guard=guard, on_decision=seen.append)
    for found in await four_ways(answering(own), FEES):
        assert "fees-2023-others" not in found
    for found in await four_ways(answering(guarded), FEES):
        assert found[0] == "fees-2023-others"
    assert {decision.action for decision in seen} == {Action.FALL_BACK}
    assert {decision.verdict for decision in seen} == {Verdict.CHANGED}
    codes = {violation.code for violation in seen[0].assessment.violations}
    assert {"dropped.time", "dropped.negation"} <= codes


@pytest.mark.parametrize("answer", [GOOD, LOSSY, f' "{LOSSY}"\n', ""])
@pytest.mark.parametrize("payload", [FOLLOW_UP, FEES, FEES | {"chat_history": []}, {"input": "opening of the room?"}])
async def test_observe_changes_nothing(guard, answer, payload):
    retrievers = Words(calls=[]), Words(calls=[])
    own, guarded = (
        create_history_aware_retriever(FakeListChatModel(responses=[answer]), each, PROMPT) for each in retrievers
    )
    guarded = guard_history_aware_retriever(guarded, guard=guard, policy=Policy.observe(), k=1)
    assert guarded.invoke(payload) == own.invoke(payload)
    assert await guarded.ainvoke(payload) == await own.ainvoke(payload)
    queries = [[(query, k) for query, k, _ in each.calls] for each in retrievers]
    assert queries[0] == queries[1]
    assert len(queries[1]) == 2


def test_observe_asks_the_rewriter_where_langchain_does(guard):
    payload = {"input": "How long is it valid?", "chat_history": [HumanMessage("How long is it valid?")]}
    retriever = Words(calls=[])
    chain = create_history_aware_retriever(FakeListChatModel(responses=[GOOD]), retriever, PROMPT)
    guard_history_aware_retriever(chain, guard=guard, policy=Policy.observe()).invoke(payload)
    guard_history_aware_retriever(chain, guard=guard).invoke(payload)
    assert [query for query, _, _ in retriever.calls] == [GOOD, "How long is it valid?"]


def test_observe_lets_the_model_s_error_through(guard):
    chain = create_history_aware_retriever(RunnableLambda(lambda _: 1 / 0), Words(calls=[]), PROMPT)
    with pytest.raises(ZeroDivisionError):
        guard_history_aware_retriever(chain, guard=guard, policy=Policy.observe()).invoke(FOLLOW_UP)
    assert guard_history_aware_retriever(chain, guard=guard).invoke(FOLLOW_UP)


# taking apart


def history_chain(**keywords):
    return create_history_aware_retriever(
        FakeListChatModel(responses=[GOOD]), keywords.get("retriever", Words(calls=[])), PROMPT
    )


WRAPPED = {
    "with_config": lambda chain: chain.with_config(run_name="mine", tags=["t"]),
    "with_retry": lambda chain: chain.with_retry(stop_after_attempt=2),
    "with_listeners": lambda chain: chain.with_listeners(on_start=lambda run: None),
    "bind": lambda chain: chain.bind(k=1),
    "all": lambda chain: chain.with_retry().with_config(tags=["t"]).bind(k=1),
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
async def test_what_is_bound_around_the_chain_stays(guard, wrap):
    guarded = guard_history_aware_retriever(wrap(history_chain()), guard=guard)
    first = guarded.invoke(FOLLOW_UP)
    assert ids(first)[0] == "card-validity"
    assert await guarded.ainvoke(FOLLOW_UP) == first
    assert guarded.invoke({"input": "When does the reading room open?"})


def test_a_listener_and_a_retry_still_work(guard):
    seen, failures = [], []

    class Flaky(Words):
        def _get_relevant_documents(self, query, *, run_manager, k=None):
            failures.append(query)
            if len(failures) == 1:
                raise ConnectionError("once")
            return DOCUMENTS[:1]

    chain = history_chain(retriever=Flaky()).with_listeners(on_start=lambda run: seen.append(run.name))
    chain = chain.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    guarded = guard_history_aware_retriever(chain, guard=guard, policy=Policy.single())
    assert ids(guarded.invoke(FOLLOW_UP)) == ["card-validity"]
    assert (failures, seen) == ([GOOD, GOOD], ["chat_retriever_chain"])
    failures.clear()
    chain.invoke(FOLLOW_UP)
    assert (failures, seen) == ([GOOD, GOOD], ["chat_retriever_chain"] * 2)


def test_a_retriever_that_is_a_sequence(guard):
    tail = RunnableLambda(str.lower) | Words(calls=[]) | RunnableLambda(lambda documents: documents[:1])
    guarded = guard_history_aware_retriever(history_chain(retriever=tail), guard=guard)
    assert ids(guarded.invoke(FOLLOW_UP)) == ["card-validity"]


def two_retrievers(chain):
    branch = chain.bound
    return RunnableBranch((branch.branches[0][0], RunnableLambda(len) | Words(calls=[])), branch.default)


UNSUPPORTED = {
    "two retrievers": two_retrievers,
    "fallbacks": lambda chain: chain.with_fallbacks([RunnableLambda(lambda _: [])]),
    "post-processing": lambda chain: chain | RunnableLambda(lambda documents: documents),
    "map": lambda chain: chain.map(),
    "retrieval chain": answering,
    "message history": lambda chain: RunnableWithMessageHistory(chain, lambda session_id: None),
    "a retriever": lambda chain: Words(calls=[]),
    "a function": lambda chain: len,
}


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
@pytest.mark.parametrize("wrap", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_other_shapes_are_refused_with_the_way_out(guard, wrap):
    with pytest.raises(UnsupportedChainError, match=r"create_guarded_history_aware_retriever.*rewriter="):
        guard_history_aware_retriever(wrap(history_chain()), guard=guard)


def test_the_function_form_takes_langchain_s_arguments(guard):
    model = FakeListChatModel(responses=[LOSSY])
    chain = create_guarded_history_aware_retriever(model, Words(calls=[]), FAITHFUL_CONDENSE_PROMPT, guard=guard)
    assert ids(chain.invoke(FEES))[0] == "fees-2023-others"
    with pytest.raises(ValueError, match="input"):
        create_guarded_history_aware_retriever(
            model, Words(calls=[]), ChatPromptTemplate.from_template("q"), guard=guard
        )


# history and input forms

SPOKEN = "Reading cards are valid for three years."


@pytest.mark.parametrize("empty", [None, "", [], ()])
def test_no_history_searches_the_turn_alone(guard, empty):
    retriever = Words(calls=[])
    guarded = guard_history_aware_retriever(history_chain(retriever=retriever), guard=guard)
    guarded.invoke({"input": "reading cards?", "chat_history": empty})
    guarded.invoke({"input": "reading cards?"})
    assert [(query, k) for query, k, _ in retriever.calls] == [("reading cards?", None)] * 2


@pytest.mark.parametrize(
    "history",
    [
        HISTORY,
        [("human", "How do I get a reading card?"), ("ai", SPOKEN)],
        [{"role": "user", "content": "How do I get a reading card?"}, {"role": "assistant", "content": SPOKEN}],
        ["How do I get a reading card?", SPOKEN],
        [HumanMessage([{"type": "text", "text": "How do I get a reading card?"}]), AIMessage(SPOKEN)],
        [HumanMessage("How do I get a reading card?"), ChatMessage(role="librarian", content=SPOKEN)],
        [*HISTORY, HumanMessage("How long is it valid?")],
    ],
    ids=["messages", "tuples", "dicts", "strings", "blocks", "own role", "turn included"],
)
def test_history_forms(guard, history):
    seen = []
    guarded = guard_history_aware_retriever(history_chain(), guard=guard, on_decision=seen.append)
    assert ids(guarded.invoke({"input": "How long is it valid?", "chat_history": history}))[0] == "card-validity"
    assert seen[0].verdict is Verdict.PRESERVED


def test_a_transcript_in_one_string(guard):
    prompt = ChatPromptTemplate.from_template("{chat_history}\nRephrase: {input}")
    model, seen = FakeListChatModel(responses=[GOOD]), []
    chain = create_history_aware_retriever(model, Words(calls=[]), prompt)
    guarded = guard_history_aware_retriever(chain, guard=guard, on_decision=seen.append)
    guarded.invoke({"input": "How long is it valid?", "chat_history": "Human: a reading card?\nAI: At the desk."})
    assert seen[0].assessment.turn == "How long is it valid?"


def test_the_input_may_be_a_message(guard):
    guarded = guard_history_aware_retriever(history_chain(), guard=guard)
    assert guarded.invoke(FOLLOW_UP | {"input": HumanMessage("How long is it valid?")}) == guarded.invoke(FOLLOW_UP)


def test_further_prompt_variables_reach_the_rewriter(guard):
    asked = []
    prompt = ChatPromptTemplate.from_messages([("system", "In {language}."), *TALK])
    model = RunnableLambda(lambda prompt: asked.append(prompt.to_string()) or GOOD)
    chain = create_history_aware_retriever(model, Words(calls=[]), prompt)
    guard_history_aware_retriever(chain, guard=guard).invoke(FOLLOW_UP | {"language": "English"})
    assert "In English." in asked[0]


def test_bad_input_is_named(guard):
    guarded = guard_history_aware_retriever(history_chain(), guard=guard)
    with pytest.raises(InputError, match="`input`"):
        guarded.invoke({"question": "x"})
    with pytest.raises(InputError, match="mapping"):
        guarded.invoke("reading cards?")


class Anything(BaseRetriever):
    """Takes whatever it is given, as a retriever of images or of structured queries does."""

    calls: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager):
        self.calls.append(query)
        return DOCUMENTS[:2]


ODD_PROMPT = ChatPromptTemplate.from_template("Rephrase {input} after {chat_history}")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
UNREADABLE = {
    "blocks": {"input": [{"type": "image", "url": "u"}, 7]},
    "message of images": {"input": HumanMessage([IMAGE])},
    "message of images, with a history": {"input": HumanMessage([IMAGE, IMAGE]), "chat_history": HISTORY},
    "images, with a history": {"input": [IMAGE, 7], "chat_history": HISTORY},
    "none": {"input": None},
    "number": {"input": 3},
    "number, with a history": {"input": 3, "chat_history": HISTORY},
    "none, odd history": {"input": None, "chat_history": {"summary": "cards"}},
    "blank, odd history": {"input": " ", "chat_history": 5},
}
ODD_HISTORIES = {
    "number": 5,
    "mapping": {"summary": "they spoke of cards"},
    "unknown items": [object(), 3],
    "role of its own": [{"role": "narrator", "content": "Once upon a time"}],
    "images": [{"role": "user", "content": 4}],
}


@pytest.mark.parametrize("policy", [Policy(), Policy.single(), Policy.observe()], ids=lambda policy: policy.name)
@pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE)
async def test_an_input_that_is_no_text_is_searched_as_langchain_does(policy, payload):
    retrievers, seen = (Anything(calls=[]), Anything(calls=[])), []
    own, guarded = (
        create_history_aware_retriever(FakeListChatModel(responses=[GOOD]), each, ODD_PROMPT) for each in retrievers
    )
    guarded = guard_history_aware_retriever(guarded, guard=FakeGuard(), policy=policy, on_decision=seen.append)
    assert guarded.invoke(payload) == own.invoke(payload)
    assert await guarded.ainvoke(payload) == await own.ainvoke(payload)
    assert retrievers[1].calls == retrievers[0].calls
    assert [decision.reason for decision in seen] == ["guard_error"] * 2
    assert seen[0].assessment is None


@pytest.mark.parametrize("history", ODD_HISTORIES.values(), ids=ODD_HISTORIES)
async def test_a_history_that_cannot_be_read_leaves_the_original_alone(history, caplog):
    retriever, seen, asked = Anything(calls=[]), [], []
    model = RunnableLambda(lambda prompt: asked.append(prompt) or GOOD)
    chain = create_history_aware_retriever(model, retriever, ODD_PROMPT)
    guarded = guard_history_aware_retriever(chain, guard=FakeGuard(), on_decision=seen.append)
    payload = {"input": "How long is it valid?", "chat_history": history}
    assert guarded.invoke(payload) == await guarded.ainvoke(payload) == DOCUMENTS[:2]
    assert (retriever.calls, asked) == (["How long is it valid?"] * 2, [])
    assert {(decision.action, decision.reason) for decision in seen} == {(Action.FALL_BACK, "guard_error")}


@pytest.mark.parametrize("history", ODD_HISTORIES.values(), ids=ODD_HISTORIES)
async def test_observe_takes_every_history_that_langchain_takes(history):
    retriever, seen = Anything(calls=[]), []
    chain = create_history_aware_retriever(FakeListChatModel(responses=[GOOD]), retriever, ODD_PROMPT)
    keywords = {"guard": FakeGuard(), "policy": Policy.observe(), "on_decision": seen.append}
    guarded = guard_history_aware_retriever(chain, **keywords)
    payload = {"input": "How long is it valid?", "chat_history": history}
    assert guarded.invoke(payload) == await guarded.ainvoke(payload) == DOCUMENTS[:2]
    assert retriever.calls == [GOOD] * 2
    assert {(decision.action, decision.reason) for decision in seen} == {(Action.USE_REWRITE, "guard_error")}


@pytest.mark.parametrize("turn", [3, [IMAGE], HumanMessage([IMAGE])], ids=["number", "images", "message of images"])
def test_the_model_s_error_is_langchain_s_own_where_the_input_is_no_text(turn):
    retriever = Anything(calls=[])
    chain = create_history_aware_retriever(RunnableLambda(lambda _: 1 / 0), retriever, ODD_PROMPT)
    with pytest.raises(ZeroDivisionError):
        guard_history_aware_retriever(chain, guard=FakeGuard()).invoke({"input": turn, "chat_history": HISTORY})
    assert retriever.calls == []


def test_the_text_beside_an_image_is_the_turn():
    retriever, seen = Anything(calls=[]), []
    guarded = guard_history_aware_retriever(
        history_chain(retriever=retriever), guard=FakeGuard(), on_decision=seen.append
    )
    blocks = [IMAGE, {"type": "text", "text": "How long is it valid?"}]
    guarded.invoke({"input": HumanMessage(blocks), "chat_history": HISTORY})
    assert retriever.calls[0] == "How long is it valid?"
    assert [decision.verdict for decision in seen] == [Verdict.PRESERVED]


def test_an_unreadable_input_is_scoped_and_vetoed_all_the_same():
    guarded = guard_history_aware_retriever(
        history_chain(retriever=Anything(calls=[])),
        guard=FakeGuard(),
        admit=lambda document: document.id == "card-lost",
    )
    assert ids(guarded.invoke({"input": 3})) == ["card-lost"]
    closed = guard_history_aware_retriever(history_chain(), guard=FakeGuard(), scope=lambda config: None)
    with pytest.raises(ScopeError):
        closed.invoke({"input": 3})


# runs: callbacks, tags, keywords, counts


class Runs(BaseCallbackHandler):
    def __init__(self):
        self.started = []

    def on_retriever_start(self, serialized, query, *, run_id, parent_run_id=None, tags=None, **kwargs):
        self.started.append(("retriever", query, tuple(tags or ()), parent_run_id))

    def on_chat_model_start(self, serialized, messages, *, run_id, parent_run_id=None, tags=None, **kwargs):
        self.started.append(("model", None, tuple(tags or ()), parent_run_id))

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, tags=None, name=None, **kwargs):
        self.started.append(("chain", name, tuple(tags or ()), run_id))


async def test_arms_and_rewriter_are_child_runs_with_tags(guard):
    guarded = guard_history_aware_retriever(history_chain(), guard=guard)
    for way in (guarded.invoke, guarded.ainvoke):
        runs = Runs()
        result = way(FOLLOW_UP, {"callbacks": [runs], "tags": ["app"]})
        if asyncio.iscoroutine(result):
            await result
        root = next(run_id for kind, name, _, run_id in runs.started if name == "chat_retriever_chain")
        arms = {tags: (query, parent) for kind, query, tags, parent in runs.started if kind == "retriever"}
        named = {tag for tags in arms for tag in tags if tag.startswith("rewriteguard:")}
        assert named == {"rewriteguard:original", "rewriteguard:rewrite", "rewriteguard:carried"}
        assert all("app" in tags for tags in arms)
        assert {parent for _, parent in arms.values()} == {root}
        (model,) = [tags for kind, _, tags, _ in runs.started if kind == "model"]
        assert {"rewriteguard:rewriter", "nostream", "app"} <= set(model)


def test_a_function_as_retriever_sees_the_run_s_tags(guard):
    seen = []

    def find(query, config):
        seen.append(frozenset(config["tags"]))
        return DOCUMENTS[:1]

    chain = history_chain(retriever=RunnableLambda(find))
    guard_history_aware_retriever(chain, guard=guard).invoke(FOLLOW_UP, {"tags": ["app"]})
    assert set(seen) == {frozenset({"app", f"rewriteguard:{arm}"}) for arm in ("original", "rewrite", "carried")}


async def test_events_of_the_rewriter_can_be_left_out(guard):
    guarded = guard_history_aware_retriever(history_chain(), guard=guard)
    kinds = [
        event["event"] async for event in guarded.astream_events(FOLLOW_UP, version="v2", exclude_tags=["nostream"])
    ]
    assert "on_retriever_end" in kinds
    assert not [kind for kind in kinds if "chat_model" in kind]


def test_over_fetching_where_the_retriever_takes_a_count(guard):
    retriever = Words(calls=[])
    guarded = guard_history_aware_retriever(history_chain(retriever=retriever), guard=guard)
    assert len(guarded.invoke(FOLLOW_UP)) == 2
    assert len(guarded.invoke(FOLLOW_UP, k=1)) == 1
    assert {k for _, k, _ in retriever.calls} == {20}
    retriever.calls.clear()
    single = guard_history_aware_retriever(history_chain(retriever=retriever), guard=guard, policy=Policy.single())
    single.invoke(FOLLOW_UP)
    single.invoke(FOLLOW_UP, k=1)
    assert [(query, k) for query, k, _ in retriever.calls] == [(GOOD, None), (GOOD, 1)]


async def test_a_synchronous_retriever_is_asked_for_more_from_an_event_loop_too(guard):
    class SyncCount(BaseRetriever):
        k: int = 1
        calls: list = Field(default_factory=list)

        def _get_relevant_documents(self, query, *, run_manager, k=None):
            self.calls.append(k)
            return DOCUMENTS[: k or self.k]

    retriever = SyncCount(calls=[])
    guarded = guard_history_aware_retriever(history_chain(retriever=retriever), guard=guard)
    assert ids(guarded.invoke(FOLLOW_UP)) == ids(await guarded.ainvoke(FOLLOW_UP)) == ["card-validity"]
    assert retriever.calls == [20] * 6


def test_a_retriever_without_a_count_is_called_as_it_is(guard):
    retriever = Plain(calls=[])
    guarded = guard_history_aware_retriever(history_chain(retriever=retriever), guard=guard)
    assert len(guarded.invoke(FOLLOW_UP)) == 3
    assert len(retriever.calls) == 3


def test_a_vector_store_is_asked_for_more_and_cut(guard):
    class Bag:
        def embed_query(self, text):
            words = re.findall(r"\w+", text.lower())
            return [float(sum(hash_of(word) % 31 == place for word in words)) + 0.01 for place in range(31)]

        def embed_documents(self, texts):
            return [self.embed_query(text) for text in texts]

    def hash_of(word):
        return sum(ord(letter) * (place + 7) for place, letter in enumerate(word))

    store, asked = InMemoryVectorStore(Bag()), []
    store.add_documents(DOCUMENTS)
    similarity_search = store.similarity_search
    spied = lambda query, k=4, **more: asked.append(k) or similarity_search(query, k=k, **more)  # noqa: E731
    store.similarity_search = spied
    for search_kwargs, count in (({}, 4), ({"k": 3}, 3)):
        chain = history_chain(retriever=store.as_retriever(search_kwargs=search_kwargs))
        assert len(guard_history_aware_retriever(chain, guard=guard).invoke(FOLLOW_UP)) == count
    assert set(asked) == {20}
    mmr = history_chain(retriever=store.as_retriever(search_type="mmr", search_kwargs={"k": 3}))
    assert guard_history_aware_retriever(mmr, guard=guard).invoke(FOLLOW_UP)


def test_documents_are_told_apart_by_id_then_key_then_text(guard):
    class Copies(BaseRetriever):
        make: object

        def _get_relevant_documents(self, query, *, run_manager):
            return [self.make(query)]

    def found(make, **keywords):
        chain = history_chain(retriever=Copies(make=make))
        return len(guard_history_aware_retriever(chain, guard=guard, k=9, **keywords).invoke(FOLLOW_UP))

    assert found(lambda query: Document(query, id="same")) == 1
    assert found(lambda query: Document(query, metadata={"ref": 7}), id_key="ref") == 1
    assert found(lambda query: Document(query, metadata={"ref": 7})) == 3
    assert found(lambda query: Document(query, metadata={"ref": 0}), id_key="ref") == 1
    assert found(lambda query: Document(query, metadata={"ref": None}), id_key="ref") == 3
    assert found(lambda query: Document(query, metadata={"ref": ""}), id_key="ref") == 3
    assert found(lambda query: Document("text", metadata={"source": "a"})) == 1
    assert found(lambda query: Document("text", metadata={"source": query})) == 3


def test_documents_are_passed_on_untouched(guard):
    before = [document.model_copy(deep=True) for document in DOCUMENTS]
    chain = history_chain(retriever=Words(calls=[], documents=DOCUMENTS))
    found = guard_history_aware_retriever(chain, guard=guard).invoke(FOLLOW_UP)
    assert all(any(document is own for own in DOCUMENTS) for document in found)
    assert before == DOCUMENTS


@pytest.mark.parametrize("number", [float, Fraction, Decimal, str])
@pytest.mark.parametrize("keywords", [{"score_key": "score"}, {"score": lambda document: document.metadata["score"]}])
def test_scores_are_used_where_the_caller_names_them(keywords, number):
    five, nine, one = number(5), number(9), number(1)

    class Scored(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            if query == GOOD:  # flat: says nothing
                return [
                    Document("f", id="f", metadata={"score": five}),
                    Document("g", id="g", metadata={"score": five}),
                ]
            return [Document("p", id="p", metadata={"score": nine}), Document("q", id="q", metadata={"score": one})]

    chain = history_chain(retriever=Scored())
    assert ids(guard_history_aware_retriever(chain, guard=FakeGuard()).invoke(FOLLOW_UP))[0] == "f"
    assert ids(guard_history_aware_retriever(chain, guard=FakeGuard(), **keywords).invoke(FOLLOW_UP))[0] == "p"


class Letters(Embeddings):
    """How often each letter stands in a text."""

    def embed_query(self, text):
        return [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


class Distances(InMemoryVectorStore):
    """Gives how far a document is, best first, as some stores do."""

    def similarity_search_with_score(self, query, k=4, **more):
        return [(document, 1 - score) for document, score in super().similarity_search_with_score(query, k, **more)]

    async def asimilarity_search_with_score(self, query, k=4, **more):
        return self.similarity_search_with_score(query, k, **more)


class Relevant(Distances):
    def _select_relevance_score_fn(self):
        return lambda distance: 1 - distance


@pytest.mark.parametrize(("kind", "weighed"), [(InMemoryVectorStore, True), (Distances, False), (Relevant, True)])
@pytest.mark.parametrize("in_loop", [False, True])
async def test_a_vector_store_s_scores_are_used_where_they_are_similarities(kind, weighed, in_loop, monkeypatch):
    store = kind(Letters())
    store.add_documents(DOCUMENTS)
    retriever = with_scores(store.as_retriever(search_kwargs={"k": 3}))
    plain = [document.page_content for document in store.as_retriever(search_kwargs={"k": 3}).invoke(GOOD)]
    assert [document.page_content for document in retriever.invoke(GOOD)] == plain
    told = probe(monkeypatch)
    chain = guard_history_aware_retriever(history_chain(retriever=retriever), guard=FakeGuard(), score_key="similarity")
    found = await chain.ainvoke(FOLLOW_UP) if in_loop else chain.invoke(FOLLOW_UP)
    assert len(found) == 3
    [fusion] = [span for span in told.spans if "rewriteguard.fusion.weights" in span.attributes]
    assert (list(fusion.attributes["rewriteguard.fusion.weights"]) != [1.0, 4.0, 2.0]) is weighed


class NoScale(InMemoryVectorStore):
    """Knows no scale for its distances, as stores do whose metric has none; `fails` are its searches that raise."""

    fails = ()

    def _select_relevance_score_fn(self):
        raise ValueError("no normalisation for the metric jaccard")

    def similarity_search(self, query, k=4, **more):
        if "similarity_search" in self.fails:
            raise ValueError("the index is gone")
        found = InMemoryVectorStore.similarity_search_with_score(self, query, k, **more)
        return [document for document, _ in found]

    async def asimilarity_search(self, query, k=4, **more):
        return self.similarity_search(query, k, **more)

    def similarity_search_with_score(self, query, k=4, **more):
        if "similarity_search_with_score" in self.fails:
            raise TypeError("no scores here")
        found = super().similarity_search_with_score(query, k, **more)
        return [(document, None if "scores" in self.fails else score) for document, score in found]

    async def asimilarity_search_with_score(self, query, k=4, **more):
        return self.similarity_search_with_score(query, k, **more)


@pytest.mark.parametrize("fails", [(), ("similarity_search_with_score",), ("scores",)])
async def test_a_store_that_cannot_score_is_searched_all_the_same(fails):
    store = NoScale(Letters())
    store.fails = fails
    store.add_documents(DOCUMENTS)
    retriever = with_scores(store.as_retriever(search_kwargs={"k": 3}))
    found = retriever.invoke(GOOD)
    assert found == await retriever.ainvoke(GOOD)
    assert ids(found) == ids(store.similarity_search(GOOD, k=3))
    assert [document.metadata.get("similarity") is None for document in found] == [bool(fails)] * 3
    guarded = guard_history_aware_retriever(
        history_chain(retriever=retriever), guard=FakeGuard(), score_key="similarity"
    )
    assert len(guarded.invoke(FOLLOW_UP)) == 3


async def test_a_store_that_cannot_search_says_so_with_scores_too():
    store = NoScale(Letters())
    store.fails = ("similarity_search", "similarity_search_with_score")
    retriever = with_scores(store.as_retriever())
    with pytest.raises(ValueError, match="the index is gone"):
        retriever.invoke(GOOD)
    with pytest.raises(ValueError, match="the index is gone"):
        await retriever.ainvoke(GOOD)


def test_scores_are_asked_of_exact_similarity_alone():
    store = InMemoryVectorStore(Letters())
    with pytest.raises(InputError, match="search type 'similarity', got 'mmr'"):
        with_scores(store.as_retriever(search_type="mmr"))
    with pytest.raises(InputError, match="expected a VectorStoreRetriever, got Words"):
        with_scores(Words(calls=[], documents=DOCUMENTS))


async def test_async_only_retrievers(guard):
    guarded = guard_history_aware_retriever(history_chain(retriever=AsyncOnly()), guard=guard)
    assert ids(await guarded.ainvoke(FOLLOW_UP)) == ["card-validity", "card-lost"]
    with pytest.raises(NotImplementedError):
        guarded.invoke(FOLLOW_UP)


def test_batch_keeps_each_item_s_config(guard):
    seen = []
    guarded = guard_history_aware_retriever(
        history_chain(), guard=guard, scope=lambda config: seen.append(config["metadata"]["tenant"]) or {}
    )
    guarded.batch([FOLLOW_UP, FEES], [{"metadata": {"tenant": "north"}}, {"metadata": {"tenant": "south"}}])
    assert sorted(seen) == ["north", "south"]


def test_scope_reads_the_config_and_fails_closed(guard):
    class Tenant(BaseRetriever):
        calls: list = Field(default_factory=list)

        def _get_relevant_documents(self, query, *, run_manager, tenant=None):
            self.calls.append(tenant)
            return DOCUMENTS[:1]

    retriever = Tenant(calls=[])
    guarded = guard_history_aware_retriever(
        history_chain(retriever=retriever),
        guard=guard,
        scope=lambda config: {"tenant": config["configurable"]["tenant"]},
    )
    guarded.invoke(FOLLOW_UP, {"configurable": {"tenant": "north"}}, tenant="all")
    assert retriever.calls == ["north"] * 3
    with pytest.raises(ScopeError):
        guarded.invoke(FOLLOW_UP)
    assert len(retriever.calls) == 3


def test_inside_a_parallel(guard):
    guarded = guard_history_aware_retriever(history_chain(), guard=guard)
    found = RunnableParallel(documents=guarded, turn=lambda x: x["input"]).invoke(FOLLOW_UP)
    assert (ids(found["documents"])[0], found["turn"]) == ("card-validity", "How long is it valid?")


async def test_clarification(guard):
    ambiguous = FakeGuard({GOOD: Verdict.UNCERTAIN}, candidates=("the card", "the address"))
    asking = guard_history_aware_retriever(history_chain(), guard=ambiguous, policy=Policy(clarify=True))
    for way in (asking.invoke, lambda payload: asyncio.run(asking.ainvoke(payload))):
        with pytest.raises(ClarificationNeeded) as caught:
            await asyncio.to_thread(way, FOLLOW_UP)
        assert caught.value.candidates == ("the card", "the address")
        # Instrumentations record the text of errors.
        assert [name for name in caught.value.candidates if name in f"{caught.value} {caught.value.args}"] == []


def test_the_host_s_span_is_the_parent(guard, monkeypatch):
    seen = probe(monkeypatch)

    class Tracing(BaseCallbackHandler):
        run_inline = True

        def __init__(self):
            self.open = {}

        def get_span(self, run_id):
            return self.open.get(run_id)

        def on_chain_start(self, serialized, inputs, *, run_id, name=None, **kwargs):
            self.open[run_id] = spans.tracer().start_span(name or "chain")

        def on_chain_end(self, outputs, *, run_id, **kwargs):
            self.open[run_id].end()

    guarded = guard_history_aware_retriever(history_chain(), guard=guard)
    for run in (guarded.invoke, lambda *each: asyncio.run(guarded.ainvoke(*each))):
        run(FOLLOW_UP, {"callbacks": [Tracing()], "metadata": {"session_id": "s-9"}})
    hosts = {span.context.span_id: span for span in seen.spans if span.name == "chat_retriever_chain"}
    ours = [span for span in seen.spans if span.name == "rewriteguard.retrieve"]
    assert len(ours) == len(hosts) == 2
    for span in ours:
        assert hosts[span.parent.span_id].attributes["rewriteguard.verdict"] == "preserved"
        assert span.attributes["session.id"] == "s-9"


# the retriever


def guarded_retriever(guard, answer=GOOD, **keywords):
    keywords.setdefault("retriever", Words(calls=[]))
    return GuardedRetriever(rewriter=lambda turn, history: answer, guard=guard, **keywords)


async def test_retriever_takes_the_history_from_the_config(guard):
    retriever = guarded_retriever(guard, LOSSY)
    config = {"configurable": {"chat_history": HISTORY}}
    assert ids(retriever.invoke(FEES["input"], config))[0] == "fees-2023-others"
    assert ids(await retriever.ainvoke(FEES["input"], config))[0] == "fees-2023-others"
    chain = RunnableLambda(lambda x: x["input"]) | retriever
    assert ids(chain.invoke(FEES, config))[0] == "fees-2023-others"


def test_retriever_without_history_searches_the_question(guard):
    inner = Words(calls=[])
    assert ids(guarded_retriever(guard, retriever=inner).invoke("opening of the reading room"))[0] == "opening"
    assert [query for query, _, _ in inner.calls] == ["opening of the reading room"]


def test_retriever_with_a_chain_as_rewriter(guard):
    retriever = GuardedRetriever(
        retriever=Words(calls=[]),
        rewriter=FAITHFUL_CONDENSE_PROMPT | FakeListChatModel(responses=[GOOD]),
        guard=guard,
        k=1,
    )
    found = retriever.invoke("How long is it valid?", {"configurable": {"chat_history": HISTORY}})
    assert ids(found) == ["card-validity"]


@pytest.mark.parametrize("policy", [Policy(), Policy.single()])
def test_retriever_can_return_more_than_the_inner_one_does_by_itself(guard, policy):
    config = {"configurable": {"chat_history": HISTORY}}
    assert len(guarded_retriever(guard, k=3, policy=policy).invoke(FEES["input"], config)) == 3
    assert len(guarded_retriever(guard, policy=policy).invoke(FEES["input"], config, k=3)) == 3
    assert len(guarded_retriever(guard, policy=policy).invoke(FEES["input"], config)) == 2


def by_function(**keywords):
    return create_guarded_history_aware_retriever(
        FakeListChatModel(responses=[GOOD]), Words(calls=[]), FAITHFUL_CONDENSE_PROMPT, **keywords
    )


ENTRIES = {
    "wrapped": lambda **keywords: guard_history_aware_retriever(history_chain(), **keywords),
    "function": by_function,
    "retriever": lambda **keywords: GuardedRetriever(retriever=Words(calls=[]), rewriter=GOOD, **keywords),
}


@pytest.mark.parametrize("make", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"scop": len}, "unknown keywords scop; expected some of admit, "),
        ({"polcy": Policy(), "Guard": None}, "unknown keywords Guard, polcy;"),
        ({"policy": "strict"}, "policy: expected a Policy, got str"),
        ({"policy": ""}, "policy: expected a Policy, got str"),
        ({"guard": "english"}, "guard: expected a Guard, got str"),
        ({"profile": "condense"}, "profile: expected a Profile, got str"),
        ({"telemetry": "off"}, "telemetry: expected a Telemetry, got str"),
        ({"k": 0}, "k: expected a whole number above 0 or None, got 0"),
        ({"timeout": -1}, "timeout: expected a number of seconds above 0 or None, got -1"),
        ({"rewriter_timeout": "2"}, "rewriter_timeout: expected a number of seconds above 0 or None, got '2'"),
        ({"rewrite_when": "never"}, "rewrite_when: expected 'always' or 'dependent', got 'never'"),
        ({"scope": {"tenant": "north"}}, "scope: expected a callable or None, got dict"),
        ({"score": "score"}, "score: expected a callable or None, got str"),
    ],
)
def test_keywords_that_cannot_be_used_are_named(make, keywords, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make(**{"guard": FakeGuard()} | keywords)


def test_the_call_s_count_wins_over_the_one_of_the_settings(guard):
    retriever = Words(calls=[])
    guarded = guard_history_aware_retriever(history_chain(retriever=retriever), guard=guard, k=3)
    assert [len(guarded.invoke(FEES, **keywords)) for keywords in ({}, {"k": 1}, {"k": 5})] == [3, 1, 5]
    assert {k for _, k, _ in retriever.calls} == {20}
    guarded.invoke(FEES, k=30)
    assert retriever.calls[-1][1] == 30


@pytest.mark.parametrize("history", [[], HISTORY], ids=["first turn", "history"])
@pytest.mark.parametrize("inner", [Words, Plain])
@pytest.mark.parametrize("count", [0, -1, True, "3"])
async def test_a_call_s_count_that_cannot_be_used_is_named(inner, history, count):
    retriever = guarded_retriever(FakeGuard(), retriever=inner(calls=[]), k=3)
    chain = guard_history_aware_retriever(history_chain(retriever=inner(calls=[])), guard=FakeGuard(), k=3)
    message = re.escape(f"k: expected a whole number above 0 or None, got {count!r}")
    config = {"configurable": {"chat_history": history}}
    with pytest.raises(InputError, match=message):
        retriever.invoke("How long is it valid?", config, k=count)
    with pytest.raises(InputError, match=message):
        await retriever.ainvoke("How long is it valid?", config, k=count)
    with pytest.raises(InputError, match=message):
        chain.invoke({"input": "How long is it valid?", "chat_history": history}, k=count)


async def test_the_model_is_not_asked_for_a_class_that_falls_back(guard):
    off = RequestClass("dates", Predicate(kinds=(Kind.TIME,)), Release.FALL_BACK)
    seen = []
    asked = []

    def model(payload):
        asked.append(payload)
        return GOOD

    words = Words()
    chain = create_history_aware_retriever(RunnableLambda(model), words, PROMPT)
    guarded = guard_history_aware_retriever(
        chain, guard=guard, policy=Policy(name="accepted", classes=(off,)), on_decision=seen.append
    )
    for way in (guarded.invoke, lambda payload: asyncio.run(guarded.ainvoke(payload))):
        asked.clear()
        found = await asyncio.to_thread(way, FEES)
        assert asked == []
        assert ids(found)[0] == "fees-2023-others"
        assert (seen[-1].action, seen[-1].reason) == (Action.FALL_BACK, "skipped")
        assert seen[-1].request_class == "dates"
        await asyncio.to_thread(way, FOLLOW_UP)
        assert len(asked) == 1
        assert seen[-1].action is Action.FUSE
    assert {query for query, _, _ in words.calls} >= {FEES["input"], guard.carried(FEES["input"], HISTORY).text}
