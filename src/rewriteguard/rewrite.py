"""Asks a rewriter and decides about its answer: `safe_rewrite` and its asynchronous twin, which share one flow."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from threading import Lock
from typing import Any

from rewriteguard import arguments
from rewriteguard.asking import Answer, ask_for, ask_rewriter, kept
from rewriteguard.assessment import Profile
from rewriteguard.conversation import Conversation
from rewriteguard.decision import Decision, Reason
from rewriteguard.drivers import Handle, Runner, TaskRunner, ThreadRunner, compute
from rewriteguard.errors import InputError, PipelineNotFoundError
from rewriteguard.guard import Guard
from rewriteguard.policy import Policy, decide_without_rewrite
from rewriteguard.telemetry import Telemetry, default_telemetry
from rewriteguard.threads import drive

_BUILDING = Lock()


def default_guard() -> Guard:
    """The process-wide guard, built on first use.

    Raises:
        PipelineNotFoundError: No English spaCy pipeline is installed.
    """
    with _BUILDING:  # lru_cache alone would let two threads build one each
        return _guard()


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
    judge = judge_from(guard, policy, profile, telemetry)
    return drive(_decide(ThreadRunner(), judge, rewriting, timeout, reference_date))


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
    judge = judge_from(guard, policy, profile, telemetry)
    return await _decide(TaskRunner(), judge, rewriting, timeout, reference_date)


@dataclass(frozen=True, slots=True)
class Judge:
    """Who decides, by what rules, and who is told.

    Raises:
        InputError: One of them is something else.
    """

    guard: Guard
    policy: Policy
    profile: Profile
    telemetry: Telemetry

    def __post_init__(self) -> None:
        for name, kind in (("guard", Guard), ("policy", Policy), ("profile", Profile), ("telemetry", Telemetry)):
            arguments.instance(name, getattr(self, name), kind)

    def warm_up(self) -> None:
        """Pays the guard's first-call costs now; where it fails, it fails again at the first turn, and is contained.

        Raises:
            PipelineNotFoundError: No English spaCy pipeline is installed.
        """
        try:
            self.guard.warm_up()
        except PipelineNotFoundError:
            raise
        except Exception as error:  # noqa: BLE001 - the guard's own failure, such as an extractor's, must break no search
            self.telemetry.failed("guard", error)

    def as_unguarded(self, conversation: Conversation) -> bool:
        """Whether a conversation that could not be read is searched as without the guard: where its turn is no text."""
        return self.policy.shadow or not conversation.turn.strip()

    def unread(self, conversation: Conversation, answer: Answer) -> Decision:
        """The decision where turn or history could not be read, so that nothing can be checked."""
        policy = replace(self.policy, shadow=self.as_unguarded(conversation))
        return decide_without_rewrite(policy, conversation.turn, Reason.GUARD_ERROR, unchecked=answer.text)

    def decide(self, conversation: Conversation, answer: Answer, reference_date: date | None) -> Decision:
        """The decision about an answer; where the guard itself fails, the original alone is searched."""
        if answer.text is None:
            return self._contained(conversation, answer, lambda: self._without_rewrite(conversation, answer.reason))
        return self.checked(conversation, answer, lambda: self._decided(conversation, answer.text, reference_date))

    def checked(self, conversation: Conversation, answer: Answer, decide: Callable[[], Decision]) -> Decision:
        """What `decide` says about an answer, told as a check; where it fails, the original alone is searched."""
        started = time.perf_counter()
        with self.telemetry.check() as span:
            decision = self._contained(conversation, answer, decide)
            self.telemetry.checked(span, conversation, decision, time.perf_counter() - started)
        return decision

    def failed(self, conversation: Conversation, answer: Answer, error: Exception) -> Decision:
        """The decision where the guard itself failed: the original alone, or in shadow mode the unchecked rewrite."""
        self.telemetry.failed("guard", error)
        return decide_without_rewrite(self.policy, conversation.turn, Reason.GUARD_ERROR, unchecked=answer.text)

    def _decided(self, conversation: Conversation, text: Any, reference_date: date | None) -> Decision:
        decide = self.guard.decide_all if isinstance(text, tuple) else self.guard.decide
        return decide(
            conversation.turn,
            text,
            conversation,
            policy=self.policy,
            profile=self.profile,
            reference_date=reference_date,
        )

    def _without_rewrite(self, conversation: Conversation, reason: Reason) -> Decision:
        return self.guard.decide_without_rewrite(conversation.turn, reason, conversation, policy=self.policy)

    def _contained(self, conversation: Conversation, answer: Answer, decide: Callable[[], Decision]) -> Decision:
        try:
            return decide()
        except Exception as error:  # noqa: BLE001 - a guard that fails must not take the search with it
            return self.failed(conversation, answer, error)


def judge_from(guard: Guard | None, policy: Policy | None, profile: Profile, telemetry: Telemetry | None) -> Judge:
    """The judge that an entry point's arguments say; None is the default of each.

    Raises:
        InputError: An argument has a type that cannot be used.
    """
    return Judge(
        default_guard() if guard is None else guard,
        Policy() if policy is None else policy,
        profile,
        default_telemetry() if telemetry is None else telemetry,
    )


def notify(telemetry: Telemetry, on_decision: Callable[[Decision], Any] | None, decision: Decision) -> None:
    """Calls the application back with a decision; what its function raises is logged and dropped."""
    if on_decision is None:
        return
    try:
        if inspect.isawaitable(on_decision(decision)):  # nobody awaits it
            raise InputError("on_decision: expected a function that is done when it returns, got an awaitable")
    except Exception as error:  # noqa: BLE001 - the application's callback must not break its retrieval
        telemetry.failed("on_decision", error)


def today_in_utc() -> date:
    """The day that "today" means where the application does not say it."""
    return datetime.now(UTC).date()


async def while_reading(
    runner: Runner,
    judge: Judge,
    conversation: Conversation,
    ask: Callable[[], Awaitable[Answer]],
    left: Callable[[], float | None] = lambda: None,
    first: Sequence[Handle[Any]] = (),
) -> Answer:
    """The answer that `ask` gives; meanwhile the guard reads turn and history, of which the check then has less.

    Args:
        runner: Reads beside the flow.
        judge: Whose guard reads.
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
                await compute(runner, partial(judge.guard.prepare, conversation.turn, conversation))

    reading = runner.start(read, blocking=False)
    try:
        answer = await ask()
        wanted = answer.text is not None  # otherwise nothing will be checked
        await runner.wait([reading] if wanted else first, left())
    finally:
        wanted = False
        await runner.drop([reading, *first])
    return answer


