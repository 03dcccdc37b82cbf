"""The rows of the results: regressions, the constraint matrix, and recall by the place of the turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import Arm
from rewriteguard.evaluation.score.preservation import Fate
from rewriteguard.evaluation.score.results import ConstraintRow, KindRow, Ranked, Regression, TurnRow
from rewriteguard.evaluation.score.runs import ArmRun
from rewriteguard.evaluation.score.scores import evidence_of
from rewriteguard.evaluation.score.statistics import Draws, mean
from rewriteguard.model.tokens import Kind

LATER = "later"
_ASKED_BY = Mapping[tuple[str, str], ArmRun]


def bases_of(run: ArmRun, runs: _ASKED_BY) -> Iterator[ArmRun]:
    """What the arm is held against: the original; for the guarded arm also the unchecked rewrite, and doing without."""
    names = [("", Arm.ORIGINAL)]
    names += [(run.rewriter, Arm.REWRITE), ("", Arm.WITHOUT)] if run.arm is Arm.GUARDED else []
    yield from (runs[name] for name in names if name in runs and runs[name] is not run)


def regressions(cases: Sequence[Case], runs: _ASKED_BY) -> Iterator[Regression]:
    """The requests that found evidence in a base and not in the arm, by case, then in the order of the arms."""
    for case in cases:
        for run in runs.values():
            for base in bases_of(run, runs):
                if base.arm is Arm.WITHOUT:  # doing without loses requests to the rewriter, and that is no regression
                    continue
                ours, theirs = run.measured.get(case.id), base.measured.get(case.id)
                if ours is not None and theirs is not None and theirs.found and not ours.found:
                    yield _regression(case, run, base)


def constraint_rows(cases: Sequence[Case], runs: _ASKED_BY) -> Iterator[ConstraintRow]:
    """One row for each clause, by case, then in the order of the arms; none where the user was rightly asked."""
    for case in cases:
        for run in runs.values():
            clauses = run.clauses.get(case.id, ())
            evidence = evidence_of(case, run.outcomes[case.id], run) if clauses else ""
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


def kind_rows(runs: _ASKED_BY) -> Iterator[KindRow]:
    """The constraints counted by kind, in the order of the arms and of the kinds."""
    for run in runs.values():
        fates = Counter((clause.kind, clause.fate) for clauses in run.clauses.values() for clause in clauses)
        for kind in Kind:
            kept, altered, dropped = (fates[kind, fate] for fate in (Fate.KEPT, Fate.ALTERED, Fate.DROPPED))
            if asked := kept + altered + dropped:
                yield KindRow(run.rewriter, run.arm.value, kind.value, asked, kept, altered, dropped)


def turn_rows(cases: Sequence[Case], runs: _ASKED_BY, draws: Draws, clusters: Mapping[str, str]) -> Iterator[TurnRow]:
    """Recall at each turn that cases have, and at all behind the first together; cases without a turn are left out."""
    turns = sorted({case.turn for case in cases if case.turn is not None})
    places = {str(turn): [case for case in cases if case.turn == turn] for turn in turns}
    places[LATER] = [case for case in cases if case.turn is not None and case.turn > 1]
    for run in runs.values():
        for place, there in places.items():
            counted = [case for case in there if case.id in run.measured]
            if counted:
                recalls = [run.measured[case.id].recall for case in counted]
                recall = mean(recalls, draws, [clusters[case.id] for case in counted])
                yield TurnRow(run.rewriter, run.arm.value, place, recall)


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
