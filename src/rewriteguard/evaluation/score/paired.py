"""An arm against another on the same requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure, share
from rewriteguard.evaluation.score.runs import ArmRun
from rewriteguard.evaluation.score.statistics import Draws, exact_mcnemar, failures, mean, randomisation


@dataclass(frozen=True, slots=True)
class Paired:
    """An arm against a base, paired by request; only requests with relevant documents that both ran count.

    Attributes:
        base: The arm it is held against: `original` or `rewrite`.
        n: The requests.
        both: How many found evidence in both.
        lost: How many found evidence in the base only: regressions.
        gained: How many found evidence in the arm only.
        neither: How many found evidence in neither.
        regression: lost / (both + lost); with none lost, `high` is the exact one-sided bound.
        gain: gained / (neither + gained).
        mcnemar: p of the exact two-sided McNemar test of lost against gained; None where there are neither.
        difference: Mean difference of Recall@k, arm minus base; the interval draws clusters.
        difference_by_request: The same mean; the interval draws requests.
        randomisation: p of the two-sided paired randomisation test of that mean; None without requests.
    """

    base: str
    n: int
    both: int
    lost: int
    gained: int
    neither: int
    regression: Figure
    gain: Figure
    mcnemar: float | None
    difference: Figure
    difference_by_request: Figure
    randomisation: float | None


def paired(cases: Sequence[Case], run: ArmRun, base: ArmRun, draws: Draws, clusters: Mapping[str, str]) -> Paired:
    """The arm against the base on those of the cases that count in both.

    McNemar's test and the randomisation test take requests as independent; where conversations hold several, the
    interval that draws clusters is the one to go by. `clusters` are those of all cases; see `clusters_of`.
    """
    both_ran = [case for case in cases if case.id in run.measured and case.id in base.measured]
    pairs = [(run.measured[case.id], base.measured[case.id]) for case in both_ran]
    both = sum(ours.found and theirs.found for ours, theirs in pairs)
    lost = sum(theirs.found and not ours.found for ours, theirs in pairs)
    gained = sum(ours.found and not theirs.found for ours, theirs in pairs)
    neither = len(pairs) - both - lost - gained
    differences = [ours.recall - theirs.recall for ours, theirs in pairs]
    return Paired(
        base=base.arm.value,
        n=len(pairs),
        both=both,
        lost=lost,
        gained=gained,
        neither=neither,
        regression=failures(lost, both + lost),
        gain=share(gained, neither + gained),
        mcnemar=exact_mcnemar(lost, gained),
        difference=mean(differences, draws, [clusters[case.id] for case in both_ran]),
        difference_by_request=mean(differences, draws),
        randomisation=randomisation(differences, draws),
    )
