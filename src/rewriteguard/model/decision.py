"""What is searched for one turn, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rewriteguard.model.assessment import Assessment
from rewriteguard.model.rules import Fault, Verdict


class Action(StrEnum):
    """What is searched."""

    USE_ORIGINAL = "use_original"
    USE_REWRITE = "use_rewrite"
    FUSE = "fuse"
    FALL_BACK = "fall_back"
    CLARIFY = "clarify"


class Origin(StrEnum):
    """Where the text of a query comes from."""

    ORIGINAL = "original"
    REWRITE = "rewrite"
    CARRIED = "carried"


class Reason(StrEnum):
    """Why a decision was taken: the rewrite is good, its gravest fault, or why no rewrite was judged."""

    OK = "ok"
    DROPPED = Fault.DROPPED.value
    INVENTED = Fault.INVENTED.value
    ALTERED = Fault.ALTERED.value
    DRIFTED = Fault.DRIFTED.value
    UNRESOLVED = Fault.UNRESOLVED.value
    AMBIGUOUS = Fault.AMBIGUOUS.value
    MALFORMED = Fault.MALFORMED.value
    NOT_A_QUERY = Fault.NOT_A_QUERY.value
    QUESTION_LOST = Fault.QUESTION_LOST.value
    CORRECTION_LOST = Fault.CORRECTION_LOST.value
    LANGUAGE = Fault.LANGUAGE.value
    LOW_TRUST = Fault.LOW_TRUST.value
    NOT_CHECKED = Fault.NOT_CHECKED.value
    REWRITER_ERROR = "rewriter_error"
    REWRITER_TIMEOUT = "rewriter_timeout"
    GUARD_ERROR = "guard_error"
    FIRST_TURN = "first_turn"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """One query to search, with its weight in reciprocal rank fusion and where its text comes from."""

    text: str
    weight: float
    origin: Origin

    def to_dict(self) -> dict[str, Any]:
        """The query as plain JSON values."""
        return {"text": self.text, "weight": self.weight, "origin": self.origin.value}


@dataclass(frozen=True, slots=True)
class Decision:
    """What is searched for one turn, and why.

    Attributes:
        action: What is done.
        reason: `ok`, the gravest fault, or why no rewrite was judged.
        query: The one text for callers who search once.
        queries: The texts for callers who fuse, original first; none of weight 0, no text twice.
        k: The constant for reciprocal rank fusion of `queries`.
        assessment: The finding about the rewrite; None where none was judged.
        proposed: What would have been done outside shadow mode; equal to `action` elsewhere.
        candidates: The readings of an ambiguous turn.
        carried_terms: The history terms of the carried query, most salient first.
        policy: Name of the policy.
        request_class: Name of the policy's class that the turn belongs to; empty where it belongs to none, or where
            none was asked for, since no rewrite was judged.
    """

    action: Action
    reason: Reason
    query: str
    queries: tuple[WeightedQuery, ...]
    k: float
    assessment: Assessment | None
    proposed: Action
    candidates: tuple[str, ...] = ()
    carried_terms: tuple[str, ...] = ()
    policy: str = "default"
    request_class: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the rewrite; None where no rewrite was judged."""
        return self.assessment.verdict if self.assessment else None

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain JSON values."""
        return {
            "action": self.action.value,
            "reason": self.reason.value,
            "query": self.query,
            "queries": [query.to_dict() for query in self.queries],
            "k": self.k,
            "assessment": self.assessment.to_dict() if self.assessment else None,
            "proposed": self.proposed.value,
            "candidates": list(self.candidates),
            "carried_terms": list(self.carried_terms),
            "policy": self.policy,
            "request_class": self.request_class,
        }
