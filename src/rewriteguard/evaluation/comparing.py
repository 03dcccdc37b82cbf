"""`compare`: the short form of an evaluation, for a first look at what a rewriter wins and loses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from rewriteguard.errors import InputError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.run.rewriters import RECORDED
from rewriteguard.evaluation.run.run import outcomes
from rewriteguard.evaluation.run.setup import BUDGET, Setup, SetupKeywords
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation

_ARMS = (ArmName.ORIGINAL, ArmName.REWRITE, ArmName.GUARDED)
_PRINTED = 10  # regressions that are printed
_LABEL = "rewriter"


@dataclass(frozen=True, slots=True)
class Loss:
    """A question whose answer the turn as written finds and the rewrite does not.

    Attributes:
        case: The id of the question.
        original: The turn.
        rewrite: The rewrite; None where the rewriter failed.
        reasons: What the guard found, as closed codes.
        dropped: The protected words of the turn that the rewrite left out or altered.
        rank: The best rank of a relevant document for the turn, from 1.
        rank_guarded: The same for what the guard searches; None where it is not found there either.
    """

    case: str
    original: str
    rewrite: str | None
    reasons: tuple[str, ...]
    dropped: tuple[str, ...]
    rank: int
    rank_guarded: int | None


@dataclass(frozen=True, slots=True)
class Compared:
    """What a rewriter wins and loses against the turns as written.

    Attributes:
        k: The number of documents that were looked at.
        questions: How many questions were compared; those without relevant documents have no recall.
        left_out: How many were not: first turns, for which no rewriter is asked, and those without a recorded rewrite.
        recall: Recall@k by arm: `original`, `rewrite` (unchecked) and `guarded`.
        failed: How many searches or rewrites failed, by arm; they have found nothing.
        reasons: How many rewrites the guard found something in, by its codes, the most frequent first.
        regressions: The questions that the rewrite loses, in their order.
        gains: The ids of those that it wins.
    """

    k: int
    questions: int
    left_out: int
    recall: Mapping[str, Figure]
    failed: Mapping[str, int]
    reasons: Mapping[str, int]
    regressions: tuple[Loss, ...]
    gains: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {**asdict(self), "regressions": [asdict(each) for each in self.regressions], "gains": list(self.gains)}


def compare(
    questions: Iterable[Case | Mapping[str, Any]],
    search: Any,
    rewriter: Any,
    k: int = 10,
    **settings: Unpack[SetupKeywords],
) -> Compared:
    """What a rewriter wins and loses: recall with and without it, what it dropped, and the questions that it loses.

    Args:
        questions: Cases, or mappings with `original` (the turn), `relevant` (ids of the documents that answer it), and
            optionally `history` in any form, `id` and `rewrites` (texts by the label of their rewriter).
        search: A LangChain retriever, or a callable `search(query)` or `search(query, k=...)`; gives documents with
            ids, bare ids, or `Hit(document, score)`, best first.
        rewriter: A callable `f(turn, history)` or `f(turn)`, a runnable, or the label of recorded rewrites.
        k: The number of documents to look at.
        **settings: Further arguments of `Setup`; `arms` are these three.

    Raises:
        InputError: An argument has a value that cannot be used.
        HistoryError: A history has a shape that cannot be read.
    """
    cases = [each if isinstance(each, Case) else _case(each, place) for place, each in enumerate(questions)]
    label = rewriter if isinstance(rewriter, str) else _LABEL
    given = {label: RECORDED if isinstance(rewriter, str) else rewriter}
    chosen: SetupKeywords = {"budget": max(BUDGET, k), **settings, "arms": _ARMS}
    setup = Setup(cases, search, given, k=k, **chosen)
    found = {(each.case, each.arm): each for each in outcomes(setup)}
    measured = [case for case in cases if all((case.id, arm) in found for arm in _ARMS)]
    judged = [case for case in measured if case.relevant]
    losses = [_loss(setup, case, found) for case in judged]
    gains = [
        case.id for case in judged if _rank(case, found, ArmName.REWRITE) and not _rank(case, found, ArmName.ORIGINAL)
    ]
    return Compared(
        k=k,
        questions=len(measured),
        left_out=len(cases) - len(measured),
        recall={arm.value: _recall(judged, found, arm) for arm in _ARMS},
        failed={arm.value: sum(found[case.id, arm].status is Ended.ERROR for case in measured) for arm in _ARMS},
        reasons=_reasons(found[case.id, ArmName.GUARDED] for case in measured),
        regressions=tuple(each for each in losses if each is not None),
        gains=tuple(gains),
    )


_Outcomes = Mapping[tuple[str, ArmName], Outcome]


def _case(row: Mapping[str, Any], place: int) -> Case:
    if not isinstance(row, Mapping) or not isinstance(row.get("original"), str):
        raise InputError(f"questions[{place}]: expected a Case or a mapping with text under 'original'")
    relevant, rewrites = row.get("relevant") or (), row.get("rewrites") or {}
    if isinstance(relevant, str) or not isinstance(rewrites, Mapping):
        raise InputError(f"questions[{place}]: expected a list under 'relevant' and a mapping under 'rewrites'")
    messages = Conversation.read(row["original"], row.get("history") or ()).history
    texts = {name: (each,) if isinstance(each, str) else tuple(each) for name, each in rewrites.items()}
    return Case(
        id=str(row.get("id", place + 1)),
        original=row["original"],
        history=tuple((message.role.value, message.text) for message in messages),
        rewrites=texts,
        relevant=tuple(map(str, relevant)),
    )


def _rank(case: Case, found: _Outcomes, arm: ArmName) -> int | None:
    """The best rank of a relevant document, from 1."""
    ranks = (rank for rank, each in enumerate(found[case.id, arm].results, 1) if each in case.relevant)
    return next(ranks, None)


def _recall(cases: Sequence[Case], found: _Outcomes, arm: ArmName) -> Figure:
    shares = [len({*case.relevant}.intersection(found[case.id, arm].results)) / len({*case.relevant}) for case in cases]
    return Figure(sum(shares) / len(shares) if shares else None, len(shares))


def _reasons(guarded: Iterable[Outcome]) -> dict[str, int]:
    counted = Counter(code for each in guarded for code in each.reasons if code not in ("ok", "first_turn"))
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _loss(setup: Setup, case: Case, found: _Outcomes) -> Loss | None:
    rank = _rank(case, found, ArmName.ORIGINAL)
    if rank is None or _rank(case, found, ArmName.REWRITE) is not None:
        return None
    rewrite, guarded = found[case.id, ArmName.REWRITE], found[case.id, ArmName.GUARDED]
    return Loss(
        case.id,
        case.original,
        rewrite.rewrite,
        guarded.reasons,
        _dropped(setup, case, rewrite.rewrite),
        rank,
        _rank(case, found, ArmName.GUARDED),
    )


def _dropped(setup: Setup, case: Case, rewrite: str | None) -> tuple[str, ...]:
    if rewrite is None:
        return ()
    texts = rewrite.split("\n")
    checked = setup.guard.check_all(case.original, texts, case.history, profile=Profile.CONDENSE)
    tokens = (*checked.comparison.dropped, *(pair.ours for pair in checked.comparison.altered))
    return tuple(dict.fromkeys(token.text for token in sorted(tokens, key=lambda token: token.start)))


def _lines(compared: Compared) -> Iterator[str]:
    n = max((figure.n for figure in compared.recall.values()), default=0)
    yield f"{compared.questions} questions, {n} of them with relevant documents; k = {compared.k}"
    if compared.left_out:
        yield f"{compared.left_out} left out: first turns, and turns without a recorded rewrite"
    for arm, figure in compared.recall.items():
        value = "     -" if figure.value is None else f"{figure.value:6.3f}"
        failed = compared.failed[arm]
        yield f"  recall, {arm:<9}{value}" + (f"   ({failed} failed)" if failed else "")
    yield "found in the rewrites: " + (", ".join(f"{code} {n}" for code, n in compared.reasons.items()) or "nothing")
    yield f"the rewrite wins {len(compared.gains)} questions and loses {len(compared.regressions)}:"
    for each in compared.regressions[:_PRINTED]:
        guarded = "not found" if each.rank_guarded is None else f"rank {each.rank_guarded}"
        yield f"  {each.case}: {each.original!r} -> {each.rewrite!r}"
        yield f"    rank {each.rank} -> not found; guarded {guarded}; {', '.join(each.reasons)}"
        if each.dropped:
            yield f"    dropped or altered: {', '.join(map(repr, each.dropped))}"
    more = len(compared.regressions) - _PRINTED
    if more > 0:
        yield f"  and {more} more"
