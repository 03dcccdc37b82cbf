"""What each arm did, request by request, with everything that is judged about it: what scores and tests are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import SHARED, Arm, Outcome
from rewriteguard.evaluation.score.contract import Extract
from rewriteguard.evaluation.score.measures import Measured, asked_rightly, measured
from rewriteguard.evaluation.score.preservation import Clause, clauses
from rewriteguard.evaluation.score.stages import Stage, first_break

_ORDER = {arm: place for place, arm in enumerate(Arm)}


@dataclass(frozen=True, slots=True)
class ArmRun:
    """One arm of one rewriter over all cases; each mapping is by the id of the case.

    Attributes:
        rewriter: The label of the rewriter; empty for the arms that need none.
        arm: The arm.
        k: How many of its results count.
        outcomes: What it did.
        measured: What its results are worth; only requests with relevant documents.
        clauses: What its queries made of the contract; nothing is kept where nothing was searched. Without the
            requests about which the user was rightly asked instead.
        of_rewrite: What the rewriter's output by itself made of the contract; a rewriter that failed kept nothing.
            Without the requests for which none was asked.
        stages: Where it broke; only failed requests.
    """

    rewriter: str
    arm: Arm
    k: int
    outcomes: Mapping[str, Outcome]
    measured: Mapping[str, Measured]
    clauses: Mapping[str, tuple[Clause, ...]]
    of_rewrite: Mapping[str, tuple[Clause, ...]]
    stages: Mapping[str, Stage]


def arm_runs(cases: Sequence[Case], outcomes: Sequence[Outcome], k: int, extract: Extract) -> list[ArmRun]:
    """The arms that ran, those without a rewriter first, then by rewriter; outcomes of other cases are left out.

    Args:
        cases: The requests.
        outcomes: What the arms did, in any order; of two of one case, arm and rewriter the last counts.
        k: How many results count.
        extract: Finds the protected tokens of a text: `Guard.extract`.
    """
    known = {case.id for case in cases}
    by_arm: dict[tuple[str, Arm], dict[str, Outcome]] = {}
    for outcome in outcomes:
        if outcome.case in known:
            by_arm.setdefault((outcome.rewriter, outcome.arm), {})[outcome.case] = outcome
    arms = sorted(by_arm, key=lambda key: (key[0], _ORDER[key[1]]))
    values = {key: measured(cases, by_arm[key], k) for key in arms}
    bases = [values[key] for key in arms if key[1] in (Arm.ORIGINAL, Arm.HUMAN)]
    answerable = {name for base in bases for name, each in base.items() if each.found}
    read_once = cache(extract)  # arms share queries, and every arm needs the tokens of the turn
    return [_run(cases, (*key, k), by_arm[key], values[key], answerable, read_once) for key in arms]


def was_asked(outcome: Outcome) -> bool:
    """Whether a rewriter was asked, also where it failed."""
    return outcome.rewrite is not None or (outcome.arm not in SHARED and outcome.stage == Stage.REWRITE)


def _run(
    cases: Sequence[Case],
    key: tuple[str, Arm, int],
    outcomes: Mapping[str, Outcome],
    values: Mapping[str, Measured],
    answerable: set[str],
    extract: Extract,
) -> ArmRun:
    judged: dict[str, tuple[Clause, ...]] = {}
    own: dict[str, tuple[Clause, ...]] = {}
    stages: dict[str, Stage] = {}
    for case in cases:
        outcome = outcomes.get(case.id)
        if outcome is None:
            continue
        found = () if asked_rightly(case, outcome) else clauses(case, outcome.queries, extract)
        if found:
            judged[case.id] = found
        if was_asked(outcome) and (alone := clauses(case, (outcome.rewrite or "").splitlines(), extract)):
            own[case.id] = alone
        stage = first_break(case, outcome, values.get(case.id), found, case.id in answerable)
        if stage is not None:
            stages[case.id] = stage
    return ArmRun(*key, outcomes, values, judged, own, stages)
