"""The guard in LlamaIndex: its own engines on an index of its own, with a model that says what a test tells it to."""

from __future__ import annotations

from datetime import date

import pytest

from fakes import FakeGuard, probe
from rewriteguard import ClarificationNeeded, Guard, InputError, Policy, Verdict

pytest.importorskip("llama_index.core", reason="the extra `llama-index` is not installed")

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.llms import ChatMessage, CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.query_engine import RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import QueryBundle, TextNode
from pydantic import Field

from rewriteguard.integrations.llama_index import (
    GuardedCondensePlusContextChatEngine,
    GuardedCondenseQuestionChatEngine,
    GuardedQueryTransform,
)

HISTORY = [
    ChatMessage(role="user", content="Which rooms can be hired?"),
    ChatMessage(role="assistant", content="The cellar and the attic can be hired."),
]
TURN = "What did hiring the attic cost before 2021, without heating?"
FAITHFUL = "What did hiring the attic without heating cost before 2021?"
LOSSY = "What does hiring the attic with heating cost?"
ENGINES = [GuardedCondenseQuestionChatEngine, GuardedCondensePlusContextChatEngine]


class Model(CustomLLM):
    """Gives the rewrite where it is asked to condense, and otherwise the answer; remembers its prompts."""

    rewrite: str = LOSSY
    fails: bool = False
    prompts: list = Field(default_factory=list)

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **_):
        self.prompts.append(prompt)
        if "tandalone question" not in prompt:
            return CompletionResponse(text="The answer.")
        if self.fails:
            raise TimeoutError("no model")
        return CompletionResponse(text=self.rewrite)

    def stream_complete(self, prompt, formatted=False, **keywords):
        answer = self.complete(prompt, formatted, **keywords)
        yield CompletionResponse(text=answer.text, delta=answer.text)


class Recording(BaseRetriever):
    """The retriever of a real index; remembers what it was asked for."""

    def __init__(self):
        super().__init__()
        self.queries = []
        nodes = [TextNode(text="The attic is heated in winter."), TextNode(text="The cellar is dry.")]
        self.inner = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=3)).as_retriever()

    def _retrieve(self, query_bundle):
        self.queries.append(query_bundle.query_str)
        return self.inner.retrieve(query_bundle)


def made(kind, model=None, **keywords):
    """An engine with LlamaIndex's defaults, and the retriever behind it."""
    model = model or Model()
    retriever = Recording()
    if issubclass(kind, CondenseQuestionChatEngine):
        behind = RetrieverQueryEngine.from_args(retriever, llm=model, streaming=True)
        return kind.from_defaults(query_engine=behind, llm=model, **keywords), retriever
    return kind.from_defaults(retriever=retriever, llm=model, **keywords), retriever


async def said(engine, way, message=TURN):
    """What the engine answers in one of its four ways of chatting."""
    if way == "chat":
        return str(engine.chat(message, HISTORY))
    if way == "stream_chat":
        return "".join(engine.stream_chat(message, HISTORY).response_gen)
    if way == "achat":
        return str(await engine.achat(message, HISTORY))
    stream = await engine.astream_chat(message, HISTORY)
    answer = "".join([token async for token in stream.async_response_gen()])
    if stream.awrite_response_to_history_task is not None:  # or it outlives the test
        await stream.awrite_response_to_history_task
    return answer


@pytest.fixture(scope="module")
def guard():
    return Guard()


@pytest.mark.parametrize("way", ["chat", "stream_chat", "achat", "astream_chat"])
@pytest.mark.parametrize("kind", ENGINES)
async def test_a_changed_rewrite_is_not_searched(kind, way, guard):
    decisions = []
    engine, retriever = made(kind, guard=guard, on_decision=decisions.append)
    assert await said(engine, way) == "The answer."
    assert retriever.queries == [TURN]
    assert [decision.verdict for decision in decisions] == [Verdict.CHANGED]


@pytest.mark.parametrize("kind", ENGINES)
def test_a_faithful_rewrite_is_searched(kind, guard):
    engine, retriever = made(kind, Model(rewrite=f"{FAITHFUL}\n"), guard=guard)
    engine.chat(TURN, HISTORY)
    assert retriever.queries == [FAITHFUL]


