"""The word lists of the edits, written for them alone, and regular expressions made from them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(
    files("rewriteguard.evaluation.mutants").joinpath("en.toml").read_text(encoding="utf-8")
)
"""The lists of `en.toml`, by section."""


def any_of(words: Iterable[str]) -> str:
    """An alternation of the words, longest first, for use inside a larger expression."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))


def whole(words: Iterable[str]) -> re.Pattern[str]:
    """An expression that finds the words as whole words, whatever their case."""
    return re.compile(rf"(?<![\w'’-])(?P<word>{any_of(words)})(?![\w'’-])", re.IGNORECASE)
