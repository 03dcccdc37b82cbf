"""What one arm did for one case. An empty result and a failure are outcomes, not zeros."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ArmName(StrEnum):
    """A way to turn a request into a list of documents.

    ORIGINAL searches the turn, HUMAN a person's stand-alone rewrite, REWRITE the rewriter's output unchecked, BOTH turn
    and rewrite fused as frameworks do (reciprocal rank fusion, k = 60, equal weights), GUARDED what the guard decides,
    WITHOUT what the guard does where there is no rewrite, EXPANDED several rewrites of the turn, fused with it.
    """

    ORIGINAL = "original"
    HUMAN = "human"
    REWRITE = "rewrite"
    BOTH = "original+rewrite"
    GUARDED = "guarded"
    WITHOUT = "without_rewrite"
    EXPANDED = "expanded"


SHARED = frozenset({ArmName.ORIGINAL, ArmName.HUMAN, ArmName.WITHOUT})
"""The arms that need no rewriter: they run once for all of them, under the rewriter "" ."""


class Ended(StrEnum):
    """How an arm ended."""

    OK = "ok"
    EMPTY = "empty"  # the search found nothing
    ERROR = "error"  # rewriter, guard or search raised
    CLARIFIED = "clarified"  # the user was asked, and nothing was searched


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one arm did for one case.

    Attributes:
        case: The id of the case.
        arm: The arm.
        rewriter: The label of the rewriter; empty for the arms that need none.
        status: How it ended.
        queries: What was searched, in order; empty where nothing was.
        results: The ids of the documents, best first, at most k.
        rewrite: The rewriter's output as it came, several joined by line ends; None where none was asked for or it
            failed.
        verdict: The guard's verdict on the rewrite; empty where the arm asks no guard.
        action: What the guard did; empty where the arm asks no guard.
        reasons: Closed codes of the guard's findings, such as `dropped.time`; the decision's reason where there is
            none.
        candidates: The readings that the user was asked to choose from.
        fetched: How many documents the searches returned in all, before fusion.
        stage: The first stage that failed: `rewrite`, `retrieval` or `generation`; named too where the guard went on
            without it, so that the status is OK; empty where none failed.
        error: The type of what was raised there; that of a judge after `judge: `.
        answer: What the generator answered; None where none was asked.
        supported: Whether that answer is right and supported, by label or judge; None where nobody said.
    """

    case: str
    arm: ArmName
    rewriter: str
    status: Ended
    queries: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    rewrite: str | None = None
    verdict: str = ""
    action: str = ""
    reasons: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    fetched: int = 0
    stage: str = ""
    error: str = ""
    answer: str | None = None
    supported: bool | None = None
