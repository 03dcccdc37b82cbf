"""Runs every arm for every case under conditions that are written down, and gives the outcomes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from random import Random
from typing import Any

import rewriteguard
from rewriteguard import arguments
from rewriteguard.assessment import Profile
from rewriteguard.conversation import Conversation
from rewriteguard.decider import default_guard, today_in_utc
from rewriteguard.errors import HistoryError, InputError, ScopeError
from rewriteguard.evaluation.arms import NOT_ASKED, Budget, Ended, Guarded, Request, unguarded
from rewriteguard.evaluation.case import Case
from rewriteguard.evaluation.conditions import Conditions, digest_of_cases, digest_of_contracts
from rewriteguard.evaluation.fingerprint import described, digest
from rewriteguard.evaluation.journal import Answered, Journal, Key, conditions_of
from rewriteguard.evaluation.outcome import SHARED, Arm, Outcome, Status
from rewriteguard.evaluation.rewriters import Rewriters, history_of
from rewriteguard.evaluation.searching import Searching
from rewriteguard.guard import Guard
from rewriteguard.plan import limits_of
from rewriteguard.policy import Policy

K = 10
BUDGET = 60
_PROBES = 10  # queries whose results tell one state of an index from another
_GUARDED = frozenset({Arm.GUARDED, Arm.WITHOUT})

Scope = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
Job = tuple[Arm, str]
"""An arm, and the label of its rewriter."""


def run(
    cases: Iterable[Case],
    search: Any,
    rewriters: Mapping[str, Any],
    *,
    journal: str | os.PathLike[str] | None = None,
    reference_date: date | None = None,
    progress: Callable[[int, int], Any] | None = None,
    **settings: Any,
) -> list[Outcome]:
    """The outcomes of every arm for every case, in the order of cases, arms and rewriters.

    Args:
        cases: The cases.
        search: See `Run`, as for `rewriters` and the further `settings`.
        rewriters: By label.
        journal: A file that keeps each answer and outcome as it comes; a run that was stopped goes on there. None keeps
            none.
        reference_date: The day that "today" means where a contract does not say; None is that of the journal, else
            today in UTC.
        progress: Gets the number of cases that are done and of all, after each case.
        **settings: Further arguments of `Run`.

    Raises:
        ConditionsError: The journal was written under other conditions.
        JournalError: The journal cannot be read, or another process has it open.
        InputError: An argument has a value that cannot be used.
        HistoryError: The history of a case cannot be read.
        ScopeError: The search would not pass on what limits it.
    """
    if reference_date is None and journal is not None:
        made = conditions_of(journal)
        reference_date = None if made is None else date.fromisoformat(made.reference_date)
    prepared = Run(cases, search, rewriters, reference_date=reference_date, **settings)
    return prepared.outcomes(journal=journal, progress=progress)


class Run:
    """A run whose conditions are known and that may begin.

    Args:
        cases: The cases; no id twice.
        search: A LangChain retriever or another runnable, or a callable `search(query, **keywords)`; gives documents or
            `Hit(document, score)`, best first. Each arm searches for itself, so it must give the same for the same.
        rewriters: By label: a callable `f(turn, history)` or `f(turn)`, a runnable, `recorded` for the rewrites that
            the cases hold, or a `Rewriter` with its profile and settings. One that gives a list has the arm EXPANDED
            too.
        k: The number of documents that an arm returns.
        budget: The number of documents that an arm may fetch in all, shared equally by its searches.
        guard: None is the process-wide guard.
        policy: None is `Policy()`.
        arms: The arms to run.
        scope: Gets the trusted context of a case and gives the keywords that limit each of its searches. Where it
            raises, or gives None, nothing is searched for that case.
        seed: Orders the cases.
        reference_date: The day that "today" means where a contract does not say; None is today in UTC.
        answer: Called as answer(turn, history, documents); gives the answer from the documents that came back.
        judge: Called as judge(case, answer, documents); says whether the answer is right and supported, or None.
        fingerprint: States which corpus and index are searched; None takes that of a `Corpus`.
        id_key: The key of the documents' metadata that holds the ids of the labels; None takes the documents' own ids.
        score_key: The key of the metadata that holds a score, where higher is better.

    Attributes:
        conditions: What the outcomes are valid for.

    Raises:
        InputError: An argument has a value that cannot be used.
        HistoryError: The history of a case cannot be read.
        ScopeError: The search would not pass on what limits it.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        search: Any,
        rewriters: Mapping[str, Any],
        *,
        k: int = K,
        budget: int = BUDGET,
        guard: Guard | None = None,
        policy: Policy | None = None,
        arms: Iterable[Arm] = tuple(Arm),
        scope: Scope | None = None,
        seed: int = 0,
        reference_date: date | None = None,
        answer: Callable[[str, Any, Sequence[Any]], str] | None = None,
        judge: Callable[[Case, str, Sequence[Any]], bool | None] | None = None,
        fingerprint: str | None = None,
        id_key: str | None = None,
        score_key: str | None = None,
    ) -> None:
        self._cases = _checked(cases)
        self._arms = tuple(arm for arm in Arm if arm in frozenset(map(Arm, arms)))
        for name, value in (("scope", scope), ("answer", answer), ("judge", judge)):
            arguments.function(name, value)
        self._budget = _budget(k, budget)
        self._find = Searching(search, id_key, score_key)
        self._rewriters = Rewriters(rewriters, self._cases)
        self._answer, self._judge = answer, judge
        self._seed = seed
        self._day = arguments.day("reference_date", reference_date) or today_in_utc()
        guard = default_guard() if guard is None else guard
        policy = Policy() if policy is None else policy
        self._guarded = self._guards(guard, policy)
        self._limits = {case.id: _limits(scope, case) for case in self._cases}
        corpus = getattr(search, "fingerprint", "") if fingerprint is None else fingerprint
        self.conditions = self._conditions(corpus if isinstance(corpus, str) else "", scope, policy, guard)

    def outcomes(
        self,
        *,
        journal: str | os.PathLike[str] | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> list[Outcome]:
        """The outcomes, in the order of cases, arms and rewriters; see `run`.

        Raises:
            ConditionsError: The journal was written under other conditions.
            JournalError: The journal cannot be read, or another process has it open.
        """
        if journal is None:
            return self._all(_Kept(), progress)
        with Journal(journal, self.conditions) as kept:
            return self._all(kept, progress)

    def _all(self, kept: Journal | _Kept, progress: Callable[[int, int], Any] | None) -> list[Outcome]:
        order = list(range(len(self._cases)))
        Random(self._seed).shuffle(order)
        for done, place in enumerate(order):
            case = self._cases[place]
            for job in _rotated(self._jobs(), done):
                if (case.id, *job) not in kept.outcomes:
                    self._one(case, *job, kept)
            if progress is not None:
                progress(done + 1, len(order))
        found = kept.outcomes
        return [found[key] for key in self._keys() if key in found]

    def _jobs(self) -> list[Job]:
        return [(arm, label) for arm in self._arms for label in ([""] if arm in SHARED else self._rewriters)]

    def _keys(self) -> Iterator[Key]:
        return ((case.id, arm, label) for case in self._cases for arm, label in self._jobs())

    def _one(self, case: Case, arm: Arm, label: str, kept: Journal | _Kept) -> None:
        """Runs one arm for one case, where there is something to run."""
        if (arm is Arm.HUMAN and not case.human) or (label and not self._rewriters.measurable(label, case)):
            return
        ask = partial(self._asked, label, case, kept)
        if arm is Arm.EXPANDED and not self._rewriters[label].expands:
            answered = ask()
            if answered is None or len(answered.texts) < 2:
                return
        kept.outcome(self._answered(case, self._ended(case, arm, label, ask)))

    def _ended(self, case: Case, arm: Arm, label: str, ask: Callable[[], Answered | None]) -> Ended:
        limits = self._limits[case.id]
        if isinstance(limits, ScopeError):
            return Ended(Outcome(case.id, arm, label, Status.ERROR, stage="retrieval", error=type(limits).__name__))
        day = case.contract.reference_date if case.contract else None
        request = Request(case, limits, day or self._day)
        if arm in _GUARDED:
            return self._guarded[label].run(arm, label, request, ask if label else _not_asked)
        return unguarded(arm, label, request, ask() if label else None, self._find, self._budget)

    def _asked(self, label: str, case: Case, kept: Journal | _Kept) -> Answered | None:
        """The rewriter's answer; it is asked once, whatever the number of arms and of starts."""
        if (label, case.id) in kept.answers:
            return kept.answers[label, case.id]
        answered = self._rewriters.ask(label, case)
        if answered is not None and not self._rewriters[label].recorded:
            kept.answer(label, case.id, answered)
        return answered

    def _answered(self, case: Case, ended: Ended) -> Outcome:
        """The outcome with the answer from its documents, and whether that is right."""
        outcome = ended.outcome
        if self._answer is None or outcome.status not in (Status.OK, Status.EMPTY):
            return outcome
        try:
            answer = str(self._answer(case.original, history_of(case), ended.documents))
        except Exception as error:  # noqa: BLE001 - the application's generator: that it fails is what is measured
            return replace(outcome, stage=outcome.stage or "generation", error=outcome.error or type(error).__name__)
        if self._judge is None:
            return replace(outcome, answer=answer)
        try:
            supported = self._judge(case, answer, ended.documents)
        except Exception as error:  # noqa: BLE001 - the application's judge: nobody said then whether it is supported
            return replace(outcome, answer=answer, error=outcome.error or f"judge: {type(error).__name__}")
        return replace(outcome, answer=answer, supported=None if supported is None else bool(supported))

    def _guards(self, guard: Guard, policy: Policy) -> dict[str, Guarded]:
        found: dict[str, Guarded] = {}
        if Arm.WITHOUT in self._arms:
            alone = replace(policy, shadow=False)
            found[""] = Guarded(self._find, self._budget, guard, alone, Profile.CONDENSE)
        if Arm.GUARDED in self._arms:
            for label, each in self._rewriters.items():
                found[label] = Guarded(self._find, self._budget, guard, policy, each.profile)
        return found

    def _conditions(self, corpus: str, scope: Scope | None, policy: Policy, guard: Guard) -> Conditions:
        limits = [each for each in self._limits.values() if not isinstance(each, ScopeError)]
        return Conditions(
            cases=digest_of_cases(self._cases),
            contracts=digest_of_contracts(self._cases),
            corpus=corpus,
            probe=self._probe(),
            search=self._find.settings(),
            rewriters=self._rewriters.settings(),
            k=self._budget.returned,
            budget=self._budget.fetched,
            scope={
                "scope": described(scope),
                "keywords": sorted({name for each in limits for name in each}),
                "values": digest([described(each) for each in limits]),
            },
            reference_date=self._day.isoformat(),
            seed=self._seed,
            policy=described(policy),
            guard=described(guard),
            arms=tuple(arm.value for arm in self._arms),
            answer=described(self._answer),
            judge=described(self._judge),
            version=rewriteguard.__version__,
        )

    def _probe(self) -> str:
        """A digest of what the search gives for the first turns.

        Raises:
            InputError: The search gives no documents with ids.
            ScopeError: The search would not pass on what limits it.
        """
        found: list[Any] = []
        for case in self._cases[:_PROBES]:
            limits = self._limits[case.id]
            if isinstance(limits, ScopeError):
                continue
            try:
                hits = self._find(case.original, limits, self._budget.fetched)
                found.append([hit.item.id for hit in hits])
            except (InputError, ScopeError):
                raise
            except Exception as error:  # noqa: BLE001 - that a search fails is an outcome of the run
                found.append(type(error).__name__)
        return digest(found)


@dataclass(slots=True)
class _Kept:
    """What a journal keeps, in memory alone."""

    answers: dict[tuple[str, str], Answered]
    outcomes: dict[Key, Outcome]

    def __init__(self) -> None:
        self.answers, self.outcomes = {}, {}

    def answer(self, label: str, case: str, answered: Answered) -> None:
        self.answers[label, case] = answered

    def outcome(self, outcome: Outcome) -> None:
        self.outcomes[outcome.case, outcome.arm, outcome.rewriter] = outcome


def _checked(cases: Iterable[Case]) -> tuple[Case, ...]:
    checked = tuple(cases)
    twice = [each for each, n in Counter(case.id for case in checked).items() if n > 1]
    if twice:
        raise InputError(f"cases: expected each id once, got {twice[0]!r} several times")
    for case in checked:
        try:
            Conversation.read(case.original, case.history)
        except HistoryError as error:
            raise HistoryError(f"case {case.id!r}: {error}") from None
    return checked


def _budget(k: int, budget: int) -> Budget:
    arguments.count("k", k)
    arguments.count("budget", budget)
    if k is None or budget is None or budget < k:
        raise InputError(f"budget: expected at least k = {k} documents, got {budget}")
    return Budget(k, budget)


def _limits(scope: Scope | None, case: Case) -> Mapping[str, Any] | ScopeError:
    try:
        return limits_of(scope, dict(case.context))
    except ScopeError as error:
        return error


def _rotated(jobs: list[Job], by: int) -> list[Job]:
    """The jobs, beginning with another one for each case: none of them always finds the caches warm."""
    start = by % len(jobs) if jobs else 0
    return jobs[start:] + jobs[:start]


def _not_asked() -> Answered:
    return NOT_ASKED
