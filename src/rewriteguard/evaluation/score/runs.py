"""What each arm did, request by request, with everything that is judged about it: what scores and tests are made of.

A request failed where it has relevant documents and none came back, where its answer is not right and supported, where
the user was asked without need, or where the arm raised. The first row that fits counts:

| what happened | stage |
|---|---|
| the arm raised | where it raised: `Outcome.stage`, else retrieval |
| the user was asked, and no contract says that the turn has several readings: nothing was searched | rewrite |
| a relevant document came back | generation |
| nothing was to be found, but the answer is not right and supported | generation |
| the original or the human rewrite found none either: the index did not answer what was asked | retrieval |
| the arm asks no rewriter: original, human, without_rewrite | retrieval |
| the rewriter failed, or the queries break a clause of the contract | rewrite |
| no contract says what to keep: the words of the query were all that differed | rewrite |
| the queries hold every clause of the contract | retrieval |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import ir_measures
from ir_measures import RR, R, nDCG

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import SHARED, ArmName, Ended, Outcome
from rewriteguard.evaluation.score.contract import Clause, Extract, clauses

SEARCHED = frozenset({Ended.OK, Ended.EMPTY})
"""How a search ends that was made and did not fail."""
_ORDER = {arm: place for place, arm in enumerate(ArmName)}


@dataclass(frozen=True, slots=True)
class Measured:
    """What the first k results of one request are worth; all are relevant or not, without degrees.

    Attributes:
        recall: Share of the relevant documents that are among the k.
        ndcg: nDCG@k.
        mrr: One over the rank of the first relevant document; 0 where none is among the k.
    """

    recall: float = 0.0
    ndcg: float = 0.0
    mrr: float = 0.0

    @property
    def found(self) -> bool:
        """Whether a relevant document is among the k: the success of a request."""
        return self.recall > 0


class Stage(StrEnum):
    """The stages of a request, first to last."""

    REWRITE = "rewrite"
    RETRIEVAL = "retrieval"
    GENERATION = "generation"


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
    arm: ArmName
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
    by_arm: dict[tuple[str, ArmName], dict[str, Outcome]] = {}
    for outcome in outcomes:
        if outcome.case in known:
            by_arm.setdefault((outcome.rewriter, outcome.arm), {})[outcome.case] = outcome
    arms = sorted(by_arm, key=lambda key: (key[0], _ORDER[key[1]]))
    values = {key: measured(cases, by_arm[key], k) for key in arms}
    bases = [values[key] for key in arms if key[1] in (ArmName.ORIGINAL, ArmName.HUMAN)]
    answerable = {name for base in bases for name, each in base.items() if each.found}
    read_once = cache(extract)  # arms share queries, and every arm needs the tokens of the turn
    return [_run(cases, (*key, k), by_arm[key], values[key], answerable, read_once) for key in arms]


def _run(
    cases: Sequence[Case],
    key: tuple[str, ArmName, int],
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
        if _was_asked(outcome) and (alone := clauses(case, (outcome.rewrite or "").splitlines(), extract)):
            own[case.id] = alone
        stage = first_break(case, outcome, values.get(case.id), found, case.id in answerable)
        if stage is not None:
            stages[case.id] = stage
    return ArmRun(*key, outcomes, values, judged, own, stages)


def _was_asked(outcome: Outcome) -> bool:
    """Whether a rewriter was asked, also where it failed."""
    return outcome.rewrite is not None or (outcome.arm not in SHARED and outcome.stage == Stage.REWRITE)


def measured(cases: Iterable[Case], outcomes: Mapping[str, Outcome], k: int) -> dict[str, Measured]:
    """What one arm found, by the id of the case, in the order of the cases: the figures by intention to treat.

    | request | here |
    |---|---|
    | without relevant ids, or without an outcome | left out, never 0 |
    | results | measured |
    | found nothing (`empty`) or failed (`error`) | 0: the user got nothing; `Scores.statuses` counts it apart |
    | user asked, and the contract has several readings | left out: it was right to ask |
    | user asked, and the contract does not say so | 0: the search that the turn allowed was not made |

    Figures of the searches alone are those of the requests whose status is in `SEARCHED`.

    Args:
        cases: The requests.
        outcomes: What the arm did, by the id of the case.
        k: How many results count.
    """
    judged = {case.id: case for case in cases if case.relevant and case.id in outcomes}
    counted = {name: case for name, case in judged.items() if not asked_rightly(case, outcomes[name])}
    if not counted:
        return {}
    names = {str(at): name for at, name in enumerate(counted)}
    qrels = {at: dict.fromkeys(counted[name].relevant, 1) for at, name in names.items()}
    runs = {at: _ranked(outcomes[name], k) for at, name in names.items()}
    fields = {R @ k: "recall", nDCG @ k: "ndcg", RR @ k: "mrr"}
    found = dict.fromkeys(counted, Measured())
    for metric in ir_measures.iter_calc(list(fields), qrels, runs):
        name = names[metric.query_id]
        found[name] = replace(found[name], **{fields[metric.measure]: float(metric.value)})
    return found


def _ranked(outcome: Outcome, k: int) -> dict[str, float]:
    """The first k documents, each once, with scores that keep their order."""
    return {item: -float(rank) for rank, item in enumerate(dict.fromkeys(outcome.results[:k]))}


def first_break(
    case: Case, outcome: Outcome, measured: Measured | None, clauses: Sequence[Clause], answerable: bool
) -> Stage | None:
    """The first stage at which the request broke; None where it did not fail, or nobody can say.

    Args:
        case: The request.
        outcome: What the arm did.
        measured: What its results are worth; None where nothing was to be found.
        clauses: What its queries made of the contract.
        answerable: Whether the original or the human rewrite found a relevant document.
    """
    if outcome.status is Ended.ERROR:
        return Stage(outcome.stage or Stage.RETRIEVAL)
    if outcome.status is Ended.CLARIFIED:
        needless = should_ask(case) is False or measured is not None
        return Stage.REWRITE if needless else None
    if measured is None or measured.found:
        unanswered = outcome.supported is False or outcome.stage == Stage.GENERATION
        return Stage.GENERATION if unanswered else None
    if not answerable or outcome.arm in SHARED:
        return Stage.RETRIEVAL
    lost = not all(clause.held for clause in clauses)
    failed = outcome.rewrite is None or outcome.stage == Stage.REWRITE
    return Stage.REWRITE if lost or failed or not clauses else Stage.RETRIEVAL


def should_ask(case: Case) -> bool | None:
    """Whether the contract says that the turn has several readings, so that the user should be asked; None without."""
    contract = case.contract
    return None if contract is None else bool(contract.unresolved) or len(contract.readings) > 1


def asked_rightly(case: Case, outcome: Outcome) -> bool:
    """Whether the user was asked instead of a search, as the contract says."""
    return outcome.status is Ended.CLARIFIED and should_ask(case) is True
