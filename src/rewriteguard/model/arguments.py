"""Checks of what callers pass: each says which argument is wrong and what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from rewriteguard.errors import InputError


def instance(name: str, value: Any, kind: type) -> None:
    """Raises where `value` is no `kind`.

    Raises:
        InputError: It is something else.
    """
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}")


def function(name: str, value: Any) -> None:
    """Raises where `value` is neither callable nor None.

    Raises:
        InputError: It is something else.
    """
    if value is not None and not callable(value):
        raise InputError(f"{name}: expected a callable or None, got {type(value).__name__}")


def count(name: str, value: Any) -> None:
    """Raises where `value` is neither a whole number above 0 nor None.

    Raises:
        InputError: It is something else.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise InputError(f"{name}: expected a whole number above 0 or None, got {value!r}")


def seconds(name: str, value: Any) -> None:
    """Raises where `value` is neither a finite number above 0 nor None.

    Raises:
        InputError: It is something else.
    """
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise InputError(f"{name}: expected a number of seconds above 0 or None, got {value!r}")


def day(name: str, value: Any) -> date | None:
    """The day of a date or a moment; None where there is none.

    Raises:
        InputError: It is something else.
    """
    if value is not None and not isinstance(value, date):
        raise InputError(f"{name}: expected a date, got {type(value).__name__}")
    return value.date() if isinstance(value, datetime) else value


def keywords(given: Mapping[str, Any], known: type) -> None:
    """Raises where a keyword is none of those that the typed dictionary `known` names.

    Raises:
        InputError: Some are not.
    """
    unknown = sorted(set(given) - set(known.__annotations__))
    if unknown:
        names = ", ".join(sorted(known.__annotations__))
        raise InputError(f"unknown keywords {', '.join(unknown)}; expected some of {names}")
