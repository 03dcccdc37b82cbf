"""The release rule: how far a rewriter may be used for each class of requests, and which bound decided that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewriteguard.evaluation.bounds import Check, checks_of, measured, words_of
from rewriteguard.evaluation.outcome import Arm
from rewriteguard.evaluation.plain import plain
from rewriteguard.evaluation.results import ArmResult, GroupResult, Results
from rewriteguard.evaluation.rules import VETOES, Bounds, Measure, Rules
from rewriteguard.policy_classes import REST, Release


@dataclass(frozen=True, slots=True)
class ReleaseDecision:
    """How far one rewriter may be used for one group of requests.

    Attributes:
        rewriter: Its label.
        group: The class or slice.
        enforced: True for a class, which the policy file applies; False for a slice, which is only reported.
        n: How many requests the group has.
        release: What is to be done; of a slice, what its requests would deserve.
        reasons: Why, in sentences, the deciding one first.
        decided_by: Codes of what kept the rewriter from a wider release, such as `rewrite.regression`; empty where it
            ships.
        checks: All bounds that were held against its arms.
    """

    rewriter: str
    group: str
    enforced: bool
    n: int
    release: Release
    reasons: tuple[str, ...]
    decided_by: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain JSON values."""
        told: dict[str, Any] = plain(self)
        return {**told, "checks": [check.to_dict() for check in self.checks]}


def releases(results: Results, rules: Rules) -> tuple[ReleaseDecision, ...]:
    """The decisions, by rewriter: its classes in the order of the rules, the requests of no class, then its slices.

    A class without any request is decided too, since the policy has to say something about it.
    """
    return tuple(decision for rewriter in results.rewriters for decision in _of_rewriter(rewriter, results, rules))


def is_accepted(decisions: Iterable[ReleaseDecision], rules: Rules) -> bool:
    """Whether every enforced class is released in one of the ways that the rules accept.

    The requests of no class do not count where there are none: rules cannot leave that group out, and where their
    classes take all requests nothing could ever be shipped there.
    """
    asked = (each for each in decisions if each.enforced and (each.n or each.group != REST))
    return all(each.release in rules.accept for each in asked)


def release_of(
    rewriter: str, group: GroupResult, bounds: Bounds, everywhere: Sequence[ArmResult] = ()
) -> ReleaseDecision:
    """The decision about one rewriter and one group of requests.

    A rewriter ships where its unconditional rewrites meet all bounds. It is fused where what the guard makes of them
    does, and finds no less than the search without a rewriter; there the user is asked too, if the group holds
    unresolved requests and asking was right more often than not. Asking also stands in for a guarded arm that breaks
    the bound of clarification alone, and for one of which nothing else was measured, since the user was always asked.
    Else the rewriter is off. An arm that got forbidden or unauthorised documents is out, whatever its scores.

    Args:
        rewriter: The label of the rewriter.
        group: All arms on the group's requests.
        bounds: What an arm has to reach.
        everywhere: All arms on all requests, which decide where the group has too few.
    """
    alone, guarded = (_Held.of(group.arms, arm, rewriter, bounds) for arm in (Arm.REWRITE, Arm.GUARDED))
    few = _too_few(group, alone.result or guarded.result, bounds)
    if few:
        everywhere_guarded = _Held.of(everywhere, Arm.GUARDED, rewriter, bounds)
        release, reasons, codes = _with_few(few, guarded, everywhere_guarded)
    else:
        release, reasons, codes = _with_enough(alone, guarded, _no_gain(group, guarded))
    if release is Release.FALL_BACK:
        reasons += _leaks(group, bounds)
    checks = (*alone.checks, *guarded.checks)
    return ReleaseDecision(rewriter, group.name, group.enforced, group.requests, release, reasons, codes, checks)


@dataclass(frozen=True, slots=True)
class _Held:
    """An arm and the bounds that were held against it; `result` is None where it was not run."""

    arm: Arm
    result: ArmResult | None
    checks: tuple[Check, ...]
    required: tuple[Measure, ...]

    @classmethod
    def of(cls, arms: Iterable[ArmResult], arm: Arm, rewriter: str, bounds: Bounds) -> _Held:
        found = next((each for each in arms if each.arm == arm and each.rewriter == rewriter), None)
        return cls(arm, found, checks_of(found, bounds) if found else (), bounds.required)

    @property
    def broken(self) -> tuple[Check, ...]:
        """The bounds that do not hold, vetoes first, and the required measures that were not measured."""
        return tuple(
            check
            for check in self.checks
            if check.met is False or (check.met is None and check.measure in self.required)
        )

    @property
    def vetoed(self) -> bool:
        return any(check.measure in VETOES for check in self.broken)

    @property
    def passes(self) -> bool:
        return self.result is not None and not self.broken

    @property
    def faults(self) -> tuple[str, ...]:
        """Why it does not pass, in sentences."""
        if self.result is None:
            return (f"{self.arm.value}: the arm was not run",)
        return tuple(check.text for check in self.broken)

    @property
    def codes(self) -> tuple[str, ...]:
        """Why it does not pass, in codes."""
        return (f"{self.arm.value}.not_run",) if self.result is None else tuple(check.code for check in self.broken)


