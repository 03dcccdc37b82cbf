"""Puts the results together from cases, outcomes and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import Arm, Outcome
from rewriteguard.evaluation.score.clusters import clusters_of
from rewriteguard.evaluation.score.contract import Extract
from rewriteguard.evaluation.score.paired import paired
from rewriteguard.evaluation.score.results import ArmResult, Group, GroupResult, Results
from rewriteguard.evaluation.score.runs import ArmRun, arm_runs
from rewriteguard.evaluation.score.scores import score
from rewriteguard.evaluation.score.statistics import Draws
from rewriteguard.evaluation.score.tables import bases_of, constraint_rows, kind_rows, regressions, turn_rows
from rewriteguard.evaluation.vocabulary import UnknownWords

_Runs = Mapping[tuple[str, str], ArmRun]
_DEFAULT_DRAWS = Draws()


def assemble(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    groups: Sequence[Group],
    *,
    k: int,
    extract: Extract,
    draws: Draws = _DEFAULT_DRAWS,
    vocabulary: Mapping[str, Any] | None = None,
) -> Results:
    """The results; the same for the same cases, outcomes, groups and draws.

    Args:
        cases: The requests.
        outcomes: What the arms did, in any order; those of other cases are left out.
        groups: The classes and slices that are judged apart.
        k: How many results of an arm count.
        extract: Finds the protected tokens of a text: `Guard.extract`.
        draws: How bootstrap and randomisation test draw.
        vocabulary: What the rewrites say that no document does, as plain JSON values.

    Raises:
        InputError: A group names a case that is not among the cases.
    """
    known = {case.id: case for case in cases}
    members = [_members(group, known) for group in groups]
    runs = {(run.rewriter, run.arm.value): run for run in arm_runs(cases, outcomes, k, extract)}
    clusters = clusters_of(cases)
    return Results(
        k=k,
        seed=draws.seed,
        resamples=draws.resamples,
        requests=len(cases),
        clusters=len(set(clusters.values())),
        judged=sum(bool(case.relevant) for case in cases),
        contracts=sum(case.contract is not None for case in cases),
        rewriters=tuple(sorted({rewriter for rewriter, _ in runs if rewriter})),
        arms=_arms(cases, runs, draws, clusters),
        groups=tuple(
            GroupResult(group.name, group.enforced, len(mine), _arms(mine, runs, draws, clusters))
            for group, mine in zip(groups, members, strict=True)
        ),
        regressions=tuple(regressions(cases, runs)),
        constraints=tuple(constraint_rows(cases, runs)),
        kinds=tuple(kind_rows(runs)),
        turns=tuple(turn_rows(cases, runs, draws, clusters)),
        vocabulary=vocabulary,
    )


def unknown_words(
    vocabulary: Iterable[str], cases: Iterable[Case], outcomes: Iterable[Outcome]
) -> dict[str, UnknownWords[str]]:
    """The unknown words of each rewriter's rewrites, by its label; places are the ids of cases."""
    known, turns = tuple(vocabulary), {case.id: case.original for case in cases}
    rewrites = {(each.rewriter, each.case): each.rewrite for each in outcomes if each.rewrite is not None}
    found: dict[str, UnknownWords[str]] = {}
    for (label, case), rewrite in rewrites.items():
        if label not in found:
            found[label] = UnknownWords(known)
        found[label].add(turns[case], rewrite, case)
    return found


def _members(group: Group, known: Mapping[str, Case]) -> list[Case]:
    absent = next((name for name in group.cases if name not in known), None)
    if absent is not None:
        raise InputError(f"group {group.name!r}: expected ids of the cases, got {absent!r}")
    return [known[name] for name in group.cases]


def _arms(cases: Sequence[Case], runs: _Runs, draws: Draws, clusters: Mapping[str, str]) -> tuple[ArmResult, ...]:
    return tuple(_arm(cases, run, runs, draws, clusters) for run in runs.values())


def _arm(cases: Sequence[Case], run: ArmRun, runs: _Runs, draws: Draws, clusters: Mapping[str, str]) -> ArmResult:
    against = {base.arm: paired(cases, run, base, draws, clusters) for base in bases_of(run, runs)}
    return ArmResult(
        rewriter=run.rewriter,
        arm=run.arm.value,
        scores=score(cases, run, draws, clusters),
        over_original=against.get(Arm.ORIGINAL),
        over_rewrite=against.get(Arm.REWRITE),
        over_without=against.get(Arm.WITHOUT),
    )
