"""Reads logged rewrites, those of a `TripleLog` among them, and counts what the guard found in them."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewriteguard.assessment import Profile
from rewriteguard.conversation import Conversation
from rewriteguard.errors import HistoryError, RewriteGuardError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rewriteguard.assessment import Assessment

HUMAN = "human"

_log = logging.getLogger("rewriteguard")


class LineError(RewriteGuardError, ValueError):
    """A line of the log cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Triple:
    """One logged rewrite.

    Attributes:
        id: The row's own `id`; None where it has none.
        conversation: The user's turn and the messages before it.
        rewrite: The rewriter's output; several rewrites of one turn are a tuple.
        reference_date: The day on which it was asked; None where the log does not say.
        timestamp: The row's own `timestamp`, as it stands there; None where it has none.
        system: What wrote the rewrite; None where neither the caller nor the log says.
        profile: What kind of rewriter wrote it.
    """

    id: str | None
    conversation: Conversation
    rewrite: str | tuple[str, ...]
    reference_date: date | None
    timestamp: str | None = None
    system: str | None = None
    profile: Profile = Profile.CONDENSE


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: its number from 1 and either a triple, an error, or neither (no rewrite by that system).

    `file` is the place of its file among those that are read.
    """

    number: int
    triple: Triple | None = None
    error: str | None = None
    file: int = 0


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


def read_lines(lines: Iterable[bytes], systems: Sequence[str] = (), file: int = 0) -> Iterator[Line]:
    """The lines of a JSONL log in their order, each once for every system.

    Blank lines, and those that hold an answer alone, are left out.

    Args:
        lines: The raw lines, as a file opened in binary mode gives them.
        systems: The keys under `rewrites` to read; `human` reads the row's `human`; without any, `rewrite` is read.
        file: The place of the log among those that are read.
    """
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            row = read_object(raw)
            if _is_answer(row):
                continue
            read = [Line(number, triple=read_row(row, system), file=file) for system in systems or (None,)]
        except (LineError, HistoryError) as error:
            read = [Line(number, error=str(error), file=file)]
        yield from read


def read_log(*paths: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The lines of triple logs in their order as they were written, each with the `answer` of the same id.

    The files are read twice, and the answers are held meanwhile. `answer` is None where none was logged; where several
    were, the last counts. A line that cannot be read is left out and told as a warning: at most the last one of a file
    whose process was killed.

    Raises:
        OSError: A file cannot be read.
    """
    answers = {
        row["id"]: row["answer"] for _, row in _rows(paths) if not isinstance(row, LineError) and _is_answer(row)
    }
    for place, row in _rows(paths):
        if isinstance(row, LineError):
            _log.warning("%s: %s", place, row)
        elif not _is_answer(row):
            yield {**row, "answer": row.get("answer", answers.get(row.get("id")))}


def read_row(row: Mapping[str, Any], system: str | None = None) -> Triple | None:
    """The triple of one row; None where the row holds no rewrite by that system.

    Raises:
        LineError: The row has no turn, or its rewrite or date has another type.
        HistoryError: The history has a shape that cannot be read.
    """
    turn = next((row[key] for key in ("original", "turn") if isinstance(row.get(key), str)), None)
    if row.get("capture") in ("hash", "off"):
        raise LineError(f"it was logged with capture={row['capture']!r}, so that there are no words to check")
    if turn is None:
        raise LineError("no text under 'original' or 'turn'")
    rewrite = _rewrite(row, system)
    if rewrite is None:
        return None
    if isinstance(rewrite, list) and rewrite and all(isinstance(each, str) for each in rewrite):
        rewrite = tuple(rewrite)
    if not isinstance(rewrite, str | tuple):
        raise LineError(f"the rewrite is {json_type(rewrite)}, not text")
    conversation = Conversation.read(turn, row.get("history"))
    identifier, timestamp = (None if row.get(name) is None else str(row[name]) for name in ("id", "timestamp"))
    label = _label(row) if system is None else system
    return Triple(identifier, conversation, rewrite, _date(row), timestamp, label, _profile(row))


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
            raise LineError(f"'rewrites' is {json_type(rewrites)}, not an object of system and text")
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


def _profile(row: Mapping[str, Any]) -> Profile:
    name = row.get("profile", Profile.CONDENSE)
    if name not in tuple(Profile):
        raise LineError(f"profile: expected one of {', '.join(Profile)}, got {name!r}")
    return Profile(name)


def _is_answer(row: Mapping[str, Any]) -> bool:
    """Whether a line holds the answer to a turn that stands on another line."""
    return "id" in row and "answer" in row and row.keys().isdisjoint(("original", "turn", "rewrite", "verdict"))


def _rows(paths: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[str, dict[str, Any] | LineError]]:
    """Each line's place and what it holds."""
    for path in paths:
        with Path(path).open("rb") as lines:
            for number, raw in enumerate(lines, start=1):
                if raw.strip():
                    yield f"{path}, line {number}", _read(raw)


def _read(raw: bytes) -> dict[str, Any] | LineError:
    try:
        return read_object(raw)
    except LineError as error:
        return error


def read_object(raw: bytes) -> dict[str, Any]:
    """The object that a line of JSONL holds.

    Raises:
        LineError: It holds none.
    """
    try:
        return _parsed(raw)
    except LineError as error:
        if raw.endswith(b"\n"):
            raise
        # Only the last line can lack its end.
        raise LineError(
            f"{error}; the file ends within this line, as it does where the writing process was killed"
        ) from None


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise LineError("not JSON: nested too deeply") from None
    if not isinstance(value, dict):
        raise LineError(f"expected a JSON object, got {json_type(value)}")
    return value


def json_type(value: Any) -> str:
    """What JSON calls a value of this type, for a message: "an object", "a list", "text" ..."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
