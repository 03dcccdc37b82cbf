"""The arms: each turns one case into a list of documents, within one budget of documents to fetch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.journal import Answered
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.run.search import FoundDocument, Searching
from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision, Origin, Reason
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.decider import decider_from
from rewriteguard.retrieve.fuse import Hit, reciprocal_rank_fusion
from rewriteguard.retrieve.request import Plan, Request, Result, Source
from rewriteguard.retrieve.request import Status as Searched
from rewriteguard.retrieve.rewriter import Ask
from rewriteguard.telemetry import Telemetry

_FRAMEWORK_K = 60
NOT_ASKED = Answered(error="NotAsked")
"""Stands for the rewriter where the guard has to do without one."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How an arm ended, and the documents themselves, best first."""

    outcome: Outcome
    documents: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many documents an arm returns, and how many its searches may fetch in all."""

    returned: int
    fetched: int

    def share(self, searches: int) -> int:
        """The number of documents that each of so many searches may fetch."""
        return max(1, self.fetched // max(1, searches))


@dataclass(frozen=True, slots=True)
class Task:
    """One case and what limits its searches.

    Attributes:
        case: The case.
        limits: The keywords of its scope, given to every search.
        day: The day that "today" means.
    """

    case: Case
    limits: Mapping[str, Any]
    day: date


def unguarded(
    arm: ArmName, label: str, task: Task, answered: Answered | None, find: Searching, budget: Allowance
) -> Attempt:
    """What an arm without a guard does; a rewriter that was not asked leaves the turn as it is."""
    case = task.case
    empty = Outcome(case.id, arm, label, Ended.EMPTY, rewrite=_joined(answered))
    if answered is not None and answered.error:
        return Attempt(replace(empty, status=Ended.ERROR, stage="rewrite", error=answered.error))
    weights = _weights(arm, case, answered)
    if not weights or not all(text.strip() for text in weights):  # a blank query asks for nothing
        return Attempt(replace(empty, stage="rewrite"))
    outcome = replace(empty, queries=tuple(weights))
    try:
        rankings = [find(text, task.limits, budget.share(len(weights))) for text in weights]
    except Exception as error:  # noqa: BLE001 - the application's search: that it fails is what is measured
        return Attempt(replace(outcome, status=Ended.ERROR, stage="retrieval", error=type(error).__name__))
    outcome = replace(outcome, fetched=sum(map(len, rankings)))
    return _ended(outcome, _fused(rankings, list(weights.values())), budget)


class Guarded:
    """The product's own guarded search for one rewriter, or without any.

    It decides before it searches, since how many queries share the budget shows only then; as a product it would start
    some of the searches earlier.

    Args:
        find: The search.
        budget: What each case may fetch, shared equally by the queries that the guard decides on.
        guard: The guard.
        policy: Its policy.
        profile: What kind of rewriter it judges.
    """

    def __init__(self, find: Searching, budget: Allowance, guard: Guard, policy: Policy, profile: Profile) -> None:
        self._find = find
        self._budget = budget
        decider = decider_from(guard, policy, profile, Telemetry(capture="off"))
        decider.warm_up()
        self._plan = Plan(decider, key=_id)

    def run(self, arm: ArmName, label: str, task: Task, ask: Callable[[], Answered | None]) -> Attempt:
        """What the guard makes of a case; `ask` gives the rewriter's answer, and is called where the guard asks."""
        case, given = task.case, _Given(ask)
        outcome = Outcome(case.id, arm, label, Ended.ERROR)
        try:
            conversation = Conversation.read(case.original, case.history)
            asked = bool(conversation.history)
            request = Request(conversation, Ask(given, blocking=True), asked, reference_date=task.day)
            decision = flow.decided(self._plan, request)
            outcome = _decided(outcome, decision, given.answered)
            if decision.action is Action.CLARIFY:
                return Attempt(outcome)
            source = self._source(task, self._budget.share(len(decision.queries)))
            request = replace(request, sources=[source], k=self._budget.returned)
            result = flow.search_decided(self._plan, request, decision)
        except _NoRewriteError:  # in shadow mode only: elsewhere the guard does without
            return Attempt(replace(outcome, stage="rewrite", error=given.answered.error if given.answered else ""))
        except Exception as error:  # noqa: BLE001 - the application's search: that it fails is what is measured
            stage = outcome.stage or "retrieval"
            return Attempt(replace(outcome, status=Ended.ERROR, stage=stage, error=type(error).__name__))
        return _ended(_searched(outcome, result), result.items, self._budget)

    def _source(self, task: Task, depth: int) -> Source:
        def search(query: str, _origin: Origin) -> list[Hit[FoundDocument]]:
            return self._find(query, task.limits, depth)

        return Source(search, blocking=True, owner=self._find)


