"""Checks the lines of a log, in this process or in several; what comes out is the same."""

from __future__ import annotations

import os
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Any
from zlib import crc32

import rewriteguard
from rewriteguard.audit import Line, Tally, Triple
from rewriteguard.conversation import Role
from rewriteguard.rows import Row

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from rewriteguard.guard import Guard

_PART = 32  # lines of each process that are read at once: less than a second of work
_AHEAD = 3  # parts that are given out before the first is waited for, so that no process waits and few lines are held
_LARGEST_SHARE = 1.25  # of an even share: conversations that all begin alike would go to one process


@dataclass(frozen=True, slots=True)
class Part:
    """What was found in some neighbouring lines of a log.

    Attributes:
        tally: What was counted.
        records: One for each line that was checked or could not be read, in order: `file` (its place among those that
            are read), `line` and either `error` or the `id`, the `timestamp` where there is one, and the finding.
    """

    tally: Tally
    records: tuple[dict[str, Any], ...]


def find(lines: Iterable[Line], jobs: int = 1) -> Generator[Part, None, None]:
    """What is found in a log, part by part in the order of its lines.

    Args:
        lines: The lines of the log; no more of them are held than the processes work on.
        jobs: In how many processes they are checked; 1 is this process.
    """
    if jobs == 1:
        guard = rewriteguard.Guard()
        return (_checked(part, guard) for part in _parts(lines, _PART))
    return _in_processes(lines, jobs)


def _in_processes(lines: Iterable[Line], jobs: int) -> Generator[Part, None, None]:
    # Processes are started afresh: a copy of a process that runs threads may hold locks that nobody opens again.
    # Each has a queue of its own, so that a conversation can stay with the process that has read its history.
    fresh = get_context("spawn")
    workers = [ProcessPoolExecutor(1, mp_context=fresh, initializer=_start) for _ in range(jobs)]
    waiting: deque[list[Future[Part]]] = deque()
    try:
        for part in _parts(lines, _PART * jobs):
            shares = zip(workers, _shares(part, jobs), strict=True)
            waiting.append([worker.submit(_checked, share) for worker, share in shares])
            if len(waiting) >= _AHEAD:
                yield _joined(waiting.popleft())
        while waiting:
            yield _joined(waiting.popleft())
    finally:
        for worker in workers:
            worker.shutdown(wait=False, cancel_futures=True)


def _start() -> None:
    """Leaves Ctrl-C to the command: a worker that ended while it hands over a finding would leave it waiting."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    """Ends this process once the command is gone: a worker that waits for more would wait forever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _parts(lines: Iterable[Line], size: int) -> Iterator[list[Line]]:
    remaining = iter(lines)
    while part := list(islice(remaining, size)):
        yield part


def _shares(part: Sequence[Line], jobs: int) -> list[list[Line]]:
    """The lines of each process; those of one conversation go to one, in this part of the log and in the next."""
    shares: list[list[Line]] = [[] for _ in range(jobs)]
    for line in part:
        share = shares[crc32(_opening(line).encode("utf-8", "surrogatepass")) % jobs]
        if len(share) >= _LARGEST_SHARE * len(part) / jobs:
            share = min(shares, key=len)
        share.append(line)
    return shares


def _opening(line: Line) -> str:
    """What the user said first in the conversation: in its first line that is the turn."""
    if line.triple is None:
        return ""
    conversation = line.triple.conversation
    return next((message.text for message in conversation.history if message.role is Role.USER), conversation.turn)


def _joined(shares: Iterable[Future[Part]]) -> Part:
    tally = Tally()
    records: list[dict[str, Any]] = []
    for share in shares:
        part = share.result()
        tally.merge(part.tally)
        records += part.records
    return Part(tally, tuple(sorted(records, key=lambda record: (record["file"], record["line"]))))


def _checked(part: Sequence[Line], guard: Guard | None = None) -> Part:
    tally = Tally()
    records: list[dict[str, Any]] = []
    rows = (_row(line.triple) for line in part if line.triple is not None)
    found = (guard or _guard()).check_batch(rows)
    for line in part:
        place = {"file": line.file, "line": line.number}
        if line.error is not None:
            tally.unreadable += 1
            records.append({**place, "error": line.error})
        elif line.triple is None:
            tally.without_rewrite += 1
        else:
            assessment = next(found)
            tally.add(assessment)
            when = {} if line.triple.timestamp is None else {"timestamp": line.triple.timestamp}
            records.append({**place, "id": line.triple.id, **when, **assessment.to_dict()})
    return Part(tally, tuple(records))


def _row(triple: Triple) -> Row:
    conversation, several = triple.conversation, isinstance(triple.rewrite, tuple)
    return Row(conversation.turn, triple.rewrite, conversation, triple.reference_date, triple.profile, several)


@lru_cache(maxsize=1)
def _guard() -> Guard:
    """The guard of a worker process."""
    return rewriteguard.Guard()
