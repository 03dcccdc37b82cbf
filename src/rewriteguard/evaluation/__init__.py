"""The offline protocol: proof, on a team's own questions, that a rewriter may be used.

Every public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewriteguard.evaluation.comparing import Compared, compare

__all__ = ["Compared", "compare"]

_HOMES = {"Compared": "comparing", "compare": "comparing"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rewriteguard.evaluation' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rewriteguard.evaluation.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
