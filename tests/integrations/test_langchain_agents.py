"""The guard in LangChain agents: real agents of `create_agent`, whose model says what a test tells it to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import pytest

from fakes import FakeGuard, probe
from rewriteguard import (
    ClarificationNeeded,
    Guard,
    InputError,
    Kind,
    Policy,
    Predicate,
    Profile,
    Release,
    RequestClass,
    Verdict,
)

pytest.importorskip("langchain", reason="the extra `agents` is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import tool
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, ToolMessage
from opentelemetry.sdk.trace import TracerProvider

from rewriteguard.integrations.langchain import GuardMiddleware

TALK = [HumanMessage("Which rooms can be hired?"), AIMessage("The cellar and the attic can be hired.")]
TURN = "What did hiring the attic cost before 2021, without heating?"
FAITHFUL = "cost of hiring the attic before 2021 without heating"
LOSSY = "cost of hiring the attic with heating"


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


def calling(*queries, name="search", argument="query"):
    calls = [
        {"name": name, "args": {argument: query}, "id": f"{name}-{place}-{query}", "type": "tool_call"}
        for place, query in enumerate(queries)
    ]
    return AIMessage("", tool_calls=calls)


class Agent:
    """An agent whose model makes one step after the other, then says that it is done."""

    def __init__(self, *steps, guard=None, middleware=(), tools=None, state=None, **keywords):
        self.queries, self.decisions = [], []

        @tool
        def search(query: str) -> str:
            """Searches."""
            self.queries.append(query)
            return f"found: {query}"

        @tool
        def note(text: str) -> str:
            """Notes."""
            self.queries.append(text)
            return "noted"

        keywords = {"on_decision": self.decisions.append, **keywords}
        self.middleware = GuardMiddleware(tools or {"search": "query"}, guard=guard, **keywords)
        self.graph = create_agent(
            Model(messages=iter([*steps, AIMessage("done")])),
            [search, note],
            middleware=[*middleware, self.middleware],
        )

    def ask(self, *messages, **config):
        return self.graph.invoke({"messages": list(messages)}, config)["messages"]

    @property
    def verdicts(self):
        return [decision.verdict for decision in self.decisions]


@pytest.fixture(scope="module")
def guard():
    return Guard()


def test_a_changed_query_is_replaced_by_the_users_own_words(guard):
    agent = Agent(calling(LOSSY), guard=guard)
    messages = agent.ask(*TALK, HumanMessage(TURN))
    assert agent.queries == [TURN]
    assert agent.verdicts == [Verdict.CHANGED]
    assert messages[-1].text == "done"
    assert [message.content for message in messages if isinstance(message, ToolMessage)] == [f"found: {TURN}"]
    assert messages[-3].tool_calls[0]["args"] == {"query": LOSSY}  # what the model said stays what it said


def test_a_faithful_query_is_searched_as_it_is(guard):
    agent = Agent(calling(FAITHFUL), guard=guard)
    agent.ask(*TALK, HumanMessage(TURN))
    assert agent.queries == [FAITHFUL]
    assert agent.verdicts == [Verdict.PRESERVED]


async def test_the_asynchronous_side_does_the_same(guard):
    agent = Agent(calling(LOSSY), guard=guard)
    await agent.graph.ainvoke({"messages": [*TALK, HumanMessage(TURN)]})
    assert agent.queries == [TURN]
    assert agent.verdicts == [Verdict.CHANGED]


async def test_other_tools_are_left_alone(guard):
    for run in (0, 1):
        agent = Agent(calling(LOSSY, name="note", argument="text"), guard=guard)
        state = {"messages": [*TALK, HumanMessage(TURN)]}
        _ = await agent.graph.ainvoke(state) if run else agent.graph.invoke(state)
        assert agent.queries == [LOSSY]
        assert agent.decisions == []


def test_what_a_tool_gave_back_in_this_turn_is_history_of_a_tool():
    question = HumanMessage("Who runs the attic, and what else do they run?")
    step = calling("Who runs the attic?")
    found = ToolMessage("The attic is run by Larkspur.", tool_call_id=step.tool_calls[0]["id"])
    seeing = Seeing()
    Agent(calling("What else does Larkspur run?"), guard=seeing).ask(*TALK, question, step, found)
    history = [(message.role, message.text) for message in seeing.histories[-1]]
    assert history == [
        *[(role, m.text) for role, m in zip(("user", "assistant"), TALK, strict=True)],
        ("tool", found.text),
    ]


@dataclass
class Found:
    assessments: tuple


class Seeing(FakeGuard):
    """Remembers the histories and the sets that it was given."""

    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.histories, self.sets = [], []

    def decide(self, turn, rewrite, history=(), **keywords):
        self.histories.append(history.history)
        return super().decide(turn, rewrite, history, **keywords)

    def check_all(self, turn, rewrites, history=(), *, profile, listed, reference_date=None):
        assert not listed  # each call holds one query
        self._called("check_all", reference_date)
        self.histories.append(history.history)
        self.sets.append((tuple(rewrites), profile))
        single = super().decide
        return Found(tuple(single(turn, rewrite, history, profile=profile).assessment for rewrite in rewrites))


BOTH = "What did the attic cost in 2021 and in 2023, without heating?"
PARTS = ("What did the attic cost in 2021 without heating?", "What did the attic cost in 2023 without heating?")


def test_several_queries_of_a_step_are_judged_together(guard):
    agent = Agent(calling(*PARTS), guard=guard)
    agent.ask(*TALK, HumanMessage(BOTH))
    assert sorted(agent.queries) == sorted(PARTS)
    alone = Agent(calling(PARTS[0]), guard=guard)  # as the only one it has lost 2023
    alone.ask(*TALK, HumanMessage(BOTH))
    assert alone.queries == [BOTH]


def test_what_no_query_of_a_step_kept_is_kept_by_the_users_own_words(guard):
    agent = Agent(calling("What did the attic cost in 2021?", "What did the attic cost in 2023?"), guard=guard)
    agent.ask(*TALK, HumanMessage(BOTH))
    assert agent.queries == [BOTH, BOTH]
    assert agent.verdicts == [Verdict.CHANGED, Verdict.CHANGED]


@pytest.mark.parametrize("queries", [(FAITHFUL,), PARTS])
def test_a_class_that_falls_back_searches_the_users_own_words(queries, guard):
    off = RequestClass("dates", Predicate(kinds=(Kind.TIME,)), Release.FALL_BACK)
    turn = TURN if queries == (FAITHFUL,) else BOTH
    agent = Agent(calling(*queries), guard=guard, policy=Policy(classes=(off,)))
    agent.ask(*TALK, HumanMessage(turn))
    assert agent.queries == [turn] * len(queries)
    assert [each.request_class for each in agent.decisions] == ["dates"] * len(queries)


def test_one_bad_query_of_several_is_replaced_alone(guard):
    bad = "What did the attic cost in 2019 without heating?"
    agent = Agent(calling(PARTS[0], bad, PARTS[1]), guard=guard)
    agent.ask(*TALK, HumanMessage(BOTH))
    assert sorted(agent.queries) == sorted([BOTH, *PARTS])


@pytest.mark.parametrize("queries", [("Option 1: price", "Option 2: price"), ("1. FC Ribe price", "2. FC Ribe price")])
def test_the_queries_of_a_step_are_no_list(queries, guard):
    agent = Agent(calling(*queries), guard=guard, policy=Policy())
    agent.ask(HumanMessage("Compare the price of the first option, or the first club, with that of the second."))
    assert sorted(decision.assessment.rewrite for decision in agent.decisions) == sorted(queries)


def test_each_call_of_a_step_is_judged_in_the_same_set():
    seeing = Seeing()
    agent = Agent(calling("a", "b", "c"), guard=seeing)
    agent.ask(HumanMessage("Everything?"))
    assert seeing.sets == [(("a", "b", "c"), Profile.DECOMPOSE)] * 3


def test_a_query_of_a_later_step_may_leave_out_what_an_earlier_one_asked(guard):
    agent = Agent(calling(PARTS[0]), calling(PARTS[1]), guard=guard)
    agent.ask(*TALK, HumanMessage(BOTH))
    assert agent.queries == [BOTH, PARTS[1]]


def test_a_later_step_is_judged_with_the_queries_before_it():
    seeing = Seeing()
    agent = Agent(calling("a"), calling("b", name="note", argument="text"), calling("c"), guard=seeing)
    agent.ask(*TALK, HumanMessage("Everything?"))
    assert seeing.sets == [(("a", "c"), Profile.DECOMPOSE)]


@pytest.mark.parametrize("query", ["", "  \n", "Here are the queries:"])
def test_what_is_no_query_beside_one_that_is_one_is_replaced(query, guard):
    agent = Agent(calling(FAITHFUL, query), guard=guard)
    agent.ask(*TALK, HumanMessage(TURN))
    assert sorted(agent.queries) == sorted([FAITHFUL, TURN])


def test_queries_of_an_earlier_turn_are_not_of_the_set():
    seeing = Seeing()
    agent = Agent(calling("b"), guard=seeing)
    earlier = [HumanMessage("First?"), calling("a"), ToolMessage("x", tool_call_id="search-0-a"), AIMessage("So.")]
    agent.ask(*earlier, HumanMessage("Second?"))
    assert seeing.sets == []
    assert [message.text for message in seeing.histories[0]] == ["First?", "x", "So."]


def test_equal_ids_in_two_steps_are_told_apart():
    steps = [calling("a"), calling("b")]
    for step in steps:
        step.tool_calls[0]["id"] = "1"
    seeing = Seeing(verdicts={"b": Verdict.CHANGED})
    agent = Agent(*steps, guard=seeing)
    agent.ask(HumanMessage("Everything?"))
    assert agent.queries == ["a", "Everything?"]


def test_a_step_behind_that_of_the_call_is_not_of_the_set():
    seeing = Seeing()
    middleware = GuardMiddleware({"search": "query"}, guard=seeing)
    steps = [calling("a", "b"), calling("c")]
    request = Request(steps[0].tool_calls[0], [HumanMessage("Everything?"), *steps])
    middleware.wrap_tool_call(request, lambda given: given)
    assert seeing.sets == [(("a", "b"), Profile.DECOMPOSE)]


class Shortening(AgentMiddleware):
    """Another middleware, which changes queries before the guard sees them."""

    def wrap_tool_call(self, request, handler):
        call = request.tool_call
        return handler(request.override(tool_call={**call, "args": {"query": call["args"]["query"][:1]}}))


def test_a_query_is_judged_as_another_middleware_left_it():
    seeing = Seeing()
    agent = Agent(calling("apple", "berry"), guard=seeing, middleware=[Shortening()])
    agent.ask(HumanMessage("Everything?"))
    assert {rewrites for rewrites, _ in seeing.sets} == {("a", "berry"), ("apple", "b")}
    assert sorted(agent.queries) == ["a", "b"]


def test_a_summary_is_the_assistants_and_never_the_turn():
    seeing = Seeing()
    agent = Agent(calling("b"), guard=seeing)
    summary = HumanMessage("We spoke of rooms.", additional_kwargs={"lc_source": "summarization"})
    agent.ask(summary, HumanMessage("Which?"))
    assert [(m.role, m.text) for m in seeing.histories[0]] == [("assistant", "We spoke of rooms.")]
    agent = Agent(calling("b"), guard=Seeing(verdicts={"b": Verdict.CHANGED}))
    agent.ask(summary)
    assert agent.queries == ["b"]


ODD = {
    "no human message": [AIMessage("Hello.")],
    "a picture alone": [HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}])],
    "content blocks": [HumanMessage([{"type": "text", "text": "Which rooms?"}])],
    "a role of the application's own": [ChatMessage("Hello.", role="concierge"), HumanMessage("Which rooms?")],
}


@pytest.mark.parametrize("messages", ODD.values(), ids=ODD)
async def test_odd_conversations_break_no_call(messages, guard):
    for run in (0, 1):
        agent = Agent(calling("rooms"), guard=guard)
        state = {"messages": messages}
        _ = await agent.graph.ainvoke(state) if run else agent.graph.invoke(state)
        assert len(agent.queries) == 1
        assert len(agent.decisions) == 1


def test_without_a_turn_the_query_is_searched_unchecked_and_the_decision_says_so(guard):
    agent = Agent(calling("rooms"), guard=guard)
    agent.ask(*ODD["a picture alone"])
    assert agent.queries == ["rooms"]
    assert agent.decisions[0].reason == "guard_error"


def test_a_call_without_the_argument_is_the_tools_own_affair(guard):
    results = []
    for tools in ({"search": "query"}, {"note": "text"}):
        agent = Agent(calling("x", argument="wrong"), guard=guard, tools=tools)
        results.append(agent.ask(HumanMessage(TURN))[-2].content)
        assert agent.decisions == []
    assert results[0] == results[1]
    assert "query" in results[0]  # the tool said what it missed


@pytest.mark.parametrize("value", [["a", "b"], 7, None, {"text": "a"}])
def test_an_argument_that_is_no_text_is_left_alone(value, guard):
    agent = Agent(calling(value), guard=guard)
    messages = agent.ask(HumanMessage(TURN))
    assert messages[-1].text == "done"
    assert agent.decisions == []


def test_the_middleware_reads_states_that_are_no_mapping(guard):
    decisions = []
    middleware = GuardMiddleware({"search": "query"}, guard=guard, on_decision=decisions.append)
    from_list, from_object = [*TALK, HumanMessage(TURN)], type("State", (), {})()
    from_object.messages = from_list
    for state in (from_list, from_object, None):
        request = Request({"name": "search", "args": {"query": LOSSY}, "id": None}, state)
        middleware.wrap_tool_call(request, lambda given: given)
    assert [decision.query for decision in decisions] == [TURN, TURN, LOSSY]


@dataclass
class Request:
    tool_call: dict
    state: object
    runtime: object = None

    def override(self, tool_call):
        return Request(tool_call, self.state)


def test_a_guard_that_fails_leaves_the_users_own_words():
    agent = Agent(calling("a", "b"), guard=Seeing(broken=True))
    agent.ask(HumanMessage("Everything?"))
    assert agent.queries == ["Everything?", "Everything?"]
    assert [decision.reason for decision in agent.decisions] == ["guard_error", "guard_error"]


def test_a_tool_that_raises_still_raises(guard):
    middleware = GuardMiddleware({"search": "query"}, guard=guard)
    request = Request({"name": "search", "args": {"query": LOSSY}, "id": None}, [HumanMessage(TURN)])

    def failing(_):
        raise KeyError("index")

    with pytest.raises(KeyError):
        middleware.wrap_tool_call(request, failing)


def test_in_shadow_mode_the_query_goes_out_as_it_came(guard):
    agent = Agent(calling(f"  {LOSSY}\n"), guard=guard, policy=Policy.observe())
    agent.ask(*TALK, HumanMessage(TURN))
    assert agent.queries == [f"  {LOSSY}\n"]
    assert agent.decisions[0].proposed == "fall_back"


def test_any_policy_is_held_to_one_search():
    uncertain = {"a": Verdict.UNCERTAIN}
    for policy, searched in ((Policy(), "a"), (Policy.strict(), "Everything?"), (Policy.single(), "a")):
        agent = Agent(calling("a"), guard=FakeGuard(verdicts=uncertain), policy=policy)
        agent.ask(HumanMessage("Everything?"))
        assert agent.queries == [searched]
        assert [query.text for query in agent.decisions[0].queries] == [searched]


def test_asking_back_reaches_the_caller_of_the_agent():
    candidates = ("the cellar", "the attic")
    asking = FakeGuard(verdicts={"a": Verdict.UNCERTAIN}, candidates=candidates)
    agent = Agent(calling("a"), guard=asking, policy=Policy(clarify=True))
    with pytest.raises(ClarificationNeeded) as raised:
        agent.ask(*TALK, HumanMessage("How big is it?"))
    assert raised.value.candidates == candidates
    assert agent.queries == []


def test_the_reference_date_of_the_run_is_used():
    seeing = Seeing()
    agent = Agent(calling("a"), guard=seeing)
    agent.ask(HumanMessage("Everything?"), configurable={"reference_date": date(2024, 2, 29)})
    assert ("decide", date(2024, 2, 29)) in seeing.calls


class Tracing(BaseCallbackHandler):
    """Opens a span for each run, and attaches none to the context, as OpenInference's instrumentor does."""

    def __init__(self):
        self.tracer = TracerProvider().get_tracer("host")
        self.open = {}

    def on_chain_start(self, serialized, inputs, *, run_id, **_):
        self.open[run_id] = self.tracer.start_span("run")

    def get_span(self, run_id):
        return self.open.get(run_id)


