"""The release rule: how far a rewriter may be used for each class of requests, and which bound decided that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import plain
from rewriteguard.evaluation.release.checks import Check, Held, ReleaseReason, measured, words_of
from rewriteguard.evaluation.release.rules import VETOES, Bounds, Measure, Rules
from rewriteguard.evaluation.run.outcome import ArmName
from rewriteguard.evaluation.score.results import ArmResult, Group, GroupResult, Results
from rewriteguard.guard.guard import Guard
from rewriteguard.policy.classes import REST, Release

_FUSED = frozenset({ArmName.GUARDED, ArmName.WITHOUT})
# What is searched under each release. A rewrite that ships is searched alone where the guard does not object; else the
# guard decides, and without an answer of the rewriter the guard does without, whatever the release.
_SEARCHED = {
    Release.SHIP: _FUSED | {ArmName.REWRITE},
    Release.FUSE: _FUSED,
    Release.CLARIFY: _FUSED,
    Release.FALL_BACK: frozenset({ArmName.WITHOUT}),
}


@dataclass(frozen=True, slots=True)
class ReleaseDecision:
    """How far one rewriter may be used for one group of requests.

    Attributes:
        rewriter: Its label.
        group: The class or slice.
        enforced: True for a class, which the policy file applies; False for a slice, which is only reported.
        n: How many requests the group has, also those for which the rewriter was not asked.
        release: What is to be done; of a slice, what its requests would deserve.
        reasons: Why, in sentences, the deciding one first.
        decided_by: Codes of what kept the rewriter from a wider release, such as `rewrite.regression`; empty where it
            ships.
        checks: All bounds that were held against its arms, and the vetoes against the search without a rewriter.
    """

    rewriter: str
    group: str
    enforced: bool
    n: int
    release: Release
    reasons: tuple[str, ...]
    decided_by: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def leaks(self) -> bool:
        """Whether forbidden or unauthorised documents came back to what is searched under this release."""
        return any(
            check.broken and check.measure in VETOES and check.arm in _SEARCHED[self.release] for check in self.checks
        )

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain JSON values."""
        told: dict[str, Any] = plain(self)
        return {**told, "checks": [check.to_dict() for check in self.checks]}


def class_of(case: Case, rules: Rules, guard: Guard) -> str:
    """The name of the class of the rules that a case belongs to; `everything else` where it belongs to none.

    The guard has to be the one that production uses: its extractors and its history window decide too.
    """
    found = guard.class_of(case.original, case.history, policy=rules.policy)
    return REST if found is None else found.name


def groups_of(cases: Iterable[Case], rules: Rules, guard: Guard) -> tuple[Group, ...]:
    """The classes in the order of the rules, then the requests of no class, then the slices by name.

    A class without a case is there too, with no cases.
    """
    known = tuple(cases)
    classes = {each.id: class_of(each, rules, guard) for each in known}
    names = [each.name for each in rules.classes] + [REST]
    grouped = [Group(name, tuple(id_ for id_, of in classes.items() if of == name), enforced=True) for name in names]
    slices = sorted({name for each in known for name in each.slices})
    grouped += [Group(name, tuple(each.id for each in known if name in each.slices), enforced=False) for name in slices]
    return tuple(grouped)


def releases(
    results: Results, rules: Rules, rewriters: Iterable[str] | None = None, several: Collection[str] = ()
) -> tuple[ReleaseDecision, ...]:
    """The decisions, by rewriter: its classes in the order of the rules, the requests of no class, then its slices.

    A class without any request is decided too, since the policy has to say something about it.

    Args:
        results: What was measured.
        rules: The rules.
        rewriters: The labels of all rewriters; one that was never asked is off. None takes those that were.
        several: The labels of those whose queries are meant to be searched beside the turn.
    """
    labels = results.rewriters if rewriters is None else sorted(rewriters)
    return tuple(
        decision for label in labels for decision in _of_rewriter(label, results, rules, several=label in several)
    )


def is_accepted(decisions: Iterable[ReleaseDecision], rules: Rules) -> bool:
    """Whether every enforced class is released in one of the ways that the rules accept, and nothing leaks there.

    An acceptance over nothing is none: without a rewriter or a request it fails. The requests of no class do not count
    where there are none: rules cannot leave that group out, and where their classes take all requests nothing could
    ever be shipped there.
    """
    asked = [each for each in decisions if each.enforced and (each.n or each.group != REST)]
    return any(each.n for each in asked) and all(each.release in rules.accept and not each.leaks for each in asked)