class _Rewriting:
    """One turn and the way to ask for its rewrite, read before anything runs."""

    def __init__(self, turn: Any, rewriter: Any, history: Any, *, in_loop: bool) -> None:
        history = kept(history)
        self.conversation = Conversation.read(turn, history)
        self.ready = str(rewriter) if isinstance(rewriter, str) else None
        self.ask = ask_for(rewriter, self.conversation.turn, history, in_loop=in_loop)


async def _decide(
    runner: Runner, judge: Judge, rewriting: _Rewriting, timeout: float | None, reference_date: date | None
) -> Decision:
    arguments.seconds("timeout", timeout)
    if rewriting.ready is not None:
        answer = Answer(rewriting.ready)
    else:
        shadow = judge.policy.shadow
        ask = partial(ask_rewriter, runner, rewriting.ask, timeout, judge.telemetry, shadow=shadow)
        answer = await while_reading(runner, judge, rewriting.conversation, ask)
    decision = await compute(runner, partial(judge.decide, rewriting.conversation, answer, reference_date))
    judge.telemetry.decided(decision, judge.profile)
    judge.telemetry.logged(rewriting.conversation, decision, judge.profile, day=reference_date)
    return decision


@lru_cache(maxsize=1)
def _guard() -> Guard:
    return Guard()
