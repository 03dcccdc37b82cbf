"""What a search, a rewriter or any other part of a run is, as plain JSON values that two runs can compare."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

_DEEPEST = 8  # levels of settings; a chain of prompt, model and parser has six
_LONGEST = 200  # characters of a text that are kept as they are
_WIDEST = 50  # items of a list that are kept as they are
_SECRET = re.compile(
    r"(?:^|_) (?: auth | authorization | cookies? | credentials? | headers? | key | password | secret | token ) $",
    re.VERBOSE | re.IGNORECASE,
)
# Of a LangChain object: who is told about a call, not what it does.
_ASIDE = frozenset({"cache", "callbacks", "callback_manager", "metadata", "name", "rate_limiter", "tags", "verbose"})


def described(value: Any, depth: int = _DEEPEST) -> Any:
    """The value as plain JSON values: a function by its qualified name, an object by its class and its settings.

    Settings are the fields of pydantic models and dataclasses, and of other objects the attributes that are named like
    a parameter of their constructor and hold a plain value. Those whose names speak of secrets are left out. Long texts
    and lists are digests.
    """
    if isinstance(value, Enum):
        return described(value.value, depth)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else digest(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, partial):
        return {"partial": described(value.func, depth), "args": described([value.args, value.keywords], depth - 1)}
    if isinstance(value, type) or inspect.isroutine(value):
        return _name(value)
    if depth == 0:
        return _name(type(value))
    if isinstance(value, Mapping):
        return {str(name): described(each, depth - 1) for name, each in value.items() if not _SECRET.search(str(name))}
    if isinstance(value, list | tuple | set | frozenset):
        return _items([described(each, depth - 1) for each in value], ordered=isinstance(value, list | tuple))
    return {"class": _name(type(value))} | {name: described(each, depth - 1) for name, each in _settings(value)}


def digest(value: Any) -> str:
    """A digest of JSON values, the same for equal values."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def file_digest(path: str | os.PathLike[str]) -> str:
    """The sha256 of a file.

    Raises:
        OSError: It cannot be read.
    """
    with Path(path).open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _items(found: list[Any], *, ordered: bool) -> Any:
    if not ordered:  # a set has no order that two processes share
        found.sort(key=lambda each: json.dumps(each, sort_keys=True))
    return found if len(found) <= _WIDEST else {"n": len(found), "digest": digest(found)}


def _settings(value: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of what the object was made with."""
    kind = type(value)
    models = getattr(kind, "model_fields", None)
    if isinstance(models, Mapping):
        names = [name for name, field in models.items() if not field.exclude and name not in _ASIDE]
    elif is_dataclass(kind):
        names = [field.name for field in fields(kind)]
    else:
        names = [
            name for name in _parameters(kind) if isinstance(getattr(value, name, value), bool | int | float | str)
        ]
    for name in names:
        if not name.startswith("_") and not _SECRET.search(name):
            yield name, getattr(value, name, None)


def _parameters(kind: type) -> list[str]:
    try:
        return list(inspect.signature(kind).parameters)
    except (TypeError, ValueError):  # a class that does not tell its parameters
        return []


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', type(value).__qualname__)}"
