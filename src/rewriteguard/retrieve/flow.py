"""The flow of one request: the original's arms start before the rewriter answers, the rewrite's when it is decided on.

Synchronous and asynchronous callers share it. `is_unguarded` is the door of shadow mode: what a policy in shadow mode
promises, a search exactly as without the guard, is kept here, and the modules beside this one do not ask for it.
"""

from __future__ import annotations

import inspect
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from rewriteguard.errors import InputError, ScopeError
from rewriteguard.model.decision import Action, Decision, Origin, Reason
from rewriteguard.policy.classes import Release
from rewriteguard.retrieve._runners import Budget, Handle, Runner, TaskRunner, call, compute, drive
from rewriteguard.retrieve.arms import Flight, Landed, copied
from rewriteguard.retrieve.fuse import fuse, margins
from rewriteguard.retrieve.request import Arm, Plan, Request, Result, Source, Status, limits_of
from rewriteguard.retrieve.rewriter import Answer, ask_rewriter
from rewriteguard.telemetry import Retrieved, Span

T = TypeVar("T")
Build = Callable[[bool], Request]
"""Gives a request: the one that the host makes without the guard where it gets True, else the guarded one."""
_CHECK = 0.1  # seconds that a check has at least: a rewrite that came in the last moment is not thrown away unread


def run(plan: Plan, build: Build) -> Result:
    """The items for one request, with one retrieval span around everything.

    Raises:
        ScopeError: The scope could not be decided; nothing was searched.
        TimeoutError: The time was over before any arm found anything.
        Exception: What the original's search raised, or the next arm's, where all searches failed.
    """
    return drive(_retrieve(Runner(), plan, build(is_unguarded(plan))))


async def arun(plan: Plan, build: Build) -> Result:
    """The same as `run`, beside an event loop."""
    return await _retrieve(TaskRunner(), plan, build(is_unguarded(plan)))


def decided(plan: Plan, request: Request) -> Decision:
    """What to do about a request, told; nothing is searched."""
    return drive(_without_search(Runner(), plan, request))


async def adecided(plan: Plan, request: Request) -> Decision:
    """The same as `decided`, beside an event loop."""
    return await _without_search(TaskRunner(), plan, request)


def search_decided(plan: Plan, request: Request, decision: Decision) -> Result:
    """What the searches of a request find for a decision that was made and told before.

    Raises:
        ScopeError: The scope could not be decided; nothing was searched.
        Exception: What the original's search raised, or the next arm's, where all searches failed.
    """
    return drive(_retrieve(Runner(), plan, request, decision))