async def test_the_spans_stand_below_the_run_of_the_agent(guard, monkeypatch):
    for run in (0, 1):
        told, tracing = probe(monkeypatch), Tracing()
        agent = Agent(calling(LOSSY), guard=guard)
        state, config = {"messages": [*TALK, HumanMessage(TURN)]}, {"callbacks": [tracing]}
        _ = await agent.graph.ainvoke(state, config) if run else agent.graph.invoke(state, config)
        around, check = told.span("rewriteguard.retrieve"), told.span("rewriteguard.check")
        assert around.attributes["rewriteguard.verdict"] == "changed"
        assert check.attributes["rewriteguard.original_turn"] == TURN
        assert check.parent.span_id == around.context.span_id
        assert around.parent.span_id in {span.get_span_context().span_id for span in tracing.open.values()}
        labels = [attributes for attributes, _ in told.points("rewriteguard.decisions")]
        assert [(each["verdict"], each["action"]) for each in labels] == [("changed", "fall_back")]


def test_a_set_is_counted_under_its_profile(monkeypatch):
    told = probe(monkeypatch)
    Agent(calling("a", "b"), guard=Seeing()).ask(HumanMessage("Everything?"))
    assert {attributes["profile"] for attributes, _ in told.points("rewriteguard.decisions")} == {"decompose"}


def test_what_on_decision_raises_is_dropped(guard):
    def failing(_):
        raise ValueError("of the application")

    agent = Agent(calling(LOSSY), guard=guard, on_decision=failing)
    agent.ask(*TALK, HumanMessage(TURN))
    assert agent.queries == [TURN]


@pytest.mark.parametrize("tools", [["search"], {"search": 1}, "search", None])
def test_tools_that_name_no_argument_are_refused(tools):
    with pytest.raises(InputError, match="tools: expected a mapping from tool name to argument name"):
        GuardMiddleware(tools, guard=FakeGuard())


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"polcy": Policy()}, "unknown keywords polcy; expected some of guard, on_decision, policy, telemetry"),
        ({"policy": "single"}, "policy: expected a Policy, got str"),
        ({"on_decision": 3}, "on_decision: expected a callable"),
    ],
)
def test_keywords_are_checked(keywords, message):
    with pytest.raises(InputError, match=message):
        GuardMiddleware({"search": "query"}, guard=FakeGuard(), **keywords)
