"""The five scores of an arm, which are never merged into one, its vetoes and its outcomes."""

from __future__ import annotations

from dataclasses import dataclass

from rewriteguard.evaluation.figure import Figure


@dataclass(frozen=True, slots=True)
class Evidence:
    """What came back, against the original intent; only requests with relevant documents count.

    The shares and `recall` are by intention to treat: a search that found nothing or failed found nothing relevant.
    A request whose user was rightly asked instead is left out.

    Attributes:
        found: Share of the requests with a relevant document among the k.
        near_miss_only: Share with no relevant document but with a near miss: a neighbouring question was answered.
        missing: Share with neither.
        recall: Mean Recall@k; the interval draws clusters.
        recall_by_request: The same mean; the interval draws requests.
        ndcg: Mean nDCG@k; the interval draws clusters.
        mrr: Mean MRR@k; the interval draws clusters.
        recall_searched: Mean Recall@k of the requests whose search ended, with or without results.
    """

    found: Figure
    near_miss_only: Figure
    missing: Figure
    recall: Figure
    recall_by_request: Figure
    ndcg: Figure
    mrr: Figure
    recall_searched: Figure


@dataclass(frozen=True, slots=True)
class Clarification:
    """Whether the user was asked when the contract says so, and not otherwise.

    Attributes:
        asked: Share asked among the requests with several admissible readings.
        not_asked: Share not asked among the requests whose contract has one reading.
    """

    asked: Figure
    not_asked: Figure


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that vetoes the arm.

    Attributes:
        case: The id of the case.
        document: The id of the document.
        rank: Its place among the results, from 1.
    """

    case: str
    document: str
    rank: int


@dataclass(frozen=True, slots=True)
class Scores:
    """What one arm is worth on some requests.

    Attributes:
        requests: How many requests it ran.
        statuses: How they ended: `ok`, `empty`, `error` and `clarified`, each with its number.
        preservation: Share of the contracts' constraints that the queries keep.
        completeness: Share of the requests whose queries keep every critical constraint and break no other clause.
        evidence: What came back.
        answers: Share of the answers that are right and supported, where somebody said.
        clarification: Whether the user was asked when, and only when, the turn has several readings.
        forbidden: Documents that must not come back and did: a veto.
        unauthorised: Documents that the user may not see and that came back: a veto.
        stages: First stage at which failed requests broke: `rewrite`, `retrieval` and `generation`, with their numbers.
    """

    requests: int
    statuses: dict[str, int]
    preservation: Figure
    completeness: Figure
    evidence: Evidence
    answers: Figure
    clarification: Clarification
    forbidden: tuple[Hit, ...]
    unauthorised: tuple[Hit, ...]
    stages: dict[str, int]

    @property
    def vetoed(self) -> bool:
        """Whether a forbidden or unauthorised document came back; no score makes up for it."""
        return bool(self.forbidden or self.unauthorised)
