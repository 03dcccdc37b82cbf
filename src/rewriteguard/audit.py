"""Reads logged rewrites and counts what the guard found in them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from rewriteguard.conversation import Conversation
from rewriteguard.errors import HistoryError, RewriteGuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rewriteguard.assessment import Assessment

HUMAN = "human"


class LineError(RewriteGuardError, ValueError):
    """A line of the log cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Triple:
    """One logged rewrite.

    Attributes:
        id: The row's own `id`; None where it has none.
        conversation: The user's turn and the messages before it.
        rewrite: The rewriter's output.
        reference_date: The day on which it was asked; None where the log does not say.
        timestamp: The row's own `timestamp`, as it stands there; None where it has none.
        system: What wrote the rewrite; None where neither the caller nor the log says.
    """

    id: str | None
    conversation: Conversation
    rewrite: str
    reference_date: date | None
    timestamp: str | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: its number from 1 and either a triple, an error, or neither (no rewrite by that system)."""

    number: int
    triple: Triple | None = None
    error: str | None = None


@dataclass(slots=True)
class Tally:
    """What was counted over a log; all counts are rows, a row with two faults counts under both."""

    verdicts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    without_rewrite: int = 0
    unreadable: int = 0

    @property
    def checked(self) -> int:
        """The number of rows that got a verdict."""
        return self.verdicts.total()

    def add(self, assessment: Assessment) -> None:
        """Counts one finding."""
        self.verdicts[assessment.verdict.value] += 1
        self.faults.update(sorted({violation.fault.value for violation in assessment.violations}))
        self.kinds.update(sorted({violation.kind.value for violation in assessment.violations if violation.kind}))

    def merge(self, other: Tally) -> None:
        """Counts what was counted over another part of the log."""
        self.verdicts.update(other.verdicts)
        self.faults.update(other.faults)
        self.kinds.update(other.kinds)
        self.without_rewrite += other.without_rewrite
        self.unreadable += other.unreadable


def read_lines(lines: Iterable[bytes], systems: Sequence[str] = ()) -> Iterator[Line]:
    """The lines of a JSONL log in their order, each once for every system; blank lines are left out.

    Args:
        lines: The raw lines, as a file opened in binary mode gives them.
        systems: The keys under `rewrites` to read; `human` reads the row's `human`; without any, `rewrite` is read.
    """
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            row = _object(raw)
            read = [Line(number, triple=read_row(row, system)) for system in systems or (None,)]
        except (LineError, HistoryError) as error:
            read = [Line(number, error=str(error))]
        yield from read


def read_row(row: Mapping[str, Any], system: str | None = None) -> Triple | None:
    """The triple of one row; None where the row holds no rewrite by that system.

    Raises:
        LineError: The row has no turn, or its rewrite or date has another type.
        HistoryError: The history has a shape that cannot be read.
    """
    turn = next((row[key] for key in ("original", "turn") if isinstance(row.get(key), str)), None)
    if turn is None:
        raise LineError("no text under 'original' or 'turn'")
    rewrite = _rewrite(row, system)
    if rewrite is None:
        return None
    if not isinstance(rewrite, str):
        raise LineError(f"the rewrite is {_json_type(rewrite)}, not text")
    conversation = Conversation.read(turn, row.get("history"))
    identifier, timestamp = (None if row.get(name) is None else str(row[name]) for name in ("id", "timestamp"))
    return Triple(identifier, conversation, rewrite, _date(row), timestamp, _label(row) if system is None else system)


def systems_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The systems that the row holds rewrites of, in alphabetical order."""
    rewrites = row.get("rewrites")
    names = set(rewrites) if isinstance(rewrites, dict) else set()
    return tuple(sorted(names | ({HUMAN} if row.get(HUMAN) else set())))


def _rewrite(row: Mapping[str, Any], system: str | None) -> Any:
    if system == HUMAN and HUMAN in row:
        return row[HUMAN]
    if system is not None:
        rewrites = row.get("rewrites", {})
        if not isinstance(rewrites, dict):
            raise LineError(f"'rewrites' is {_json_type(rewrites)}, not an object of system and text")
        return rewrites.get(system)
    if "rewrite" not in row:
        named = systems_of(row)
        hint = f"; choose a system with --system: {', '.join(named)}" if named else ""
        raise LineError(f"no text under 'rewrite'{hint}")
    return row["rewrite"]


def _date(row: Mapping[str, Any]) -> date | None:
    text = row.get("reference_date")
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        raise LineError(f"reference_date: expected YYYY-MM-DD, got {text!r}") from None


def _label(row: Mapping[str, Any]) -> str | None:
    return next((row[key] for key in ("rewriter", "system") if isinstance(row.get(key), str)), None)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise LineError("not JSON: nested too deeply") from None
    if not isinstance(value, dict):
        raise LineError(f"expected a JSON object, got {_json_type(value)}")
    return value


def _json_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
