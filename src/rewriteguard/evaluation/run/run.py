"""Runs every arm for every case and gives the outcomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from random import Random
from typing import Any, Unpack

from rewriteguard.errors import ScopeError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.arms import NOT_ASKED, Ended, Guarded, Task, unguarded
from rewriteguard.evaluation.run.journal import Answered, Journal, Key, conditions_of
from rewriteguard.evaluation.run.outcome import SHARED, Arm, Outcome, Status
from rewriteguard.evaluation.run.setup import K, Settings, Setup
from rewriteguard.model.assessment import Profile

Job = tuple[Arm, str]
"""An arm, and the label of its rewriter."""
Progress = Callable[[int, int], Any]

_GUARDED = frozenset({Arm.GUARDED, Arm.WITHOUT})


def run(
    cases: Iterable[Case],
    search: Any,
    rewriters: Mapping[str, Any],
    *,
    k: int = K,
    journal: str | os.PathLike[str] | None = None,
    reference_date: date | None = None,
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> list[Outcome]:
    """The outcomes of every arm for every case, in the order of cases, arms and rewriters.

    Args:
        cases: The cases.
        search: See `Setup`, as for the further `settings`.
        rewriters: The rewriters by their labels. As in production they are not asked on first turns, so that these
            have no outcomes of theirs, unless a rewrite is recorded.
        k: The number of documents that an arm returns.
        journal: A file that keeps each answer and outcome as it comes; a run that was stopped goes on there. None keeps
            none.
        reference_date: The day that "today" means where a contract does not say; None is that of the journal, else
            today in UTC.
        progress: Gets the number of cases that are done and of all, after each case.
        **settings: Further arguments of `Setup`.

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
    setup = Setup(cases, search, rewriters, k=k, reference_date=reference_date, **settings)
    return outcomes(setup, journal=journal, progress=progress)


def outcomes(
    setup: Setup, *, journal: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> list[Outcome]:
    """The outcomes under a setup, in the order of cases, arms and rewriters; see `run`.

    Raises:
        ConditionsError: The journal was written under other conditions.
        JournalError: The journal cannot be read, or another process has it open.
    """
    if journal is None:
        return _Run(setup, _Kept()).all(progress)
    with Journal(journal, setup.conditions) as kept:
        return _Run(setup, kept).all(progress)


@dataclass(slots=True)
class _Kept:
    """What a journal keeps, in memory alone."""

    answers: dict[tuple[str, str], Answered] = field(default_factory=dict)
    outcomes: dict[Key, Outcome] = field(default_factory=dict)

    def answer(self, label: str, case: str, answered: Answered) -> None:
        self.answers[label, case] = answered

    def outcome(self, outcome: Outcome) -> None:
        self.outcomes[outcome.case, outcome.arm, outcome.rewriter] = outcome


class _Run:
    def __init__(self, setup: Setup, kept: Journal | _Kept) -> None:
        self._setup = setup
        self._kept = kept
        self._guarded = dict(_guarded(setup))
        self._jobs: list[Job] = [
            (arm, label) for arm in setup.arms for label in ([""] if arm in SHARED else setup.rewriters)
        ]

    def all(self, progress: Progress | None) -> list[Outcome]:
        """Runs what is not kept yet, the cases in the order of the seed."""
        order = list(self._setup.cases)
        Random(self._setup.seed).shuffle(order)
        for done, case in enumerate(order):
            for job in _rotated(self._jobs, done):
                if (case.id, *job) not in self._kept.outcomes:
                    self._one(case, *job)
            if progress is not None:
                progress(done + 1, len(order))
        found = self._kept.outcomes
        keys = ((case.id, arm, label) for case in self._setup.cases for arm, label in self._jobs)
        return [found[key] for key in keys if key in found]

    def _one(self, case: Case, arm: Arm, label: str) -> None:
        """Runs one arm for one case, where there is something to run."""
        if (arm is Arm.HUMAN and not case.human) or (label and not self._setup.rewriters.measurable(label, case)):
            return
        ask = partial(self._asked, label, case)
        if arm is Arm.EXPANDED and not self._setup.rewriters[label].expands:
            answered = ask()
            if len(answered.texts) < 2:
                return
        self._kept.outcome(self._setup.answering(case, self._ended(case, arm, label, ask)))

    def _ended(self, case: Case, arm: Arm, label: str, ask: Callable[[], Answered]) -> Ended:
        setup = self._setup
        limits = setup.limits[case.id]
        if isinstance(limits, ScopeError):
            return Ended(Outcome(case.id, arm, label, Status.ERROR, stage="retrieval", error=type(limits).__name__))
        task = Task(case, limits, case.reference_date or setup.day)
        if arm in _GUARDED:
            return self._guarded[label].run(arm, label, task, ask if label else _not_asked)
        return unguarded(arm, label, task, ask() if label else None, setup.find, setup.budget)

    def _asked(self, label: str, case: Case) -> Answered:
        """The rewriter's answer; it is asked once, whatever the number of arms and of starts."""
        if (label, case.id) in self._kept.answers:
            return self._kept.answers[label, case.id]
        answered = self._setup.rewriters.ask(label, case)
        if not self._setup.rewriters[label].recorded:
            self._kept.answer(label, case.id, answered)
        return answered


def _guarded(setup: Setup) -> Iterator[tuple[str, Guarded]]:
    """The guarded search of each rewriter by its label, and under "" the one that does without.

    Classes of the policy are left out: what they say was decided by an evaluation, and what this one is to decide on is
    what the guard does with every rewrite.
    """
    policy = replace(setup.policy, classes=())
    if Arm.WITHOUT in setup.arms:
        alone = replace(policy, shadow=False)
        yield "", Guarded(setup.find, setup.budget, setup.guard, alone, Profile.CONDENSE)
    if Arm.GUARDED in setup.arms:
        for label, each in setup.rewriters.items():
            yield label, Guarded(setup.find, setup.budget, setup.guard, policy, each.profile)


def _rotated(jobs: list[Job], by: int) -> list[Job]:
    """The jobs, beginning with another one for each case: none of them always finds the caches warm."""
    start = by % len(jobs) if jobs else 0
    return jobs[start:] + jobs[:start]


def _not_asked() -> Answered:
    return NOT_ASKED
