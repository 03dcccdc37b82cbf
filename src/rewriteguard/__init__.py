"""rewriteguard checks that the query a model rewrote still asks what the user asked, before it is searched.

Every public name is loaded when it is first used, so that importing the package loads neither spaCy nor LangChain.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewriteguard.errors import (
        ClarificationNeeded,
        HistoryError,
        InputError,
        PipelineNotFoundError,
        PolicyError,
        RewriteGuardError,
        ScopeError,
        UnsupportedChainError,
    )
    from rewriteguard.extract import DEFAULT_EXTRACTORS
    from rewriteguard.filters.finding import FilterAssessment, FilterViolation
    from rewriteguard.filters.merge import merge_filter
    from rewriteguard.guard.guard import Guard
    from rewriteguard.model.assessment import Assessment, Fault, Profile, SetAssessment, Severity, Verdict
    from rewriteguard.model.conversation import Conversation
    from rewriteguard.model.decision import Action, Decision, WeightedQuery
    from rewriteguard.model.tokens import Kind, ProtectedToken
    from rewriteguard.policy.classes import Predicate, Release, RequestClass
    from rewriteguard.policy.policy import Policy
    from rewriteguard.retrieve.fuse import Hit, reciprocal_rank_fusion
    from rewriteguard.retrieve.query_filters import check_filter
    from rewriteguard.retrieve.rewrite import asafe_rewrite, safe_rewrite
    from rewriteguard.retrieve.search import GuardedSearch, Result
    from rewriteguard.telemetry import Calibration, Judge, Telemetry, TripleLog

__all__ = [
    "DEFAULT_EXTRACTORS",
    "Action",
    "Assessment",
    "Calibration",
    "ClarificationNeeded",
    "Conversation",
    "Decision",
    "Fault",
    "FilterAssessment",
    "FilterViolation",
    "Guard",
    "GuardedSearch",
    "HistoryError",
    "Hit",
    "InputError",
    "Judge",
    "Kind",
    "PipelineNotFoundError",
    "Policy",
    "PolicyError",
    "Predicate",
    "Profile",
    "ProtectedToken",
    "Release",
    "RequestClass",
    "Result",
    "RewriteGuardError",
    "ScopeError",
    "SetAssessment",
    "Severity",
    "Telemetry",
    "TripleLog",
    "UnsupportedChainError",
    "Verdict",
    "WeightedQuery",
    "asafe_rewrite",
    "check_filter",
    "merge_filter",
    "reciprocal_rank_fusion",
    "safe_rewrite",
]

_MODULES = {
    "model.conversation": ("Conversation",),
    "model.decision": ("Action", "Decision", "WeightedQuery"),
    "errors": (
        "ClarificationNeeded",
        "HistoryError",
        "InputError",
        "PipelineNotFoundError",
        "PolicyError",
        "RewriteGuardError",
        "ScopeError",
        "UnsupportedChainError",
    ),
    "extract": ("DEFAULT_EXTRACTORS",),
    "filters.finding": ("FilterAssessment", "FilterViolation"),
    "filters.merge": ("merge_filter",),
    "retrieve.fuse": ("Hit", "reciprocal_rank_fusion"),
    "guard.guard": ("Guard",),
    "policy.policy": ("Policy",),
    "policy.classes": ("Predicate", "Release", "RequestClass"),
    "retrieve.query_filters": ("check_filter",),
    "retrieve.search": ("GuardedSearch", "Result"),
    "retrieve.rewrite": ("asafe_rewrite", "safe_rewrite"),
    "telemetry": ("Calibration", "Judge", "Telemetry", "TripleLog"),
    "model.tokens": ("Kind", "ProtectedToken"),
    "model.assessment": ("Assessment", "Fault", "Profile", "SetAssessment", "Severity", "Verdict"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.metadata.version("rewriteguard")
    if name not in _HOMES:
        raise AttributeError(f"module 'rewriteguard' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rewriteguard.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
