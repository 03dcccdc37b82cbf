"""The boundary of telemetry: what goes wrong inside it stops here, and is said once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

log = logging.getLogger("rewriteguard")

P = ParamSpec("P")
_said: set[str] = set()


def contained(method: Callable[P, None]) -> Callable[P, None]:
    """The same method, except that it never raises."""

    @wraps(method)
    def guarded(*args: P.args, **keywords: P.kwargs) -> None:
        try:
            method(*args, **keywords)
        except Exception as error:  # noqa: BLE001 - telemetry must not break a retrieval
            say_once(method.__name__, error)

    return guarded


def say_once(stage: str, error: Exception) -> None:
    """Logs where telemetry failed and the type of the error, once in a process."""
    warn_once(f"telemetry failed and was left out: {stage}.{type(error).__name__}")


def warn_once(text: str) -> None:
    """Logs a warning once in a process; `text` holds no user's word."""
    if text not in _said:
        _said.add(text)
        log.warning(text)