def release_of(
    rewriter: str,
    group: GroupResult,
    bounds: Bounds,
    everywhere: Sequence[ArmResult] = (),
    *,
    several: bool = False,
) -> ReleaseDecision:
    """The decision about one rewriter and one group of requests; only those for which it was asked count.

    A rewriter ships where its unconditional rewrites meet all bounds, at least one of them measured. One of several
    queries never does, since these are searched beside the turn. It is fused where what the guard makes of its rewrites
    meets all bounds, and finds no less than the search without a rewriter on the same requests. There the user is asked
    too, if the group holds unresolved requests and asking was right more often than not; asking also stands in for a
    guarded arm that breaks the bound of clarification alone, and for one of which nothing else was measured, since the
    user was always asked. Where asking was right no more often and the bounds hold all the same, nobody is asked: the
    requests that were asked about have counted as not found. Else the rewriter is off.

    An arm that got forbidden or unauthorised documents is out, whatever its scores. Where the guarded arm or the search
    without a rewriter did, nothing ships: they are what is searched where the guard objects or the rewriter fails.

    Where the requests are too few nothing ships. They are fused where the guarded arm does no harm to them, and on all
    requests together neither does harm nor is worse than the original.

    Args:
        rewriter: The label of the rewriter.
        group: All arms on the group's requests.
        bounds: What an arm has to reach.
        everywhere: All arms on all requests, which decide where the group has too few.
        several: Whether the rewriter's queries are meant to be searched beside the turn.
    """
    alone, guarded, without = (
        Held.of(group.arms, arm, rewriter, bounds) for arm in (ArmName.REWRITE, ArmName.GUARDED, ArmName.WITHOUT)
    )
    if few := _too_few(alone.result or guarded.result, bounds):
        release, reasons = _with_few(few, guarded, Held.of(everywhere, ArmName.GUARDED, rewriter, bounds))
        reasons = (*reasons, *_leaks(without))
    else:
        obstacles = (*_beside(group, rewriter, several=several), *_leaks(without))
        release, reasons = _with_enough(alone, guarded, obstacles)
    checks = (*alone.checks, *guarded.checks, *(check for check in without.checks if check.measure in VETOES))
    texts, codes = tuple(each.text for each in reasons), tuple(each.code for each in reasons if each.code)
    return ReleaseDecision(rewriter, group.name, group.enforced, group.requests, release, texts, codes, checks)


_Found = tuple[Release, tuple[ReleaseReason, ...]]
_HOLDS = "every bound holds"


def _of_rewriter(rewriter: str, results: Results, rules: Rules, *, several: bool) -> Iterator[ReleaseDecision]:
    known = {(group.name, group.enforced): group for group in results.groups}
    names = [(each.name, True) for each in rules.classes] + [(REST, True)]
    names += [name for name in known if not name[1]]
    for name, enforced in names:
        group = known.get((name, enforced), GroupResult(name, enforced, 0, ()))
        bounds = rules.bounds_of(name, enforced=enforced)
        yield release_of(rewriter, group, bounds, results.arms, several=several)


def _with_enough(alone: Held, guarded: Held, obstacles: tuple[ReleaseReason, ...]) -> _Found:
    """The widest release for which the arms pass; the obstacles keep a rewriter from shipping that would."""
    faults = (*alone.faults, *obstacles)
    if not (faults or guarded.vetoes or guarded.result is None):
        return Release.SHIP, (ReleaseReason(f"{alone.arm.value}: {_HOLDS}"),)
    if guarded.no_gain:
        return Release.FALL_BACK, (*guarded.no_gain, *faults)
    holds = ReleaseReason(f"{guarded.arm.value}: {_HOLDS}")
    if not guarded.faults and guarded.asking:
        return Release.CLARIFY, (holds, *guarded.asking, *faults)
    if not guarded.faults:
        return Release.FUSE, (*faults, holds)
    if guarded.asking and all(check.measure is Measure.CLARIFICATION or not check.n for check in guarded.broken):
        return Release.CLARIFY, (*guarded.asking, *guarded.faults, *faults)
    return Release.FALL_BACK, (*guarded.faults, *faults)


def _with_few(few: str, guarded: Held, everywhere: Held) -> _Found:
    """Nothing ships; hedged search applies where it does no harm here, and on all requests is not worse either."""
    small = ReleaseReason(few, "minimum")
    vetoes = tuple(dict.fromkeys((*guarded.vetoes, *everywhere.vetoes)))
    if vetoes or guarded.harm:
        return Release.FALL_BACK, (small, *vetoes, *guarded.harm)
    whole = {check.measure: check for check in everywhere.checks}
    recall, failed = whole.get(Measure.EVIDENCE_RECALL), whole.get(Measure.FAILED)
    worse = [check.text for check in (recall, failed) if check and not check.met]
    worse += [each.text for each in everywhere.harm]
    if recall is None or worse:
        seen = "; ".join(worse) or "guarded: the arm was not run on all requests"
        return Release.FALL_BACK, (replace(small, text=f"{few}; on all requests the guarded arm may be worse: {seen}"),)
    return Release.FUSE, (replace(small, text=f"{few}; on all requests the guarded arm is not worse: {recall.text}"),)


def _too_few(arm: ArmResult | None, bounds: Bounds) -> str:
    """Why the requests for which the rewriter was asked say too little; empty where they say enough."""
    requests = arm.scores.requests if arm else 0
    if requests < bounds.minimum:
        return f"too few requests: {requests}, and the rules ask for {bounds.minimum}"
    for measure in bounds.required:
        _, n = measured(arm, measure) if arm else (None, 0)
        if n < bounds.minimum:
            return f"too few requests with {words_of(measure)}: {n}, and the rules ask for {bounds.minimum}"
    return ""


def _beside(group: GroupResult, rewriter: str, *, several: bool) -> tuple[ReleaseReason, ...]:
    """That the rewriter gives several queries for a turn; empty where it gives one."""
    expanded = any(
        each.arm == ArmName.EXPANDED and each.rewriter == rewriter and each.scores.requests for each in group.arms
    )
    if not (several or expanded):
        return ()
    return (ReleaseReason("rewrite: its queries are several, and are searched beside the turn", "rewrite.several"),)


def _leaks(without: Held) -> tuple[ReleaseReason, ...]:
    """That documents which must not come back do so without a rewriter too, which is for the scope to solve."""
    note = "it happens without the rewriter too: limit the search"
    return tuple(replace(each, text=f"{each.text}; {note}") for each in without.vetoes)
