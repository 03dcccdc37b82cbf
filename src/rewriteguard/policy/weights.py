"""The weights of the three arms, original, rewrite and carried, by verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rewriteguard.errors import PolicyError
from rewriteguard.model.rules import Verdict


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the three arms in reciprocal rank fusion; an arm of weight 0 is not searched."""

    original: float
    rewrite: float
    carried: float

    def __post_init__(self) -> None:
        arms = (self.original, self.rewrite, self.carried)
        if not all(math.isfinite(arm) and arm >= 0 for arm in arms) or max(arms) == 0:
            raise PolicyError(f"weights: expected three numbers of at least 0, one of them above 0, got {arms}")


@dataclass(frozen=True, slots=True)
class Rows(Mapping[Verdict, Weights]):
    """A row of weights for each verdict: a mapping that can be hashed and pickled, and that no one can change."""

    preserved: Weights
    uncertain: Weights
    changed: Weights

    def __getitem__(self, verdict: Verdict) -> Weights:
        if verdict not in tuple(Verdict):
            raise KeyError(verdict)
        row: Weights = getattr(self, Verdict(verdict).value)
        return row

    def __iter__(self) -> Iterator[Verdict]:
        return iter(Verdict)

    def __len__(self) -> int:
        return len(Verdict)


# The rows of PRESERVED and UNCERTAIN were fitted, as those of every turn, on MTRAG, QReCC, CAsT 2021-22 and iKAT 2023
# with BM25 (depth 20 to 50, k = 2), and confirmed on 309 turns of MTRAG-UN that nothing was fitted on: R@10 .756, .694
# for the rewrite alone. The row of CHANGED and what holds for a turn that is complete by itself were fitted on the
# half of MTRAG and QReCC that `benchmarks/retrieval.py` does not report. There, of BM25, dense and both, the questions
# that lose passages against the turn fell from .71 to .64 of those that the rewrite alone loses; docs/benchmarks.md has
# the other half.
DEPENDENT = Rows(preserved=Weights(1, 4, 2), uncertain=Weights(1, 2, 2), changed=Weights(1, 0, 2))
COMPLETE = Rows(preserved=Weights(2, 4, 1), uncertain=Weights(2, 2, 1), changed=Weights(1, 0, 1))


def rows_from(name: str, weights: Mapping[Verdict, Weights]) -> Rows:
    """The rows of a mapping from each verdict to its weights; `name` is the argument that gave it.

    Raises:
        PolicyError: A verdict has no row, a key is no verdict, or a row is something else.
    """
    missing = [verdict.value for verdict in Verdict if verdict not in weights]
    if missing:
        raise PolicyError(f"{name}: no row for the verdict {', '.join(missing)}")
    unknown = [str(verdict) for verdict in weights if verdict not in tuple(Verdict)]
    if unknown:
        raise PolicyError(f"{name}: {', '.join(unknown)} is no verdict")
    for verdict in Verdict:
        if not isinstance(weights[verdict], Weights):
            raise PolicyError(f"{name}: expected Weights for {verdict.value}, got {type(weights[verdict]).__name__}")
    return Rows(**{verdict.value: weights[verdict] for verdict in Verdict})
