"""The file that triples are logged to: one for each process, a JSON object on each line."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from rewriteguard.errors import InputError
from rewriteguard.telemetry.content import as_json

if TYPE_CHECKING:
    from io import FileIO


class TripleLog:
    """A JSONL file for `Telemetry(log=...)`, which each process has to itself.

    `TripleLog("logs/triples.jsonl")` writes `logs/triples.4711-9f3a2c1d.jsonl`: the id of the process, and a random
    part, since another machine, container or later process may have the same id. The file is made with its first line.
    It may be used from any thread, and after a fork.

    Args:
        path: Where to log; the directory must exist.

    Raises:
        InputError: `path` is no path, names a directory, or lies in none that exists.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path: expected a path, got {type(path).__name__}")
        self._base = Path(path).absolute()
        if self._base.is_dir() or not self._base.parent.is_dir():
            raise InputError(f"path: expected a file in a directory that exists, got {str(path)!r}")
        self._file = _File(self._base, os.getpid())

    @property
    def path(self) -> Path:
        """The file of this process."""
        return self._own().path

    def write(self, row: Mapping[str, Any]) -> None:
        """Appends `row` as one line, with one call of the system, and past every buffer of the process.

        Raises:
            OSError: The line could not be written, or only a part of it.
        """
        # Half a surrogate pair, which UTF-8 cannot hold, becomes its JSON escape.
        self._own().append(f"{as_json(row)}\n".encode("utf-8", "backslashreplace"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies write to the same file, and to one of their own in another process."""
        return TripleLog, (self._base,)

    def _own(self) -> _File:
        """The file of this process: after a fork another one, with a lock that no other thread holds."""
        pid = os.getpid()
        if self._file.pid != pid:
            self._file = _File(self._base, pid)
        return self._file


class _File:
    def __init__(self, base: Path, pid: int) -> None:
        self.path = base.with_name(f"{base.stem}.{pid}-{_random_part(pid)}{base.suffix}")
        self.pid = pid
        self._lock = Lock()
        self._open: FileIO | None = None
        self._torn = False

    def append(self, line: bytes) -> None:
        with self._lock:
            file = self._opened()
            data = b"\n" + line if self._torn else line  # so that what is left of the last line spoils no other
            self._torn = True
            if file.write(data) != len(data):
                raise OSError("a part of the line was not written")
            self._torn = False

    def _opened(self) -> FileIO:
        """The open file; opened anew where it was deleted, since a deleted file takes lines that no one can read."""
        if self._open is None or not os.fstat(self._open.fileno()).st_nlink:
            self._open = self.path.open("ab", buffering=0)
            self._torn = False
        return self._open


@lru_cache(maxsize=1)
def _random_part(pid: int) -> str:  # noqa: ARG001 - the same for each file of a process, another one after a fork
    return secrets.token_hex(4)
