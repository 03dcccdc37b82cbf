"""An arm against another on the same requests."""

from __future__ import annotations

from dataclasses import dataclass

from rewriteguard.evaluation.figure import Figure


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
