"""Puts the results together from cases, outcomes and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import ArmName, Outcome
from rewriteguard.evaluation.score.contract import Extract, Fate
from rewriteguard.evaluation.score.results import (
    ArmResult,
    ConstraintRow,
    Group,
    GroupResult,
    KindRow,
    MissingWords,
    Ranked,
    Regression,
    Results,
    TurnRow,
)
from rewriteguard.evaluation.score.runs import ArmRun, arm_runs
from rewriteguard.evaluation.score.scores import evidence_of, paired, score
from rewriteguard.evaluation.score.statistics import Draws, clusters_of, mean
from rewriteguard.evaluation.vocabulary import UnknownWords
from rewriteguard.model.tokens import Kind

_LATER = "later"
_WORDS = 200  # missing words of a rewriter that are kept
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
    vocabulary: Mapping[str, MissingWords] | None = None,
) -> Results:
    """The results; the same for the same cases, outcomes, groups and draws.

    Args:
        cases: The requests.
        outcomes: What the arms did, in any order; those of other cases are left out.
        groups: The classes and slices that are judged apart.
        k: How many results of an arm count.
        extract: Finds the protected tokens of a text: `Guard.extract`.
        draws: How bootstrap and randomisation test draw.
        vocabulary: What the rewrites say that no document does, by rewriter.

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
        regressions=tuple(_regressions(cases, runs)),
        constraints=tuple(_constraint_rows(cases, runs)),
        kinds=tuple(_kind_rows(runs)),
        turns=tuple(_turn_rows(cases, runs, draws, clusters)),
        vocabulary=vocabulary,
    )


def missing_words(
    vocabulary: Iterable[str], cases: Iterable[Case], outcomes: Iterable[Outcome]
) -> dict[str, MissingWords]:
    """The words of each rewriter's rewrites that the vocabulary lacks, by its label."""
    known, turns = tuple(vocabulary), {case.id: case.original for case in cases}
    rewrites = {(each.rewriter, each.case): each.rewrite for each in outcomes if each.rewrite is not None}
    found: dict[str, UnknownWords[str]] = {}
    for (label, case), rewrite in rewrites.items():
        if label not in found:
            found[label] = UnknownWords(known)
        found[label].add(turns[case], rewrite, case)
    return {
        label: MissingWords(words.size, words.passed_over, tuple(words.most_frequent()[:_WORDS]))
        for label, words in found.items()
    }


def _members(group: Group, known: Mapping[str, Case]) -> list[Case]:
    absent = next((name for name in group.cases if name not in known), None)
    if absent is not None:
        raise InputError(f"group {group.name!r}: expected ids of the cases, got {absent!r}")
    return [known[name] for name in group.cases]


def _arms(cases: Sequence[Case], runs: _Runs, draws: Draws, clusters: Mapping[str, str]) -> tuple[ArmResult, ...]:
    return tuple(_arm(cases, run, runs, draws, clusters) for run in runs.values())


def _arm(cases: Sequence[Case], run: ArmRun, runs: _Runs, draws: Draws, clusters: Mapping[str, str]) -> ArmResult:
    against = {base.arm: paired(cases, run, base, draws, clusters) for base in _bases_of(run, runs)}
    return ArmResult(
        rewriter=run.rewriter,
        arm=run.arm.value,
        scores=score(cases, run, draws, clusters),
        over_original=against.get(ArmName.ORIGINAL),
        over_rewrite=against.get(ArmName.REWRITE),
        over_without=against.get(ArmName.WITHOUT),
    )


def _bases_of(run: ArmRun, runs: _Runs) -> Iterator[ArmRun]:
    """What the arm is held against: the original; for the guarded arm also the unchecked rewrite, and doing without."""
    names = [("", ArmName.ORIGINAL)]
    names += [(run.rewriter, ArmName.REWRITE), ("", ArmName.WITHOUT)] if run.arm is ArmName.GUARDED else []
    yield from (runs[name] for name in names if name in runs and runs[name] is not run)


