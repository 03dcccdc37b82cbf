"""The conditions of a run: everything that may change its outcomes. Only runs under equal conditions compare."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any
from uuid import UUID

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.errors import ConditionsError
from rewriteguard.evaluation.figure import plain
from rewriteguard.guard.guard import Guard

_SHOWN = 80  # characters of a value in a message
_DEEPEST = 12  # levels of settings; a chain of prompt, model and parser has six
_MOST = 50_000  # values that are read of one part; an index in memory has more
_LONGEST = 200  # characters of a text that are kept as they are
_WIDEST = 50  # items of a list that are kept as they are
_SECRET = re.compile(
    r"""
    (?: ^ | _ | (?-i: (?<=[a-z]) (?=[A-Z]) ) )
    (?: auth | authorization | cookies? | credentials? | headers? | key | password | secret | token ) $
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CREDENTIALS = re.compile(r"://[^/\s]*@")  # in an address
# Of a LangChain object: who is told about a call, not what it does.
_ASIDE = frozenset({"cache", "callbacks", "callback_manager", "metadata", "name", "rate_limiter", "tags", "verbose"})
_KEPT = re.compile(r"_*(?:lock|log|logger|(?:\w+_)?cache)")  # what changes while a part works, not what it does
_TEXTS = (date, time, timedelta, Decimal, PurePath, UUID, complex)
_PLAIN = (str, bytes, int, float, type(None), tuple, list, set, frozenset, dict, Enum, *_TEXTS)
_STANDARD = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run was made with; digests where the thing itself would be long.

    Attributes:
        cases: Digest of all cases, their labels among it.
        contracts: Digest of their contracts alone.
        corpus: What the caller states about corpus and index, or the corpus' own fingerprint.
        probe: Digests of what the search gave for some of the turns: they change where the index does. One that the
            search failed for is empty, and compares with nothing.
        search: The search and its settings.
        rewriters: Each rewriter and its settings, by label.
        k: The number of documents that an arm returns.
        budget: The number of documents that an arm may fetch.
        scope: The keywords that limit the searches, and the digest of their values.
        reference_date: The day that "today" means where a contract does not say.
        seed: Orders the cases.
        policy: The guard's policy.
        guard: The guard.
        arms: The arms that run.
        answer: What answers from the documents; None where nothing does.
        judge: What judges the answers.
        version: The version of rewriteguard.
    """

    cases: str
    contracts: str
    corpus: str
    probe: tuple[str, ...]
    search: Any
    rewriters: Mapping[str, Any]
    k: int
    budget: int
    scope: Mapping[str, Any]
    reference_date: str
    seed: int
    policy: Any
    guard: Any
    arms: tuple[str, ...]
    answer: Any = None
    judge: Any = None
    version: str = field(default="")

    def differences(self, other: Conditions) -> list[str]:
        """What differs, each with this side's value and the other's; empty where the conditions are equal."""
        ours, theirs = (dict(_flat("", each.to_dict())) for each in (self, other))
        found: list[str] = []
        for name in dict.fromkeys((*ours, *theirs)):
            if name == "probe":
                found += _other_documents(ours[name], theirs[name])
            elif ours.get(name, ...) != theirs.get(name, ...):
                found.append(f"{name} was {_shown(ours.get(name))} and is {_shown(theirs.get(name))}")
        return found

    def require_same(self, other: Conditions, what: str = "the other run") -> None:
        """Raises where the other conditions are not these, which are those of `what`.

        Raises:
            ConditionsError: They differ; the message names each difference with both values.
        """
        found = self.differences(other)
        if found:
            raise ConditionsError(f"{what} was made under other conditions: {'; '.join(found)}")

    def to_dict(self) -> dict[str, Any]:
        """The conditions as plain JSON values."""
        return {**asdict(self), "probe": list(self.probe), "arms": list(self.arms)}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Conditions:
        """The conditions that `to_dict` gave.

        Raises:
            ConditionsError: A condition is absent, or one is unknown.
        """
        names = {each.name for each in fields(cls)}
        wrong = sorted(names.symmetric_difference(row))
        if wrong:
            raise ConditionsError(f"conditions: absent or unknown: {', '.join(wrong)}")
        return cls(**{**row, "probe": tuple(row["probe"]), "arms": tuple(row["arms"])})


def digest_of_cases(cases: Iterable[Case]) -> str:
    """The digest of cases in their order, with all that was written about them."""
    return digest([plain(case) for case in cases])


def digest_of_contracts(cases: Iterable[Case]) -> str:
    """The digest of the contracts alone, whatever the order of the cases."""
    return digest({case.id: plain(case.contract) for case in cases})


def _other_documents(ours: list[str], theirs: list[str]) -> list[str]:
    """What the probes say; as many as the cases, so that those of other cases are no news."""
    if len(ours) != len(theirs):
        return []
    n = sum(one != other for one, other in zip(ours, theirs, strict=True) if one and other)
    return [f"probe: {n} of {len(ours)} queries give other documents"] if n else []


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings under dotted names."""
    if isinstance(value, Mapping) and value:
        for each, inner in value.items():
            yield from _flat(f"{name}.{each}" if name else str(each), inner)
    else:
        yield name, value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def described(value: Any) -> Any:
    """The value as plain JSON values that are the same in another process, as long as it does the same.

    - A function is its name, a digest of its source, its defaults, and the variables around it that it reads.
    - An object is its class, a digest of the source of the class, and its attributes.
    - What an installed package has is known by its version. Of its objects only the attributes that their constructor
      has parameters for are read: clients hold connections and numbers drawn by chance.
    - What is named as a secret is left out. Private attributes and the variables of functions are digests, and so are
      long texts and lists. The secrets in them stay unknown.
    - Of what has no source, such as code that was made of a text, only name and settings are told.
    """
    return _Description().of(value)


