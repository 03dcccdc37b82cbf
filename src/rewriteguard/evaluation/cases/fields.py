"""Readers of plain JSON values: each gives the value in its type, or an error that starts with the name of the field.

A null is an absent value everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from rewriteguard.audit.log import json_type
from rewriteguard.evaluation.errors import CaseError

Reader = Callable[[Any, str], Any]
"""Reads a value; the second argument names the field."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHOWN = 60  # characters of a wrong value


def text(value: Any, field: str) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise CaseError(f"{field}: expected text, got {json_type(value)}")
    return value


def words(value: Any, field: str) -> str:
    """A text that is not blank."""
    if not text(value, field).strip():
        raise CaseError(f"{field}: expected text, got none")
    return str(value)


def text_or_none(value: Any, field: str) -> str | None:
    """A text; None for a blank one."""
    return text(value, field) if text(value, field).strip() else None


def text_or_empty(value: Any, field: str) -> str:
    """A text; an empty one for a blank one."""
    return text_or_none(value, field) or ""


def position(value: Any, field: str) -> int:
    """A whole number from 1."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or value < 1:
        raise CaseError(f"{field}: expected a whole number from 1, got {_shown(value)}")
    return int(value)


def truth(value: Any, field: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise CaseError(f"{field}: expected true or false, got {_shown(value)}")
    return value


def day(value: Any, field: str) -> date:
    """A date, written YYYY-MM-DD."""
    try:
        if not _DAY.fullmatch(text(value, field)):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError:
        raise CaseError(f"{field}: expected YYYY-MM-DD, got {_shown(value)}") from None


def texts_or_text(value: Any, field: str) -> tuple[str, ...]:
    """One text or a list of texts."""
    return (value,) if isinstance(value, str) else _one_text_or_more(value, field)


def one_of(names: type[StrEnum]) -> Reader:
    """The reader of a member of an enumeration."""

    def read(value: Any, field: str) -> StrEnum:
        if value not in list(names):
            raise CaseError(f"{field}: expected one of {', '.join(names)}, got {_shown(value)}")
        return names(value)

    return read


def list_of(reader: Reader, *, once: bool = False, least: int = 0) -> Reader:
    """The reader of a list; with `once`, no item may stand in it twice."""

    def read(value: Any, field: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise CaseError(f"{field}: expected a list, got {json_type(value)}")
        if len(value) < least:
            raise CaseError(f"{field}: expected at least {least} item, got {len(value)}")
        items = tuple(reader(item, f"{field}[{place}]") for place, item in enumerate(value))
        for place, item in enumerate(items):
            if once and item in items[:place]:
                raise CaseError(f"{field}[{place}]: {item!r} stands in the list before")
        return items

    return read


def mapping_of(reader: Reader) -> Reader:
    """The reader of an object whose names are free."""

    def read(value: Any, field: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise CaseError(f"{field}: expected an object, got {json_type(value)}")
        if "" in value:
            raise CaseError(f"{field}: expected a name, got an empty one")
        return {name: reader(item, f"{field}.{name}") for name, item in value.items() if item is not None}

    return read


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """The reader of an object: the values of the fields that it holds, by name.

    Attributes:
        readers: The reader of each field.
        required: The fields that it must hold.
    """

    readers: Mapping[str, Reader]
    required: tuple[str, ...] = ()

    def __call__(self, value: Any, field: str) -> dict[str, Any]:
        """The values by name."""
        if not isinstance(value, Mapping):
            raise CaseError(f"{field}: expected an object, got {json_type(value)}")
        inside = f"{field}." if field else ""
        check_names(value, self.readers, inside)
        for name in self.required:
            if value.get(name) is None:
                raise CaseError(f"{inside}{name}: missing")
        return {
            name: reader(value[name], inside + name)
            for name, reader in self.readers.items()
            if value.get(name) is not None
        }


def each_name_once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The object of the names and values of JSON, which may repeat a name and so hide what stood under it.

    Raises:
        CaseError: A name is repeated; the message starts with it.
    """
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise CaseError(f"{name}: one object holds it twice")
        made[name] = value
    return made


def check_names(names: Iterable[str], known: Collection[str], inside: str = "") -> None:
    """Nothing where all names are known.

    Args:
        names: The names that were found.
        known: The names that there are.
        inside: Where they were found, to stand before the name.

    Raises:
        CaseError: One is not; the message has the nearest that is.
    """
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
            raise CaseError(f"{inside}{name}: unknown field; {hint}")


_one_text_or_more = list_of(text, least=1)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return json_type(value)
    shown = "null" if value is None else repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
