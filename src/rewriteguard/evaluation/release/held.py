"""One arm with all bounds that were held against it, and what keeps it from being released."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rewriteguard.evaluation.release.checks import Check, checks_of, measured
from rewriteguard.evaluation.release.rules import VETOES, Bounds, Measure
from rewriteguard.evaluation.run.outcome import SHARED, Arm
from rewriteguard.evaluation.score.results import ArmResult

_ROUNDING = 1e-9  # sums of thirds that should be 0 are not quite
_SAYS_NOTHING = frozenset({*VETOES, Measure.FAILED})
"""What holds too for a rewriter of which nothing is known: that nothing bad was seen."""


@dataclass(frozen=True, slots=True)
class Reason:
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

    arm: Arm
    result: ArmResult | None
    bounds: Bounds
    checks: tuple[Check, ...]

    @classmethod
    def of(cls, arms: Iterable[ArmResult], arm: Arm, rewriter: str, bounds: Bounds) -> Held:
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
    def vetoes(self) -> tuple[Reason, ...]:
        """The vetoes against it."""
        return tuple(_fault(check) for check in self.broken if check.measure in VETOES)

    @property
    def faults(self) -> tuple[Reason, ...]:
        """Why it does not pass; empty where it does, for which at least one bound has to have been measured."""
        if self.result is None:
            return (self._fault("not_run", "the arm was not run"),)
        if self.broken:
            return tuple(map(_fault, self.broken))
        if not any(check.met and check.measure not in _SAYS_NOTHING for check in self.checks):
            return (self._fault("nothing_measured", "nothing was measured that a bound is about"),)
        return ()

    @property
    def no_gain(self) -> tuple[Reason, ...]:
        """That it finds less than the search without a rewriter does on the same requests; empty where it does not."""
        pair = None if self.result is None else self.result.over_without
        if pair is None or pair.difference.value is None or pair.difference.value >= -_ROUNDING:
            return ()
        difference = pair.difference
        text = f"recall {difference.value:+.3g} against the search without a rewriter, on the same n = {difference.n}"
        return (self._fault("no_gain", f"{text}: the model call brings nothing"),)

    @property
    def harm(self) -> tuple[Reason, ...]:
        """That it is worse than the search without a rewriter, or loses more requests than it gains."""
        value, n = measured(self.result, Measure.NET_LOSS) if self.result else (None, 0)
        limit = self.bounds.ceilings.get(Measure.NET_LOSS, 0.0)
        if value is None or value <= limit:
            return self.no_gain
        return (*self.no_gain, _fault(Check(self.arm, Measure.NET_LOSS, limit, value, n, met=False)))

    @property
    def asking(self) -> tuple[Reason, ...]:
        """That asking the user was right more often than not; empty where it was not, or nothing was unresolved."""
        if self.result is None:
            return ()
        clarification = self.result.scores.clarification
        right, wrong = clarification.asked.count or 0, clarification.not_asked.n - (clarification.not_asked.count or 0)
        if not clarification.asked.n or right <= wrong:
            return ()
        of = f"of {clarification.asked.n} unresolved requests"
        return (Reason(f"{self.arm.value}: asking was right {right} times and wrong {wrong} times, {of}"),)

    def _fault(self, code: str, text: str) -> Reason:
        return Reason(f"{self.arm.value}: {text}", f"{self.arm.value}.{code}")


def _fault(check: Check) -> Reason:
    return Reason(check.text, check.code)
