"""The English word lists of `en.toml`, read once into immutable sets and mappings."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def section(name: str) -> dict[str, Any]:
    """One table of `en.toml`, as TOML gives it: strings, lists, nested tables."""
    table: dict[str, Any] = _TABLES[name]
    return table


_TABLES = tomllib.loads(resources.files("rewriteguard.language").joinpath("en.toml").read_text("utf-8"))
