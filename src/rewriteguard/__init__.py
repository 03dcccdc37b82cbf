"""rewriteguard checks that the query a model rewrote still asks what the user asked, before it is searched.

Every public name is loaded when it is first used, so that importing the package loads neither spaCy nor LangChain.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewriteguard.assessment import Assessment, Fault, Profile, SetAssessment, Severity, Verdict
    from rewriteguard.conversation import Conversation
    from rewriteguard.decision import Action, Decision, WeightedQuery
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
    from rewriteguard.filter_finding import FilterAssessment, FilterViolation
    from rewriteguard.filter_merge import merge_filter
    from rewriteguard.fuse import Hit, reciprocal_rank_fusion
    from rewriteguard.guard import Guard
    from rewriteguard.policy import Policy
    from rewriteguard.policy_classes import Predicate, Release, RequestClass
    from rewriteguard.query_filters import check_filter
    from rewriteguard.retrieve import GuardedSearch, Result
    from rewriteguard.rewrite import asafe_rewrite, safe_rewrite
    from rewriteguard.telemetry import Calibration, Judge, Telemetry, TripleLog
    from rewriteguard.tokens import Kind, ProtectedToken

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
    "conversation": ("Conversation",),
    "decision": ("Action", "Decision", "WeightedQuery"),
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
    "filter_finding": ("FilterAssessment", "FilterViolation"),
    "filter_merge": ("merge_filter",),
    "fuse": ("Hit", "reciprocal_rank_fusion"),
    "guard": ("Guard",),
    "policy": ("Policy",),
    "policy_classes": ("Predicate", "Release", "RequestClass"),
    "query_filters": ("check_filter",),
    "retrieve": ("GuardedSearch", "Result"),
    "rewrite": ("asafe_rewrite", "safe_rewrite"),
    "telemetry": ("Calibration", "Judge", "Telemetry", "TripleLog"),
    "tokens": ("Kind", "ProtectedToken"),
    "assessment": ("Assessment", "Fault", "Profile", "SetAssessment", "Severity", "Verdict"),
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
