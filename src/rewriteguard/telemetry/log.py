"""The triple log: one JSON line for each decision and for each answer, in one file for each process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from rewriteguard.errors import InputError
from rewriteguard.model.assessment import SetAssessment
from rewriteguard.model.conversation import MAX_MESSAGE, Conversation
from rewriteguard.model.decision import Decision
from rewriteguard.telemetry.content import UNREADABLE, Content, as_json, describe, identity_of
from rewriteguard.telemetry.names import codes_of, dependent_of, verdict_of

if TYPE_CHECKING:
    from io import FileIO


Row = dict[str, Any]
MESSAGES = 20  # of the history that are logged: a line would grow with its conversation, and the log with its square
_IDS = 20  # of one list that are logged, which is what an arm fetches
_LONGEST_ID = 100  # characters; a longer text stands for itself by a hash


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


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retrieval gave.

    Attributes:
        items: What was returned, best first.
        arms: Each arm as its `to_dict` says it, with the items that it found, best first.
        key: What makes two items the same; None where they are compared themselves.
    """

    items: Sequence[Any]
    arms: Sequence[tuple[Mapping[str, Any], Sequence[Any]]]
    key: Callable[[Any], Any] | None = None


def whole(content: Content) -> Content:
    """The same rules for a log, which holds as much of a text as the guard reads."""
    return replace(content, longest=MAX_MESSAGE)


def triple_row(
    identity: str, conversation: Conversation, decision: Decision, content: Content, told: Mapping[str, Any]
) -> Row:
    """The line of one decision; `told` is what the caller knows beside it: session, rewriter, profile."""
    row = {
        "id": identity,
        "timestamp": _now(),
        **told,
        "policy": decision.policy,
        "request_class": decision.request_class,
        "capture": content.capture.value,
        "verdict": verdict_of(decision),
        "action": decision.action.value,
        "proposed_action": decision.proposed.value,
        "reason": decision.reason.value,
        "reasons": codes_of(decision),
        "dependent": dependent_of(decision),
        "history_turns": len(conversation.history),
    }
    if content.inputs:
        row["history"] = history_of(conversation, content)
        row["original"] = content.text(conversation.turn)
    if content.outputs:
        row["rewrite"] = _rewrite(decision, content)
    return row


def found_row(retrieved: Retrieved, content: Content) -> Row:
    """What a retrieval adds to the line of its decision."""
    # Arms find the same items, and the redactor, which is the application's, may be slow: it gets each text once.
    text = lru_cache(maxsize=None)(content.text)
    name = partial(_name_of, retrieved.key, text)
    arms = [_arm(arm, text, content) | _results(items, name, content) for arm, items in retrieved.arms]
    return {"arms": arms, "results": _results(retrieved.items, name, content)}


def answer_row(identity: str, answer: str, content: Content) -> Row:
    """The line of the answer to the user; readers join it to the line of the same id."""
    return {"id": identity, "timestamp": _now(), "answer": content.text(answer)}


def history_of(conversation: Conversation, content: Content) -> list[dict[str, str]]:
    """The last messages as they may be recorded."""
    return [
        {"role": message.role.value, "content": content.text(message.text)}
        for message in conversation.history[-MESSAGES:]
    ]


def day_of(value: Any) -> str | None:
    """A date or a moment as YYYY-MM-DD; None for anything else."""
    return value.isoformat()[:10] if isinstance(value, date) else None


def _rewrite(decision: Decision, content: Content) -> str | list[str] | None:
    """The rewriter's output as it came, so that a later check finds the same; several are a list."""
    assessment = decision.assessment
    if assessment is None:
        return None
    if isinstance(assessment, SetAssessment):
        return [content.text(each.raw_rewrite) for each in assessment.assessments]
    return content.text(assessment.raw_rewrite)


def _name_of(key: Callable[[Any], Any] | None, text: Callable[[str], str], item: Any) -> str:
    """An item's own id, else what `key` gives where that is text or a number, else its text or a hash of that."""
    try:
        identity = identity_of(item)
        if identity is None and key is not None:
            own = key(item)
            identity = str(own) if isinstance(own, str | int) else None
        if identity is not None:
            return text(identity)
        kept = text(describe(item)[1])
    except Exception:  # noqa: BLE001 - the item's own code, or the application's key: the line is worth more than one id
        return UNREADABLE
    if len(kept) <= _LONGEST_ID:
        return kept
    return f"text:{blake2b(kept.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _arm(arm: Mapping[str, Any], text: Callable[[str], str], content: Content) -> dict[str, Any]:
    row = {name: arm[name] for name in ("origin", "source", "weight", "margin", "status", "error", "vetoed")}
    if content.inputs and content.outputs:  # a query may hold words of the turn, of the rewrite, or of both
        row["query"] = text(arm["query"])
    return row


def _results(items: Sequence[Any], name: Callable[[Any], str], content: Content) -> dict[str, Any]:
    ids = {"ids": [name(item) for item in items[:_IDS]]} if content.documents else {}
    return {"count": len(items)} | ids


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
