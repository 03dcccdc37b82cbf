"""The offline protocol: proof, on a team's own questions, that a rewriter may be used.

Every public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
    from rewriteguard.evaluation.cases.files import read_cases, write_cases
    from rewriteguard.evaluation.comparing import Compared, compare
    from rewriteguard.evaluation.evaluating import Evaluation, evaluate
    from rewriteguard.evaluation.release.rules import Rules
    from rewriteguard.evaluation.run.rewriters import Rewriter
    from rewriteguard.evaluation.run.search import Corpus

__all__ = [
    "Case",
    "Compared",
    "Constraint",
    "Contract",
    "Corpus",
    "Evaluation",
    "Rewriter",
    "Rules",
    "compare",
    "evaluate",
    "read_cases",
    "write_cases",
]

_MODULES = {
    "cases.case": ("Case", "Constraint", "Contract"),
    "cases.files": ("read_cases", "write_cases"),
    "comparing": ("Compared", "compare"),
    "run.search": ("Corpus",),
    "evaluating": ("Evaluation", "evaluate"),
    "run.rewriters": ("Rewriter",),
    "release.rules": ("Rules",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rewriteguard.evaluation' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rewriteguard.evaluation.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
