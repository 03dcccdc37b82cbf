import asyncio
import contextvars
import threading
import time

import pytest
from langchain_core.messages import AIMessage

from fakes import HISTORY, FakeGuard, probe
from rewriteguard.errors import HistoryError, InputError
from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action
from rewriteguard.model.rules import Verdict
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import decider as module
from rewriteguard.retrieve.decider import default_guard
from rewriteguard.retrieve.rewrite import asafe_rewrite, safe_rewrite
from rewriteguard.telemetry import Telemetry

TURN = "And how long does it take?"
GOOD = "How long does it take to renew a parking permit?"


class Message:
    def __init__(self, content):
        self.content = content


class Runnable:
    def __init__(self):
        self.seen = None

    def invoke(self, payload):
        self.seen = payload
        return Message([{"type": "text", "text": GOOD}])


class AsyncRunnable:
    async def ainvoke(self, payload):
        await asyncio.sleep(0)
        return GOOD


class TextLike(str):
    __slots__ = ()


async def coroutine_rewriter(turn, history):
    await asyncio.sleep(0)
    return GOOD


async def both(turn, rewriter, history=HISTORY, **keywords):
    """The decisions of both twins, which must be equal."""
    sync = await asyncio.to_thread(safe_rewrite, turn, rewriter, history, guard=FakeGuard(), **keywords)
    twin = await asafe_rewrite(turn, rewriter, history, guard=FakeGuard(), **keywords)
    assert sync == twin
    return sync


REWRITERS = {
    "two arguments": lambda turn, history: GOOD if history is HISTORY else "",
    "one argument": lambda turn: GOOD,
    "runnable": Runnable(),
    "async runnable": AsyncRunnable(),
    "coroutine function": coroutine_rewriter,
    "lambda of a coroutine": lambda turn, history: coroutine_rewriter(turn, history),
    "string": GOOD,
    "message": lambda turn, history: Message(GOOD),
    "subclass of str": lambda turn, history: TextLike(GOOD),
}


@pytest.mark.parametrize("rewriter", REWRITERS.values(), ids=REWRITERS)
@pytest.mark.parametrize("timeout", [None, 5])
async def test_every_form_of_rewriter(rewriter, timeout):
    decision = await both(TURN, rewriter, timeout=timeout)
    assert (decision.action, decision.query) == (Action.FUSE, GOOD)
    assert type(decision.query) is str


async def test_a_sync_call_inside_an_event_loop_works():
    assert safe_rewrite(TURN, coroutine_rewriter, HISTORY, guard=FakeGuard()).query == GOOD


def test_a_runnable_gets_input_and_history():
    runnable = Runnable()
    safe_rewrite(TURN, runnable, HISTORY, guard=FakeGuard())
    assert runnable.seen == {"input": TURN, "chat_history": HISTORY}
    safe_rewrite(TURN, runnable, Conversation.from_user_turns(["hi"]), guard=FakeGuard())
    assert runnable.seen["chat_history"] == [{"role": "user", "content": "hi"}]


async def test_a_rewriter_that_raises():
    def fails(turn, history):
        raise ConnectionError("no route to model")

    decision = await both(TURN, fails)
    assert (decision.action, decision.reason, decision.query) == (Action.FALL_BACK, "rewriter_error", TURN)
    assert [query.origin for query in decision.queries] == ["original", "carried"]


async def test_an_output_that_is_no_text_is_a_rewriter_error():
    assert (await both(TURN, lambda turn, history: {"query": GOOD})).reason == "rewriter_error"


async def test_a_rewriter_that_takes_too_long():
    release = threading.Event()
    started = time.monotonic()
    decision = await both(TURN, lambda turn, history: release.wait(5) and GOOD, timeout=0.05)
    assert time.monotonic() - started < 2
    release.set()
    assert (decision.action, decision.reason) == (Action.FALL_BACK, "rewriter_timeout")


async def test_an_async_rewriter_is_cancelled_in_time():
    cancelled = asyncio.Event()

    async def slow(turn, history):
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    decision = await asafe_rewrite(TURN, slow, HISTORY, guard=FakeGuard(), timeout=0.02)
    assert decision.reason == "rewriter_timeout"
    assert cancelled.is_set()


async def test_cancelling_the_caller_cancels_the_rewriter():
    state = []

    async def slow(turn, history):
        state.append("started")
        try:
            await asyncio.sleep(5)
        finally:
            state.append("closed")

    task = asyncio.create_task(asafe_rewrite(TURN, slow, HISTORY, guard=FakeGuard()))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert state == ["started", "closed"]


def test_keyboard_interrupt_passes():
    def interrupted(turn, history):
        raise KeyboardInterrupt

    for timeout in (None, 5):
        with pytest.raises(KeyboardInterrupt):
            safe_rewrite(TURN, interrupted, HISTORY, guard=FakeGuard(), timeout=timeout)


async def test_a_guard_that_fails_leaves_the_original_alone():
    decision = safe_rewrite(TURN, GOOD, HISTORY, guard=FakeGuard(broken=True))
    assert (decision.action, decision.reason) == (Action.FALL_BACK, "guard_error")
    assert [(query.text, query.origin) for query in decision.queries] == [(TURN, "original")]


