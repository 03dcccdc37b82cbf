"""The journal of a run: what rewriters answered and how arms ended, so that a run that was killed goes on."""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rewriteguard.evaluation.errors import JournalError
from rewriteguard.evaluation.run.conditions import Conditions
from rewriteguard.evaluation.run.outcome import Arm, Outcome, Status

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_VERSION = 1
_START = b'{"journal":'
_FAR = 2**40  # a byte behind all that is written; Windows lets nobody read what is locked

_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})  # Windows says the latter two

_log = logging.getLogger("rewriteguard")

Key = tuple[str, Arm, str]
"""The case, the arm and the rewriter of an outcome."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a rewriter gave for a case.

    Attributes:
        texts: The rewrite, or several; empty where it gave none or failed.
        several: Whether it gave a list.
        error: The type of what it raised; empty where it raised nothing.
    """

    texts: tuple[str, ...] = ()
    several: bool = False
    error: str = ""


class Journal:
    """An append-only JSONL file: a header with the conditions, then a line for each answer and each outcome.

    Each line is handed to the system as it is written. A process that is killed loses at most the line it was writing;
    what is left of that is cut off when the journal is opened again. Use it as a context manager.

    Args:
        path: The file; made where it does not exist.
        conditions: Those of the run. None of what was written under others is read.

    Attributes:
        answers: What the rewriters gave, by label and case.
        outcomes: How the arms ended.

    Raises:
        ConditionsError: The journal was written under other conditions.
        JournalError: The file is no journal, a line cannot be read, it cannot be locked, or another process has it
            open.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str], conditions: Conditions) -> None:
        self.answers: dict[tuple[str, str], Answered] = {}
        self.outcomes: dict[Key, Outcome] = {}
        self._name = Path(path).name
        self._file = Path(path).open("a+b", buffering=0)  # noqa: SIM115 - closed by this one's own `close`
        try:
            _lock(self._file.fileno(), self._name)
            self._open(conditions)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file, and lets others open it."""
        self._file.close()

    def answer(self, label: str, case: str, answered: Answered) -> None:
        """Writes what a rewriter gave."""
        self._write({"answer": {"rewriter": label, "case": case, **asdict(answered)}})
        self.answers[label, case] = answered

    def outcome(self, outcome: Outcome) -> None:
        """Writes how an arm ended."""
        self._write({"outcome": asdict(outcome)})
        self.outcomes[outcome.case, outcome.arm, outcome.rewriter] = outcome

    def _open(self, conditions: Conditions) -> None:
        self._file.seek(0)
        whole, torn = _whole_lines(self._file.readall() or b"", self._name)
        if torn:
            _log.warning("%s: the last line was cut off, as where the writing process was killed", self._name)
            self._file.truncate(len(whole))
        if whole:
            made = _read(whole, self._name, self)
            made.require_same(conditions, f"the journal {self._name}")
        else:
            created = datetime.now(UTC).isoformat(timespec="seconds")
            self._write({"journal": _VERSION, "created": created, "conditions": conditions.to_dict()})

    def _write(self, row: Mapping[str, Any]) -> None:
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        if self._file.write(line) != len(line):
            raise OSError(f"{self._name}: a part of the line was not written")

    def add(self, kind: str, row: Mapping[str, Any]) -> None:
        """Takes over one line that was read."""
        if kind == "answer":
            key = (row["rewriter"], row["case"])
            self.answers[key] = Answered(tuple(row["texts"]), row["several"], row["error"])
        else:
            outcome = outcome_of(row)
            self.outcomes[outcome.case, outcome.arm, outcome.rewriter] = outcome


def conditions_of(path: str | os.PathLike[str]) -> Conditions | None:
    """The conditions of a journal; None where there is none yet.

    Raises:
        JournalError: The file is no journal.
        OSError: It cannot be read.
    """
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    whole, _ = _whole_lines(raw, Path(path).name)
    return _header(whole, Path(path).name) if whole else None


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """The outcome whose fields these are, as JSON holds them.

    Raises:
        KeyError, TypeError, ValueError: A field is absent or unknown.
    """
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    values |= {"arm": Arm(row["arm"]), "status": Status(row["status"])}
    return Outcome(**values)


def _whole_lines(raw: bytes, name: str) -> tuple[bytes, bool]:
    """The lines that were written to their ends, and whether another was begun.

    Raises:
        JournalError: The file is no journal, and must not be written to.
    """
    if not raw.startswith(_START) and not _START.startswith(raw):
        raise JournalError(f"{name}: expected a journal of a run, got another file")
    whole = raw[: raw.rfind(b"\n") + 1]
    return whole, len(whole) < len(raw)


def _header(whole: bytes, name: str) -> Conditions:
    try:
        row = json.loads(whole[: whole.index(b"\n")])
        version, conditions = row["journal"], row["conditions"]
    except (ValueError, KeyError, TypeError):
        raise JournalError(f"{name}, line 1: expected a header with conditions") from None
    if version != _VERSION:
        raise JournalError(f"{name}, line 1: expected a journal of version {_VERSION}, got {version!r}")
    return Conditions.from_dict(conditions)


def _read(whole: bytes, name: str, journal: Journal) -> Conditions:
    """The conditions; what the lines say goes into `journal`."""
    conditions = _header(whole, name)
    for number, line in enumerate(whole.split(b"\n")[1:-1], start=2):
        try:
            ((kind, row),) = json.loads(line).items()
            journal.add(kind, row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise JournalError(f"{name}, line {number}: expected an answer or an outcome ({error})") from None
    return conditions


def _lock(number: int, name: str) -> None:
    """Keeps other processes out until the file is closed, or this process ends, however it does.

    Raises:
        JournalError: Another one has it open, or it cannot be locked.
    """
    try:
        if sys.platform == "win32":
            os.lseek(number, _FAR, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            raise JournalError(f"{name}: another process has the journal open") from None
        raise JournalError(f"{name}: expected a file system that can lock a file ({error.strerror})") from None