def digest(value: Any) -> str:
    """A digest of JSON values, the same for equal values."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


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
            return digest(value.hex())
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
            return {"self": self.of(value.__self__, depth), "function": self.of(value.__func__, depth)}
        if id(value) in self._seen:
            return f"{_name(value if hasattr(value, '__qualname__') else type(value))}, as before"
        self._seen[id(value)] = value
        if isinstance(value, partial):
            return {"partial": self.of(value.func, depth), "args": self.of([value.args, value.keywords], depth)}
        if isinstance(value, type):
            told = self._class(value, depth)
        elif inspect.isroutine(value):
            told = self._routine(value, depth)
        else:
            return self._class(type(value), depth) | self._attributes(value, depth)
        return told if len(told) > 1 else _name(value)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> Any:
        named = {str(name) if isinstance(name, _PLAIN) else digest(self.of(name, depth)): name for name in value}
        told = {name: self.of(value[key], depth) for name, key in named.items() if not _SECRET.search(name)}
        return _shortened(told)

    def _hidden(self, value: Any, depth: int) -> Any:
        """Numbers as they are and all else as a digest: nobody meant it to be read."""
        told = self.of(value, depth)
        return told if told is None or isinstance(told, bool | int | float) else digest(told)

    def _routine(self, value: Any, depth: int) -> dict[str, Any]:
        told: dict[str, Any] = {"function": _name(value)}
        if isinstance(value, FunctionType):
            return told | _origin(value) | self._read_by(value, depth)
        inner, owner = getattr(value, "__wrapped__", None), getattr(value, "__self__", None)
        if inner is not None:
            return told | {"wraps": self.of(inner, depth)}
        return told if isinstance(owner, ModuleType | None) else told | {"self": self._hidden(owner, depth)}

    def _read_by(self, value: FunctionType, depth: int) -> dict[str, Any]:
        """The defaults of a function, and the variables around it that it, or a function in it, reads."""
        read: dict[str, Any] = {}
        if _is_own(value):
            held = value.__globals__
            read = {name: held[name] for name in _names(value.__code__) if name in held and not name.startswith("__")}
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with suppress(ValueError):  # a variable that is set later
                read[name] = cell.cell_contents
        given = {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
        told = {part: self._hidden(each, depth) for part, each in given.items() if each}
        return told | {name: self._hidden(each, depth) for name, each in sorted(read.items()) if _is_told(name, each)}

    def _class(self, kind: type, depth: int) -> dict[str, Any]:
        """The class and what it and those it inherits from say, as far as no installed package has them."""
        if not _is_own(kind):
            return {"class": _name(kind)} | _origin(kind)
        told: list[Any] = []
        for each in filter(_is_own, kind.__mro__):
            told.append(_origin(each))
            for name, member in vars(each).items():
                inner = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(inner, FunctionType):
                    told.append([name, _origin(inner), self._read_by(inner, depth)])
                elif isinstance(member, _PLAIN) and not name.startswith("__") and _is_told(name, member):
                    told.append([name, self.of(member, depth)])
        return {"class": _name(kind), "code": digest(told)}

    def _attributes(self, value: Any, depth: int) -> dict[str, Any]:
        if callable(getattr(type(value), "get_secret_value", None)):
            return {}
        if isinstance(value, Guard):
            return {name: self.of(each, depth) for name, each in value.settings.items()}
        return {
            name: self._hidden(each, depth) if name.startswith("_") else self.of(each, depth)
            for name, each in sorted(_settings(value).items())
            if _is_told(name, each)
        }


def _settings(value: Any) -> dict[str, Any]:
    """What the object was made with, and where its class is the application's all that it holds."""
    kind, own = type(value), _is_own(type(value))
    held = _held(value)
    models = getattr(kind, "model_fields", None)
    if isinstance(models, Mapping):
        names = [name for name, field in models.items() if not field.exclude and name not in _ASIDE]
        names += [name for name in held if own and name not in models]
    elif own or isinstance(value, SimpleNamespace):
        names = list(held)
    elif isinstance(held.get("fingerprint"), str):  # it tells its state itself
        names = ["fingerprint"]
    else:
        names = [each for name in _parameters(kind) for each in (name, f"_{name}")]
    return {name: held[name] for name in names if name in held and not name.startswith("__")}


