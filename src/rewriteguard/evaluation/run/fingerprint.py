"""What a search, a rewriter or any other part of a run is, as plain JSON values that two runs can compare."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any
from uuid import UUID

from rewriteguard.guard.guard import Guard

_DEEPEST = 12  # levels of settings; a chain of prompt, model and parser has six
_MOST = 50_000  # values that are read of one part; an index in memory has more
_LONGEST = 200  # characters of a text that are kept as they are
_WIDEST = 50  # items of a list that are kept as they are
_SECRET = re.compile(
    r"(?:^|_) (?: auth | authorization | cookies? | credentials? | headers? | key | password | secret | token ) $",
    re.VERBOSE | re.IGNORECASE,
)
_CREDENTIALS = re.compile(r"://[^/\s]*@")  # in an address
# Of a LangChain object: who is told about a call, not what it does.
_ASIDE = frozenset({"cache", "callbacks", "callback_manager", "metadata", "name", "rate_limiter", "tags", "verbose"})
_KEPT = re.compile(r"_*(?:lock|log|logger|(?:\w+_)?cache)")  # what changes while a part works, not what it does
_TEXTS = (date, time, timedelta, Decimal, PurePath, UUID, complex)
_PLAIN = (str, bytes, int, float, type(None), tuple, list, set, frozenset, dict, Enum, *_TEXTS)
_STANDARD = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_PACKAGE = str(Path(__file__).parents[2])


def described(value: Any) -> Any:
    """The value as plain JSON values that are the same in another process, as long as it does the same.

    - A function is its name, a digest of its code, its defaults, and the variables around it that it reads.
    - An object is its class, a digest of the code of the class, and its attributes. Of a class of an installed package
      only those that its constructor has parameters for are read: clients hold connections and numbers drawn by chance.
    - What is named as a secret is left out. Private attributes and the variables of functions are digests, and so are
      long texts and lists. The secrets in them stay unknown.
    - Of what is written in C, only the class is told.
    """
    return _Description().of(value)


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


class _Description:
    """The description of one part. Each object and function is described once, which ends circles too."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # holds them, so that no other gets their number
        self._left = _MOST

    def of(self, value: Any, depth: int = _DEEPEST) -> Any:
        self._left -= 1
        if isinstance(value, Enum):
            return self.of(value.value, depth)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return value if len(value) <= _LONGEST and not _CREDENTIALS.search(value) else digest(value)
        if isinstance(value, bytes | bytearray):
            return f"sha256:{hashlib.sha256(value).hexdigest()}"
        if isinstance(value, _TEXTS):
            return str(value)
        if isinstance(value, re.Pattern):
            return [self.of(value.pattern), value.flags]
        if depth <= 0 or self._left <= 0 or value is os.environ or isinstance(value, ModuleType):
            return _name(value if isinstance(value, type) else type(value))
        if isinstance(value, Mapping):
            return self._mapping(value, depth - 1)
        if isinstance(value, list | tuple):
            return _shortened([self.of(each, depth - 1) for each in value])
        if isinstance(value, set | frozenset):  # they have no order that two processes share
            return _shortened(sorted((_Description().of(each, depth - 1) for each in value), key=json.dumps))
        return self._once(value, depth - 1)

    def _once(self, value: Any, depth: int) -> Any:
        if isinstance(value, MethodType):  # made anew at each access
            return self._routine(value, depth)
        if id(value) in self._seen:
            return f"{_name(value if hasattr(value, '__qualname__') else type(value))}, as before"
        self._seen[id(value)] = value
        if isinstance(value, partial):
            return {"partial": self.of(value.func, depth), "args": self.of([value.args, value.keywords], depth)}
        if isinstance(value, type):
            return {"class": _name(value), "code": self._class(value, depth)} if _is_own(value) else _name(value)
        if inspect.isroutine(value):
            return self._routine(value, depth)
        return self._object(value, depth)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> Any:
        named = {str(name) if isinstance(name, _PLAIN) else digest(self.of(name, depth)): name for name in value}
        told = {name: self.of(value[key], depth) for name, key in named.items() if not _SECRET.search(name)}
        return _shortened(told)

    def _hidden(self, value: Any, depth: int) -> Any:
        """Numbers as they are and all else as a digest: nobody meant it to be read."""
        told = self.of(value, depth)
        return told if told is None or isinstance(told, bool | int | float) else digest(told)

    def _routine(self, value: Any, depth: int) -> Any:
        if isinstance(value, FunctionType):
            told = self._function(value, depth)
        elif isinstance(value, MethodType):
            told = {"self": self.of(value.__self__, depth), "function": self.of(value.__func__, depth)}
        elif (inner := getattr(value, "__wrapped__", None)) is not None:
            told = {"wraps": self.of(inner, depth)}
        elif isinstance(owner := getattr(value, "__self__", None), ModuleType | None):
            told = {}
        else:
            told = {"self": self._hidden(owner, depth)}
        return {"function": _name(value), **told} if told else _name(value)

    def _function(self, value: FunctionType, depth: int) -> dict[str, Any]:
        code, around = value.__code__, dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
        read = {name: cell.cell_contents for name, cell in around.items() if _is_filled(cell)}
        told: dict[str, Any] = {}
        if _is_own(value):
            told["code"] = _code(code)
            held = value.__globals__
            read |= {name: held[name] for name in _names(code) if name in held and not name.startswith("__")}
        given = {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
        told |= {part: self._hidden(each, depth) for part, each in given.items() if each}
        return told | {name: self._hidden(each, depth) for name, each in sorted(read.items()) if _is_told(name, each)}

    def _object(self, value: Any, depth: int) -> dict[str, Any]:
        kind = type(value)
        if callable(getattr(kind, "get_secret_value", None)):
            return {"class": _name(kind)}
        told: dict[str, Any] = {"class": _name(kind)}
        if _is_own(kind):
            told["code"] = self._class(kind, depth)
        if isinstance(value, Guard):
            return told | {name: self.of(each, depth) for name, each in value.settings.items()}
        for name, each in sorted(_attributes(value).items()):
            if _is_told(name, each):
                told[name] = self._hidden(each, depth) if name.startswith("_") else self.of(each, depth)
        return told

    def _class(self, kind: type, depth: int) -> str:
        """A digest of what the class and those it inherits from say, as far as no installed package has them."""
        members: dict[str, Any] = {}
        for each in reversed(kind.__mro__):
            for name, member in vars(each).items() if _is_own(each) else ():
                inner = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(inner, FunctionType):
                    members[name] = self._function(inner, depth)
                elif isinstance(member, _PLAIN) and not name.startswith("__") and _is_told(name, member):
                    members[name] = self.of(member, depth)
        return digest(members)


def _attributes(value: Any) -> dict[str, Any]:
    """What the object was made with, and where its class is the application's all that it holds."""
    kind, own = type(value), _is_own(type(value))
    held = _held(value)
    models = getattr(kind, "model_fields", None)
    if isinstance(models, Mapping):
        names = [name for name, field in models.items() if not field.exclude and name not in _ASIDE]
        names += [name for name in held if own and name not in models]
    elif own or isinstance(value, SimpleNamespace):
        names = list(held)
    elif is_dataclass(kind):
        names = [field.name for field in fields(kind)]
    elif isinstance(held.get("fingerprint"), str):  # it tells its state itself
        names = ["fingerprint"]
    else:
        names = [each for name in _parameters(kind) for each in (name, f"_{name}")]
    return {name: held[name] for name in names if name in held and not name.startswith("__")}


def _held(value: Any) -> dict[str, Any]:
    held = dict(getattr(value, "__dict__", None) or {})
    private = getattr(value, "__pydantic_private__", None)
    slots = [name for kind in type(value).__mro__ for name in _listed(vars(kind).get("__slots__", ()))]
    return held | (private or {}) | {name: getattr(value, name) for name in slots if hasattr(value, name)}


def _listed(slots: str | Iterable[str]) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)


