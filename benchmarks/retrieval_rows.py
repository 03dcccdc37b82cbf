"""The strategies of the retrieval benchmark: what each returns for a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from retrieval_data import Question
from retrieval_indexes import DEPTH, Index
from rewriteguard import Guard, GuardedSearch, Hit, Policy, Telemetry, Verdict, reciprocal_rank_fusion
from rewriteguard.model.decision import Decision
from rewriteguard.policy.policy import decide

K = 10
DROP_IN_K = 4  # what LangChain's retrievers return unless told otherwise
FRAMEWORK_K = 60
HYBRID_K = Policy.hybrid().k
Indexes = Mapping[str, Index]
Ranking = list[str]


@dataclass(frozen=True, slots=True)
class Case:
    """One question with one rewriter's rewrite, and the wrong rewrites that are put in on purpose."""

    question: Question
    rewrite: str
    stale: str
    foreign: str


@dataclass(slots=True)
class Ran:
    """What one strategy did for one question."""

    ranking: Ranking
    searches: int = 1
    asked: bool = True


class _Answer:
    """A rewriter that gives whatever it was last told; None is a failure."""

    text: str | None = None

    def __call__(self, turn: str, history: Any) -> str:  # noqa: ARG002
        if self.text is None:
            raise RuntimeError("no rewrite")
        return self.text


class _Unjudged(Guard):
    """Takes every rewrite for PRESERVED, which shows what the verdicts cost and what they are worth."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def decide(
        self, turn: Any, rewrite: Any, history: Any = (), *, policy: Policy | None = None, **more: Any
    ) -> Decision:
        found = replace(self._guard.check(turn, rewrite, history, **more), verdict=Verdict.PRESERVED)
        return decide(policy or Policy(), found, self._guard.carried(turn, history))


class Strategies:
    """All strategies over one set of indexes: one index, or several that are fused at once."""

    def __init__(self, indexes: Indexes, guard: Guard, today: date) -> None:
        self._indexes = indexes
        self._checks = guard
        self._today = today
        self._rewriter = _Answer()
        scored = {name: _scored(index) for name, index in indexes.items()}
        ranked = {name: _ranked(index) for name, index in indexes.items()}
        four = {name: _four(index) for name, index in indexes.items()}
        common: dict[str, Any] = {"guard": guard, "telemetry": Telemetry(capture="off")}
        policy = Policy() if len(indexes) == 1 else Policy.hybrid()
        unjudged = {**common, "guard": _Unjudged(guard)}
        single = replace(Policy.single(), k=policy.k)
        self._guarded = {
            "guarded": GuardedSearch(_only(scored), self._rewriter, policy=policy, k=K, **common),
            "no-margins": GuardedSearch(_only(ranked), self._rewriter, policy=policy, k=K, **common),
            "no-verdicts": GuardedSearch(_only(scored), self._rewriter, policy=policy, k=K, **unjudged),
            "single": GuardedSearch(_only(scored), self._rewriter, policy=single, k=K, **common),
            "dependent": GuardedSearch(
                _only(scored), self._rewriter, policy=policy, k=K, rewrite_when="dependent", **common
            ),
            "drop-in": GuardedSearch(_only(four), self._rewriter, policy=policy, **common),
        }

    def run(self, case: Case) -> Iterator[tuple[str, Ran]]:
        """Each strategy's name with what it did."""
        question = case.question
        for name, query in self._plain(case):
            yield name, Ran(self._search(query))
        yield "rrf60", Ran(self._fused([question.original, case.rewrite], FRAMEWORK_K), 2)
        yield "drop-in-rewrite", Ran(self._search(case.rewrite, DROP_IN_K))
        for name in self._guarded:
            yield name, self._guard(name, question, case.rewrite)
        yield "fall-back", self._guard("guarded", question, None)
        yield "stale", self._guard("guarded", question, case.stale)
        yield "foreign", self._guard("guarded", question, case.foreign)

    def first_turn_is_raw(self, question: Question) -> bool:
        """Whether a turn without a history is searched as it is, whatever the rewriter would say."""
        self._rewriter.text = f"{question.original} with more words"
        result = self._guarded["guarded"].run(question.original, question.history, reference_date=self._today)
        return result.items == self._search(question.original)

    def _plain(self, case: Case) -> Iterator[tuple[str, str]]:
        yield from {
            "raw": case.question.original,
            "carried": self._checks.carried(case.question.original, case.question.history).text,
            "rewrite": case.rewrite,
            "stale-alone": case.stale,
            "foreign-alone": case.foreign,
        }.items()

    def _guard(self, name: str, question: Question, rewrite: str | None) -> Ran:
        self._rewriter.text = rewrite
        result = self._guarded[name].run(question.original, question.history, reference_date=self._today)
        asked = result.decision.reason not in ("skipped", "first_turn")
        return Ran(result.items, len(result.arms), asked)

    def _search(self, query: str, k: int = K) -> Ranking:
        return self._fused([query], HYBRID_K, k)

    def _fused(self, queries: Sequence[str], k: float, wanted: int = K) -> Ranking:
        rankings = [[hit.item for hit in index(query, DEPTH)] for query in queries for index in self._indexes.values()]
        if len(rankings) == 1:
            return rankings[0][:wanted]
        return reciprocal_rank_fusion(rankings, k=k)[:wanted]


def _only(searches: Mapping[str, Callable[..., Any]]) -> Any:
    """A single search as itself."""
    return next(iter(searches.values())) if len(searches) == 1 else dict(searches)


def _scored(index: Index) -> Callable[..., list[Hit[str]]]:
    def search(query: str, k: int = K) -> list[Hit[str]]:
        return index(query, k)

    return search


def _ranked(index: Index) -> Callable[..., Ranking]:
    def search(query: str, k: int = K) -> Ranking:
        return [hit.item for hit in index(query, k)]

    return search


def _four(index: Index) -> Callable[[str], Ranking]:
    def search(query: str) -> Ranking:
        return [hit.item for hit in index(query, DROP_IN_K)]

    return search
