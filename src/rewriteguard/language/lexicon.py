"""English as data: the word lists of `en.toml`, read once into immutable sets and mappings, and Snowball stems."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from threading import Lock
from typing import Any

import snowballstemmer

_TABLES = tomllib.loads(resources.files("rewriteguard.language").joinpath("en.toml").read_text("utf-8"))
_STEMMER = snowballstemmer.stemmer("english")
_LOCK = Lock()  # a stemmer keeps the word it works on in itself, so threads must take turns


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


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of one word, in lower case."""
    with _LOCK:
        # Half of a surrogate pair, which a broken client may send, is no text for the stemmer in C.
        result: str = _STEMMER.stemWord(word.casefold().encode("utf-8", "replace").decode("utf-8"))
    return result
