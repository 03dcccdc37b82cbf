"""Runs many checks in a few processes. A check that crashes is an error and never a score."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewriteguard import Guard, Verdict
from rewriteguard.check.assess import judge
from rewriteguard.model.assessment import Violation

CHANGED, PRESERVED, UNCERTAIN = Verdict.CHANGED.value, Verdict.PRESERVED.value, Verdict.UNCERTAIN.value
GRAVITY = {PRESERVED: 0, UNCERTAIN: 1, CHANGED: 2}
_CHUNK = 64  # checks handed to a process at once: neighbours share a conversation, which the guard keeps read


@dataclass(frozen=True, slots=True)
class Task:
    """One check to make, and what the report groups it by."""

    part: str
    id: str
    turn: str
    rewrite: str
    history: tuple[tuple[str, str], ...] = ()
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the guard found about one task.

    Attributes:
        task: The check that was made.
        verdict: `preserved`, `uncertain` or `changed`; empty where the check crashed.
        dependent: Whether the guard holds that the turn needs the conversation.
        rules: The rules that fired, gravest first, each once.
        alone: Those without which the verdict would be less grave.
        error: Type and place of the crash; empty where there was none.
    """

    task: Task
    verdict: str = ""
    dependent: bool = False
    rules: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    error: str = ""


_GUARD = Guard()  # loads nothing until it is used, so that each process pays for its own


def run(tasks: Sequence[Task], jobs: int) -> list[Outcome]:
    """The outcome of every task, in the order of the tasks.

    Args:
        tasks: The checks to make.
        jobs: Number of processes; with 1 everything runs in this one.
    """
    if jobs == 1:
        return [outcome(task) for task in tasks]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(outcome, tasks, chunksize=_CHUNK))


def outcome(task: Task, guard: Guard = _GUARD) -> Outcome:
    """The outcome of one task."""
    try:
        found = guard.check(task.turn, task.rewrite, task.history)
    except Exception as error:  # noqa: BLE001 - reported as an error of the run, which then fails
        return Outcome(task, error=_crash(error))
    rules = tuple(dict.fromkeys(violation.rule.value for violation in found.violations))
    alone = tuple(rule for rule in rules if _without(rule, found.violations) < GRAVITY[found.verdict.value])
    return Outcome(task, found.verdict.value, found.dependent, rules, alone)


def without_errors(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes that can be scored."""
    return [outcome for outcome in outcomes if not outcome.error]


def _without(rule: str, violations: Sequence[Violation]) -> int:
    verdict, _ = judge(violation for violation in violations if violation.rule != rule)
    return GRAVITY[verdict.value]


def _crash(error: Exception) -> str:
    """Where it crashed; the message is left out, since it may quote a row that is not to be read."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {place}"
