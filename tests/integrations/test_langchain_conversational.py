"""The guard in ConversationalRetrievalChain, on chains that langchain-classic itself makes."""

from __future__ import annotations

import pytest
from langchain_classic.chains import ConversationalRetrievalChain
from langchain_classic.chains.conversational_retrieval.base import _get_chat_history
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from opentelemetry.sdk.trace import TracerProvider
from pydantic import Field

from fakes import FakeGuard, probe
from rewriteguard import ClarificationNeeded, Guard, Policy, UnsupportedChainError, Verdict
from rewriteguard.integrations.langchain import conversational as langchain_conversational
from rewriteguard.integrations.langchain import guard_conversational_retrieval_chain

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")

HISTORY = [HumanMessage("Which rooms can be hired?"), AIMessage("The cellar and the attic can be hired.")]
TURN = "What did hiring the attic cost before 2021, without heating?"
FAITHFUL = "What did hiring the attic without heating cost before 2021?"
LOSSY = "What does hiring the attic with heating cost?"


class Model(BaseChatModel):
    """Gives the rewrite where it is asked for a standalone question, and otherwise the answer."""

    rewrite: str = LOSSY
    fails: bool = False
    prompts: list = Field(default_factory=list)

    @property
    def _llm_type(self):
        return "told"

    def _generate(self, messages, stop=None, run_manager=None, **_):
        prompt = "\n".join(message.text for message in messages)
        self.prompts.append(prompt)
        if "Standalone question" not in prompt:
            return self._says("The answer.")
        if self.fails:
            raise TimeoutError("no model")
        return self._says(self.rewrite)

    @staticmethod
    def _says(text):
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


class Recording(BaseRetriever):
    queries: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager):
        self.queries.append(query)
        return [Document("The attic is heated in winter.")]


def made(model=None, **keywords):
    return ConversationalRetrievalChain.from_llm(model or Model(), Recording(), **keywords)


def parts(chain):
    """What the retriever was asked for, and the prompts of the model."""
    return chain.retriever.queries, chain.combine_docs_chain.llm_chain.llm.prompts


@pytest.fixture(scope="module")
def guard():
    return Guard()


async def asked(chain, way, **payload):
    payload = {"question": TURN, "chat_history": HISTORY, **payload}
    return chain.invoke(payload) if way == "invoke" else await chain.ainvoke(payload)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_changed_rewrite_is_neither_searched_nor_answered(way, guard):
    decisions = []
    chain = guard_conversational_retrieval_chain(made(), guard=guard, on_decision=decisions.append)
    answer = await asked(chain, way)
    queries, prompts = parts(chain)
    assert answer["answer"] == "The answer."
    assert queries == [TURN]
    assert TURN in prompts[-1]
    assert LOSSY not in prompts[-1]
    assert [decision.verdict for decision in decisions] == [Verdict.CHANGED]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_faithful_rewrite_is_searched_and_the_users_question_answered(way, guard):
    chain = guard_conversational_retrieval_chain(made(Model(rewrite=FAITHFUL)), guard=guard)
    await asked(chain, way)
    queries, prompts = parts(chain)
    assert queries == [FAITHFUL]
    assert TURN in prompts[-1]
    assert FAITHFUL not in prompts[-1]


def test_the_chain_that_was_given_stays_as_it_is(guard):
    plain = made()
    guard_conversational_retrieval_chain(plain, guard=guard)
    plain.invoke({"question": TURN, "chat_history": HISTORY})
    assert parts(plain)[0] == [LOSSY]
    assert LOSSY in parts(plain)[1][-1]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_rewriter_that_fails_leaves_the_users_own_words(way, guard):
    chain = guard_conversational_retrieval_chain(made(Model(fails=True)), guard=guard)
    assert (await asked(chain, way))["answer"] == "The answer."
    assert parts(chain)[0] == [TURN]


async def test_in_shadow_mode_the_chain_does_as_before(guard):
    plain, decisions = made(), []
    chain = guard_conversational_retrieval_chain(
        made(), guard=guard, policy=Policy.observe(), on_decision=decisions.append
    )
    for way in ("invoke", "ainvoke"):
        assert await asked(chain, way) == await asked(plain, way)
    assert parts(chain) == parts(plain)
    assert decisions[0].proposed == "fall_back"
    failing = guard_conversational_retrieval_chain(made(Model(fails=True)), guard=guard, policy=Policy.observe())
    with pytest.raises(TimeoutError):
        failing.invoke({"question": TURN, "chat_history": HISTORY})


class Seeing(FakeGuard):
    def __init__(self):
        super().__init__()
        self.histories = []

    def decide(self, turn, rewrite, history=(), **keywords):
        self.histories.append([(message.role.value, message.text) for message in history.history])
        return super().decide(turn, rewrite, history, **keywords)


FORMS = {
    "messages": (HISTORY, {}),
    "pairs": ([("Which rooms can be hired?", "The cellar and the attic can be hired.")], {}),
    "a function that gives the messages": (HISTORY, {"get_chat_history": lambda history: history}),
    "a function that gives text": (HISTORY, {"get_chat_history": lambda history: "Human: forged"}),
}


@pytest.mark.parametrize(("history", "keywords"), FORMS.values(), ids=FORMS)
def test_the_guard_reads_who_said_what(history, keywords):
    seeing = Seeing()
    chain = guard_conversational_retrieval_chain(made(**keywords), guard=seeing)
    chain.invoke({"question": TURN, "chat_history": history})
    assert seeing.histories == [[("user", HISTORY[0].content), ("assistant", HISTORY[1].content)]]


