"""The five scores of an arm, which are never merged into one, its vetoes and its outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure, share
from rewriteguard.evaluation.run.outcome import Outcome, Status
from rewriteguard.evaluation.score.contract import Clause
from rewriteguard.evaluation.score.runs import SEARCHED, ArmRun, Stage, asked_rightly, should_ask
from rewriteguard.evaluation.score.statistics import Draws, mean

_NOTHING = Figure(None, 0)


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
class OfRewrite:
    """What the rewriter's output keeps by itself, whatever else the arm searches.

    An arm that searches the turn beside it keeps all that the turn says. Requests for which no rewriter was asked are
    left out, and of one that failed nothing is kept.

    Attributes:
        preservation: As `Scores.preservation`.
        completeness: As `Scores.completeness`.
    """

    preservation: Figure = _NOTHING
    completeness: Figure = _NOTHING


_NO_REWRITE = OfRewrite()


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that vetoes the arm; also one that came back behind the k.

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
        preservation: Share of the contracts' constraints that the queries keep. Where nothing was searched, nothing
            was kept, unless the user was rightly asked: see `left_out`. The interval takes constraints as independent.
        completeness: Share of the requests whose queries keep every critical constraint and every word to preserve,
            and add no forbidden assumption; only requests with such a clause count. One that searched nothing is not
            complete.
        evidence: What came back.
        answers: Share of the answers that are right and supported, where somebody said.
        clarification: Whether the user was asked when, and only when, the turn has several readings.
        forbidden: Documents that must not come back and did: a veto.
        unauthorised: Documents that the user may not see and that came back: a veto.
        stages: First stage at which failed requests broke: `rewrite`, `retrieval` and `generation`, with their numbers.
        families: Share of the families whose cases all pass; see `passing`.
        of_rewrite: The first two scores of the rewriter's own output.
        left_out: How many requests the first two scores leave out, since the user was rightly asked instead.
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
    families: Figure = _NOTHING
    of_rewrite: OfRewrite = _NO_REWRITE
    left_out: int = 0

    @property
    def vetoed(self) -> bool:
        """Whether a forbidden or unauthorised document came back; no score makes up for it."""
        return bool(self.forbidden or self.unauthorised)


def score(cases: Sequence[Case], run: ArmRun, draws: Draws, clusters: Mapping[str, str]) -> Scores:
    """What an arm is worth on those of the cases that it ran; `clusters` are those of all cases, by their ids."""
    ran = [case for case in cases if case.id in run.outcomes]
    outcomes = [run.outcomes[case.id] for case in ran]
    statuses = Counter(outcome.status for outcome in outcomes)
    stages = Counter(run.stages[case.id] for case in ran if case.id in run.stages)
    said = [outcome.supported for outcome in outcomes if outcome.supported is not None]
    return Scores(
        requests=len(ran),
        statuses={status.value: statuses[status] for status in Status},
        preservation=_preservation(ran, run.clauses),
        completeness=_share_of(is_complete(case, run) for case in ran),
        evidence=_evidence(ran, run, draws, clusters),
        answers=share(sum(said), len(said)),
        clarification=_clarification(ran, run),
        forbidden=tuple(_hits(ran, run, "forbidden")),
        unauthorised=tuple(_hits(ran, run, "unauthorised")),
        stages={stage.value: stages[stage] for stage in Stage},
        families=families(ran, run),
        of_rewrite=OfRewrite(
            _preservation(ran, run.of_rewrite),
            _share_of(holds(run.of_rewrite.get(case.id, ()), bool(run.outcomes[case.id].rewrite)) for case in ran),
        ),
        left_out=sum(asked_rightly(case, run.outcomes[case.id]) for case in ran),
    )


def evidence_of(case: Case, outcome: Outcome, run: ArmRun) -> str:
    """What came back: `found`, `near_miss`, `missing`, or empty where the request does not count."""
    measured = run.measured.get(case.id)
    if measured is None:
        return ""
    if measured.found:
        return "found"
    return "near_miss" if {*case.near_misses} & {*outcome.results[: run.k]} else "missing"


def _preservation(cases: Sequence[Case], clauses: Mapping[str, tuple[Clause, ...]]) -> Figure:
    kept = [clause.held for case in cases for clause in clauses.get(case.id, ()) if clause.kind is not None]
    return share(sum(kept), len(kept))


def _share_of(held: Iterable[bool | None]) -> Figure:
    known = [each for each in held if each is not None]
    return share(sum(known), len(known))


def _evidence(cases: Sequence[Case], run: ArmRun, draws: Draws, clusters: Mapping[str, str]) -> Evidence:
    judged = [case for case in cases if case.id in run.measured]
    came = Counter(evidence_of(case, run.outcomes[case.id], run) for case in judged)
    values = [run.measured[case.id] for case in judged]
    recalls = [each.recall for each in values]
    drawn = [clusters[case.id] for case in judged]
    searched = [case for case in judged if run.outcomes[case.id].status in SEARCHED]
    return Evidence(
        found=share(came["found"], len(judged)),
        near_miss_only=share(came["near_miss"], len(judged)),
        missing=share(came["missing"], len(judged)),
        recall=mean(recalls, draws, drawn),
        recall_by_request=mean(recalls, draws),
        ndcg=mean([each.ndcg for each in values], draws, drawn),
        mrr=mean([each.mrr for each in values], draws, drawn),
        recall_searched=mean(
            [run.measured[case.id].recall for case in searched], draws, [clusters[case.id] for case in searched]
        ),
    )


def _clarification(cases: Sequence[Case], run: ArmRun) -> Clarification:
    asked = {case.id: run.outcomes[case.id].status is Status.CLARIFIED for case in cases}
    should = [asked[case.id] for case in cases if should_ask(case) is True]
    should_not = [asked[case.id] for case in cases if should_ask(case) is False]
    return Clarification(share(sum(should), len(should)), share(should_not.count(False), len(should_not)))


def _hits(cases: Sequence[Case], run: ArmRun, which: str) -> Iterator[Hit]:
    for case in cases:
        banned = frozenset(getattr(case, which))
        for rank, document in enumerate(run.outcomes[case.id].results, start=1):
            if document in banned:
                yield Hit(case.id, document, rank)
