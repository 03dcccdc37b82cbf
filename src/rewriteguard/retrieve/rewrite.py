"""Asks a rewriter and decides about its answer: `safe_rewrite` and its asynchronous twin, which share one flow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any

from rewriteguard.guard.guard import Guard
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Decision, Reason
from rewriteguard.policy.classes import Release
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve._runners import Handle, Runner, TaskRunner, ThreadRunner, compute, drive
from rewriteguard.retrieve.decider import Decider, decider_from
from rewriteguard.retrieve.rewriter import Answer, ask_for, ask_rewriter, kept
from rewriteguard.telemetry import Telemetry


def safe_rewrite(
    turn: Any,
    rewriter: Any,
    history: Any = (),
    *,
    guard: Guard | None = None,
    policy: Policy | None = None,
    profile: Profile = Profile.CONDENSE,
    timeout: float | None = None,
    reference_date: date | None = None,
    telemetry: Telemetry | None = None,
) -> Decision:
    """The decision about what a rewriter makes of a turn; a rewriter that fails gives FALL_BACK, never an exception.

    With a `timeout` the rewriter runs in a thread of its own. A thread cannot be stopped: a rewriter that exceeds the
    time goes on in the background, and its answer is ignored. Under `Policy.observe()` everything is as without the
    guard: there is no time limit, and what the rewriter raises is raised.

    Args:
        turn: The user's turn: a string or a message.
        rewriter: A callable `f(turn, history)` or `f(turn)`, synchronous or not; an object with `invoke` or `ainvoke`,
            which gets {"input", "chat_history"}; or the ready rewrite. It gives a string or a message, or a list of
            them: several rewrites of the turn, which are judged together.
        history: The messages before the turn, oldest first, in any supported form; the rewriter gets them as they are.
        guard: None is one process-wide guard.
        policy: None is `Policy()`.
        profile: What kind of rewriter is judged.
        timeout: Seconds that the rewriter may take.
        reference_date: The day that "today" means in the turn.
        telemetry: None tells what the environment's switches allow.

    Raises:
        InputError: The turn is not text, or another argument has a value that cannot be used.
        HistoryError: An item of the history has an unknown shape.
    """
    rewriting = _Rewriting(turn, rewriter, history, in_loop=False)
    decider = decider_from(guard, policy, profile, telemetry)
    return drive(_decide(ThreadRunner(), decider, rewriting, timeout, reference_date))


async def asafe_rewrite(
    turn: Any,
    rewriter: Any,
    history: Any = (),
    *,
    guard: Guard | None = None,
    policy: Policy | None = None,
    profile: Profile = Profile.CONDENSE,
    timeout: float | None = None,
    reference_date: date | None = None,
    telemetry: Telemetry | None = None,
) -> Decision:
    """The same as `safe_rewrite`; a synchronous rewriter runs in a thread, an asynchronous one is cancelled in time."""
    rewriting = _Rewriting(turn, rewriter, history, in_loop=True)
    decider = decider_from(guard, policy, profile, telemetry)
    return await _decide(TaskRunner(), decider, rewriting, timeout, reference_date)


async def while_reading(
    runner: Runner,
    decider: Decider,
    conversation: Conversation,
    ask: Callable[[], Awaitable[Answer]],
    left: Callable[[], float | None] = lambda: None,
    first: Sequence[Handle[Any]] = (),
) -> Answer:
    """The answer that `ask` gives; meanwhile the guard reads turn and history, of which the check then has less.

    Args:
        runner: Reads beside the flow.
        decider: Whose guard reads.
        conversation: What is read.
        ask: Asks the rewriter.
        left: The seconds that are left to wait for the reading.
        first: What the guard has to do before it reads, and also where there is no rewrite to check.
    """
    wanted = True

    async def read() -> None:
        await runner.wait(first, None)
        if wanted:
            with suppress(Exception):  # what goes wrong here the check will say
                await compute(runner, partial(decider.guard.prepare, conversation.turn, conversation))

    reading = runner.start(read, blocking=False)
    try:
        answer = await ask()
        wanted = answer.text is not None  # otherwise nothing will be checked
        await runner.wait([reading] if wanted else first, left())
    finally:
        wanted = False
        await runner.drop([reading, *first])
    return answer


async def is_off(runner: Runner, decider: Decider, conversation: Conversation, seconds: float | None = None) -> bool:
    """Whether the policy does without the rewriter for the turn's class; a guard that cannot tell asks it."""
    if decider.policy.shadow or not decider.policy.releases(Release.FALL_BACK):
        return False
    try:
        return await compute(runner, partial(decider.is_released, conversation, Release.FALL_BACK), seconds)
    except Exception as error:  # noqa: BLE001 - the guard's own failure
        decider.telemetry.failed("guard", error)
        return False


class _Rewriting:
    """One turn and the way to ask for its rewrite, read before anything runs."""

    def __init__(self, turn: Any, rewriter: Any, history: Any, *, in_loop: bool) -> None:
        history = kept(history)
        self.conversation = Conversation.read(turn, history)
        self.ready = str(rewriter) if isinstance(rewriter, str) else None
        self.ask = ask_for(rewriter, self.conversation.turn, history, in_loop=in_loop)


async def _decide(
    runner: Runner, decider: Decider, rewriting: _Rewriting, timeout: float | None, reference_date: date | None
) -> Decision:
    arguments.seconds("timeout", timeout)
    with decider.telemetry.decide(rewriting.conversation) as span:
        answer = await _answer(runner, decider, rewriting, timeout)
        decision = await compute(runner, partial(decider.decide, rewriting.conversation, answer, reference_date))
        decider.telemetry.decided(decision, decider.profile, span)
        decider.telemetry.logged(rewriting.conversation, decision, decider.profile, day=reference_date)
    return decision


async def _answer(runner: Runner, decider: Decider, rewriting: _Rewriting, timeout: float | None) -> Answer:
    if rewriting.ready is not None:
        return Answer(rewriting.ready)
    if await is_off(runner, decider, rewriting.conversation):
        return Answer(reason=Reason.SKIPPED)
    shadow = decider.policy.shadow
    ask = partial(ask_rewriter, runner, rewriting.ask, timeout, decider.telemetry, shadow=shadow)
    return await while_reading(runner, decider, rewriting.conversation, ask)