def _is_told(name: str, value: Any) -> bool:
    return not (_SECRET.search(name) or _KEPT.fullmatch(name) or name == "__class__" or isinstance(value, ModuleType))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - it raises
    except ValueError:  # a variable that is set later
        return False
    return True


def _code(code: CodeType) -> str:
    """A digest of what the code does, wherever it stands; another minor version of Python gives another one."""
    return digest([code.co_code.hex(), [_constant(each) for each in code.co_consts], code.co_names])


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _code(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _names(code: CodeType) -> Iterator[str]:
    """The names that the code, and the functions in it, look up outside themselves."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _is_own(value: Any) -> bool:
    """True for a function or class of the application itself; its packages are known by their names."""
    if isinstance(value, FunctionType):
        return _is_own_file(value.__code__.co_filename)
    module = sys.modules.get(value.__module__)
    if module is None or value.__module__ == "__main__":
        return True
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and _is_own_file(file)


@lru_cache(maxsize=1000)
def _is_own_file(file: str) -> bool:
    path = Path(file)
    if file.startswith("<frozen") or {"site-packages", "dist-packages"} & set(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in (*_STANDARD, _PACKAGE))


def _shortened(told: list[Any] | dict[str, Any]) -> Any:
    return told if len(told) <= _WIDEST else {"n": len(told), "digest": digest(told)}


def _parameters(kind: type) -> list[str]:
    try:
        return list(inspect.signature(kind).parameters)
    except (TypeError, ValueError):  # a class that does not tell its parameters
        return []


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', type(value).__qualname__)}"
