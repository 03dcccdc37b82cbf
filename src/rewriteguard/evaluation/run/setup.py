"""What a run is made with: read, checked, and written down as its conditions before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any, TypedDict

import rewriteguard
from rewriteguard.errors import HistoryError, InputError, ScopeError
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.run.arms import Allowance
from rewriteguard.evaluation.run.conditions import Conditions, described, digest, digest_of_cases, digest_of_contracts
from rewriteguard.evaluation.run.outcome import ArmName
from rewriteguard.evaluation.run.rewriters import Answer, Answering, Judge, Rewriters
from rewriteguard.evaluation.run.search import FoundDocument, Searching
from rewriteguard.guard.guard import Guard
from rewriteguard.model import arguments
from rewriteguard.model.conversation import Conversation
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve.decider import default_guard, today_in_utc
from rewriteguard.retrieve.request import limits_of
from rewriteguard.telemetry.content import describe

K = 10
BUDGET = 60
_PROBES = 50  # turns whose results tell one state of an index from another
_ENOUGH = 5  # turns; fewer follow-ups may well find nothing as they are
_SHORT = 23  # characters of a digest that are kept of each; no two of so few are the same by chance

Scope = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


class SetupKeywords(TypedDict, total=False):
    """The keywords of a run beside `k`; see `Setup`."""

    budget: int
    guard: Guard | None
    policy: Policy | None
    arms: Iterable[ArmName]
    scope: Scope | None
    seed: int
    answer: Answer | None
    judge: Judge | None
    fingerprint: str | None
    id_key: str | None
    score_key: str | None


class Setup:
    """All that a run needs.

    Args:
        cases: The cases; no id twice.
        search: A LangChain retriever or another runnable, or a callable `search(query, **keywords)`; gives documents or
            `Hit(document, score)`, best first. Each arm searches for itself, so it must give the same for the same.
        rewriters: By label: a callable `f(turn, history)` or `f(turn)`, a runnable, `recorded` for the rewrites that
            the cases hold, or a `Rewriter` with its profile and settings. One that gives a list has the arm EXPANDED
            too.
        k: The number of documents that an arm returns.
        budget: The number of documents that an arm may fetch in all, shared equally by its searches.
        guard: None is the process-wide guard.
        policy: None is `Policy()`.
        arms: The arms to run.
        scope: Gets the trusted context of a case and gives the keywords that limit each of its searches. Where it
            raises, or gives None, nothing is searched for that case.
        seed: Orders the cases.
        reference_date: The day that "today" means where a contract does not say; None is today in UTC.
        answer: Called as answer(turn, history, documents); gives the answer from the documents that came back.
        judge: Called as judge(case, answer, documents); says whether the answer is right and supported, or None.
        fingerprint: States which corpus and index are searched; None takes that of a `Corpus`. Without it a change is
            found by what the search gives for fifty of the turns, which may miss it.
        id_key: The key of the documents' metadata that holds the ids of the labels; None takes the documents' own ids.
        score_key: The key of the metadata that holds a score, where higher is better.

    Attributes:
        cases: The cases.
        find: The search.
        rewriters: The rewriters.
        arms: The arms, in their own order.
        budget: What each arm may fetch and return.
        guard: The guard.
        policy: Its policy.
        limits: The keywords that limit the searches of each case, by its id, or why nothing is searched for it.
        day: The day that "today" means where a contract does not say.
        seed: Orders the cases.
        answering: What answers and judges.
        conditions: All that the outcomes depend on.

    Raises:
        InputError: An argument has a value that cannot be used.
        HistoryError: The history of a case cannot be read.
        ScopeError: The search would not pass on what limits it.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        search: Any,
        rewriters: Mapping[str, Any],
        *,
        k: int = K,
        budget: int = BUDGET,
        guard: Guard | None = None,
        policy: Policy | None = None,
        arms: Iterable[ArmName] = tuple(ArmName),
        scope: Scope | None = None,
        seed: int = 0,
        reference_date: date | None = None,
        answer: Answer | None = None,
        judge: Judge | None = None,
        fingerprint: str | None = None,
        id_key: str | None = None,
        score_key: str | None = None,
    ) -> None:
        for name, value in (("scope", scope), ("answer", answer), ("judge", judge)):
            arguments.function(name, value)
        self.cases = _checked(cases)
        self.arms = tuple(arm for arm in ArmName if arm in frozenset(map(ArmName, arms)))
        self.budget = _budget(k, budget)
        self.find = Searching(search, id_key, score_key)
        self.rewriters = Rewriters(rewriters, self.cases)
        self.answering = Answering(answer, judge)
        self.seed = seed
        self.day = arguments.day("reference_date", reference_date) or today_in_utc()
        self.guard = default_guard() if guard is None else guard
        self.policy = Policy() if policy is None else policy
        self.limits = {case.id: _limits(scope, case) for case in self.cases}
        corpus = getattr(search, "fingerprint", None) if fingerprint is None else fingerprint
        self.conditions = self._conditions(corpus if isinstance(corpus, str) else "", scope)

    def _conditions(self, corpus: str, scope: Scope | None) -> Conditions:
        limits = [each for each in self.limits.values() if not isinstance(each, ScopeError)]
        search = self.find.settings()  # before it is used, which may change what it holds
        return Conditions(
            cases=digest_of_cases(self.cases),
            contracts=digest_of_contracts(self.cases),
            corpus=corpus,
            probe=self._probe(),
            search=search,
            rewriters=self.rewriters.settings(),
            k=self.budget.returned,
            budget=self.budget.fetched,
            scope={
                "scope": described(scope),
                "keywords": sorted({name for each in limits for name in each}),
                "values": digest([described(each) for each in limits]),
            },
            reference_date=self.day.isoformat(),
            seed=self.seed,
            policy=described(self.policy),
            guard=described(self.guard),
            arms=tuple(arm.value for arm in self.arms),
            answer=described(self.answering.answer),
            judge=described(self.answering.judge),
            version=rewriteguard.__version__,
        )

    def _probe(self) -> tuple[str, ...]:
        """Digests of what the search gives for turns that are drawn from all, the last among them.

        Raises:
            InputError: The search finds nothing for any of them, or gives documents without ids.
            ScopeError: The search would not pass on what limits it.
        """
        drawn = [case for case in self.cases if not isinstance(self.limits[case.id], ScopeError)]
        if len(drawn) > _PROBES:
            drawn = [*Random(0).sample(drawn[:-1], _PROBES - 1), drawn[-1]]
        found = [self._found(case) for case in drawn]
        failed = [each for each in found if isinstance(each, _Failed)]
        if drawn and not any(found) and (len(drawn) >= _ENOUGH or len(failed) == len(drawn)):
            raise InputError(f"search: found nothing for any of {len(drawn)} turns{_errors(failed)}")
        return tuple("" if isinstance(each, _Failed) else digest(each)[:_SHORT] for each in found)

    def _found(self, case: Case) -> list[Any] | _Failed:
        """Ids and texts of what the search gives for a turn; where it fails twice, why."""
        limits: Any = self.limits[case.id]
        failed = _Failed("")
        for _ in range(2):
            try:
                return [_told(hit.item) for hit in self.find(case.original, limits, self.budget.fetched)]
            except (InputError, ScopeError):
                raise
            except Exception as error:  # noqa: BLE001 - that a search fails is an outcome of the run
                failed = _Failed(type(error).__name__)
        return failed


