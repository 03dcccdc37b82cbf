"""The first stage at which a failed request broke.

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

from collections.abc import Sequence
from enum import StrEnum

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import SHARED, Outcome, Status
from rewriteguard.evaluation.score.measures import Measured, should_ask
from rewriteguard.evaluation.score.preservation import Clause


class Stage(StrEnum):
    """The stages of a request, first to last."""

    REWRITE = "rewrite"
    RETRIEVAL = "retrieval"
    GENERATION = "generation"


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
    if outcome.status is Status.ERROR:
        return Stage(outcome.stage or Stage.RETRIEVAL)
    if outcome.status is Status.CLARIFIED:
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