@pytest.mark.parametrize("kind", ENGINES)
async def test_a_rewriter_that_fails_leaves_the_users_own_words(kind, guard):
    decisions = []
    model = Model(fails=True)
    engine, retriever = made(kind, model, guard=guard, on_decision=decisions.append)
    engine.chat(TURN, HISTORY)
    await engine.achat(TURN, HISTORY)
    assert retriever.queries == [TURN, TURN]
    assert [decision.reason for decision in decisions] == ["rewriter_error", "rewriter_error"]


@pytest.mark.parametrize("kind", ENGINES)
async def test_on_a_first_turn_nothing_is_asked_and_nothing_checked(kind):
    model = Model()
    decisions = []
    engine, retriever = made(kind, model, guard=FakeGuard(), on_decision=decisions.append)
    engine.chat(TURN)
    engine.reset()
    await engine.achat(TURN)
    assert retriever.queries == [TURN, TURN]
    assert decisions == []
    assert not any("tandalone question" in prompt for prompt in model.prompts)


async def test_an_engine_that_skips_condensing_is_left_alone():
    decisions = []
    engine, retriever = made(
        GuardedCondensePlusContextChatEngine,
        skip_condense=True,
        guard=FakeGuard(verdicts={TURN: Verdict.CHANGED}),
        on_decision=decisions.append,
    )
    engine.chat(TURN, HISTORY)
    await engine.achat(TURN, HISTORY)
    assert retriever.queries == [TURN, TURN]
    assert decisions == []


def test_the_history_of_the_memory_is_read(guard):
    engine, retriever = made(
        GuardedCondenseQuestionChatEngine,
        Model(rewrite="What does hiring the attic cost?"),
        chat_history=HISTORY,
        guard=guard,
    )
    engine.chat("What does hiring it cost?")
    assert retriever.queries == ["What does hiring the attic cost?"]
    assert [message.content for message in engine.chat_history][-2:] == ["What does hiring it cost?", "The answer."]


def test_the_answer_is_asked_for_with_the_users_own_words(guard):
    model = Model()
    engine, _ = made(GuardedCondensePlusContextChatEngine, model, guard=guard)
    engine.chat(TURN, HISTORY)
    assert TURN in model.prompts[-1]
    assert LOSSY not in model.prompts[-1]


@pytest.mark.parametrize("kind", ENGINES)
def test_in_shadow_mode_the_engine_does_as_before(kind, guard):
    plain = {
        GuardedCondenseQuestionChatEngine: CondenseQuestionChatEngine,
        GuardedCondensePlusContextChatEngine: CondensePlusContextChatEngine,
    }[kind]
    decisions, searched = [], []
    for engine, retriever in (
        made(plain),
        made(kind, guard=guard, policy=Policy.observe(), on_decision=decisions.append),
    ):
        engine.chat(TURN, HISTORY)
        searched.append(retriever.queries)
    assert searched == [[LOSSY], [LOSSY]]
    assert decisions[0].proposed == "fall_back"
    engine, _ = made(kind, Model(fails=True), guard=guard, policy=Policy.observe())
    with pytest.raises(TimeoutError):
        engine.chat(TURN, HISTORY)


async def test_asking_back_reaches_the_caller():
    asking = FakeGuard(verdicts={LOSSY: Verdict.UNCERTAIN}, candidates=("cellar", "attic"))
    engine, retriever = made(ENGINES[1], guard=asking, policy=Policy(clarify=True))
    with pytest.raises(ClarificationNeeded):
        engine.chat(TURN, HISTORY)
    with pytest.raises(ClarificationNeeded):
        await engine.achat(TURN, HISTORY)
    assert retriever.queries == []


def test_spans_and_counts_are_told(guard, monkeypatch):
    told = probe(monkeypatch)
    engine, _ = made(ENGINES[1], guard=guard)
    engine.chat(TURN, HISTORY)
    assert told.span("rewriteguard.rewrite")
    assert told.span("rewriteguard.check").attributes["rewriteguard.rewritten_query"] == LOSSY
    labels = [attributes for attributes, _ in told.points("rewriteguard.decisions")]
    assert [(each["verdict"], each["action"]) for each in labels] == [("changed", "fall_back")]


