"""Checks the lines of a log, in this process or in several, and counts; what comes out is the same."""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Any
from zlib import crc32

import rewriteguard
from rewriteguard.audit.log import Line, Triple
from rewriteguard.guard.batch import Row
from rewriteguard.model.conversation import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from rewriteguard.guard.guard import Guard
    from rewriteguard.model.assessment import Assessment

    View = Callable[[Line, Triple, Assessment], Any]

_PART = 32  # lines of each process that are read at once: less than a second of work
_AHEAD = 3  # parts that are given out before the first is waited for, so that no process waits and few lines are held
_LARGEST_SHARE = 1.25  # of an even share: conversations that all begin alike would go to one process


@dataclass(slots=True)
class Tally:
    """What was counted over a log; all counts are rows, a row with two faults counts under both.

    Attributes:
        verdicts: By what the guard says now.
        faults: By fault.
        kinds: By kind of token that a finding is about.
        without_rewrite: Those that hold no rewrite.
        unreadable: Those that cannot be read.
        logged: Those that were checked and have a verdict of their own in the log.
        otherwise: Those of them whose own verdict is another one.
        cut: Those that were checked with a part of their history, since the log holds no more.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    without_rewrite: int = 0
    unreadable: int = 0
    logged: int = 0
    otherwise: int = 0
    cut: int = 0

    @property
    def checked(self) -> int:
        """The number of rows that got a verdict."""
        return self.verdicts.total()

    def remarks(self) -> list[str]:
        """Sentences that say how far the findings are those of the log; none where they are, or it has none."""
        found = []
        if self.otherwise:
            found.append(
                f"{_rows_are(self.otherwise)} judged otherwise now, of {self.logged:,} with a verdict in the log."
            )
        if self.cut:
            found.append(
                f"{_rows_are(self.cut)} judged by the last messages alone: the log holds no more of the history."
            )
        return found

    def add(self, triple: Triple, assessment: Assessment) -> None:
        """Counts one finding."""
        self.logged += triple.logged is not None
        self.otherwise += triple.logged not in (None, assessment.verdict)
        self.cut += triple.is_cut
        self.verdicts[assessment.verdict.value] += 1
        self.faults.update(sorted({violation.fault.value for violation in assessment.violations}))
        self.kinds.update(sorted({violation.kind.value for violation in assessment.violations if violation.kind}))

    def merge(self, other: Tally) -> None:
        """Counts what was counted over another part of the log."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(frozen=True, slots=True)
class Part:
    """What was found in some neighbouring lines of a log.

    Attributes:
        tally: What was counted.
        records: One for each line that was checked or could not be read, in order: `file` (its place among those that
            are read), `line` and either `error` or the `id`, where there are any the `timestamp`, the `system`, the
            `logged_verdict` and `history_cut`, and the finding.
        views: What `view` made of each line that was checked, in order.
    """

    tally: Tally
    records: tuple[dict[str, Any], ...]
    views: tuple[Any, ...] = ()


def find(lines: Iterable[Line], jobs: int = 1, view: View | None = None) -> Generator[Part, None, None]:
    """What is found in a log, part by part in the order of its lines.

    Args:
        lines: The lines of the log; no more of them are held than the processes work on.
        jobs: In how many processes they are checked; 1 is this process.
        view: Called with each line, its triple and its finding where it is checked; a function of a module, so
            that processes can be told of it.
    """
    if jobs == 1:
        guard = rewriteguard.Guard()
        return (_checked(part, view, guard) for part in _parts(lines, _PART))
    return _in_processes(lines, jobs, view)


def _rows_are(count: int) -> str:
    return f"{count:,} row{' is' if count == 1 else 's are'}"


def _in_processes(lines: Iterable[Line], jobs: int, view: View | None) -> Generator[Part, None, None]:
    # Processes are started afresh: a copy of a process that runs threads may hold locks that nobody opens again.
    # Each has a queue of its own, so that a conversation can stay with the process that has read its history.
    fresh = get_context("spawn")
    workers = [ProcessPoolExecutor(1, mp_context=fresh, initializer=_start) for _ in range(jobs)]
    waiting: deque[tuple[list[Line], list[tuple[list[Line], Future[Part]]]]] = deque()
    try:
        for part in _parts(lines, _PART * jobs):
            shares = zip(workers, _shares(part, jobs), strict=True)
            waiting.append((part, [(share, worker.submit(_checked, share, view)) for worker, share in shares]))
            if len(waiting) >= _AHEAD:
                yield _joined(*waiting.popleft())
        while waiting:
            yield _joined(*waiting.popleft())
    finally:
        for worker in workers:  # waited for: an interpreter that exits meanwhile may use a pipe that was just closed
            worker.shutdown(cancel_futures=True)


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


def _joined(part: Sequence[Line], shares: Iterable[tuple[list[Line], Future[Part]]]) -> Part:
    """What was found in the shares of a part, in the order of its lines: several systems have lines of one number."""
    places = {id(line): place for place, line in enumerate(part)}
    tally = Tally()
    records: list[tuple[int, dict[str, Any]]] = []
    views: list[tuple[int, Any]] = []
    for share, future in shares:
        found = future.result()
        tally.merge(found.tally)
        told = (places[id(line)] for line in share if line.triple is not None or line.error is not None)
        checked = (places[id(line)] for line in share if line.triple is not None)
        records += zip(told, found.records, strict=True)
        views += zip(checked, found.views, strict=False)  # without a view there are none
    return Part(tally, _in_order(records), _in_order(views))


def _in_order(placed: list[tuple[int, Any]]) -> tuple[Any, ...]:
    return tuple(value for _, value in sorted(placed, key=lambda item: item[0]))


def _checked(part: Sequence[Line], view: View | None, guard: Guard | None = None) -> Part:
    tally = Tally()
    records: list[dict[str, Any]] = []
    views: list[Any] = []
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
            tally.add(line.triple, assessment)
            about = _about(line.triple)
            records.append({**place, "id": line.triple.id, **about, **assessment.to_dict()})
            if view is not None:
                views.append(view(line, line.triple, assessment))
    return Part(tally, tuple(records), tuple(views))


def _about(triple: Triple) -> dict[str, Any]:
    logged = None if triple.logged is None else triple.logged.value
    told = {"timestamp": triple.timestamp, "system": triple.system, "logged_verdict": logged}
    cut = {"history_cut": True} if triple.is_cut else {}
    return {name: value for name, value in told.items() if value is not None} | cut


def _row(triple: Triple) -> Row:
    conversation, several = triple.conversation, isinstance(triple.rewrite, tuple)
    return Row(conversation.turn, triple.rewrite, conversation, triple.reference_date, triple.profile, several)


@lru_cache(maxsize=1)
def _guard() -> Guard:
    """The guard of a worker process."""
    return rewriteguard.Guard()
