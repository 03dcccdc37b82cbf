"""What an arm is worth: its five scores, which are never merged into one, its vetoes, and it against another arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure, share
from rewriteguard.evaluation.run.outcome import Ended
from rewriteguard.evaluation.score.contract import Clause
from rewriteguard.evaluation.score.runs import SEARCHED, ArmRun, Stage, asked_rightly, should_ask
from rewriteguard.evaluation.score.statistics import Draws, exact_mcnemar, failures, mean, randomisation

_NOTHING = Figure(None, 0)


@dataclass(frozen=True, slots=True)
class EvidenceScore:
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
class Leak:
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
        families: Share of the families whose cases all pass; one of which a single case ran is none.
        of_rewrite: The first two scores of the rewriter's own output.
        left_out: How many requests the first two scores leave out, since the user was rightly asked instead.
    """

    requests: int
    statuses: dict[str, int]
    preservation: Figure
    completeness: Figure
    evidence: EvidenceScore
    answers: Figure
    clarification: Clarification
    forbidden: tuple[Leak, ...]
    unauthorised: tuple[Leak, ...]
    stages: dict[str, int]
    families: Figure = _NOTHING
    of_rewrite: OfRewrite = _NO_REWRITE
    left_out: int = 0


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


def score(cases: Sequence[Case], run: ArmRun, draws: Draws, clusters: Mapping[str, str]) -> Scores:
    """What an arm is worth on those of the cases that it ran; `clusters` are those of all cases, by their ids."""
    ran = [case for case in cases if case.id in run.outcomes]
    outcomes = [run.outcomes[case.id] for case in ran]
    statuses = Counter(outcome.status for outcome in outcomes)
    stages = Counter(run.stages[case.id] for case in ran if case.id in run.stages)
    return Scores(
        requests=len(ran),
        statuses={status.value: statuses[status] for status in Ended},
        preservation=_preservation(ran, run.clauses),
        completeness=_share_of(_is_complete(case, run) for case in ran),
        evidence=_evidence(ran, run, draws, clusters),
        answers=_share_of(outcome.supported for outcome in outcomes),
        clarification=_clarification(ran, run),
        forbidden=tuple(_leaks(ran, run, "forbidden")),
        unauthorised=tuple(_leaks(ran, run, "unauthorised")),
        stages={stage.value: stages[stage] for stage in Stage},
        families=_families(ran, run),
        of_rewrite=OfRewrite(
            _preservation(ran, run.of_rewrite),
            _share_of(_holds(run.of_rewrite.get(case.id, ()), bool(run.outcomes[case.id].rewrite)) for case in ran),
        ),
        left_out=sum(asked_rightly(case, run.outcomes[case.id]) for case in ran),
    )


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


def evidence_of(case: Case, run: ArmRun) -> str:
    """What came back: `found`, `near_miss`, `missing`, or empty where the request does not count."""
    measured = run.measured.get(case.id)
    if measured is None:
        return ""
    if measured.found:
        return "found"
    return "near_miss" if {*case.near_misses} & {*run.outcomes[case.id].results[: run.k]} else "missing"


def _holds(clauses: Sequence[Clause], said: bool) -> bool | None:
    """Whether something was said that holds every critical clause; None where there is none."""
    critical = [clause.held for clause in clauses if clause.critical]
    return said and all(critical) if critical else None


def _is_complete(case: Case, run: ArmRun) -> bool | None:
    """Whether there are queries that hold every critical clause; None where there is none, or the user was asked."""
    return _holds(run.clauses.get(case.id, ()), bool(run.outcomes[case.id].queries))


def _passes(case: Case, run: ArmRun) -> bool | None:
    """Whether nothing is wrong with a request; None where nothing can be said.

    It was asked about where, and only where, the contract says so; its queries hold every critical clause; a relevant
    document came back, and none that vetoes.
    """
    outcome, ask = run.outcomes[case.id], should_ask(case)
    measured = run.measured.get(case.id)
    said = [
        None if ask is None else ask is (outcome.status is Ended.CLARIFIED),
        _is_complete(case, run),
        None if measured is None else measured.found,
        False if {*case.forbidden, *case.unauthorised} & {*outcome.results} else None,
    ]
    known = [each for each in said if each is not None]
    return all(known) if known else None


def _families(cases: Sequence[Case], run: ArmRun) -> Figure:
    """Share of the families whose cases all pass; one of which a single case ran is none."""
    members: dict[str, list[bool | None]] = {}
    for case in cases:
        if case.family:
            members.setdefault(case.family, []).append(_passes(case, run))
    return _share_of(all(each) for each in members.values() if len(each) > 1 and None not in each)


def _preservation(cases: Sequence[Case], clauses: Mapping[str, tuple[Clause, ...]]) -> Figure:
    return _share_of(clause.held for case in cases for clause in clauses.get(case.id, ()) if clause.kind is not None)


def _share_of(said: Iterable[bool | None]) -> Figure:
    """The share of what is true among that of which something can be said."""
    known = [each for each in said if each is not None]
    return share(sum(known), len(known))


def _evidence(cases: Sequence[Case], run: ArmRun, draws: Draws, clusters: Mapping[str, str]) -> EvidenceScore:
    judged = [case for case in cases if case.id in run.measured]
    came = Counter(evidence_of(case, run) for case in judged)
    values = [run.measured[case.id] for case in judged]
    recalls, drawn = [each.recall for each in values], [clusters[case.id] for case in judged]
    searched = [case.id for case in judged if run.outcomes[case.id].status in SEARCHED]
    by_search = [run.measured[name].recall for name in searched]
    return EvidenceScore(
        found=share(came["found"], len(judged)),
        near_miss_only=share(came["near_miss"], len(judged)),
        missing=share(came["missing"], len(judged)),
        recall=mean(recalls, draws, drawn),
        recall_by_request=mean(recalls, draws),
        ndcg=mean([each.ndcg for each in values], draws, drawn),
        mrr=mean([each.mrr for each in values], draws, drawn),
        recall_searched=mean(by_search, draws, [clusters[name] for name in searched]),
    )


def _clarification(cases: Sequence[Case], run: ArmRun) -> Clarification:
    asked = [(should_ask(case), run.outcomes[case.id].status is Ended.CLARIFIED) for case in cases]
    return Clarification(
        _share_of(was for should, was in asked if should is True),
        _share_of(not was for should, was in asked if should is False),
    )


def _leaks(cases: Sequence[Case], run: ArmRun, which: str) -> Iterator[Leak]:
    for case in cases:
        banned = frozenset(getattr(case, which))
        for rank, document in enumerate(run.outcomes[case.id].results, start=1):
            if document in banned:
                yield Leak(case.id, document, rank)
