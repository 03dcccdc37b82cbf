"""The English word lists of `en.toml`, read once into immutable sets and mappings."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any


def section(name: str) -> Mapping[str, Any]:
    """One table of `en.toml`, as TOML gives it: strings, lists, nested tables."""
    table: Mapping[str, Any] = _TABLES[name]
    return table


def words(name: str, key: str) -> frozenset[str]:
    """The entries of one list: the words of a string, or the phrases of an array."""
    entries = section(name)[key]
    return frozenset(entries.split() if isinstance(entries, str) else entries)


def phrases(name: str, key: str) -> tuple[str, ...]:
    """The phrases of one array, longest first, so that the first that matches is the whole one."""
    return tuple(sorted(section(name)[key], key=lambda phrase: (-len(phrase), phrase)))


_TABLES = tomllib.loads(resources.files("rewriteguard.language").joinpath("en.toml").read_text("utf-8"))
