"""The journal of a run: what rewriters answered and how arms ended, so that a run that was killed goes on."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from rewriteguard.evaluation.errors import JournalError
from rewriteguard.evaluation.run.conditions import Conditions
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome

if sys.platform != "win32":
    import fcntl

_FORM = 0x72776A6C  # "rwjl": tells a journal from other databases
_VERSION = 2  # the first was a file of JSON lines
_ABOUT = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
_TABLE = "CREATE TABLE kept (kind TEXT NOT NULL, row TEXT NOT NULL)"
_OTHER = "expected a journal of a run, got another file"
_BUSY = "another process has the journal open, or its file system cannot lock a file"

Key = tuple[str, ArmName, str]
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
    """An SQLite file whose table `kept` holds the conditions, and then a row for each answer and each outcome.

    Each row is handed to the system whole: a process that is killed loses at most the one that it was writing. Other
    processes are kept out until the journal is closed, or this process ends, however it does. Use it as a context
    manager.

    Args:
        path: The file, made where it does not exist; ":memory:" keeps all in memory alone.
        conditions: Those of the run. None of what was written under others is read.

    Attributes:
        answers: What the rewriters gave, by label and case.
        outcomes: How the arms ended.

    Raises:
        ConditionsError: The journal was written under other conditions.
        JournalError: The file is no journal, a row cannot be read, it cannot be locked, or another process has it open.
        OSError: The file cannot be opened or written.
    """

    def __init__(self, path: str | os.PathLike[str], conditions: Conditions) -> None:
        self.answers: dict[tuple[str, str], Answered] = {}
        self.outcomes: dict[Key, Outcome] = {}
        self._name = Path(path).name
        self._file = _opened(path)
        try:
            made, rows = _read(self._file, self._name)
            if made is None:
                self._begin(conditions)
            else:
                made.require_same(conditions, f"the journal {self._name}")
            for number, kind, row in rows:
                self._take(number, kind, row)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def answer(self, label: str, case: str, answered: Answered) -> None:
        """Writes what a rewriter gave."""
        self._write("answer", {"rewriter": label, "case": case, **asdict(answered)})
        self.answers[label, case] = answered

    def outcome(self, outcome: Outcome) -> None:
        """Writes how an arm ended."""
        self._write("outcome", asdict(outcome))
        self.outcomes[outcome.case, outcome.arm, outcome.rewriter] = outcome

    def _begin(self, conditions: Conditions) -> None:
        with _told(self._name), self._file:  # all of it or nothing
            for said in ("BEGIN", f"PRAGMA application_id = {_FORM}", f"PRAGMA user_version = {_VERSION}", _TABLE):
                self._file.execute(said)
            self._write("conditions", conditions.to_dict())

    def _write(self, kind: str, row: Mapping[str, Any]) -> None:
        with _told(self._name):
            self._file.execute("INSERT INTO kept VALUES (?, ?)", (kind, json.dumps(row)))

    def _take(self, number: int, kind: str, row: str) -> None:
        """Takes over one row that was read."""
        try:
            values: dict[str, Any] = json.loads(row)
            values |= {name: tuple(each) for name, each in values.items() if isinstance(each, list)}
            label, case = values["rewriter"], values["case"]
            if kind == "answer":
                del values["rewriter"], values["case"]
                self.answers[label, case] = Answered(**values)
            else:
                values |= {"arm": ArmName(values["arm"]), "status": Ended(values["status"])}
                self.outcomes[case, values["arm"], label] = Outcome(**values)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise JournalError(f"{self._name}, row {number}: expected an answer or an outcome ({error})") from None


def day_of(path: str | os.PathLike[str] | None) -> date | None:
    """The day that "today" means in a run that goes on; None where it begins, or keeps no journal.

    Raises:
        JournalError: The file is no journal, or another process has it open.
        OSError: It cannot be read.
    """
    made = None if path is None else conditions_of(path)
    try:
        return None if made is None else date.fromisoformat(made.reference_date)
    except ValueError as error:
        raise JournalError(f"{Path(str(path)).name}, row 1: reference_date: {error}") from None


def conditions_of(path: str | os.PathLike[str]) -> Conditions | None:
    """The conditions of a journal, None where there is none yet; raises as `day_of`."""
    if not Path(path).exists():
        return None
    with closing(_opened(path)) as file:
        return _read(file, Path(path).name)[0]


class _LockedFile(sqlite3.Connection):
    """A connection with a second lock on its file.

    SQLite's own is gone where this process opens and closes the file by another way, to copy it for instance; that of
    `flock` is not. On Windows SQLite's own holds.
    """

    _held: int | None = None

    def lock(self, path: Path) -> None:
        """Keeps other processes out.

        Raises:
            JournalError: One of them has the file.
            OSError: The file cannot be opened.
        """
        if sys.platform != "win32" and path.name != ":memory:":
            self._held = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise JournalError(f"{path.name}: {_BUSY}") from None

    def close(self) -> None:
        """Lets the file go."""
        super().close()
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _opened(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """The file, locked; nothing waits until it lies on the disk, since what the system has outlives the process."""
    if Path(path).is_file() and Path(path).stat().st_size == 1:  # SQLite takes it for an empty one
        raise JournalError(f"{Path(path).name}: {_OTHER}")
    with _told(Path(path).name):
        # Rewriters are asked, and their answers kept, in threads of the guarded search.
        file = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False, factory=_LockedFile)
        try:
            file.lock(Path(path))
            for said in ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = OFF", "BEGIN EXCLUSIVE", "COMMIT"):
                file.execute(said)
        except BaseException:
            file.close()
            raise
    return file


def _read(file: sqlite3.Connection, name: str) -> tuple[Conditions | None, list[tuple[int, str, str]]]:
    """The conditions that the journal begins with, None where it is empty, and its further rows with their numbers."""
    with _told(name):
        (form,), (version,), (tables,) = (file.execute(asked).fetchone() for asked in _ABOUT)
        if not form and not tables:
            return None, []
        if form != _FORM:
            raise JournalError(f"{name}: {_OTHER}")
        if version != _VERSION:
            raise JournalError(f"{name}: expected a journal of version {_VERSION}, got {version}")
        rows = file.execute("SELECT rowid, kind, row FROM kept ORDER BY rowid").fetchall()
    try:
        (_, _, conditions), *further = rows
        return Conditions.from_dict(json.loads(conditions)), further
    except (ValueError, TypeError) as error:
        raise JournalError(f"{name}, row 1: expected the conditions of a run ({error})") from None


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Turns what SQLite raises into the errors that a caller knows."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without its details
        if code == sqlite3.SQLITE_BUSY:
            raise JournalError(f"{name}: {_BUSY}") from None
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise JournalError(f"{name}: {_OTHER} ({error})") from None
        raise OSError(f"{name}: {error}") from error
