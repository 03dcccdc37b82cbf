"""The guard as a Haystack component, in real pipelines before a real retriever."""

from __future__ import annotations

from datetime import date

import pytest

from fakes import FakeGuard, probe
from rewriteguard import Guard, InputError, Policy, Verdict

pytest.importorskip("haystack", reason="the extra `haystack` is not installed")

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers import InMemoryBM25Retriever, MultiQueryTextRetriever
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage, TextContent, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore

from rewriteguard.integrations.haystack import RewriteGuard

HISTORY = [
    ChatMessage.from_user("Which rooms can be hired?"),
    ChatMessage.from_assistant("The cellar and the attic can be hired."),
]
TURN = "What did hiring the attic cost before 2021, without heating?"
FAITHFUL = "What did hiring the attic without heating cost before 2021?"
LOSSY = "What does hiring the attic with heating cost?"
DOCUMENTS = [
    Document(id="unheated", content="Before 2021 hiring the attic without heating cost 20 crowns."),
    Document(id="heated", content="The attic with heating costs 60 crowns, hiring included."),
    Document(id="cellar", content="The cellar is dry and takes forty guests."),
]


@component
class Rewriter:
    """A chat generator that says what a test tells it to."""

    def __init__(self, rewrite: str = LOSSY) -> None:
        self.rewrite = rewrite

    @component.output_types(replies=list[ChatMessage])
    def run(self, query: str):
        return {"replies": [ChatMessage.from_assistant(self.rewrite)]}


def pipeline(rewrite=LOSSY, retriever=None, output="query", **keywords):
    store = InMemoryDocumentStore()
    store.write_documents(DOCUMENTS)
    found = InMemoryBM25Retriever(store, top_k=1)
    made = Pipeline()
    made.add_component("rewriter", Rewriter(rewrite))
    made.add_component("guard", RewriteGuard(**keywords))
    made.add_component("retriever", retriever(retriever=found) if retriever else found)
    made.connect("rewriter.replies", "guard.replies")
    made.connect(f"guard.{output}", f"retriever.{output}")
    return made


def ask(made, **more):
    inputs = {"rewriter": {"query": TURN}, "guard": {"query": TURN, "history": HISTORY, **more}}
    return made.run(inputs, include_outputs_from={"guard"})


def ids(result):
    return [document.id for document in result["retriever"]["documents"]]


@pytest.fixture(scope="module")
def guard():
    return Guard()


def run(guard, rewrite=LOSSY, history=HISTORY, **keywords):
    """The outputs of the component by itself."""
    return RewriteGuard(guard=guard, **keywords).run(query=TURN, replies=[rewrite], history=history)


def test_a_changed_rewrite_does_not_reach_the_retriever(guard):
    result = ask(pipeline(guard=guard))
    assert ids(result) == ["unheated"]
    assert result["guard"]["query"] == TURN
    assert result["guard"]["verdict"] == "changed"
    assert result["guard"]["decision"].action == "fall_back"


def test_a_faithful_rewrite_does(guard):
    result = ask(pipeline(f"Query: {FAITHFUL}", guard=guard))
    assert (result["guard"]["query"], result["guard"]["verdict"]) == (FAITHFUL, "preserved")


async def test_an_asynchronous_pipeline_does_the_same(guard):
    inputs = {"rewriter": {"query": TURN}, "guard": {"query": TURN, "history": HISTORY}}
    assert ids(await pipeline(guard=guard).run_async(inputs)) == ["unheated"]


def test_the_process_wide_guard_is_the_default_and_the_pipeline_can_be_dumped():
    made = Pipeline.loads(pipeline().dumps(), allowed_modules=["rewriteguard.integrations.haystack", __name__])
    assert made.get_component("guard").guard is None
    assert made.get_component("guard").run(query=TURN, replies=[LOSSY], history=HISTORY)["query"] == TURN


def test_a_policy_that_fuses_gives_several_queries(guard):
    result = ask(pipeline(FAITHFUL, MultiQueryTextRetriever, "queries", guard=guard, policy=Policy()))
    assert result["guard"]["queries"][:2] == [TURN, FAITHFUL]
    assert "unheated" in ids(result)
    assert ask(pipeline(FAITHFUL, guard=guard))["guard"]["queries"] == [FAITHFUL]