async def test_a_given_rewrite_is_judged_without_history_too():
    guard = FakeGuard({GOOD: Verdict.CHANGED})
    assert safe_rewrite(TURN, GOOD, guard=guard).action is Action.FALL_BACK
    assert guard.calls[0][0] == "decide"


async def test_bad_input_is_named_before_the_rewriter_runs():
    asked = []
    with pytest.raises(InputError, match=r"turn: .*bytes"):
        safe_rewrite(b"turn", lambda turn, history: asked.append(turn), HISTORY, guard=FakeGuard())
    with pytest.raises(HistoryError, match=r"history\[1\]"):
        await asafe_rewrite(TURN, lambda turn, history: asked.append(turn), [("user", "a"), 7], guard=FakeGuard())
    with pytest.raises(InputError, match=r"rewriter: .*int"):
        safe_rewrite(TURN, 7, HISTORY, guard=FakeGuard())
    for keywords in ({"timeout": 0}, {"policy": "strict"}, {"guard": FakeGuard}, {"profile": "condense"}):
        (name,) = keywords
        with pytest.raises(InputError, match=f"^{name}: expected"):
            safe_rewrite(TURN, lambda turn, history: asked.append(turn), HISTORY, **{"guard": FakeGuard()} | keywords)
    assert asked == []


async def test_a_history_that_can_be_read_once_reaches_guard_and_rewriter():
    seen = []
    guard = FakeGuard()
    safe_rewrite(TURN, lambda turn, history: seen.extend(history) or GOOD, iter(HISTORY), guard=guard)
    assert seen == HISTORY


async def test_shadow_mode_raises_what_the_rewriter_raises_and_has_no_time_limit():
    def fails(turn, history):
        raise ConnectionError("no route to model")

    def slow(turn, history):
        time.sleep(0.05)
        return "  " + GOOD

    with pytest.raises(ConnectionError):
        safe_rewrite(TURN, fails, HISTORY, guard=FakeGuard(), policy=Policy.observe())
    decision = await both(TURN, slow, policy=Policy.observe(), timeout=0.01)
    assert (decision.action, decision.query) == (Action.USE_REWRITE, "  " + GOOD)


async def test_context_variables_reach_the_rewriter():
    variable = contextvars.ContextVar("tenant", default="none")
    variable.set("north")
    decision = safe_rewrite(TURN, lambda turn, history: variable.get(), HISTORY, guard=FakeGuard(), timeout=5)
    assert decision.query == "north"
    twin = await asafe_rewrite(TURN, lambda turn, history: variable.get(), HISTORY, guard=FakeGuard())
    assert twin.query == "north"


def test_one_process_wide_guard_is_built_once(monkeypatch):
    built = []
    monkeypatch.setattr(module, "Guard", lambda: built.append(time.sleep(0.02)) or FakeGuard())
    module._guard.cache_clear()
    try:
        threads = [threading.Thread(target=default_guard) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(built) == 1
    finally:
        module._guard.cache_clear()


def test_the_spans_of_a_rewrite(monkeypatch):
    seen = probe(monkeypatch)
    safe_rewrite(TURN, lambda turn, history: GOOD, HISTORY, guard=FakeGuard())
    assert [span.name for span in seen.spans] == ["rewriteguard.rewrite", "rewriteguard.check", "rewriteguard.decide"]
    labels = [attributes for attributes, _ in seen.points("rewriteguard.decisions")]
    assert labels == [
        {
            "verdict": "preserved",
            "action": "fuse",
            "proposed_action": "fuse",
            "reason": "ok",
            "dependent": True,
            "profile": "condense",
            "rewriter": "default",
        }
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("rewriter", "told"),
    [(lambda turn, history: GOOD, ("fuse", "ok")), (lambda turn, history: 1 / 0, ("fall_back", "rewriter_error"))],
)
def test_one_span_holds_those_of_a_rewrite_and_tells_the_decision(monkeypatch, rewriter, told, asynchronous):
    seen, telemetry = probe(monkeypatch), Telemetry(session_id="4711")
    if asynchronous:
        asyncio.run(asafe_rewrite(TURN, rewriter, HISTORY, guard=FakeGuard(), telemetry=telemetry))
    else:
        safe_rewrite(TURN, rewriter, HISTORY, guard=FakeGuard(), telemetry=telemetry)
    whole = seen.span("rewriteguard.decide")
    parts = [span.parent for span in seen.spans if span is not whole]
    assert {part.span_id for part in parts} == {whole.context.span_id}
    assert (whole.parent, whole.attributes["session.id"], whole.attributes["input.value"]) == (None, "4711", TURN)
    assert (whole.attributes["rewriteguard.action"], whole.attributes["rewriteguard.reason"]) == told


def test_a_rewriter_may_give_a_list():
    turn = "Which permits are not valid in May 2024?"
    lines = ["permits not valid in May 2024", AIMessage("permits valid in May 2023")]
    decision = safe_rewrite(turn, lambda turn: lines, guard=Guard(), profile=Profile.EXPAND)
    assert [a.verdict for a in decision.assessment.assessments] == ["preserved", "changed"]
    assert [q.text for q in decision.queries] == [turn, lines[0]]
    for nothing in ([], [7], [None]):
        failed = safe_rewrite(turn, lambda turn, nothing=nothing: nothing, guard=Guard())
        assert (failed.action, failed.reason) == ("fall_back", "rewriter_error")
