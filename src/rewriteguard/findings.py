"""Checks the lines of a log, in this process or in several; what comes out is the same."""

from __future__ import annotations

import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import rewriteguard
from rewriteguard.audit import Line, Tally
from rewriteguard.rows import Row, check_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from rewriteguard.guard import Guard

_PART = 32  # lines that a process is given at once: a fifth of a second of work
_LONGEST_PART = 4 * _PART
_AHEAD = 2  # parts that are given out for each process, so that none waits and few lines are held


@dataclass(frozen=True, slots=True)
class Part:
    """What was found in some neighbouring lines of a log.

    Attributes:
        tally: What was counted.
        records: One for each line that was checked or could not be read, in order: `line` and either `error` or the
            `id` and the finding.
    """

    tally: Tally
    records: tuple[dict[str, Any], ...]


def find(lines: Iterable[Line], jobs: int = 1) -> Iterator[Part]:
    """What is found in a log, part by part in the order of its lines.

    Args:
        lines: The lines of the log; no more of them are held than the processes work on.
        jobs: In how many processes they are checked; 1 is this process.
    """
    if jobs == 1:
        guard = rewriteguard.Guard()
        return (_checked(part, guard) for part in _parts(lines))
    return _in_processes(lines, jobs)


def _in_processes(lines: Iterable[Line], jobs: int) -> Iterator[Part]:
    # Processes are started afresh: a copy of a process that runs threads may hold locks that nobody opens again.
    workers = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_the_terminal)
    waiting: deque[Future[Part]] = deque()
    try:
        for part in _parts(lines):
            waiting.append(workers.submit(_checked, part))
            if len(waiting) > _AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        workers.shutdown(cancel_futures=True)


def _end_with_the_terminal() -> None:
    """Lets Ctrl-C end a worker at once and without a word; the process that started it reports."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _parts(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Neighbouring lines; those of one conversation stay together, since its history is then read once."""
    part: list[Line] = []
    opening = ""
    for line in lines:
        before, opening = opening, _opening(line)
        if len(part) >= _LONGEST_PART or (len(part) >= _PART and opening != before):
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _opening(line: Line) -> str:
    """What a conversation began with: that of a first turn is the turn itself."""
    if line.triple is None:
        return ""
    conversation = line.triple.conversation
    return conversation.history[0].text if conversation.history else conversation.turn


def _checked(part: list[Line], guard: Guard | None = None) -> Part:
    tally, records = Tally(), []
    triples = (line.triple for line in part if line.triple is not None)
    rows = (Row(t.conversation.turn, t.rewrite, t.conversation, t.reference_date) for t in triples)
    found = check_batch(guard or _guard(), rows)
    for line in part:
        if line.error is not None:
            tally.unreadable += 1
            records.append({"line": line.number, "error": line.error})
        elif line.triple is None:
            tally.without_rewrite += 1
        else:
            assessment = next(found)
            tally.add(assessment)
            records.append({"line": line.number, "id": line.triple.id, **assessment.to_dict()})
    return Part(tally, tuple(records))


@lru_cache(maxsize=1)
def _guard() -> Guard:
    """The guard of a worker process."""
    return rewriteguard.Guard()
