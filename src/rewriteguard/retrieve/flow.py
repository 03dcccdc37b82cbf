"""The hedged search: the original's arms start before the rewriter answers, the rewrite's when the guard has decided.

Synchronous and asynchronous callers share the one flow in `hedged_search`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rewriteguard.errors import ScopeError
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision, Origin, Reason
from rewriteguard.policy.classes import Release
from rewriteguard.retrieve._runners import Budget, Handle, Runner, compute
from rewriteguard.retrieve.arms import Arm, Flight, Landed, Searcher, Status, copied
from rewriteguard.retrieve.decider import notify, today_in_utc
from rewriteguard.retrieve.fuse import Fused, fuse, identities, margins
from rewriteguard.retrieve.request import Plan, Request, Result, limits_of
from rewriteguard.retrieve.rewrite import is_off, while_reading
from rewriteguard.retrieve.rewriter import Answer, ask_rewriter
from rewriteguard.telemetry import Retrieved, Span

_CHECK = 0.1  # seconds that a check has at least: a rewrite that came in the last moment is not thrown away unread


async def hedged_search(runner: Runner, plan: Plan, request: Request) -> Result:
    """The items for one request, with one retrieval span around everything.

    Raises:
        ScopeError: The scope could not be decided; nothing was searched.
        TimeoutError: The time was over before any arm found anything.
        Exception: What the original's search raised, or the next arm's, where all searches failed.
    """
    telemetry = plan.decider.telemetry
    started = time.perf_counter()
    with telemetry.retrieve(request.conversation, request.host, request.metadata) as span:
        budget = Budget(None if plan.decider.policy.shadow else plan.timeout)
        flight = Flight(runner, _searchers(plan, request), budget)
        try:
            decision = await _decision(runner, plan, request, flight, budget)
            _tell(plan, decision, span)
            queries = () if decision.action is Action.CLARIFY else decision.queries
            landed = await flight.land(queries)
        finally:
            await flight.drop()
        items, arms = _collected(plan, request, decision, landed)
        failed = [f"{arm.origin.value}:{arm.status.value}" for arm in arms if arm.status is not Status.OK]
        telemetry.returned(span, decision, items, failed, time.perf_counter() - started)
        result = Result(items, decision, arms + flight.skipped(queries), span.trace_id or _run_id(request))
        telemetry.logged(
            request.conversation,
            decision,
            plan.decider.profile,
            identity=result.id,
            day=request.reference_date or today_in_utc(),
            metadata=request.metadata,
            retrieved=partial(_retrieved, plan, result, landed),
        )
        return result


def _run_id(request: Request) -> str:
    """The id of the host's run, which its application can know, or else a random one; 32 hex digits."""
    run = getattr(request.host, "run_id", None)
    return (run if isinstance(run, uuid.UUID) else uuid.uuid4()).hex


def _retrieved(plan: Plan, result: Result, landed: Sequence[Landed]) -> Retrieved:
    found = [[hit.item for hit in each.found.hits] if each.found else [] for each in landed]
    found += [[] for _ in result.arms[len(landed) :]]
    return Retrieved(
        result.items, [(arm.to_dict(), each) for arm, each in zip(result.arms, found, strict=True)], plan.key
    )


def _searchers(plan: Plan, request: Request) -> list[Searcher]:
    limits, telemetry = _scope(plan, request), plan.decider.telemetry
    # Copied before anything runs: the rewrite's arm starts late, and a list that the scope gave may hold more by then.
    keywords = [copied({**each.keywords, **limits}) for each in request.sources]
    return [
        Searcher(
            each.search,
            each.blocking,
            given,
            plan.admit,
            telemetry,
            each.score,
            each.name,
            owner=plan if each.owner is None else each.owner,
        )
        for each, given in zip(request.sources, keywords, strict=True)
    ]


