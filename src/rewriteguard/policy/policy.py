"""Turns a verdict into an action and weighted queries. A policy never alters a verdict."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rewriteguard.errors import PolicyError
from rewriteguard.model.assessment import Assessment, Profile, SetAssessment
from rewriteguard.model.decision import Action, Decision, Origin, Reason, WeightedQuery
from rewriteguard.model.rules import Fault, Verdict
from rewriteguard.policy.classes import Release, RequestClass, check_classes
from rewriteguard.policy.weights import COMPLETE, DEPENDENT, Weights, rows_from

if TYPE_CHECKING:
    import os

    from rewriteguard.policy.carry import CarriedQuery

_FUSION_K = 2
_HYBRID_K = 5  # for BM25 and dense lists together; chosen before `benchmarks/retrieval.py`, which measures it


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do about each verdict; a value: it can be compared, hashed, pickled, and not be changed.

    Attributes:
        name: Shown on spans and decisions.
        weights: Weights of the arms for each verdict; a mapping with a row for each of them, which is copied.
        complete_weights: The same for turns that are complete by themselves; None takes `weights` for them too, beside
            the default `weights` the default for such turns. Where the rewriter failed, its row of CHANGED holds.
        k: The constant of reciprocal rank fusion (ranks from 1).
        carried: Whether the carried query (turn and salient history terms, no model) is an arm.
        one_search: Search once, with `Decision.query`.
        reject_uncertain: Act on UNCERTAIN as on CHANGED.
        shadow: Check and record everything, but search the rewrite alone, exactly as without the guard.
        clarify: Ask the user where a reference has several readings.
        classes: Classes of requests for which something else is done; the first that a turn belongs to counts.
    """

    name: str = "default"
    weights: Mapping[Verdict, Weights] = DEPENDENT
    complete_weights: Mapping[Verdict, Weights] | None = None
    k: float = _FUSION_K
    carried: bool = True
    one_search: bool = False
    reject_uncertain: bool = False
    shadow: bool = False
    clarify: bool = False
    classes: tuple[RequestClass, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", rows_from("weights", self.weights))
        if self.complete_weights is not None:
            object.__setattr__(self, "complete_weights", rows_from("complete_weights", self.complete_weights))
        if not (math.isfinite(self.k) and self.k >= 0):
            raise PolicyError(f"k: expected a number of at least 0, got {self.k}")
        object.__setattr__(self, "classes", tuple(self.classes))
        wrong = [type(each).__name__ for each in self.classes if not isinstance(each, RequestClass)]
        if wrong:
            raise PolicyError(f"classes: expected RequestClass, got {wrong[0]}")
        check_classes(self.classes)

    def releases(self, release: Release) -> bool:
        """Whether a class is released so."""
        return any(each.release is release for each in self.classes)

    def rows(self, *, dependent: bool) -> Mapping[Verdict, Weights]:
        """The weights for a turn that needs the conversation, or for one that is complete by itself."""
        if dependent:
            return self.weights
        if self.complete_weights is not None:
            return self.complete_weights
        return COMPLETE if self.weights == DEPENDENT else self.weights

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """The policy that a TOML file says; what the file leaves out is as in `Policy()`.

        Raises:
            OSError: The file cannot be read.
            PolicyError: It is no TOML, or says something that no policy can do; the message names table and key.
        """
        loaded: Policy = importlib.import_module("rewriteguard.policy.file").read_policy(path)
        return loaded

    @classmethod
    def single(cls) -> Policy:
        """One search per turn: the cleaned rewrite, or the user's own words where the rewrite is CHANGED."""
        return cls(name="single", one_search=True, carried=False)

    @classmethod
    def hybrid(cls) -> Policy:
        """For several searches whose lists are fused at once: a larger constant, since more lists vote."""
        return cls(name="hybrid", k=_HYBRID_K)

    @classmethod
    def strict(cls) -> Policy:
        """UNCERTAIN is acted on as CHANGED: the rewrite is not searched."""
        return cls(name="strict", reject_uncertain=True)

    @classmethod
    def observe(cls) -> Policy:
        """Shadow mode: everything is checked and recorded, the search is exactly what it was without the guard."""
        return cls(name="observe", shadow=True)


def decide(
    policy: Policy,
    assessment: Assessment,
    carried: CarriedQuery | None = None,
    *,
    given: Sequence[str] = (),
    request_class: RequestClass | None = None,
) -> Decision:
    """The decision about a rewrite that was judged, or about a set of them, of which the rejected are left out.

    Args:
        policy: What to do about each verdict.
        assessment: The finding about the rewrite, or about the set.
        carried: The carried query of the same turn; None leaves the carried arm out.
        given: The items of a set as they came; searched in shadow mode.
        request_class: The class of the policy that the turn belongs to.
    """
    release = Release.FUSE if request_class is None else request_class.release
    raw = tuple(given) or (assessment.raw_rewrite,)
    if release is Release.FALL_BACK:
        off = without_rewrite(
            policy, assessment.turn, Reason.SKIPPED, carried, unchecked=raw, request_class=request_class
        )
        return replace(off, assessment=assessment, candidates=assessment.candidates)
    rewrites = assessment.assessments if isinstance(assessment, SetAssessment) else (assessment,)
    kept = {each.rewrite: each for each in rewrites if not _rejects(policy, each)}  # equal texts are searched once
    worst = max((each.verdict for each in kept.values()), key=_GRAVITY.index, default=Verdict.CHANGED)
    rows = policy.rows(dependent=assessment.dependent)
    shares = [(each.rewrite, rows[each.verdict].rewrite / len(kept)) for each in kept.values()]
    single = _one_query(assessment, list(kept.values()))
    alone = policy.one_search or (release is Release.SHIP and _ships(assessment, single))
    asks = policy.clarify or release is Release.CLARIFY
    proposed = _proposal(assessment, single, rejected=not kept, alone=alone, asks=asks)
    fused = _queries(policy, assessment.turn, shares, rows[worst], carried)
    decision = Decision(
        action=proposed,
        reason=Reason(assessment.reason),
        query=single.text,
        queries=(single,) if alone else fused,
        k=policy.k,
        assessment=assessment,
        proposed=proposed,
        candidates=assessment.candidates,
        carried_terms=carried.terms if carried and policy.carried else (),
        policy=policy.name,
        request_class=request_class.name if request_class else "",
    )
    return _as_unguarded(decision, *raw) if policy.shadow else decision


def without_rewrite(
    policy: Policy,
    turn: str,
    reason: Reason,
    carried: CarriedQuery | None = None,
    *,
    unchecked: str | Sequence[str] | None = None,
    request_class: RequestClass | None = None,
) -> Decision:
    """The decision where no rewrite was judged: none was asked for, or the rewriter or the guard failed.

    Args:
        policy: What to do.
        turn: The user's turn, which is searched as written.
        reason: Why there is no judged rewrite.
        carried: The carried query of the turn; used only where the rewriter failed, or is off for the class.
        unchecked: The rewrite, or the set, that was not judged; searched only in shadow mode.
        request_class: The class of the policy that the turn belongs to, where it was asked for.
    """
    off = reason is Reason.SKIPPED and request_class is not None and request_class.release is Release.FALL_BACK
    lacking = off or reason not in (Reason.FIRST_TURN, Reason.SKIPPED)
    action = Action.FALL_BACK if lacking else Action.USE_ORIGINAL
    use_carried = carried if lacking and reason is not Reason.GUARD_ERROR else None
    weights = policy.rows(dependent=False)[Verdict.CHANGED]  # a late answer waits for no reading of the turn
    decision = Decision(
        action=action,
        reason=reason,
        query=turn,
        queries=_queries(policy, turn, (), weights, None if policy.one_search else use_carried),
        k=policy.k,
        assessment=None,
        proposed=action,
        carried_terms=use_carried.terms if use_carried and policy.carried else (),
        policy=policy.name,
        request_class=request_class.name if request_class else "",
    )
    if policy.shadow:
        given = (unchecked,) if isinstance(unchecked, str) else unchecked or ()
        return _as_unguarded(decision, *given)
    return decision


_GRAVITY = (Verdict.PRESERVED, Verdict.UNCERTAIN, Verdict.CHANGED)
# Their rewrites are searched beside the original, and do not stand for it.
_BESIDE = frozenset({Profile.EXPAND, Profile.DECOMPOSE, Profile.STEP_BACK})


def _rejects(policy: Policy, assessment: Assessment) -> bool:
    verdict = assessment.verdict
    return verdict is Verdict.CHANGED or (policy.reject_uncertain and verdict is Verdict.UNCERTAIN)


def _one_query(assessment: Assessment, kept: Sequence[Assessment]) -> WeightedQuery:
    """The query of callers who search once: the best rewrite, or the turn where none stands for it."""
    best = min(kept, key=lambda each: _GRAVITY.index(each.verdict), default=None)
    if best is None or (isinstance(assessment, SetAssessment) and assessment.profile in _BESIDE):
        return WeightedQuery(assessment.turn, 1, Origin.ORIGINAL)
    return WeightedQuery(best.rewrite, 1, Origin.REWRITE)


def _ships(assessment: Assessment, single: WeightedQuery) -> bool:
    """Whether a class that ships searches the rewrite alone: it has to be PRESERVED, and to stand for the turn."""
    return assessment.verdict is Verdict.PRESERVED and single.origin is Origin.REWRITE


def _proposal(assessment: Assessment, single: WeightedQuery, *, rejected: bool, alone: bool, asks: bool) -> Action:
    ambiguous = any(violation.fault is Fault.AMBIGUOUS for violation in assessment.violations)
    if asks and ambiguous and assessment.candidates:
        return Action.CLARIFY
    if rejected:
        return Action.FALL_BACK
    if not alone:
        return Action.FUSE
    return Action.USE_REWRITE if single.origin is Origin.REWRITE else Action.USE_ORIGINAL


def _queries(
    policy: Policy,
    turn: str,
    rewrites: Iterable[tuple[str, float]],
    weights: Weights,
    carried: CarriedQuery | None,
) -> tuple[WeightedQuery, ...]:
    """The arms in the order original, rewrites, carried; equal texts are one arm with the weights added.

    Where the weights leave none, the original is searched: a turn is never answered without a search.
    """
    arms = [WeightedQuery(turn, weights.original, Origin.ORIGINAL)]
    arms += [WeightedQuery(text, weight, Origin.REWRITE) for text, weight in rewrites]
    if carried and policy.carried and carried.terms:
        arms.append(WeightedQuery(carried.text, weights.carried, Origin.CARRIED))
    merged: dict[str, WeightedQuery] = {}
    for arm in arms:
        if arm.weight > 0:
            seen = merged.get(arm.text)
            merged[arm.text] = arm if seen is None else WeightedQuery(arm.text, seen.weight + arm.weight, seen.origin)
    return tuple(merged.values()) or (WeightedQuery(turn, 1, Origin.ORIGINAL),)


def _as_unguarded(decision: Decision, *rewrites: str) -> Decision:
    """The same decision in shadow mode: the search is the one that happens without the guard."""
    origin = Origin.REWRITE if rewrites else Origin.ORIGINAL
    texts = rewrites or (decision.query,)
    return replace(
        decision,
        action=Action.USE_REWRITE if rewrites else Action.USE_ORIGINAL,
        query=texts[0],
        queries=tuple(WeightedQuery(text, 1, origin) for text in dict.fromkeys(texts)),
        carried_terms=(),
    )