_Found = tuple[Release, tuple[str, ...], tuple[str, ...]]


def _of_rewriter(rewriter: str, results: Results, rules: Rules) -> Iterator[ReleaseDecision]:
    known = {(group.name, group.enforced): group for group in results.groups}
    names = [(each.name, True) for each in rules.classes] + [(REST, True)]
    names += [name for name in known if not name[1]]
    for name, enforced in names:
        group = known.get((name, enforced), GroupResult(name, enforced, 0, ()))
        yield release_of(rewriter, group, rules.bounds_of(name, enforced=enforced), results.arms)


def _with_enough(alone: _Held, guarded: _Held, no_gain: str) -> _Found:
    if alone.passes:
        return Release.SHIP, ("rewrite: every bound holds",), ()
    if no_gain:
        return Release.FALL_BACK, (no_gain, *alone.faults), (f"{Arm.GUARDED.value}.no_gain", *alone.codes)
    asking = _asking(guarded)
    if guarded.passes and asking:
        return Release.CLARIFY, ("guarded: every bound holds", asking, *alone.faults), alone.codes
    if guarded.passes:
        return Release.FUSE, (*alone.faults, "guarded: every bound holds"), alone.codes
    if asking and all(check.measure is Measure.CLARIFICATION or check.met is None for check in guarded.broken):
        return Release.CLARIFY, (asking, *guarded.faults, *alone.faults), (*alone.codes, *guarded.codes)
    return Release.FALL_BACK, (*guarded.faults, *alone.faults), (*guarded.codes, *alone.codes)


def _with_few(few: str, guarded: _Held, everywhere: _Held) -> _Found:
    """Nothing ships; hedged search applies where it is not worse than the original on all requests together."""
    whole = next((check for check in everywhere.checks if check.measure is Measure.EVIDENCE_RECALL), None)
    not_worse = whole is not None and bool(whole.met)
    if guarded.vetoed or everywhere.vetoed:
        faults = tuple(check for each in (guarded, everywhere) for check in each.broken if check.measure in VETOES)
        texts, codes = (tuple(dict.fromkeys(map(say, faults))) for say in (_text, _code))
        return Release.FALL_BACK, (few, *texts), ("minimum", *codes)
    if not_worse and whole is not None:
        return Release.FUSE, (f"{few}; on all requests the guarded arm is not worse: {whole.text}",), ("minimum",)
    seen = whole.text if whole else "guarded: the arm was not run on all requests"
    return Release.FALL_BACK, (f"{few}; on all requests the guarded arm may be worse: {seen}",), ("minimum",)


def _too_few(group: GroupResult, arm: ArmResult | None, bounds: Bounds) -> str:
    """Why the group says too little; empty where it says enough."""
    if group.requests < bounds.minimum:
        return f"too few requests: {group.requests}, and the rules ask for {bounds.minimum}"
    for measure in bounds.required:
        _, n = measured(arm, measure) if arm else (None, 0)
        if n < bounds.minimum:
            return f"too few requests with {words_of(measure)}: {n}, and the rules ask for {bounds.minimum}"
    return ""


def _asking(guarded: _Held) -> str:
    """That asking the user was right more often than not; empty where it was not, or nothing was unresolved."""
    if guarded.result is None:
        return ""
    asked, not_asked = guarded.result.scores.clarification.asked, guarded.result.scores.clarification.not_asked
    right, wrong = asked.count or 0, not_asked.n - (not_asked.count or 0)
    if not asked.n or right <= wrong:
        return ""
    return f"guarded: asking was right {right} times and wrong {wrong} times, of {asked.n} unresolved requests"


def _no_gain(group: GroupResult, guarded: _Held) -> str:
    """That the guarded arm finds less than the search does without a rewriter; empty where it does not."""
    without = next((each for each in group.arms if each.arm == Arm.WITHOUT), None)
    if without is None or guarded.result is None:
        return ""
    ours, theirs = (each.scores.evidence.recall for each in (guarded.result, without))
    if ours.value is None or theirs.value is None or ours.value >= theirs.value:
        return ""
    return f"guarded: recall {ours.value:.3g}, without a rewriter {theirs.value:.3g}: the model call brings nothing"


def _leaks(group: GroupResult, bounds: Bounds) -> tuple[str, ...]:
    """That documents which must not come back do so without a rewriter too, which is for the scope to solve."""
    without = _Held.of(group.arms, Arm.WITHOUT, "", bounds)
    return tuple(
        f"{check.text}; it happens without the rewriter too: limit the search"
        for check in without.broken
        if without.vetoed
    )


def _text(check: Check) -> str:
    return check.text


def _code(check: Check) -> str:
    return check.code