@pytest.mark.parametrize("kind", ENGINES)
def test_the_constructor_takes_the_same_keywords(kind):
    with pytest.raises(InputError, match="policy: expected a Policy, got str"):
        made(kind, guard=FakeGuard(), policy="single")
    parts = parts_of(made(kind, guard=FakeGuard())[0])
    decisions = []
    engine = kind(**parts, guard=FakeGuard(verdicts={LOSSY: Verdict.CHANGED}), on_decision=decisions.append)
    engine.chat(TURN, HISTORY)
    assert [decision.query for decision in decisions] == [TURN]


def test_keywords_of_one_engine_do_not_reach_the_next():
    first, second = FakeGuard(), FakeGuard()
    before, _ = made(ENGINES[0], guard=first, policy=Policy.observe())
    engine, _ = made(ENGINES[0], guard=second)
    assert (engine._plan.decider.guard, engine._plan.decider.policy.name) == (second, "single")
    direct = ENGINES[0](**parts_of(before))
    assert type(direct._plan.decider.guard) is Guard  # the process-wide one


def parts_of(engine):
    """What the engine's constructor was given."""
    names = ("_query_engine", "_condense_question_prompt", "_memory", "_llm", "_retriever")
    return {name.removeprefix("_"): value for name, value in vars(engine).items() if name in names}


def transform(rewrite=LOSSY, **keywords):
    return GuardedQueryTransform(lambda turn, history: rewrite, **keywords)


def test_the_transform_gives_the_rewrite_or_the_turn(guard):
    for rewrite, searched in ((LOSSY, TURN), (FAITHFUL, FAITHFUL)):
        bundle = transform(rewrite, guard=guard).run(TURN, {"chat_history": HISTORY})
        assert (bundle.query_str, bundle.embedding_strs) == (searched, [searched])


def test_the_transform_keeps_a_bundle_that_it_need_not_change(guard):
    given = QueryBundle(TURN, custom_embedding_strs=["attic"], image_path="a.png")
    assert transform(guard=guard).run(given, {"chat_history": HISTORY}) is given
    changed = transform(FAITHFUL, guard=guard).run(given, {"chat_history": HISTORY})
    assert (changed.embedding_strs, changed.image_path) == ([FAITHFUL], "a.png")


@pytest.mark.parametrize("metadata", [None, {}, {"chat_history": []}])
def test_without_a_history_the_transform_asks_no_rewriter(metadata):
    def rewriter(turn):
        pytest.fail("asked")

    made_transform = GuardedQueryTransform(rewriter, guard=FakeGuard(broken=True))
    assert made_transform.run(TURN, metadata).query_str == TURN


def test_another_transform_can_be_the_rewriter(guard):
    class Turning(IdentityQueryTransform):
        def _run(self, query_bundle, metadata):
            assert metadata["chat_history"] == HISTORY
            return QueryBundle(metadata["rewrite"])

    made_transform = GuardedQueryTransform(Turning(), guard=guard)
    for rewrite, searched in ((LOSSY, TURN), (FAITHFUL, FAITHFUL)):
        bundle = made_transform.run(TURN, {"chat_history": HISTORY, "rewrite": rewrite})
        assert bundle.query_str == searched


def test_the_transform_takes_the_day_from_the_metadata():
    fake = FakeGuard()
    transform(guard=fake).run(TURN, {"chat_history": HISTORY, "reference_date": date(2024, 2, 29)})
    assert ("decide", date(2024, 2, 29)) in fake.calls


def test_the_transform_stands_before_a_query_engine(guard):
    retriever = Recording()
    behind = RetrieverQueryEngine.from_args(retriever, llm=Model())
    engine = TransformQueryEngine(behind, transform(guard=guard), transform_metadata={"chat_history": HISTORY})
    assert str(engine.query(TURN)) == "The answer."
    assert retriever.queries == [TURN]


async def test_a_history_of_unknown_form_and_an_asynchronous_rewriter_break_nothing(guard):
    async def rewriter(turn):
        return LOSSY

    for policy, searched in ((None, TURN), (Policy.observe(), LOSSY)):
        made_transform = GuardedQueryTransform(rewriter, guard=guard, policy=policy)
        assert made_transform.run(TURN, {"chat_history": HISTORY}).query_str == searched
        assert made_transform.run(TURN, {"chat_history": [42]}).query_str == searched


def test_a_rewriter_that_cannot_be_asked_is_refused():
    with pytest.raises(InputError, match="rewriter: expected a callable"):
        GuardedQueryTransform(42, guard=FakeGuard())