def test_a_history_that_was_text_from_the_start_is_the_assistants():
    seeing = Seeing()
    chain = guard_conversational_retrieval_chain(made(get_chat_history=lambda history: history), guard=seeing)
    chain.invoke({"question": TURN, "chat_history": "Human: Which rooms?\nAssistant: Two."})
    assert seeing.histories == [[("assistant", "Human: Which rooms?\nAssistant: Two.")]]


def test_the_memory_of_the_chain_is_used_and_filled():
    seeing = Seeing()
    memory = ConversationBufferMemory(memory_key="chat_history", return_messages=True)
    memory.save_context({"question": HISTORY[0].content}, {"answer": HISTORY[1].content})
    chain = guard_conversational_retrieval_chain(made(memory=memory), guard=seeing)
    chain.invoke({"question": TURN})
    assert seeing.histories == [[("user", HISTORY[0].content), ("assistant", HISTORY[1].content)]]
    assert [message.content for message in memory.chat_memory.messages][2:] == [TURN, "The answer."]


def test_on_a_first_turn_nothing_is_asked_and_nothing_checked():
    decisions = []
    chain = guard_conversational_retrieval_chain(made(), guard=FakeGuard(), on_decision=decisions.append)
    chain.invoke({"question": TURN, "chat_history": []})
    assert parts(chain)[0] == [TURN]
    assert len(parts(chain)[1]) == 1
    assert decisions == []


HISTORIES = [
    [],
    HISTORY,
    [HumanMessage(""), AIMessage("Yes.")],
    [ChatMessage("Hello.", role="concierge"), ("a", "b")],
    [HumanMessage([{"type": "text", "text": "Hi"}])],
]


@pytest.mark.parametrize("history", HISTORIES)
def test_the_rewriter_gets_the_text_that_the_chain_would_give_it(history):
    assert langchain_conversational._as_text(history) == _get_chat_history(history)
    plain, chain = made(), guard_conversational_retrieval_chain(made(), guard=FakeGuard())
    for each in (plain, chain):
        each.invoke({"question": TURN, "chat_history": history})
    assert parts(chain)[1][0] == parts(plain)[1][0]


def test_a_history_that_the_chain_refuses_stays_refused():
    for chain in (made(), guard_conversational_retrieval_chain(made(), guard=FakeGuard())):
        with pytest.raises(ValueError, match=r"chat.history"):
            chain.invoke({"question": TURN, "chat_history": [42]})


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_history_that_only_the_chain_can_read_breaks_nothing(way, guard):
    chain = guard_conversational_retrieval_chain(made(get_chat_history=lambda history: "Two rooms."), guard=guard)
    assert (await asked(chain, way, chat_history=[42]))["answer"] == "The answer."
    assert parts(chain)[0] == [TURN]


def test_asking_back_reaches_the_caller():
    asking = FakeGuard(verdicts={LOSSY: Verdict.UNCERTAIN}, candidates=("cellar", "attic"))
    chain = guard_conversational_retrieval_chain(made(), guard=asking, policy=Policy(clarify=True))
    with pytest.raises(ClarificationNeeded):
        chain.invoke({"question": TURN, "chat_history": HISTORY})
    assert parts(chain)[0] == []


class Tracing(BaseCallbackHandler):
    """Opens a span for each run, and attaches none to the context, as OpenInference's instrumentor does."""

    def __init__(self):
        self.tracer = TracerProvider().get_tracer("host")
        self.open = {}

    def on_chain_start(self, serialized, inputs, *, run_id, **_):
        self.open[run_id] = self.tracer.start_span("run")

    def get_span(self, run_id):
        return self.open.get(run_id)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_the_spans_stand_below_the_run_of_the_chain(way, guard, monkeypatch):
    told, tracing = probe(monkeypatch), Tracing()
    chain = guard_conversational_retrieval_chain(made(), guard=guard)
    payload, config = {"question": TURN, "chat_history": HISTORY}, {"callbacks": [tracing]}
    _ = chain.invoke(payload, config) if way == "invoke" else await chain.ainvoke(payload, config)
    outermost = next(iter(tracing.open.values())).get_span_context().span_id
    decide = told.span("rewriteguard.decide")
    assert decide.parent.span_id == outermost
    parents = [told.span(f"rewriteguard.{name}").parent.span_id for name in ("rewrite", "check")]
    assert parents == [decide.context.span_id] * 2
    assert len(told.points("rewriteguard.decisions")) == 1


@pytest.mark.parametrize("chain", [Recording(), "chain", None])
def test_another_chain_is_refused(chain):
    with pytest.raises(UnsupportedChainError, match="expected a ConversationalRetrievalChain, got"):
        guard_conversational_retrieval_chain(chain, guard=FakeGuard())


def test_a_prompt_of_messages_works_too(guard):
    condense = ChatPromptTemplate.from_messages(
        [("system", "Standalone question."), MessagesPlaceholder("chat_history"), ("human", "{question}")]
    )
    plain = made(condense_question_prompt=condense, get_chat_history=lambda history: history)
    chain = guard_conversational_retrieval_chain(plain, guard=guard)
    chain.invoke({"question": TURN, "chat_history": HISTORY})
    assert parts(chain)[0] == [TURN]