def _scope(plan: Plan, request: Request) -> Mapping[str, Any]:
    try:
        return _limits(plan, request)
    except ScopeError as error:
        plan.decider.telemetry.failed("scope", error)
        raise


def _limits(plan: Plan, request: Request) -> Mapping[str, Any]:
    limits = limits_of(plan.scope, request.config)
    if plan.scope is not None and request.takes is not None:
        request.takes(limits)
    return limits


async def _decision(runner: Runner, plan: Plan, request: Request, flight: Flight, budget: Budget) -> Decision:
    decider = plan.decider
    if request.unread is not None:
        decider.telemetry.failed("guard", request.unread)
        return decider.unread(request.conversation, await _unguarded_answer(runner, plan, request))
    today = request.reference_date or today_in_utc()
    answer = await _answer(runner, plan, request, flight, budget)
    left = budget.left()
    try:
        work = partial(decider.decide, request.conversation, answer, today)
        return await compute(runner, work, None if left is None else max(left, _CHECK))
    except TimeoutError as error:
        return decider.failed(request.conversation, answer, error)


async def _answer(runner: Runner, plan: Plan, request: Request, flight: Flight, budget: Budget) -> Answer:
    """The rewrite, or why there is none; the arms that need none are started before the rewriter is asked."""
    if not request.asked:
        return Answer(reason=Reason.FIRST_TURN)
    policy, conversation = plan.decider.policy, request.conversation
    ships = policy.releases(Release.SHIP)
    if plan.hedged and not ships:  # before the guard is asked anything: what can be searched does not wait for it
        flight.start(conversation.turn, Origin.ORIGINAL)
    if await _spared(runner, plan, conversation, budget):
        return Answer(reason=Reason.SKIPPED)
    beside = plan.hedged and (ships or policy.carried)
    first = [_hedging(runner, plan, conversation, flight)] if beside else []
    seconds = budget.left(plan.rewriter_timeout)
    ask = partial(ask_rewriter, runner, request.ask, seconds, plan.decider.telemetry, shadow=policy.shadow)
    return await while_reading(runner, plan.decider, conversation, ask, budget.left, first)


async def _unguarded_answer(runner: Runner, plan: Plan, request: Request) -> Answer:
    """The rewrite, asked for as without the guard (no time limit, errors are raised) where that is what is searched."""
    if request.asked and plan.decider.as_unguarded(request.conversation):
        return await ask_rewriter(runner, request.ask, None, plan.decider.telemetry, shadow=True)
    return Answer(reason=Reason.GUARD_ERROR)


async def _spared(runner: Runner, plan: Plan, conversation: Conversation, budget: Budget) -> bool:
    """Whether the rewriter is off for the turn, or the turn is complete; a guard that cannot tell asks it."""
    if await is_off(runner, plan.decider, conversation, budget.left()):
        return True
    if plan.rewrite_when == "always" or plan.decider.policy.shadow:
        return False
    try:
        work = partial(plan.decider.guard.dependent, conversation.turn, conversation)
        return not await compute(runner, work, budget.left())
    except Exception as error:  # noqa: BLE001 - the guard's own failure
        plan.decider.telemetry.failed("guard", error)
        return False


def _hedging(runner: Runner, plan: Plan, conversation: Conversation, flight: Flight) -> Handle[None]:
    """Starts beside the rewriter the searches that need none; not where the turn's class will hardly need them."""
    decider = plan.decider

    async def hedge() -> None:
        try:
            if decider.policy.releases(Release.SHIP):
                if await compute(runner, partial(decider.is_released, conversation, Release.SHIP)):
                    return
                flight.start(conversation.turn, Origin.ORIGINAL)
            if decider.policy.carried:
                carried = await compute(runner, partial(decider.guard.carried, conversation.turn, conversation))
                if carried.terms:
                    flight.start(carried.text, Origin.CARRIED)
        except Exception as error:  # noqa: BLE001 - the guard's own failure
            decider.telemetry.failed("guard", error)

    return runner.start(hedge, blocking=False)