def test_in_shadow_mode_the_rewrite_is_searched_as_it_came(guard):
    outputs = run(guard, f" {LOSSY}", policy=Policy.observe())
    assert outputs["query"] == f" {LOSSY}"
    assert outputs["decision"].proposed == "fall_back"


@pytest.mark.parametrize("reply", [LOSSY, ChatMessage.from_assistant(LOSSY)])
def test_replies_are_strings_or_messages(reply, guard):
    assert run(guard, reply)["verdict"] == "changed"


@pytest.mark.parametrize("replies", [[], [None], [7], [ChatMessage.from_assistant("")]])
def test_a_rewriter_that_gives_nothing_leaves_the_users_own_words(replies, guard):
    outputs = RewriteGuard(guard=guard).run(query=TURN, replies=replies, history=HISTORY)
    assert outputs["query"] == TURN


def test_a_rewriter_that_was_not_asked_is_a_first_turn(guard):
    outputs = RewriteGuard(guard=guard).run(query=TURN)
    assert (outputs["query"], outputs["verdict"], outputs["decision"].reason) == (TURN, "none", "first_turn")


def test_the_guard_runs_where_a_router_spares_the_rewriter(guard):
    routes = [
        {"condition": "{{history|length > 0}}", "output": "{{query}}", "output_name": "later", "output_type": str},
        {"condition": "{{history|length == 0}}", "output": "{{query}}", "output_name": "first", "output_type": str},
    ]
    made = pipeline(guard=guard)
    made.add_component("router", ConditionalRouter(routes))
    made.connect("router.later", "rewriter.query")
    for history, query in (([], TURN), (HISTORY, TURN)):
        inputs = {"router": {"query": TURN, "history": history}, "guard": {"query": TURN, "history": history}}
        result = made.run(inputs, include_outputs_from={"guard"})
        assert result["guard"]["query"] == query
        assert result["guard"]["verdict"] == ("changed" if history else "none")


def test_asking_back_goes_past_the_retriever():
    asking = FakeGuard(verdicts={LOSSY: Verdict.UNCERTAIN}, candidates=("cellar", "attic"))
    made = pipeline(guard=asking, policy=Policy(clarify=True))
    made.add_component("ask", PromptBuilder("Which one: {{ candidates | join(' or ') }}?"))
    made.connect("guard.candidates", "ask.candidates")
    result = ask(made)
    assert result["ask"]["prompt"] == "Which one: cellar or attic?"
    assert "retriever" not in result
    assert "query" not in result["guard"]


def test_what_tools_gave_back_is_history_too():
    histories = []

    class Seeing(FakeGuard):
        def decide(self, turn, rewrite, history=(), **keywords):
            histories.append([(message.role.value, message.text) for message in history.history])
            return super().decide(turn, rewrite, history, **keywords)

    call = ToolCall("rooms", {})
    results = ("one", [TextContent("two"), TextContent("three")])
    tools = [ChatMessage.from_tool(result, origin=call) for result in results]
    run(Seeing(), history=[HISTORY[0], ChatMessage.from_assistant(tool_calls=[call]), *tools])
    assert histories == [[("user", "Which rooms can be hired?"), ("tool", "one"), ("tool", "two\nthree")]]


def test_a_history_of_unknown_form_breaks_nothing(guard):
    outputs = run(guard, FAITHFUL, history=[42])
    assert (outputs["query"], outputs["decision"].reason) == (TURN, "guard_error")


def test_a_guard_that_fails_leaves_the_users_own_words():
    outputs = run(FakeGuard(broken=True), FAITHFUL)
    assert (outputs["query"], outputs["queries"], outputs["verdict"]) == (TURN, [TURN], "none")


def test_the_reference_date_is_used():
    fake = FakeGuard()
    ask(pipeline(guard=fake), reference_date=date(2024, 2, 29))
    assert ("decide", date(2024, 2, 29)) in fake.calls


def test_spans_counts_and_the_callback_are_told(guard, monkeypatch):
    told, decisions = probe(monkeypatch), []
    ask(pipeline(guard=guard, on_decision=decisions.append))
    assert told.span("rewriteguard.check").attributes["rewriteguard.verdict"] == "changed"
    assert len(told.points("rewriteguard.decisions")) == 1
    assert [decision.query for decision in decisions] == [TURN]


def test_arguments_are_checked():
    with pytest.raises(InputError, match="policy: expected a Policy, got str"):
        RewriteGuard(policy="single")
