"""Holds measured figures against the conditions: what is required, and what was measured when last recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LINE = re.compile(
    r"""
    ^"(?P<key>[^"]+)"\ =\ \{\ (?P<body>[^{}]*?)
    (?:,\ expected\ =\ (?P<expected>[0-9.]+))?
    \ \}$
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One figure against its condition.

    Attributes:
        key: The figure's key.
        value: What was measured; None where nothing was.
        condition: The entry of the conditions: `at_most` or `at_least`, `tolerance`, `expected`.
    """

    key: str
    value: float | None
    condition: Mapping[str, float]

    @property
    def is_met(self) -> bool:
        """True where the measured value is within the required bound."""
        return is_met(self.value, self.condition)

    @property
    def has_moved(self) -> bool:
        """True where the value is further from the recorded one than the tolerance, or was not measured."""
        if "expected" not in self.condition:
            return False
        return self.value is None or abs(self.value - self.condition["expected"]) > self.condition["tolerance"] + 1e-9


def is_met(value: float | None, condition: Mapping[str, float]) -> bool:
    """True where the value is within the bound `at_most` or `at_least`; a figure without a value meets none."""
    if value is None:
        return False
    return condition.get("at_least", value) <= value <= condition.get("at_most", value)


def expectations(
    conditions: Mapping[str, Mapping[str, float]], figures: Mapping[str, Mapping[str, Any]], parts: Iterable[str]
) -> list[Expectation]:
    """The conditions of the parts that were measured, in their order; a figure's part is its key's first word."""
    measured = set(parts)
    return [
        Expectation(key, figures.get(key, {}).get("value"), condition)
        for key, condition in conditions.items()
        if part_of(key) in measured
    ]


def part_of(key: str) -> str:
    """The part of the benchmark that makes the figure."""
    part = key.split("/")[0].split(",")[0]
    return "mutants" if part == "controls" else part


def record(path: Path, figures: Mapping[str, Mapping[str, Any]]) -> int:
    """Writes the measured values as the expected ones into the conditions, and returns how many were written."""
    written = 0

    def line(found: re.Match[str]) -> str:
        nonlocal written
        value = figures.get(found["key"], {}).get("value")
        if value is None:
            return found[0]
        written += 1
        return f'"{found["key"]}" = {{ {found["body"]}, expected = {value:.4f} }}'

    text = LINE.sub(line, path.read_text("utf-8"))
    path.write_text(text, "utf-8")
    return written
