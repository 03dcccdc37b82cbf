"""What a line of a log holds: a rewrite with its conversation, or the answer to one; a `TripleLog`'s among them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewriteguard.errors import HistoryError, RewriteGuardError
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.rules import Verdict
from rewriteguard.telemetry.content import REDACTION_FAILED

if TYPE_CHECKING:
    import os

HUMAN = "human"
_LATEST = 1e11  # seconds since 1970, in the year 5138: larger numbers are milliseconds
_YEARS = range(1971, 2200)  # in which a row can have been asked; 1970 is a clock that was never set
_UNDATED = datetime.min.replace(tzinfo=UTC)
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
        logged: The row's own `verdict`; None where it has none.
        is_cut: Whether the log kept fewer messages of the history than there were.
    """

    id: str | None
    conversation: Conversation
    rewrite: str | tuple[str, ...]
    reference_date: date | None
    timestamp: str | None = None
    system: str | None = None
    profile: Profile = Profile.CONDENSE
    logged: Verdict | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: its number from 1 and either a triple, an error, or neither (no rewrite by that system).

    `file` is the place of its file among those that are read.
    """

    number: int
    triple: Triple | None = None
    error: str | None = None
    file: int = 0


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
            if is_answer(row):
                continue
            read = [Line(number, triple=read_row(row, system), file=file) for system in systems or (None,)]
        except (LineError, HistoryError) as error:
            read = [Line(number, error=str(error), file=file)]
        yield from read


def read_row(row: Mapping[str, Any], system: str | None = None) -> Triple | None:
    """The triple of one row; None where the row holds no rewrite by that system.

    Raises:
        LineError: The row has no turn or holds what a redactor that failed left, or its rewrite or date has another
            type.
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
    _check_redacted(conversation, rewrite)
    return Triple(
        id=identity_in(row),
        conversation=conversation,
        rewrite=rewrite,
        reference_date=_date(row),
        timestamp=None if row.get("timestamp") is None else str(row["timestamp"]),
        system=_label(row) if system is None else system,
        profile=_profile(row),
        logged=_logged(row) if system is None else None,
        is_cut=_turns(row) > len(conversation.history),
    )


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


def _check_redacted(conversation: Conversation, rewrite: str | tuple[str, ...]) -> None:
    """Raises where a redactor failed and left no text: two such texts would be equal, and found preserved."""
    rewrites = (rewrite,) if isinstance(rewrite, str) else rewrite
    if REDACTION_FAILED in (conversation.turn, *rewrites, *(message.text for message in conversation.history)):
        raise LineError("its redactor failed when it was logged, so that there are no words to check")


def _logged(row: Mapping[str, Any]) -> Verdict | None:
    verdict = row.get("verdict")
    return Verdict(verdict) if verdict in tuple(Verdict) else None


def _turns(row: Mapping[str, Any]) -> int:
    """How many messages the history had; 0 where the log does not say."""
    turns = row.get("history_turns")
    return turns if isinstance(turns, int) else 0


def _label(row: Mapping[str, Any]) -> str | None:
    return next((row[key] for key in ("rewriter", "system") if isinstance(row.get(key), str)), None)


def _profile(row: Mapping[str, Any]) -> Profile:
    name = row.get("profile", Profile.CONDENSE)
    if name not in tuple(Profile):
        raise LineError(f"profile: expected one of {', '.join(Profile)}, got {name!r}")
    return Profile(name)


def read_log(*paths: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The lines of triple logs in their order as they were written, each with the `answer` of the same id.

    The files are read twice, and the answers are held meanwhile. `answer` is None where none was logged; where several
    were, that of the latest `timestamp` counts, in whatever file it stands. A line that cannot be read is left out and
    told as a warning: at most the last one of a file whose process was killed.

    Raises:
        OSError: A file cannot be read.
    """
    answers = latest_answers(row for _, row in _rows(paths) if not isinstance(row, LineError))
    for place, row in _rows(paths):
        if isinstance(row, LineError):
            _log.warning("%s: %s", place, row)
        elif not is_answer(row):
            identity = identity_in(row)
            yield {"answer": None if identity is None else answers.get(identity), **row}


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


def is_answer(row: Mapping[str, Any]) -> bool:
    """Whether a line holds the answer to a turn that stands on another line."""
    return "id" in row and "answer" in row and row.keys().isdisjoint(("original", "turn", "rewrite", "verdict"))


def identity_in(row: Mapping[str, Any]) -> str | None:
    """The `id` of a row where that is text or a number; None for all else, which joins nothing."""
    identity = row.get("id")
    return str(identity) if isinstance(identity, str | int | float) and not isinstance(identity, bool) else None


def latest_answers(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The answer to each id: of several the one of the latest `timestamp`, else the one that is read last."""
    found: dict[str, tuple[datetime, Any]] = {}
    for row in rows:
        identity = identity_in(row)
        if identity is None or not is_answer(row):
            continue
        timestamp = row.get("timestamp")
        moment = moment_of(None if timestamp is None else str(timestamp)) or _UNDATED
        if identity not in found or moment >= found[identity][0]:
            found[identity] = moment, row["answer"]
    return {identity: answer for identity, (_, answer) in found.items()}


def read_object(raw: bytes, made: Callable[[list[tuple[str, Any]]], Any] | None = None) -> dict[str, Any]:
    """The object that a line of JSONL holds.

    Args:
        raw: The line.
        made: Makes an object of its names and values; None makes a dict, in which the last of several of one name wins.

    Raises:
        LineError: It holds none.
    """
    try:
        return _parsed(raw, made)
    except LineError as error:
        if raw.endswith(b"\n"):
            raise
        # Only the last line can lack its end.
        raise LineError(
            f"{error}; the file ends within this line, as it does where the writing process was killed"
        ) from None


def _parsed(raw: bytes, made: Callable[[list[tuple[str, Any]]], Any] | None) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=made)
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise LineError("not JSON: nested too deeply") from None
    except RewriteGuardError:  # of `made`
        raise
    except ValueError:  # Python reads no whole number of more than some thousand digits
        raise LineError("not JSON that can be read: a number has too many digits") from None
    if not isinstance(value, dict):
        raise LineError(f"expected a JSON object, got {json_type(value)}")
    return value


def json_type(value: Any) -> str:
    """What JSON calls a value of this type, for a message: "an object", "a list", "text" ..."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def moment_of(text: str | None) -> datetime | None:
    """The moment in UTC of a date and time as ISO 8601 writes them, or of seconds or milliseconds since 1970.

    None for what is no moment: no finding needs it, so that the row is read all the same. Without a zone it is in UTC.
    """
    if text is None:
        return None
    # Numbers come first: ISO 8601 also has forms of digits alone, and reads a date of long ago or of the far future in
    # some milliseconds. Its forms of the years that count are no numbers of these years.
    return _within_years(_of_number, text) or _within_years(_of_iso, text)


def _within_years(read: Callable[[str], datetime], text: str) -> datetime | None:
    try:
        moment = read(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year in _YEARS else None


def _of_number(text: str) -> datetime:
    number = float(text)
    return datetime.fromtimestamp(number / 1000 if number > _LATEST else number, UTC)


def _of_iso(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
