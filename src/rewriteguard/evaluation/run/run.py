"""Runs every arm for every case and gives the outcomes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from rewriteguard.errors import ScopeError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.arms import NOT_ASKED, Attempt, Guarded, Task, unguarded
from rewriteguard.evaluation.run.journal import Answered, Journal
from rewriteguard.evaluation.run.outcome import SHARED, ArmName, Ended, Outcome
from rewriteguard.evaluation.run.setup import Setup
from rewriteguard.model.assessment import Profile

Job = tuple[ArmName, str]
"""An arm, and the label of its rewriter."""
Progress = Callable[[int, int], Any]

_GUARDED = frozenset({ArmName.GUARDED, ArmName.WITHOUT})


def outcomes(
    setup: Setup, *, journal: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> list[Outcome]:
    """The outcomes of every arm for every case, in the order of cases, arms and rewriters.

    As in production, rewriters are not asked on first turns, so that these have no outcomes of theirs, unless a rewrite
    is recorded.

    Args:
        setup: What is run.
        journal: A file that keeps each answer and outcome as it comes; a run that was stopped goes on there. None keeps
            none.
        progress: Gets the number of cases that are done and of all, after each case.

    Raises:
        ConditionsError: The journal was written under other conditions.
        JournalError: The journal cannot be read, or another process has it open.
    """
    with Journal(":memory:" if journal is None else journal, setup.conditions) as kept:
        return _AllArms(setup, kept).outcomes(progress)


class _AllArms:
    def __init__(self, setup: Setup, kept: Journal) -> None:
        self._setup = setup
        self._kept = kept
        self._guarded = dict(_guarded(setup))
        self._jobs: list[Job] = [
            (arm, label) for arm in setup.arms for label in ([""] if arm in SHARED else setup.rewriters)
        ]

    def outcomes(self, progress: Progress | None) -> list[Outcome]:
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

    def _one(self, case: Case, arm: ArmName, label: str) -> None:
        """Runs one arm for one case, where there is something to run."""
        if (arm is ArmName.HUMAN and not case.human) or (label and not self._setup.rewriters.measurable(label, case)):
            return
        ask = partial(self._asked, label, case)
        if arm is ArmName.EXPANDED and not self._setup.rewriters[label].expands:
            answered = ask()
            if len(answered.texts) < 2:
                return
        self._kept.outcome(self._setup.answering(case, self._ended(case, arm, label, ask)))

    def _ended(self, case: Case, arm: ArmName, label: str, ask: Callable[[], Answered]) -> Attempt:
        setup = self._setup
        limits = setup.limits[case.id]
        if isinstance(limits, ScopeError):
            return Attempt(Outcome(case.id, arm, label, Ended.ERROR, stage="retrieval", error=type(limits).__name__))
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
    if ArmName.WITHOUT in setup.arms:
        alone = replace(policy, shadow=False)
        yield "", Guarded(setup.find, setup.budget, setup.guard, alone, Profile.CONDENSE)
    if ArmName.GUARDED in setup.arms:
        for label, each in setup.rewriters.items():
            yield label, Guarded(setup.find, setup.budget, setup.guard, policy, each.profile)


def _rotated(jobs: list[Job], by: int) -> list[Job]:
    """The jobs, beginning with another one for each case: none of them always finds the caches warm."""
    start = by % len(jobs) if jobs else 0
    return jobs[start:] + jobs[:start]


def _not_asked() -> Answered:
    return NOT_ASKED
