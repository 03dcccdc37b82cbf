"""Reads TOML files into dataclasses of our own, the policy file first; what cannot be used is named by its place.

Only the modules that read files know pydantic, and nothing imports them before a file is read.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from rewriteguard.errors import PolicyError, RewriteGuardError
from rewriteguard.policy.policy import Policy

if TYPE_CHECKING:
    import os

    from pydantic_core import ErrorDetails

Value = TypeVar("Value")

_KEYS = {"classes": "class", "slices": "slice"}  # of what TOML repeats: [[class]]
FILE = ConfigDict(strict=True, extra="forbid", alias_generator=lambda name: _KEYS.get(name, name))
"""How a file is read: each value has its type, no key is unknown, and the tables of `classes` stand under `class`."""
_UNKNOWN, _FREE = "unexpected_keyword_argument", ("[key]",)  # how pydantic tells of a key that a table has not
_TYPES = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a table",
    "array": "an array of texts",
}

_Policy = NewType("_Policy", Policy)  # beside a dataclass itself, pydantic takes no settings
_POLICY = TypeAdapter(_Policy, config=FILE)


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """The policy that a TOML file says; what the file leaves out is as in `Policy()`.

    Raises:
        OSError: The file cannot be read.
        PolicyError: It is no TOML, or a key or value is none that a policy has; the message names table and key.
    """
    values = read_toml(path, PolicyError)
    classes = values.get("class")
    if isinstance(classes, list):  # a class in a file says what is done for it
        values["class"] = [{"release": None} | each if isinstance(each, dict) else each for each in classes]
    policy = valid(_POLICY, values, path, PolicyError)
    if not policy.name.strip():
        raise PolicyError(f"{path}: name: expected a text, got {policy.name!r}")
    return policy


def read_toml(path: str | os.PathLike[str], error: type[RewriteGuardError]) -> dict[str, Any]:
    """What a TOML file says.

    Raises:
        OSError: The file cannot be read.
        RewriteGuardError: It is no TOML; of the type `error`.
    """
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except UnicodeDecodeError as fault:
        raise error(f"{path}: not UTF-8 (byte {fault.start})") from None
    except tomllib.TOMLDecodeError as fault:
        raise error(f"{path}: not TOML: {fault}") from None


def valid(
    adapter: TypeAdapter[Value],
    values: Mapping[str, Any],
    path: str | os.PathLike[str],
    error: type[RewriteGuardError],
) -> Value:
    """What the values of a file mean, in the type of the adapter, which was made with `FILE`.

    Raises:
        RewriteGuardError: A key is unknown, or a value has another type or is missing; of the type `error`. The message
            names file, table and key, and what was expected there.
    """
    # As JSON, where strict reading still takes an array for a tuple; a date stays what no field takes, not a text.
    text = json.dumps(values, default=lambda moment: [str(moment)])
    try:
        return adapter.validate_json(text)
    except ValidationError as fault:
        # A misspelt key first: it is why another one is missing.
        first = min(fault.errors(include_url=False), key=lambda each: not _is_unknown(each))
        raise error(": ".join([str(path), *_told(first, values, adapter.json_schema())])) from None


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint: the known word that is most like `word`, else all of them."""
    words = list(map(str, known))
    close = get_close_matches(word, words, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(words)}"


def _is_unknown(error: ErrorDetails) -> bool:
    return error["type"] == _UNKNOWN or error["loc"][-1:] == _FREE


def _told(error: ErrorDetails, values: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The names of the tables down to the key, and what is wrong with it."""
    names: list[str] = []
    value: Any = values
    table, node = schema, schema
    is_free = error["type"] != _UNKNOWN and error["loc"][-1:] == _FREE
    for key in error["loc"][:-1] if is_free else error["loc"]:
        if isinstance(key, int) and isinstance(value, list):
            value, node = value[key], _resolved(schema, node["items"])
            if isinstance(value, dict):  # one of the tables of an array
                names[-1] += f" {value.get('name', key + 1)!r}"
        elif isinstance(value, dict):
            value, table, node = value.get(key), node, _resolved(schema, _under(node, str(key)))
            names.append(str(key))
    if _is_unknown(error):
        known = table.get("properties") or _resolved(schema, table["propertyNames"])["enum"]
        return [*names, f"unknown key; {nearest(names[-1], known)}"]
    if error["type"] == "value_error":
        return [*names, str(error["ctx"]["error"])]
    return [*names, _expected(names[-1], value, node, schema)]


def _under(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The schema of what stands under a key; of a table whose keys are free, that of each."""
    found: Mapping[str, Any] = table.get("properties", {}).get(key) or table.get("additionalProperties") or {}
    return found


def _resolved(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, of those that a field may have the widest; TOML has no null."""
    while "$ref" in node or "anyOf" in node:
        if "anyOf" in node:
            node = [each for each in node["anyOf"] if each.get("type") != "null"][-1]
        else:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _expected(key: str, value: Any, node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What a value should have been, and what it is."""
    if "enum" in node and isinstance(value, str):
        return f"{value!r} is none of {', '.join(node['enum'])}; {nearest(value, node['enum'])}"
    wanted, least, most = _TYPES[node["type"]], node.get("minimum"), node.get("maximum")
    if node["type"] == "array" and _resolved(schema, node["items"])["type"] == "object":
        wanted = f"tables, each under [[{key}]]"
    elif least is not None:
        wanted += f" of at least {least}" if most is None else f" from {least} to {most}"
    return f"expected {wanted}, {'but it is missing' if value is None else f'got {value!r}'}"