@dataclass(frozen=True, slots=True)
class _Failed:
    """A search that failed; false, as one that found nothing."""

    error: str

    def __bool__(self) -> bool:
        return False


def _errors(failed: Iterable[_Failed]) -> str:
    names = sorted({each.error for each in failed})
    return f" ({', '.join(names)})" if names else ""


def _told(found: FoundDocument) -> list[str]:
    text = describe(found.item)[1]
    # What has no text is told as it prints itself, which may hold its address.
    return [found.id, text if isinstance(found.item, str) or text != str(found.item) else ""]


def _checked(cases: Iterable[Case]) -> tuple[Case, ...]:
    checked = tuple(cases)
    twice = [each for each, n in Counter(case.id for case in checked).items() if n > 1]
    if twice:
        raise InputError(f"cases: expected each id once, got {twice[0]!r} several times")
    for case in checked:
        try:
            Conversation.read(case.original, case.history)
        except HistoryError as error:
            raise HistoryError(f"case {case.id!r}: {error}") from None
    return checked


def _budget(k: int, budget: int) -> Allowance:
    arguments.count("k", k)
    arguments.count("budget", budget)
    if k is None or budget is None or budget < k:
        raise InputError(f"budget: expected at least k = {k} documents, got {budget}")
    return Allowance(k, budget)


def _limits(scope: Scope | None, case: Case) -> Mapping[str, Any] | ScopeError:
    try:
        return limits_of(scope, dict(case.context))
    except ScopeError as error:
        return error
