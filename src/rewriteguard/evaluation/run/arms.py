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
from rewriteguard.model.decision import Action, Decision, Reason
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve.arms import Status as Searched
from rewriteguard.retrieve.fuse import Hit, reciprocal_rank_fusion
from rewriteguard.retrieve.request import Result
from rewriteguard.retrieve.search import GuardedSearch
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
class Budget:
    """How many documents an arm returns, and how many its searches may fetch in all."""

    returned: int
    fetched: int

    def share(self, searches: int) -> int:
        """The number of documents that each of so many searches may fetch."""
        return max(1, self.fetched // max(1, searches))


@dataclass(frozen=True, slots=True)
class Request:
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
    arm: ArmName, label: str, request: Request, answered: Answered | None, find: Searching, budget: Budget
) -> Attempt:
    """What an arm without a guard does; a rewriter that was not asked leaves the turn as it is."""
    case = request.case
    empty = Outcome(case.id, arm, label, Ended.EMPTY, rewrite=_joined(answered))
    if answered is not None and answered.error:
        return Attempt(replace(empty, status=Ended.ERROR, stage="rewrite", error=answered.error))
    weights = _weights(arm, case, answered)
    if not weights or not all(text.strip() for text in weights):  # a blank query asks for nothing
        return Attempt(replace(empty, stage="rewrite"))
    outcome = replace(empty, queries=tuple(weights))
    try:
        rankings = [find(text, request.limits, budget.share(len(weights))) for text in weights]
    except Exception as error:  # noqa: BLE001 - the application's search: that it fails is what is measured
        return Attempt(replace(outcome, status=Ended.ERROR, stage="retrieval", error=type(error).__name__))
    outcome = replace(outcome, fetched=sum(map(len, rankings)))
    return _ended(outcome, _fused(rankings, list(weights.values())), budget)


class Guarded:
    """The product's own guarded search for one rewriter, or without any.

    Args:
        find: The search.
        budget: What each case may fetch, shared equally by the queries that the guard decides on.
        guard: The guard.
        policy: Its policy.
        profile: What kind of rewriter it judges.
    """

    def __init__(self, find: Searching, budget: Budget, guard: Guard, policy: Policy, profile: Profile) -> None:
        self._find = find
        self._budget = budget
        self._request: Request
        self._ask: Callable[[], Answered | None]
        self._depth = 0
        self._answered: Answered | None = None
        common: dict[str, Any] = {
            "guard": guard,
            "policy": policy,
            "profile": profile,
            "telemetry": Telemetry(capture="off"),
        }
        # How many queries share the budget shows only when the guard has decided, and by then its searches have begun:
        # so it decides once over a search that finds nothing, and again, the same, over the real one.
        self._deciding = GuardedSearch(_nothing, self._rewrite, **common)
        self._searching = GuardedSearch(self._search, self._rewrite, k=budget.returned, key=_id, **common)

    def run(self, arm: ArmName, label: str, request: Request, ask: Callable[[], Answered | None]) -> Attempt:
        """What the guard makes of a case; `ask` gives the rewriter's answer, and is called where the guard asks."""
        self._request, self._ask, self._answered = request, ask, None
        case, day = request.case, request.day
        outcome = Outcome(case.id, arm, label, Ended.ERROR)
        try:
            decision = self._deciding.run(case.original, case.history, reference_date=day).decision
            outcome = self._decided(outcome, decision)
            if decision.action is Action.CLARIFY:
                return Attempt(outcome)
            self._depth = self._budget.share(len(decision.queries))
            result = self._searching.run(case.original, case.history, reference_date=day)
        except _NoRewriteError:  # in shadow mode only: elsewhere the guard does without
            return Attempt(replace(outcome, stage="rewrite", error=self._answered.error if self._answered else ""))
        except Exception as error:  # noqa: BLE001 - the application's search: that it fails is what is measured
            stage = outcome.stage or "retrieval"
            return Attempt(replace(outcome, status=Ended.ERROR, stage=stage, error=type(error).__name__))
        return _ended(_searched(outcome, result), result.items, self._budget)

    def _decided(self, outcome: Outcome, decision: Decision) -> Outcome:
        without = outcome.arm is ArmName.WITHOUT
        found = decision.assessment.violations if decision.assessment else ()
        codes = tuple(dict.fromkeys(violation.code for violation in found)) or (decision.reason.value,)
        failed = not without and decision.reason in (Reason.REWRITER_ERROR, Reason.REWRITER_TIMEOUT)
        return replace(
            outcome,
            status=Ended.CLARIFIED if decision.action is Action.CLARIFY else Ended.OK,
            rewrite=None if without else _joined(self._answered),
            verdict=decision.verdict.value if decision.verdict else "",
            action=decision.action.value,
            reasons=() if without else codes,
            candidates=decision.candidates if decision.action is Action.CLARIFY else (),
            stage="rewrite" if failed else "",
            error=self._answered.error if failed and self._answered else "",
        )

    def _rewrite(self, turn: str) -> str | list[str]:  # noqa: ARG002 - the case says it
        self._answered = self._ask()
        if self._answered is None or self._answered.error:
            raise _NoRewriteError("no rewrite")
        texts = list(self._answered.texts)
        return texts if self._answered.several or len(texts) != 1 else texts[0]

    def _search(self, query: str) -> list[Hit[FoundDocument]]:
        return self._find(query, self._request.limits, self._depth)


class _NoRewriteError(Exception):
    """The rewriter failed, or was not to be asked."""


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


def _ended(outcome: Outcome, found: Sequence[FoundDocument], budget: Budget) -> Attempt:
    best = list(found)[: budget.returned]
    if not best:
        return Attempt(replace(outcome, status=Ended.EMPTY, stage=outcome.stage or "retrieval"))
    outcome = replace(outcome, status=Ended.OK, results=tuple(each.id for each in best))
    return Attempt(outcome, tuple(each.item for each in best))


def _joined(answered: Answered | None) -> str | None:
    return None if answered is None or answered.error else "\n".join(answered.texts)


def _nothing(query: str) -> list[Hit[FoundDocument]]:  # noqa: ARG001 - a search
    return []


def _id(found: FoundDocument) -> str:
    return found.id
