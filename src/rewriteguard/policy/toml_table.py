"""Reads the tables of a TOML file; what cannot be used is an error that names file, table and key."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rewriteguard.errors import RewriteGuardError

if TYPE_CHECKING:
    import os

Choice = TypeVar("Choice", bound=StrEnum)


class Table:
    """One table of a file, of which each key is asked for by its type.

    Args:
        values: What the table holds.
        place: The file, and the table where it is not the whole file; stands at the start of every message.
        error: What is raised.
    """

    def __init__(self, values: Mapping[str, Any], place: str, error: type[RewriteGuardError]) -> None:
        self._values = values
        self._place = place
        self._error = error

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def fault(self, key: str, why: str) -> RewriteGuardError:
        """The error about one key; about the whole table where the key is empty."""
        return self._error(f"{self._place}: {key}: {why}" if key else f"{self._place}: {why}")

    def at(self, place: str) -> Table:
        """The same table under another name in messages."""
        return Table(self._values, place, self._error)

    def only(self, keys: Iterable[str]) -> Table:
        """The same table; it holds no other keys.

        Raises:
            RewriteGuardError: It does; the message has the nearest key that is known.
        """
        known = tuple(keys)
        for key in self._values:
            if key not in known:
                raise self.fault(key, f"unknown key; {nearest(key, known)}")
        return self

    def text(self, key: str, default: str | None = None) -> str:
        """A text; where the key is missing the default, without which it is an error."""
        value = self._values.get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(key, f"expected a text, {_got(self._values, key)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of an array; none where the key is missing."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.fault(key, f"expected an array of texts, {_got(self._values, key)}")
        return tuple(value)

    def boolean(self, key: str, default: bool) -> bool:
        """A truth value."""
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, f"expected true or false, {_got(self._values, key)}")
        return value

    def number(self, key: str, default: float | None = None, *, most: float = math.inf) -> float:
        """A finite number from 0 to `most`; where the key is missing the default, without which it is an error."""
        value: float = self._values.get(key, default)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 <= value <= most:
            limit = "of at least 0" if most == math.inf else f"from 0 to {most:g}"
            raise self.fault(key, f"expected a number {limit}, {_got(self._values, key)}")
        return value

    def count(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """A whole number of at least `least`; where the key is missing the default, without which it is an error."""
        value = self._values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.fault(key, f"expected a whole number of at least {least}, {_got(self._values, key)}")
        return value

    def choice(self, key: str, among: type[Choice]) -> Choice:
        """One value of an enumeration."""
        return self._chosen(key, self.text(key), among)

    def choices(self, key: str, among: type[Choice]) -> tuple[Choice, ...]:
        """The values of an array, each of an enumeration."""
        return tuple(self._chosen(key, each, among) for each in self.texts(key))

    def table(self, key: str) -> Table:
        """A table in this one; an empty one where the key is missing."""
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(key, f"expected a table, {_got(self._values, key)}")
        return Table(value, f"{self._place}: {key}", self._error)

    def tables(self, key: str) -> list[Table]:
        """The tables of an array, each under its name or else its number; none where the key is missing."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.fault(key, f"expected tables, each under [[{key}]], {_got(self._values, key)}")
        names = [each.get("name", number) for number, each in enumerate(value, start=1)]
        return [
            Table(each, f"{self._place}: {key} {name!r}", self._error) for each, name in zip(value, names, strict=True)
        ]

    def _chosen(self, key: str, value: str, among: type[Choice]) -> Choice:
        if value not in tuple(among):
            raise self.fault(key, f"{value!r} is none of {', '.join(among)}; {nearest(value, tuple(among))}")
        return among(value)


def read_table(path: str | os.PathLike[str], error: type[RewriteGuardError]) -> Table:
    """The whole file as a table.

    Raises:
        OSError: The file cannot be read.
        RewriteGuardError: It is no TOML; of the type `error`.
    """
    try:
        return Table(tomllib.loads(Path(path).read_bytes().decode("utf-8")), str(path), error)
    except UnicodeDecodeError as fault:
        raise error(f"{path}: not UTF-8 (byte {fault.start})") from None
    except tomllib.TOMLDecodeError as fault:
        raise error(f"{path}: not TOML: {fault}") from None


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint: the known word that is most like `word`, else all of them."""
    words = list(map(str, known))
    close = get_close_matches(word, words, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(words)}"


def _got(values: Mapping[str, Any], key: str) -> str:
    return f"got {values[key]!r}" if key in values else "but it is missing"
