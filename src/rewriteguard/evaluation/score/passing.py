"""Whether nothing is wrong with a request, and with all requests of a family."""

from __future__ import annotations

from collections.abc import Sequence

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure, share
from rewriteguard.evaluation.run.outcome import Status
from rewriteguard.evaluation.score.measures import should_ask
from rewriteguard.evaluation.score.preservation import Clause
from rewriteguard.evaluation.score.runs import ArmRun


def holds(clauses: Sequence[Clause], said: bool) -> bool | None:
    """Whether something was said that holds every critical clause; None where there is none."""
    critical = [clause.held for clause in clauses if clause.critical]
    return said and all(critical) if critical else None


def is_complete(case: Case, run: ArmRun) -> bool | None:
    """Whether there are queries that hold every critical clause; None where there is none, or the user was asked."""
    return holds(run.clauses.get(case.id, ()), bool(run.outcomes[case.id].queries))


def passes(case: Case, run: ArmRun) -> bool | None:
    """Whether nothing is wrong with a request; None where nothing can be said.

    It was asked about where, and only where, the contract says so; its queries hold every critical clause; a relevant
    document came back, and none that vetoes.
    """
    outcome, ask = run.outcomes[case.id], should_ask(case)
    measured = run.measured.get(case.id)
    said = [
        None if ask is None else ask is (outcome.status is Status.CLARIFIED),
        is_complete(case, run),
        None if measured is None else measured.found,
        False if {*case.forbidden, *case.unauthorised} & {*outcome.results} else None,
    ]
    known = [each for each in said if each is not None]
    return all(known) if known else None


def families(cases: Sequence[Case], run: ArmRun) -> Figure:
    """Share of the families whose cases all pass; one of which a single case ran is none."""
    members: dict[str, list[bool | None]] = {}
    for case in cases:
        if case.family:
            members.setdefault(case.family, []).append(passes(case, run))
    whole = [all(each) for each in members.values() if len(each) > 1 and None not in each]
    return share(sum(whole), len(whole))
