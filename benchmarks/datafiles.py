"""Reads the research data and the conditions that a benchmark runs under."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONDITIONS = HERE / "conditions.toml"
FOLDER = HERE.parents[1] / "shared" / "data"
Row = dict[str, Any]


class DataError(Exception):
    """A data file is absent, or is not the file that the figures were made from."""


@dataclass(frozen=True, slots=True)
class Source:
    """One data file: its path below the data folder, its digest and its number of rows."""

    file: str
    sha256: str
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The source as plain JSON values."""
        return {"file": self.file, "sha256": self.sha256, "n": self.n}


def conditions(path: Path = CONDITIONS) -> dict[str, Any]:
    """The conditions of all benchmarks: data files with digests, seeds, bounds and expected figures."""
    return tomllib.loads(path.read_text("utf-8"))


def read(name: str, files: Mapping[str, Mapping[str, str]], folder: Path = FOLDER) -> tuple[list[Row], Source]:
    """The rows of one data file in file order, and what was read.

    Args:
        name: The file's key in `files`.
        files: The table `data` of the conditions: file and sha256 by name.
        folder: Where the research data is.

    Raises:
        DataError: The file is absent or has another digest; the message names both digests.
    """
    entry = files[name]
    path = folder / entry["file"]
    if not path.is_file():
        raise DataError(f"{entry['file']}: not in the data folder beside the project (shared/data)")
    raw = path.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    if digest != entry["sha256"]:
        raise DataError(f"{entry['file']}: the sha256 is {digest}, the figures were made from {entry['sha256']}")
    rows = [json.loads(line) for line in raw.decode("utf-8").splitlines() if line.strip()]
    return rows, Source(entry["file"], digest, len(rows))


def history(row: Row) -> list[tuple[str, str]]:
    """The messages before the turn as (role, text), oldest first."""
    return [(message["role"], message["text"]) for message in row["history"]]


def half(row: Row) -> int:
    """0 or 1: the parity of the sha256 of the first history text, or of the turn where there is none.

    Rules are developed on half 0; of half 1 only aggregates are looked at.
    """
    text = row["history"][0]["text"] if row["history"] else row["original"]
    return int(hashlib.sha256(text.encode("utf-8")).hexdigest(), 16) % 2
