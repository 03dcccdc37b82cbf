"""Holds the scores of one arm against the bounds of a group of requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.plain import plain
from rewriteguard.evaluation.release.rules import CEILINGS, FLOORS, VETOES, Bounds, Measure
from rewriteguard.evaluation.run.outcome import Arm, Status
from rewriteguard.evaluation.score.paired import Paired
from rewriteguard.evaluation.score.results import ArmResult
from rewriteguard.evaluation.score.scores import Clarification, Hit


@dataclass(frozen=True, slots=True)
class Check:
    """One bound held against one arm.

    Attributes:
        arm: The arm.
        measure: What is bounded.
        limit: The bound: a ceiling for regressions and vetoes, a floor otherwise.
        measured: What the arm has; None where there was nothing to measure.
        n: How many requests or constraints that is of, or should have been.
        met: Whether the bound holds; None where there was nothing to measure.
    """

    arm: str
    measure: Measure
    limit: float
    measured: float | None
    n: int
    met: bool | None

    @property
    def broken(self) -> bool:
        """Whether the bound does not hold; also where requests were there to measure it on, and said nothing."""
        return self.met is False or (self.met is None and self.n > 0)

    @property
    def code(self) -> str:
        """A closed code, such as `rewrite.regression`."""
        return f"{self.arm}.{self.measure.value}"

    @property
    def text(self) -> str:
        """What was found, in words."""
        name = words_of(self.measure)
        if self.measured is None:
            of = f" on n = {self.n}: neither arm found evidence, or all are of one conversation" if self.n else ""
            return f"{self.arm}: {name} was not measured{of}"
        side = "at most" if self.measure in CEILINGS else "at least"
        return f"{self.arm}: {name} {self.measured:.3g} of n = {self.n}, bound {side} {self.limit:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """The check as plain JSON values."""
        told: dict[str, Any] = plain(self)
        return {**told, "code": self.code, "text": self.text}


def words_of(measure: Measure) -> str:
    """The measure in words."""
    if measure is Measure.EVIDENCE_RECALL:
        return "recall over the original's, lower end"
    if measure is Measure.FAILED:
        return "share of failed requests"
    return measure.value.replace("_", " ")


# A rewrite that is fused with the turn's own results loses some requests too, and so does a search without any
# rewriter: what counts there is whether it gains more than it loses.
_OTHERS = {Arm.REWRITE: Measure.NET_LOSS, Arm.GUARDED: Measure.REGRESSION}


def checks_of(arm: ArmResult, bounds: Bounds) -> tuple[Check, ...]:
    """The bounds that concern an arm, held against it: vetoes first, then in the order of `Measure`."""
    other = _OTHERS.get(Arm(arm.arm))
    order = (*VETOES, *(each for each in Measure if each not in VETOES and each is not other))
    return tuple(check for measure in order if (check := _check(arm, measure, bounds)) is not None)


def measured(arm: ArmResult, measure: Measure) -> tuple[float | None, int]:
    """What an arm has of a measure, and of how many; None where there was nothing to measure.

    Where neither the arm nor the original found any evidence, they do not differ, and that says nothing of the arm: the
    search was down, or the labels are those of another index. A single conversation has no interval.
    """
    scores, paired = arm.scores, arm.over_original
    if measure in VETOES:
        hits = scores.forbidden if measure is Measure.FORBIDDEN else scores.unauthorised
        return _requests(hits), scores.requests
    if measure is Measure.EVIDENCE_RECALL:
        return (paired.difference.low if _found(paired) else None, paired.difference.n) if paired else (None, 0)
    if measure is Measure.REGRESSION:
        return _share(paired.regression) if paired else (None, 0)
    if measure is Measure.NET_LOSS:
        return _net_loss(paired)
    if measure is Measure.FAILED:
        failed = scores.statuses.get(Status.ERROR, 0)
        return (failed / scores.requests if scores.requests else None), scores.requests
    if measure is Measure.CLARIFICATION:
        return _right(scores.clarification)
    figures = {
        Measure.CONSTRAINT_PRESERVATION: scores.preservation,
        Measure.CRITICAL_COMPLETENESS: scores.completeness,
        Measure.SUPPORTED_ANSWERS: scores.answers,
    }
    return _share(figures[measure])


def _check(arm: ArmResult, measure: Measure, bounds: Bounds) -> Check | None:
    """One bound held against an arm; None where nothing bounds the measure."""
    value, n = measured(arm, measure)
    if measure in CEILINGS and measure in bounds.ceilings:
        limit = bounds.ceilings[measure]
        return Check(arm.arm, measure, limit, value, n, None if value is None else value <= limit)
    if measure is Measure.EVIDENCE_RECALL:
        limit = -bounds.recall_margin
    elif measure in FLOORS and measure in bounds.floors:
        limit = bounds.floors[measure]
    else:
        return None
    return Check(arm.arm, measure, limit, value, n, None if value is None else value >= limit)


def _net_loss(paired: Paired | None) -> tuple[float | None, int]:
    if paired is None or not _found(paired):
        return None, 0
    return (paired.lost - paired.gained) / paired.difference.n, paired.difference.n


def _found(paired: Paired) -> int:
    """How many requests found evidence in either arm."""
    return paired.both + paired.lost + paired.gained


def _share(figure: Figure) -> tuple[float | None, int]:
    return figure.value, figure.n


def _right(clarification: Clarification) -> tuple[float | None, int]:
    """The share of requests whose user was asked, or not, as the contract says."""
    sides = (clarification.asked, clarification.not_asked)
    n = sum(side.n for side in sides)
    return (sum(side.count or 0 for side in sides) / n if n else None), n


def _requests(hits: tuple[Hit, ...]) -> int:
    return len({hit.case for hit in hits})
