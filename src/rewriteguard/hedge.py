"""The hedged search: the original's arms start before the rewriter answers, the rewrite's when the guard has decided.

Synchronous and asynchronous callers share the one flow in `hedged_search`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from rewriteguard.arms import Arm, Flight, Landed, Searcher, Status
from rewriteguard.asking import Answer, Ask, ask_rewriter
from rewriteguard.conversation import Conversation
from rewriteguard.decision import Action, Decision, Origin, Reason
from rewriteguard.drivers import Budget, Runner
from rewriteguard.errors import InputError, ScopeError
from rewriteguard.fuse import Fused, fuse, margins
from rewriteguard.rewrite import Judge
from rewriteguard.telemetry import Host, Span

_REWRITE_WHEN = ("always", "dependent")


@dataclass(frozen=True, slots=True)
class Result:
    """What a guarded retrieval gives back.

    Attributes:
        items: The items, best first, as the search returned them; empty where the action is CLARIFY.
        decision: What was decided about the rewrite.
        arms: The searches, in the order of the decision's queries, then those that were started but not needed.
        id: The trace id where the retrieval is traced, else a random one; 32 hex digits.
    """

    items: list[Any]
    decision: Decision
    arms: tuple[Arm, ...]
    id: str

    @property
    def partial(self) -> bool:
        """Whether an arm that was to be fused failed or was given up."""
        return any(arm.status in (Status.ERROR, Status.TIMEOUT) for arm in self.arms)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values, except that the items stay as they are."""
        return {
            "items": list(self.items),
            "decision": self.decision.to_dict(),
            "arms": [arm.to_dict() for arm in self.arms],
            "partial": self.partial,
            "id": self.id,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What holds for every call: the settings of `GuardedSearch`, without search and rewriter.

    Raises:
        InputError: `rewrite_when` is none of its two words.
    """

    judge: Judge
    k: int | None = None
    key: Callable[[Any], Any] | None = None
    rewrite_when: str = "always"
    rewriter_timeout: float | None = None
    timeout: float | None = None
    scope: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None = None
    admit: Callable[[Any], bool] | None = None
    on_decision: Callable[[Decision], Any] | None = None

    def __post_init__(self) -> None:
        if self.rewrite_when not in _REWRITE_WHEN:
            raise InputError(f"rewrite_when: expected 'always' or 'dependent', got {self.rewrite_when!r}")

    @property
    def hedged(self) -> bool:
        """Whether the policy can fuse, so that the original is worth searching before the rewriter answers."""
        return not (self.judge.policy.shadow or self.judge.policy.one_search)


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        conversation: The turn and the messages before it.
        ask: How the rewriter is asked.
        search: Called as search(query, origin, **keywords).
        blocking: Whether `search` would hold up an event loop.
        keywords: The caller's search keywords, given to every arm.
        config: The trusted configuration that `scope` reads.
        asked: Whether the rewriter is to be asked at all; false on a first turn.
        reference_date: The day that "today" means; None is today in UTC.
        k: The number of items to return; None is the plan's.
        score: The score of a bare item, higher is better.
        host: The run of a host framework, for its place in the trace.
        metadata: The run's metadata, for its session id.
    """

    conversation: Conversation
    ask: Ask
    search: Callable[..., Any]
    blocking: bool
    keywords: Mapping[str, Any]
    config: Mapping[str, Any]
    asked: bool
    reference_date: date | None = None
    k: int | None = None
    score: Callable[[Any], float | None] | None = None
    host: Host | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


async def hedged_search(runner: Runner, plan: Plan, request: Request) -> Result:
    """The items for one request, with one retrieval span around everything.

    Raises:
        ScopeError: The scope could not be decided; nothing was searched.
        TimeoutError: The time was over before any arm found anything.
        Exception: What the original's search raised, or the next arm's, where all searches failed.
    """
    telemetry = plan.judge.telemetry
    started = time.perf_counter()
    with telemetry.retrieve(request.conversation, request.host, request.metadata) as span:
        budget = Budget(None if plan.judge.policy.shadow else plan.timeout)
        keywords = {**request.keywords, **_scope(plan, request)}
        searcher = Searcher(request.search, request.blocking, keywords, plan.admit, telemetry, request.score)
        flight = Flight(runner, searcher, budget)
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
        return Result(items, decision, arms + flight.skipped(queries), span.trace_id or uuid.uuid4().hex)


def _scope(plan: Plan, request: Request) -> Mapping[str, Any]:
    if plan.scope is None:
        return {}
    try:
        limits = plan.scope(request.config)
    except Exception as error:
        raise ScopeError(f"scope: it raised {type(error).__name__}; nothing was searched") from error
    if not isinstance(limits, Mapping):
        raise ScopeError(
            f"scope: expected a mapping of search keywords, got {type(limits).__name__}; nothing was searched"
        )
    return limits


async def _decision(runner: Runner, plan: Plan, request: Request, flight: Flight, budget: Budget) -> Decision:
    judge = plan.judge
    today = request.reference_date or datetime.now(UTC).date()
    if not request.asked:
        return judge.decide(request.conversation, Answer(reason=Reason.FIRST_TURN), today)
    if _spared(plan, request.conversation):
        return judge.decide(request.conversation, Answer(reason=Reason.SKIPPED), today)
    if plan.hedged:
        _start_early(plan, request.conversation, flight)
    seconds = budget.left(plan.rewriter_timeout)
    answer = await ask_rewriter(runner, request.ask, seconds, judge.telemetry, shadow=judge.policy.shadow)
    return judge.decide(request.conversation, answer, today)


def _spared(plan: Plan, conversation: Conversation) -> bool:
    """Whether the rewriter is not asked because the turn is complete; a guard that cannot tell asks it."""
    if plan.rewrite_when == "always" or plan.judge.policy.shadow:
        return False
    try:
        return not plan.judge.guard.dependent(conversation.turn, conversation)
    except Exception as error:  # noqa: BLE001 - the guard's own failure
        plan.judge.telemetry.failed("guard", error)
        return False


def _start_early(plan: Plan, conversation: Conversation, flight: Flight) -> None:
    flight.start(conversation.turn, Origin.ORIGINAL)
    if not plan.judge.policy.carried:
        return
    try:
        carried = plan.judge.guard.carried(conversation.turn, conversation)
    except Exception as error:  # noqa: BLE001 - the guard's own failure
        plan.judge.telemetry.failed("guard", error)
        return
    if carried.terms:
        flight.start(carried.text, Origin.CARRIED)


def _tell(plan: Plan, decision: Decision, span: Span) -> None:
    plan.judge.telemetry.decided(decision, plan.judge.profile, span)
    if plan.on_decision is None:
        return
    try:
        plan.on_decision(decision)
    except Exception as error:  # noqa: BLE001 - the application's callback must not break its retrieval
        plan.judge.telemetry.failed("on_decision", error)


def _collected(
    plan: Plan, request: Request, decision: Decision, landed: Sequence[Landed]
) -> tuple[list[Any], tuple[Arm, ...]]:
    """The items to return, and the arms; raises where no arm has anything."""
    good = [each for each in landed if each.found is not None]
    if landed and not good:
        errors = [each.error for each in landed if each.status is Status.ERROR and each.error]
        raise errors[0] if errors else TimeoutError("the time was over before any search answered")
    hits = [each.found.hits for each in good if each.found is not None]
    wanted = None if plan.judge.policy.shadow else request.k or plan.k
    if len(landed) <= 1:
        items = [hit.item for ranking in hits for hit in ranking]
        return items[:wanted], tuple(each.arm() for each in landed)
    factors = margins(hits)
    longest = max(len(each.found.hits) + each.found.vetoed for each in good if each.found is not None)
    fused = _fused(plan, decision, good, factors, wanted or longest)
    trust = dict(zip([each.query.text for each in good], factors, strict=True))
    return [each.item for each in fused], tuple(each.arm(trust.get(each.query.text, 1.0)) for each in landed)


def _fused(
    plan: Plan, decision: Decision, good: Sequence[Landed], factors: Sequence[float], wanted: int
) -> list[Fused[Any]]:
    telemetry = plan.judge.telemetry
    origins = [each.query.origin.value for each in good]
    weights = [each.query.weight * factor for each, factor in zip(good, factors, strict=True)]
    with telemetry.fuse() as span:
        rankings = [[hit.item for hit in each.found.hits] for each in good if each.found is not None]
        fused = fuse(rankings, weights=weights, k=decision.k, key=plan.key)
        ranks = [{origins[place]: rank for place, rank in each.ranks} for each in fused]
        top = fused[:wanted]
        telemetry.fused(span, decision.k, len(top), dict(zip(origins, weights, strict=True)), ranks[: len(top)])
    share = _overlap(ranks)
    if share is not None:
        telemetry.overlap(decision, share)
    return top


def _overlap(ranks: Iterable[Mapping[str, int]]) -> float | None:
    """The Jaccard index of what original and rewrite found; None where one of them found nothing."""
    pairs = [(Origin.ORIGINAL.value in each, Origin.REWRITE.value in each) for each in ranks]
    either = sum(ours or theirs for ours, theirs in pairs)
    if not either or not any(ours for ours, _ in pairs) or not any(theirs for _, theirs in pairs):
        return None
    return sum(ours and theirs for ours, theirs in pairs) / either