def _tell(plan: Plan, decision: Decision, span: Span) -> None:
    plan.decider.telemetry.decided(decision, plan.decider.profile, span)
    notify(plan.decider.telemetry, plan.on_decision, decision)


def _collected(
    plan: Plan, request: Request, decision: Decision, landed: Sequence[Landed]
) -> tuple[list[Any], tuple[Arm, ...]]:
    """The items to return, and the arms; raises where no arm has anything."""
    good = [each for each in landed if each.found is not None]
    if landed and not good:
        errors = [each.error for each in landed if each.status is Status.ERROR and each.error]
        raise errors[0] if errors else TimeoutError("the time was over before any search answered")
    hits = [each.found.hits for each in good if each.found is not None]
    if request.union and plan.decider.policy.shadow:
        return _joined(landed), tuple(each.arm() for each in landed)
    wanted = request.k
    if len(landed) <= 1:
        items = [hit.item for ranking in hits for hit in ranking]
        return items[:wanted], tuple(each.arm() for each in landed)
    factors = margins(hits, [each.source for each in good])
    lengths = [len(each.found.hits) + each.found.vetoed for each in good if each.found is not None]
    fused = _fused(plan, decision, good, factors, wanted or (sum if request.union else max)(lengths))
    trust = dict(zip([(each.query.text, each.source) for each in good], factors, strict=True))
    arms = tuple(each.arm(trust.get((each.query.text, each.source), 1.0)) for each in landed)
    return [each.item for each in fused], arms


def _joined(landed: Sequence[Landed]) -> list[Any]:
    """What the searches found, one list behind the other and each item once, as without the guard."""
    items: list[Any] = []
    for each in landed:
        if each.found is None:
            raise each.error or TimeoutError("a search did not answer")
        items += [hit.item for hit in each.found.hits if hit.item not in items]
    return items


def _fused(
    plan: Plan, decision: Decision, good: Sequence[Landed], factors: Sequence[float], wanted: int
) -> list[Fused[Any]]:
    telemetry = plan.decider.telemetry
    origins, labels = [each.query.origin.value for each in good], _labels(good)
    weights = [each.query.weight * factor for each, factor in zip(good, factors, strict=True)]
    with telemetry.fuse() as span:
        rankings = [[hit.item for hit in each.found.hits] for each in good if each.found is not None]
        same = identities(plan.key, partial(telemetry.failed, "key"))
        fused = fuse(rankings, weights=weights, k=decision.k, key=same)
        top = fused[:wanted]
        ranks = [{labels[place]: rank for place, rank in each.ranks} for each in top]
        items = [each.item for each in top]
        telemetry.fused(span, decision.k, items, dict(zip(labels, weights, strict=True)), ranks)
    share = _overlap([{origins[place] for place, _ in each.ranks} for each in fused])
    if share is not None:
        telemetry.overlap(decision, share)
    return top


def _labels(good: Sequence[Landed]) -> list[str]:
    """Where each list comes from: `rewrite`, with a number from the second rewrite on, and with the search's name."""
    origins = [(each.query.origin.value, each.source) for each in good]
    numbers = [origins[:place].count(origin) + 1 for place, origin in enumerate(origins)]
    return [
        origin + (f".{number}" if number > 1 else "") + (f":{source}" if source else "")
        for (origin, source), number in zip(origins, numbers, strict=True)
    ]


def _overlap(finders: Iterable[Collection[str]]) -> float | None:
    """The Jaccard index of what original and rewrites found; None where one of them found nothing."""
    pairs = [(Origin.ORIGINAL.value in each, Origin.REWRITE.value in each) for each in finders]
    either = sum(ours or theirs for ours, theirs in pairs)
    if not either or not any(ours for ours, _ in pairs) or not any(theirs for _, theirs in pairs):
        return None
    return sum(ours and theirs for ours, theirs in pairs) / either