def _held(value: Any) -> dict[str, Any]:
    state: Any = object.__getstate__(value)  # what stands in `__dict__`, and beside it what stands in `__slots__`
    held = {
        name: each for part in (state if isinstance(state, tuple) else [state]) for name, each in (part or {}).items()
    }
    return held | (held.get("__pydantic_private__") or {})


def _parameters(kind: type) -> list[str]:
    try:
        return list(inspect.signature(kind).parameters)
    except (TypeError, ValueError):  # a class that does not tell its parameters
        return []


def _is_told(name: str, value: Any) -> bool:
    return not (_SECRET.search(name) or _KEPT.fullmatch(name) or name == "__class__" or isinstance(value, ModuleType))


def _names(code: CodeType) -> set[str]:
    """The names that the code, and the functions in it, look up outside themselves."""
    return set(code.co_names).union(*(_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def _origin(value: Any) -> dict[str, str]:
    """A digest of the source of a function or class, or the version of the package that has it; empty for none."""
    if _is_own(value):
        source = _source(value.__code__ if isinstance(value, FunctionType) else value)
        return {"code": digest(source)} if source else {}
    version = _version(str(value.__module__).partition(".")[0])
    return {"version": version} if version else {}


def _source(value: type | CodeType) -> list[Any]:
    """The source of a class, or of code with its place in it, since one line may hold several functions.

    Of code that stands in no file, what it names and holds; of such a class, nothing.
    """
    try:
        lines = [inspect.getsource(value)]
    except (OSError, TypeError):
        lines = []
    if not isinstance(value, CodeType):
        return [*lines]
    if not lines:
        inner = [_source(each) if isinstance(each, CodeType) else _constant(each) for each in value.co_consts]
        return [value.co_names, value.co_varnames, inner]
    columns = [(start, end) for _, _, start, end in value.co_positions() if start is not None and end is not None]
    return [*lines, min(columns, default=None), max(columns, default=None)]


def _constant(value: Any) -> str:
    """A constant of code as text; a set has no order that two processes share."""
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


@lru_cache(maxsize=1000)
def _version(package: str) -> str:
    try:
        return "" if package == _PACKAGE.name else metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


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
    return not any(path.is_relative_to(folder) for folder in (*_STANDARD, str(_PACKAGE)))


def _shortened(told: list[Any] | dict[str, Any]) -> Any:
    return told if len(told) <= _WIDEST else {"n": len(told), "digest": digest(told)}


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', type(value).__qualname__)}"
