"""Holds the scores of one arm against the bounds of a group of requests, and says what keeps it from being released."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rewriteguard.evaluation.figure import plain
from rewriteguard.evaluation.release.rules import CEILINGS, FLOORS, VETOES, Bounds, Measure
from rewriteguard.evaluation.run.outcome import SHARED, ArmName, Ended
from rewriteguard.evaluation.score.results import ArmResult
from rewriteguard.evaluation.score.scores import Paired

# A rewrite that is fused with the turn's own results loses some requests too, and so does a search without any
# rewriter: what counts there is whether it gains more than it loses.
_OTHERS = {ArmName.REWRITE: Measure.NET_LOSS, ArmName.GUARDED: Measure.REGRESSION}
_ROUNDING = 1e-9  # sums of thirds that should be 0 are not quite
_SAYS_NOTHING = frozenset({*VETOES, Measure.FAILED})
"""What holds too for a rewriter of which nothing is known: that nothing bad was seen."""


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


def checks_of(arm: ArmResult, bounds: Bounds) -> tuple[Check, ...]:
    """The bounds that concern an arm, held against it: vetoes first, then in the order of `Measure`."""
    other = _OTHERS.get(ArmName(arm.arm))
    order = (*VETOES, *(each for each in Measure if each not in VETOES and each is not other))
    return tuple(check for measure in order if (check := _check(arm, measure, bounds)) is not None)


def measured(arm: ArmResult, measure: Measure) -> tuple[float | None, int]:
    """What an arm has of a measure, and of how many; None where there was nothing to measure.

    Where neither the arm nor the original found any evidence, they do not differ, and that says nothing of the arm: the
    search was down, or the labels are those of another index. A single conversation has no interval.
    """
    scores, paired = arm.scores, arm.over_original
    if measure in VETOES:
        leaks = scores.forbidden if measure is Measure.FORBIDDEN else scores.unauthorised
        return len({leak.case for leak in leaks}), scores.requests
    if measure in (Measure.EVIDENCE_RECALL, Measure.REGRESSION, Measure.NET_LOSS):
        return _against_original(paired, measure) if paired else (None, 0)
    if measure is Measure.FAILED:
        failed = scores.statuses.get(Ended.ERROR, 0)
        return (failed / scores.requests if scores.requests else None), scores.requests
    if measure is Measure.CLARIFICATION:
        sides = (scores.clarification.asked, scores.clarification.not_asked)
        n = sum(side.n for side in sides)
        return (sum(side.count or 0 for side in sides) / n if n else None), n
    figure = {
        Measure.CONSTRAINT_PRESERVATION: scores.preservation,
        Measure.CRITICAL_COMPLETENESS: scores.completeness,
        Measure.SUPPORTED_ANSWERS: scores.answers,
    }[measure]
    return figure.value, figure.n


def _against_original(paired: Paired, measure: Measure) -> tuple[float | None, int]:
    if measure is Measure.REGRESSION:
        return paired.regression.value, paired.regression.n
    found, n = paired.both + paired.lost + paired.gained, paired.difference.n  # found: in either arm
    if measure is Measure.EVIDENCE_RECALL:
        return (paired.difference.low if found else None), n
    return ((paired.lost - paired.gained) / n, n) if found else (None, 0)


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


@dataclass(frozen=True, slots=True)
class ReleaseReason:
    """Why a group is released as it is: a sentence, and a closed code such as `rewrite.regression`.

    The code is empty where the reason keeps no arm from being released.
    """

    text: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """An arm and the bounds that were held against it.

    Attributes:
        arm: The arm.
        result: What it did; None where it was not run.
        bounds: What it has to reach.
        checks: The bounds that concern it, vetoes first.
    """

    arm: ArmName
    result: ArmResult | None
    bounds: Bounds
    checks: tuple[Check, ...]

    @classmethod
    def of(cls, arms: Iterable[ArmResult], arm: ArmName, rewriter: str, bounds: Bounds) -> Held:
        """The arm of a rewriter among others, held against the bounds."""
        label = "" if arm in SHARED else rewriter
        found = next((each for each in arms if each.arm == arm and each.rewriter == label), None)
        return cls(arm, found, bounds, checks_of(found, bounds) if found else ())

    @property
    def broken(self) -> tuple[Check, ...]:
        """The bounds that do not hold, vetoes first, and the required measures that were not measured."""
        required = self.bounds.required
        return tuple(
            check for check in self.checks if check.broken or (check.met is None and check.measure in required)
        )

    @property
    def vetoes(self) -> tuple[ReleaseReason, ...]:
        """The vetoes against it."""
        return tuple(_fault(check) for check in self.broken if check.measure in VETOES)

    @property
    def faults(self) -> tuple[ReleaseReason, ...]:
        """Why it does not pass; empty where it does, for which at least one bound has to have been measured."""
        if self.result is None:
            return (self._fault("not_run", "the arm was not run"),)
        if self.broken:
            return tuple(map(_fault, self.broken))
        if not any(check.met and check.measure not in _SAYS_NOTHING for check in self.checks):
            return (self._fault("nothing_measured", "nothing was measured that a bound is about"),)
        return ()

    @property
    def no_gain(self) -> tuple[ReleaseReason, ...]:
        """That it finds less than the search without a rewriter does on the same requests; empty where it does not."""
        pair = None if self.result is None else self.result.over_without
        if pair is None or pair.difference.value is None or pair.difference.value >= -_ROUNDING:
            return ()
        difference = pair.difference
        text = f"recall {difference.value:+.3g} against the search without a rewriter, on the same n = {difference.n}"
        return (self._fault("no_gain", f"{text}: the model call brings nothing"),)

    @property
    def harm(self) -> tuple[ReleaseReason, ...]:
        """That it is worse than the search without a rewriter, or loses more requests than it gains."""
        value, n = measured(self.result, Measure.NET_LOSS) if self.result else (None, 0)
        limit = self.bounds.ceilings.get(Measure.NET_LOSS, 0.0)
        if value is None or value <= limit:
            return self.no_gain
        return (*self.no_gain, _fault(Check(self.arm, Measure.NET_LOSS, limit, value, n, met=False)))

    @property
    def asking(self) -> tuple[ReleaseReason, ...]:
        """That asking the user was right more often than not; empty where it was not, or nothing was unresolved."""
        if self.result is None:
            return ()
        clarification = self.result.scores.clarification
        right, wrong = clarification.asked.count or 0, clarification.not_asked.n - (clarification.not_asked.count or 0)
        if not clarification.asked.n or right <= wrong:
            return ()
        of = f"of {clarification.asked.n} unresolved requests"
        return (ReleaseReason(f"{self.arm.value}: asking was right {right} times and wrong {wrong} times, {of}"),)

    def _fault(self, code: str, text: str) -> ReleaseReason:
        return ReleaseReason(f"{self.arm.value}: {text}", f"{self.arm.value}.{code}")


def _fault(check: Check) -> ReleaseReason:
    return ReleaseReason(check.text, check.code)
