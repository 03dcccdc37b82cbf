"""Asks a rewriter and decides about its answer: `safe_rewrite` and its asynchronous twin, which share one flow."""

from __future__ import annotations

from datetime import date
from typing import Any

from rewriteguard.guard.guard import Guard
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Decision
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve.decider import decider_from
from rewriteguard.retrieve.flow import adecided, decided
from rewriteguard.retrieve.request import Plan, Request
from rewriteguard.retrieve.rewriter import Answer, ask_for, kept
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
    request = _request(turn, rewriter, history, reference_date, in_loop=False)
    return decided(_plan(guard, policy, profile, timeout, telemetry), request)


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
    request = _request(turn, rewriter, history, reference_date, in_loop=True)
    return await adecided(_plan(guard, policy, profile, timeout, telemetry), request)


def _request(turn: Any, rewriter: Any, history: Any, day: date | None, *, in_loop: bool) -> Request:
    """One turn and the way to ask for its rewrite, read before anything runs."""
    history = kept(history)
    conversation = Conversation.read(turn, history)
    if isinstance(rewriter, str):
        return Request(conversation, Answer(str(rewriter)), reference_date=day)
    ask = ask_for(rewriter, conversation.turn, history, in_loop=in_loop)
    return Request(conversation, ask, reference_date=day)


def _plan(
    guard: Guard | None, policy: Policy | None, profile: Profile, timeout: float | None, telemetry: Telemetry | None
) -> Plan:
    arguments.seconds("timeout", timeout)
    return Plan(decider_from(guard, policy, profile, telemetry), rewriter_timeout=timeout)