class _Given:
    """A rewriter that gives the answer of `ask`, and keeps it.

    Raises (on each call):
        _NoRewriteError: There is none.
    """

    def __init__(self, ask: Callable[[], Answered | None]) -> None:
        self._ask = ask
        self.answered: Answered | None = None

    def __call__(self) -> str | list[str]:
        self.answered = self._ask()
        if self.answered is None or self.answered.error:
            raise _NoRewriteError("no rewrite")
        texts = list(self.answered.texts)
        return texts if self.answered.several or len(texts) != 1 else texts[0]


class _NoRewriteError(Exception):
    """The rewriter failed, or was not to be asked."""


def _decided(outcome: Outcome, decision: Decision, answered: Answered | None) -> Outcome:
    without = outcome.arm is ArmName.WITHOUT
    found = decision.assessment.violations if decision.assessment else ()
    codes = tuple(dict.fromkeys(violation.code for violation in found)) or (decision.reason.value,)
    failed = not without and decision.reason in (Reason.REWRITER_ERROR, Reason.REWRITER_TIMEOUT)
    return replace(
        outcome,
        status=Ended.CLARIFIED if decision.action is Action.CLARIFY else Ended.OK,
        rewrite=None if without else _joined(answered),
        verdict=decision.verdict.value if decision.verdict else "",
        action=decision.action.value,
        reasons=() if without else codes,
        candidates=decision.candidates if decision.action is Action.CLARIFY else (),
        stage="rewrite" if failed else "",
        error=answered.error if failed and answered else "",
    )


def _weights(arm: ArmName, case: Case, answered: Answered | None) -> dict[str, float]:
    """The texts that an arm without a guard searches, each once, with their weights in fusion."""
    if arm is ArmName.HUMAN:
        return {case.human or "": 1.0}
    if arm is ArmName.ORIGINAL or answered is None:
        return {case.original: 1.0}
    texts = answered.texts
    if not texts:
        return {}
    share = 1 / len(texts) if arm is ArmName.BOTH else 1.0
    weights = {case.original: 1.0} if arm in (ArmName.BOTH, ArmName.EXPANDED) else {}
    for text in texts:
        weights[text] = weights.get(text, 0.0) + share
    return weights


def _fused(rankings: Sequence[Sequence[Hit[FoundDocument]]], weights: Sequence[float]) -> list[FoundDocument]:
    lists = [[hit.item for hit in ranking] for ranking in rankings]
    return lists[0] if len(lists) == 1 else reciprocal_rank_fusion(lists, weights=weights, k=_FRAMEWORK_K, key=_id)


def _searched(outcome: Outcome, result: Result) -> Outcome:
    """The outcome with what the guard's searches did; one that failed beside others that did not is named too."""
    arms = [arm for arm in result.arms if arm.status is not Searched.SKIPPED]
    outcome = replace(
        outcome,
        queries=tuple(arm.query for arm in arms),
        fetched=sum(arm.count + arm.vetoed for arm in arms),
    )
    failed = next((arm for arm in arms if arm.status is not Searched.OK), None)
    if failed is None or outcome.stage:
        return outcome
    return replace(outcome, stage="retrieval", error=failed.error or "TimeoutError")


def _ended(outcome: Outcome, found: Sequence[FoundDocument], budget: Allowance) -> Attempt:
    best = list(found)[: budget.returned]
    if not best:
        return Attempt(replace(outcome, status=Ended.EMPTY, stage=outcome.stage or "retrieval"))
    outcome = replace(outcome, status=Ended.OK, results=tuple(each.id for each in best))
    return Attempt(outcome, tuple(each.item for each in best))


def _joined(answered: Answered | None) -> str | None:
    return None if answered is None or answered.error else "\n".join(answered.texts)


def _id(found: FoundDocument) -> str:
    return found.id
