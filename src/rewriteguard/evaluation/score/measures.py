"""Recall@k, nDCG@k and MRR@k of single requests, through ir-measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import ir_measures
from ir_measures import RR, R, nDCG

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.outcome import Outcome, Status

SEARCHED = frozenset({Status.OK, Status.EMPTY})
"""How a search ends that was made and did not fail."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the first k results of one request are worth; all are relevant or not, without degrees.

    Attributes:
        recall: Share of the relevant documents that are among the k.
        ndcg: nDCG@k.
        mrr: One over the rank of the first relevant document; 0 where none is among the k.
    """

    recall: float = 0.0
    ndcg: float = 0.0
    mrr: float = 0.0

    @property
    def found(self) -> bool:
        """Whether a relevant document is among the k: the success of a request."""
        return self.recall > 0


def measured(cases: Iterable[Case], outcomes: Mapping[str, Outcome], k: int) -> dict[str, Measured]:
    """What one arm found, by the id of the case, in the order of the cases: the figures by intention to treat.

    | request | here |
    |---|---|
    | without relevant ids, or without an outcome | left out, never 0 |
    | results | measured |
    | found nothing (`empty`) or failed (`error`) | 0: the user got nothing; `Scores.statuses` counts it apart |
    | user asked, and the contract has several readings | left out: it was right to ask |
    | user asked, and the contract does not say so | 0: the search that the turn allowed was not made |

    Figures of the searches alone are those of the requests whose status is in `SEARCHED`.

    Args:
        cases: The requests.
        outcomes: What the arm did, by the id of the case.
        k: How many results count.
    """
    judged = {case.id: case for case in cases if case.relevant and case.id in outcomes}
    counted = {name: case for name, case in judged.items() if not asked_rightly(case, outcomes[name])}
    if not counted:
        return {}
    names = {str(at): name for at, name in enumerate(counted)}
    qrels = {at: dict.fromkeys(counted[name].relevant, 1) for at, name in names.items()}
    runs = {at: _run(outcomes[name], k) for at, name in names.items()}
    fields = {R @ k: "recall", nDCG @ k: "ndcg", RR @ k: "mrr"}
    found = dict.fromkeys(counted, Measured())
    for metric in ir_measures.iter_calc(list(fields), qrels, runs):
        name = names[metric.query_id]
        found[name] = replace(found[name], **{fields[metric.measure]: float(metric.value)})
    return found


def should_ask(case: Case) -> bool | None:
    """Whether the contract says that the turn has several readings, so that the user should be asked; None without."""
    contract = case.contract
    return None if contract is None else bool(contract.unresolved) or len(contract.readings) > 1


def asked_rightly(case: Case, outcome: Outcome) -> bool:
    """Whether the user was asked instead of a search, as the contract says."""
    return outcome.status is Status.CLARIFIED and should_ask(case) is True


def _run(outcome: Outcome, k: int) -> dict[str, float]:
    """The first k documents, each once, with scores that keep their order."""
    return {item: -float(rank) for rank, item in enumerate(dict.fromkeys(outcome.results[:k]))}
