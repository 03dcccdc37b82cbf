"""Logs: what a line holds, and the findings about all of them.

What needs pyarrow (extra `arrow`) is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rewriteguard.audit.log import Line, LineError, Triple, read_lines, read_log, read_row
from rewriteguard.audit.run import Part, Tally, find

if TYPE_CHECKING:
    from rewriteguard.audit.arrow import RESULT_SCHEMA, check_record_batches, check_table

__all__ = ["Line", "LineError", "Part", "Tally", "Triple", "find", "read_lines", "read_log", "read_row"]
__all__ += ["RESULT_SCHEMA", "check_record_batches", "check_table"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rewriteguard.audit' has no attribute {name!r}")
    return getattr(importlib.import_module("rewriteguard.audit.arrow"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