def called(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """What a function of the application returns; an awaitable is waited for."""
    return drive(call(function, *args, **keywords))


async def computed(work: Callable[[], T]) -> T:
    """What `work`, which would hold up the event loop, returns in a thread beside it."""
    return await compute(TaskRunner(), work)


def is_unguarded(plan: Plan) -> bool:
    """Whether the host goes on exactly as without the guard, which checks and tells beside it: in shadow mode."""
    return plan.decider.policy.shadow


def tell(plan: Plan, request: Request, decision: Decision, span: Span | None = None) -> Decision:
    """The same decision, told to telemetry and to the application, where the guard itself searches nothing."""
    telemetry, profile = plan.decider.telemetry, plan.decider.profile
    if decision.assessment is not None:
        profile = decision.assessment.profile
    telemetry.decided(decision, profile, span)
    telemetry.logged(request.conversation, decision, profile, day=request.reference_date, metadata=request.metadata)
    _notify(plan, decision)
    return decision


async def _retrieve(runner: Runner, plan: Plan, request: Request, decision: Decision | None = None) -> Result:
    started, telemetry = time.perf_counter(), plan.decider.telemetry
    with telemetry.retrieve(request.conversation, request.host, request.metadata) as span:
        flow = _Flow(runner, plan, request)
        try:
            if decision is None:
                decision = await flow.decision()
                telemetry.decided(decision, plan.decider.profile, span)
                _notify(plan, decision)
            queries = () if decision.action is Action.CLARIFY else decision.queries
            landed = await flow.flight.land(queries)
        finally:
            await flow.flight.drop()
        items, arms = flow.collected(decision, landed)
        failed = [f"{arm.origin.value}:{arm.status.value}" for arm in arms if arm.status is not Status.OK]
        telemetry.returned(span, decision, items, failed, time.perf_counter() - started)
        result = Result(items, decision, arms + flow.flight.skipped(queries), span.trace_id or _run_id(request))
        telemetry.logged(
            request.conversation,
            decision,
            plan.decider.profile,
            identity=result.id,
            day=request.reference_date,
            metadata=request.metadata,
            retrieved=partial(_retrieved, plan, result, landed),
        )
        return result


async def _without_search(runner: Runner, plan: Plan, request: Request) -> Decision:
    with plan.decider.telemetry.without_search(request.conversation) as span:
        return tell(plan, request, await _Flow(runner, plan, request).decision(), span)


class _Flow:
    """One request under way, until it is decided on and what it found is put together.

    Raises:
        ScopeError: The scope could not be decided.
    """

    def __init__(self, runner: Runner, plan: Plan, request: Request) -> None:
        self._runner = runner
        self._plan = plan
        self._request = request
        self._decider, self._telemetry = plan.decider, plan.decider.telemetry
        self._unguarded = is_unguarded(plan)
        self._budget = Budget(None if self._unguarded else plan.timeout)
        self.flight = Flight(runner, plan, _limited(plan, request), self._budget)

    async def decision(self) -> Decision:
        """What to do, after the rewriter was asked where it has to be."""
        decider, request = self._decider, self._request
        if request.unread is not None:
            return decider.unread(request.conversation, await self._answer_unread(), request.unread)
        answer = await self._answer()
        left = self._budget.left()
        try:
            work = partial(decider.contained, request.conversation, answer, request.reference_date)
            return await compute(self._runner, work, None if left is None else max(left, _CHECK))
        except TimeoutError as error:
            return decider.failed(request.conversation, answer, error)

    async def _answer(self) -> Answer:
        """The rewrite, or why there is none; unguarded it has no time limit, and what the rewriter raises is raised."""
        ask = self._request.ask
        if isinstance(ask, Answer):
            return ask
        if not self._request.asked:
            return Answer(reason=Reason.FIRST_TURN)
        asked = partial(ask_rewriter, self._runner, ask, self._telemetry)
        if self._unguarded:
            return await self._while_reading(partial(asked, raises=True))
        policy, hedged = self._decider.policy, bool(self._request.sources) and self._plan.hedged
        ships = policy.releases(Release.SHIP)
        if hedged and not ships:  # before the guard is asked anything: what can be searched does not wait for it
            self.flight.start(self._request.conversation.turn, Origin.ORIGINAL)
        if await self._spared():
            return Answer(reason=Reason.SKIPPED)
        first = [self._runner.start(self._hedge, blocking=False)] if hedged and (ships or policy.carried) else []
        return await self._while_reading(partial(asked, self._budget.left(self._plan.rewriter_timeout)), first)

    async def _answer_unread(self) -> Answer:
        """The rewrite where turn or history could not be read: asked for only where it is what is searched."""
        ask, turn = self._request.ask, self._request.conversation.turn
        if isinstance(ask, Answer):
            return ask
        if self._request.asked and (self._unguarded or not turn.strip()):
            return await ask_rewriter(self._runner, ask, self._telemetry, raises=True)
        return Answer(reason=Reason.GUARD_ERROR)

    async def _while_reading(self, ask: Callable[[], Awaitable[Answer]], first: Sequence[Handle[Any]] = ()) -> Answer:
        """The answer that `ask` gives; meanwhile the guard reads turn and history, of which the check then has less.

        Args:
            ask: Asks the rewriter.
            first: What the guard has to do before it reads, and also where there is no rewrite to check.
        """
        wanted, runner, conversation = True, self._runner, self._request.conversation

        async def read() -> None:
            await runner.wait(first, None)
            if wanted:
                with suppress(Exception):  # what goes wrong here the check will say
                    await compute(runner, partial(self._decider.guard.prepare, conversation.turn, conversation))

        reading = runner.start(read, blocking=False)
        try:
            answer = await ask()
            wanted = answer.text is not None  # otherwise nothing will be checked
            await runner.wait([reading] if wanted else first, self._budget.left())
        finally:
            wanted = False
            await runner.drop([reading, *first])
        return answer

    async def _spared(self) -> bool:
        """Whether the rewriter is off for the turn's class, or the turn complete; a guard that cannot tell asks it."""
        if await self._is_released(Release.FALL_BACK, self._budget.left()):
            return True
        if self._plan.rewrite_when == "always":
            return False
        conversation = self._request.conversation
        work = partial(self._decider.guard.dependent, conversation.turn, conversation)
        return await self._said(work, self._budget.left()) is False

    async def _hedge(self) -> None:
        """Starts the searches that need no rewriter; not where the turn's class will hardly need them."""
        conversation, policy = self._request.conversation, self._decider.policy
        if policy.releases(Release.SHIP):
            if await self._is_released(Release.SHIP) is not False:
                return
            self.flight.start(conversation.turn, Origin.ORIGINAL)
        if policy.carried:
            carried = await self._said(partial(self._decider.guard.carried, conversation.turn, conversation))
            if carried is not None and carried.terms:
                self.flight.start(carried.text, Origin.CARRIED)

    async def _is_released(self, release: Release, seconds: float | None = None) -> bool | None:
        """Whether the policy releases the turn's class so; None where the guard failed.

        The turn is read only where the policy releases any class so.
        """
        conversation, policy = self._request.conversation, self._decider.policy
        if not policy.releases(release):
            return False

        def is_released() -> bool:
            found = self._decider.guard.class_of(conversation.turn, conversation, policy=policy)
            return found is not None and found.release is release

        return await self._said(is_released, seconds)

    async def _said(self, work: Callable[[], T], seconds: float | None = None) -> T | None:
        """What the guard says within `seconds`; None where it fails."""
        try:
            return await compute(self._runner, work, seconds)
        except Exception as error:  # noqa: BLE001 - the guard's own failure
            self._telemetry.failed("guard", error)
            return None

    def collected(self, decision: Decision, landed: Sequence[Landed]) -> tuple[list[Any], tuple[Arm, ...]]:
        """The items to return, and the arms.

        Raises:
            Exception: What the first arm raised that did, where no arm found anything.
            TimeoutError: None raised anything either.
        """
        arms = tuple(each.arm for each in landed)
        good = [each for each in landed if each.error is None]
        if landed and not good:
            errors = [each.error for each in landed if each.arm.status is Status.ERROR and each.error]
            raise errors[0] if errors else TimeoutError("the time was over before any search answered")
        if self._unguarded and self._request.union:
            return _joined(landed), arms
        wanted = self._request.k
        if len(landed) <= 1:
            return [hit.item for each in good for hit in each.hits][:wanted], arms
        factors = margins([each.hits for each in good], [each.arm.source for each in good])
        good = [replace(each, arm=replace(each.arm, margin=factor)) for each, factor in zip(good, factors, strict=True)]
        if wanted is None:
            wanted = (sum if self._request.union else max)(len(each.hits) + each.arm.vetoed for each in good)
        weighed = {(arm.query, arm.source): arm for arm in (each.arm for each in good)}
        return self._fused(decision, good, wanted), tuple(weighed.get((arm.query, arm.source), arm) for arm in arms)

    def _fused(self, decision: Decision, good: Sequence[Landed], wanted: int) -> list[Any]:
        telemetry, labels = self._telemetry, _labels([each.arm for each in good])
        weights = [each.arm.weight * each.arm.margin for each in good]
        with telemetry.fuse() as span:
            rankings = [[hit.item for hit in each.hits] for each in good]
            fused = fuse(rankings, weights=weights, k=decision.k, key=self._key)
            top = fused[:wanted]
            ranks = [{labels[place]: rank for place, rank in each.ranks} for each in top]
            items = [each.item for each in top]
            telemetry.fused(span, decision.k, items, dict(zip(labels, weights, strict=True)), ranks)
        share = _overlap([{good[place].arm.origin for place, _ in each.ranks} for each in fused])
        if share is not None:
            telemetry.overlap(decision, share)
        return items

    def _key(self, item: Any) -> Any:
        """What makes an item the same as another; one for which the application's key raises is as itself alone."""
        if self._plan.key is None:
            return item
        try:
            return self._plan.key(item)
        except Exception as error:  # noqa: BLE001 - the application's key must not break its retrieval
            self._telemetry.failed("key", error)
            return (item,)


def _limited(plan: Plan, request: Request) -> list[Source]:
    """The searches with what the scope limits them to."""
    if not request.sources:
        return []
    try:
        limits = limits_of(plan.scope, request.config)
        if plan.scope is not None and request.takes is not None:
            request.takes(limits)
    except ScopeError as error:
        plan.decider.telemetry.failed("scope", error)
        raise
    # Copied before anything runs: the rewrite's arm starts late, and a list that the scope gave may hold more by then.
    return [replace(each, keywords=copied({**each.keywords, **limits})) for each in request.sources]


def _notify(plan: Plan, decision: Decision) -> None:
    """Calls the application back with a decision; what its function raises is logged and dropped."""
    if plan.on_decision is None:
        return
    try:
        if inspect.isawaitable(plan.on_decision(decision)):  # nobody awaits it
            raise InputError("on_decision: expected a function that is done when it returns, got an awaitable")
    except Exception as error:  # noqa: BLE001 - the application's callback must not break its retrieval
        plan.decider.telemetry.failed("on_decision", error)


def _run_id(request: Request) -> str:
    """The id of the host's run, which its application can know, or else a random one; 32 hex digits."""
    run = getattr(request.host, "run_id", None)
    return (run if isinstance(run, uuid.UUID) else uuid.uuid4()).hex


def _retrieved(plan: Plan, result: Result, landed: Sequence[Landed]) -> Retrieved:
    found = [[hit.item for hit in each.hits] for each in landed]
    found += [[] for _ in result.arms[len(landed) :]]
    arms = [(arm.to_dict(), each) for arm, each in zip(result.arms, found, strict=True)]
    return Retrieved(result.items, arms, plan.key)


def _joined(landed: Sequence[Landed]) -> list[Any]:
    """What the searches found, one list behind the other and each item once, as without the guard."""
    items: list[Any] = []
    for each in landed:
        if each.error is not None:
            raise each.error
        items += [hit.item for hit in each.hits if hit.item not in items]
    return items


def _labels(arms: Sequence[Arm]) -> list[str]:
    """Where each list comes from: `rewrite`, with a number from the second rewrite on, and with the search's name."""
    origins = [(arm.origin.value, arm.source) for arm in arms]
    numbers = [origins[:place].count(origin) + 1 for place, origin in enumerate(origins)]
    return [
        origin + (f".{number}" if number > 1 else "") + (f":{source}" if source else "")
        for (origin, source), number in zip(origins, numbers, strict=True)
    ]


def _overlap(finders: Iterable[Collection[Origin]]) -> float | None:
    """The Jaccard index of what original and rewrites found; None where one of them found nothing."""
    pairs = [(Origin.ORIGINAL in each, Origin.REWRITE in each) for each in finders]
    either = sum(ours or theirs for ours, theirs in pairs)
    if not either or not any(ours for ours, _ in pairs) or not any(theirs for _, theirs in pairs):
        return None
    return sum(ours and theirs for ours, theirs in pairs) / either