def _regressions(cases: Sequence[Case], runs: _Runs) -> Iterator[Regression]:
    """The requests that found evidence in a base and not in the arm, by case, then in the order of the arms."""
    for case in cases:
        for run in runs.values():
            for base in _bases_of(run, runs):
                if (
                    base.arm is ArmName.WITHOUT
                ):  # doing without loses requests to the rewriter, and that is no regression
                    continue
                ours, theirs = run.measured.get(case.id), base.measured.get(case.id)
                if ours is not None and theirs is not None and theirs.found and not ours.found:
                    yield _regression(case, run, base)


def _regression(case: Case, run: ArmRun, base: ArmRun) -> Regression:
    outcome, before = run.outcomes[case.id], base.outcomes[case.id]
    broken = [clause for clause in run.clauses.get(case.id, ()) if not clause.held]
    return Regression(
        case=case.id,
        rewriter=run.rewriter,
        arm=run.arm.value,
        base=base.arm.value,
        turn=case.turn,
        original=case.original,
        rewrite=outcome.rewrite,
        queries=outcome.queries,
        base_queries=before.queries,
        base_results=_ranked(case, before.results),
        results=_ranked(case, outcome.results),
        dropped=tuple(clause.asked for clause in broken if clause.fate in (Fate.DROPPED, Fate.ALTERED)),
        stage=run.stages[case.id].value,
        status=outcome.status.value,
        action=outcome.action,
        reasons=outcome.reasons,
    )


def _ranked(case: Case, results: Sequence[str]) -> tuple[Ranked, ...]:
    labels = dict.fromkeys(case.near_misses, "near_miss") | dict.fromkeys(case.relevant, "relevant")
    labels |= dict.fromkeys(case.forbidden, "forbidden") | dict.fromkeys(case.unauthorised, "unauthorised")
    return tuple(Ranked(document, labels.get(document, "")) for document in results)


def _constraint_rows(cases: Sequence[Case], runs: _Runs) -> Iterator[ConstraintRow]:
    """One row for each clause, by case, then in the order of the arms; none where the user was rightly asked."""
    for case in cases:
        for run in runs.values():
            clauses = run.clauses.get(case.id, ())
            evidence = evidence_of(case, run) if clauses else ""
            for clause in clauses:
                yield ConstraintRow(
                    case=case.id,
                    rewriter=run.rewriter,
                    arm=run.arm.value,
                    clause=clause.clause,
                    kind=clause.kind.value if clause.kind else "",
                    asked=clause.asked,
                    critical=clause.critical,
                    fate=clause.fate.value,
                    instead=clause.instead,
                    query=clause.query,
                    evidence=evidence,
                )


def _kind_rows(runs: _Runs) -> Iterator[KindRow]:
    """The constraints counted by kind, in the order of the arms and of the kinds."""
    for run in runs.values():
        fates = Counter((clause.kind, clause.fate) for clauses in run.clauses.values() for clause in clauses)
        for kind in Kind:
            kept, altered, dropped = (fates[kind, fate] for fate in (Fate.KEPT, Fate.ALTERED, Fate.DROPPED))
            if asked := kept + altered + dropped:
                yield KindRow(run.rewriter, run.arm.value, kind.value, asked, kept, altered, dropped)


def _turn_rows(cases: Sequence[Case], runs: _Runs, draws: Draws, clusters: Mapping[str, str]) -> Iterator[TurnRow]:
    """Recall at each turn that cases have, and at all behind the first together; cases without a turn are left out."""
    turns = sorted({case.turn for case in cases if case.turn is not None})
    places = {str(turn): [case for case in cases if case.turn == turn] for turn in turns}
    places[_LATER] = [case for case in cases if case.turn is not None and case.turn > 1]
    for run in runs.values():
        for place, there in places.items():
            counted = [case for case in there if case.id in run.measured]
            if counted:
                recalls = [run.measured[case.id].recall for case in counted]
                recall = mean(recalls, draws, [clusters[case.id] for case in counted])
                yield TurnRow(run.rewriter, run.arm.value, place, recall)
