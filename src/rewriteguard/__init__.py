"""rewriteguard checks that the query a model rewrote still asks what the user asked, before it is searched.

What loads spaCy or OpenTelemetry is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
from rewriteguard.filters.finding import FilterAssessment, FilterViolation, merge_filter
from rewriteguard.model.assessment import Assessment, Checked, Fill, Profile, SetAssessment, Violation
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision, Origin, Reason, WeightedQuery
from rewriteguard.model.rules import Fault, Severity, Verdict
from rewriteguard.model.tokens import Evidence, Kind, ProtectedToken
from rewriteguard.policy.classes import Predicate, Release, RequestClass
from rewriteguard.policy.policy import Policy
from rewriteguard.policy.weights import Weights
from rewriteguard.retrieve.fuse import Hit, reciprocal_rank_fusion

if TYPE_CHECKING:
    from rewriteguard.extract import DEFAULT_EXTRACTORS
    from rewriteguard.guard.guard import Guard
    from rewriteguard.retrieve.rewrite import asafe_rewrite, safe_rewrite
    from rewriteguard.retrieve.search import Arm, GuardedSearch, Result
    from rewriteguard.telemetry import Calibration, Judge, Telemetry, TripleLog

_LATER = {
    "extract": ("DEFAULT_EXTRACTORS",),
    "guard.guard": ("Guard",),
    "retrieve.rewrite": ("asafe_rewrite", "safe_rewrite"),
    "retrieve.search": ("Arm", "GuardedSearch", "Result"),
    "telemetry": ("Calibration", "Judge", "Telemetry", "TripleLog"),
}
__all__ = ["DEFAULT_EXTRACTORS", "Conversation", "Evidence", "Guard", "Kind", "ProtectedToken"]
__all__ += ["Assessment", "Checked", "Fault", "Fill", "Profile", "SetAssessment", "Severity", "Verdict", "Violation"]
__all__ += ["Action", "Decision", "Origin", "Reason", "WeightedQuery"]
__all__ += ["Policy", "Predicate", "Release", "RequestClass", "Weights"]
__all__ += ["FilterAssessment", "FilterViolation", "merge_filter"]
__all__ += ["Arm", "GuardedSearch", "Hit", "Result", "asafe_rewrite", "reciprocal_rank_fusion", "safe_rewrite"]
__all__ += ["Calibration", "Judge", "Telemetry", "TripleLog"]
__all__ += ["ClarificationNeeded", "HistoryError", "InputError", "PipelineNotFoundError", "PolicyError"]
__all__ += ["RewriteGuardError", "ScopeError", "UnsupportedChainError"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("rewriteguard")
    for module, names in _LATER.items():
        if name in names:
            return globals().setdefault(name, getattr(importlib.import_module(f"rewriteguard.{module}"), name))
    raise AttributeError(f"module 'rewriteguard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
