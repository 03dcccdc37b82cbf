"""Everything that the report and the release rule need, as frozen values; `to_dict` gives plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewriteguard.evaluation.figure import Figure, plain
from rewriteguard.evaluation.score.scores import Paired, Scores
from rewriteguard.evaluation.vocabulary import UnknownWord


@dataclass(frozen=True, slots=True)
class Group:
    """Requests that are judged together.

    Attributes:
        name: The name of the class or slice.
        cases: The ids of its cases.
        enforced: True for a class, which a policy can tell from the turn; False for a slice, which is only reported.
    """

    name: str
    cases: tuple[str, ...]
    enforced: bool


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One arm on some requests.

    Attributes:
        rewriter: The label of the rewriter; empty for the arms that need none.
        arm: The arm, such as `guarded`.
        scores: What it is worth.
        over_original: It against the original; None for the original itself.
        over_rewrite: It against the unchecked rewrite of the same rewriter; only for the guarded arm.
        over_without: It against the search without a rewriter; only for the guarded arm.
    """

    rewriter: str
    arm: str
    scores: Scores
    over_original: Paired | None
    over_rewrite: Paired | None
    over_without: Paired | None = None


@dataclass(frozen=True, slots=True)
class GroupResult:
    """All arms on the requests of a group.

    Attributes:
        name: The name of the class or slice.
        enforced: True for a class, False for a slice.
        requests: The number of its cases.
        arms: The arms, those without a rewriter first, then by rewriter.
    """

    name: str
    enforced: bool
    requests: int
    arms: tuple[ArmResult, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of a ranking.

    Attributes:
        id: Its id.
        label: `relevant`, `near_miss`, `forbidden`, `unauthorised`, or empty.
    """

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Regression:
    """A request that found evidence in the base and not in the arm.

    Attributes:
        case: The id of the case.
        rewriter: The label of the rewriter; empty for the arms that need none.
        arm: The arm that lost the evidence.
        base: The arm that had it: `original`, or `rewrite` for the guarded arm.
        turn: The case's number among the user's turns; None where unknown.
        original: The user's turn.
        rewrite: What the rewriter said; None where it was not asked or failed.
        queries: What the arm searched.
        base_queries: What the base searched.
        base_results: What came back in the base, best first.
        results: What came back in the arm, best first.
        dropped: The constraints that the arm's queries do not keep.
        stage: Where it broke: `rewrite`, `retrieval` or `generation`.
        status: How the arm ended.
        action: What the guard did; empty where the arm asks no guard.
        reasons: Closed codes of the guard's findings.
    """

    case: str
    rewriter: str
    arm: str
    base: str
    turn: int | None
    original: str
    rewrite: str | None
    queries: tuple[str, ...]
    base_queries: tuple[str, ...]
    base_results: tuple[Ranked, ...]
    results: tuple[Ranked, ...]
    dropped: tuple[str, ...]
    stage: str
    status: str
    action: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConstraintRow:
    """One clause of one contract, and what an arm made of it.

    Attributes:
        case: The id of the case.
        rewriter: The label of the rewriter; empty for the arms that need none.
        arm: The arm.
        clause: `constraint`, `must_preserve` or `forbidden_assumption`.
        kind: The kind of the constraint, such as `time`; empty for the other clauses.
        asked: What the contract says.
        critical: Whether a query that breaks it asks something else.
        fate: `kept`, `altered` (another value of the kind came instead), `dropped`, or for an assumption `absent` or
            `added`.
        instead: The words that came instead, or that were added; empty otherwise.
        query: Place of the query that keeps, alters or adds it, from 0; None where there is none.
        evidence: What came back: `found`, `near_miss`, `missing`, or empty where nobody judged.
    """

    case: str
    rewriter: str
    arm: str
    clause: str
    kind: str
    asked: str
    critical: bool
    fate: str
    instead: str
    query: int | None
    evidence: str


@dataclass(frozen=True, slots=True)
class KindRow:
    """What an arm made of the constraints of one kind: numbers of constraints."""

    rewriter: str
    arm: str
    kind: str
    asked: int
    kept: int
    altered: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TurnRow:
    """Recall@k of an arm by the place of the turn: 1, or `later` for all behind it, or the number."""

    rewriter: str
    arm: str
    turn: str
    recall: Figure


@dataclass(frozen=True, slots=True)
class MissingWords:
    """What the rewrites of one rewriter say that no document does.

    Attributes:
        size: The number of words in the vocabulary of the documents.
        passed_over: How often a further word was met and not counted, since there were too many.
        words: The words, those of the most rewrites first; their places are the ids of cases.
    """

    size: int
    passed_over: int
    words: tuple[UnknownWord[str], ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What was measured.

    Attributes:
        k: How many documents an arm returns.
        seed: Of the draws and tests.
        resamples: Draws of each bootstrap.
        requests: The number of cases.
        clusters: How many independent clusters of cases there are: conversations, joined where a family holds cases of
            several; a case of neither is one.
        judged: How many cases have relevant documents.
        contracts: How many cases have a contract.
        rewriters: The labels of the rewriters, in alphabetical order.
        arms: All arms on all requests, those without a rewriter first.
        groups: The same for each class and slice, in the order given.
        regressions: The requests that lost their evidence, by case, rewriter and arm.
        constraints: The constraint matrix: one row for each clause of each contract, arm and rewriter.
        kinds: The same counted by kind; empty where there are no contracts.
        turns: Recall by the place of the turn.
        vocabulary: What the rewrites say that no document does, by rewriter; None where nobody looked.
    """

    k: int
    seed: int
    resamples: int
    requests: int
    clusters: int
    judged: int
    contracts: int
    rewriters: tuple[str, ...]
    arms: tuple[ArmResult, ...]
    groups: tuple[GroupResult, ...]
    regressions: tuple[Regression, ...]
    constraints: tuple[ConstraintRow, ...]
    kinds: tuple[KindRow, ...]
    turns: tuple[TurnRow, ...]
    vocabulary: Mapping[str, MissingWords] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The results as plain JSON values."""
        told: dict[str, Any] = plain(self)
        return told
