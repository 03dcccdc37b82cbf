"""Threads for jobs that block: daemons, so that one that hangs holds up no exit, and only so many that hang."""

from __future__ import annotations

import contextvars
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Coroutine
from concurrent import futures
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any, TypeVar

from rewriteguard.telemetry import warn_once

T = TypeVar("T")
Job = Callable[[], Coroutine[Any, Any, T]]

# A thread cannot be stopped, so a back end that hangs leaves one behind with every call that times out. With 64 of them
# it is down: about half a gigabyte of address space is held, and its next call would only add to that.
MAX_LATE = 64
_MAX_ALIKE = 4 * MAX_LATE  # of functions made at one place of the code, such as a lambda made anew for each call


@dataclass(frozen=True, slots=True)
class _Timed:
    owner: Any  # held here, so that no other object gets its id
    one: Any
    alike: Any
    until: float


_timed: dict[futures.Future[Any], _Timed] = {}


class ThreadLimitError(TimeoutError):
    """A timed job was not started, because too many late ones of its owner still run."""


def drive(flow: Coroutine[Any, Any, T]) -> T:
    """The result of a flow that never suspends, without an event loop."""
    try:
        flow.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    flow.close()
    raise RuntimeError("a synchronous flow waited for an event loop")


def in_thread(job: Job[T], *, seconds: float | None = None, owner: Any = None) -> futures.Future[T]:
    """Starts `job` in a daemon thread that has a copy of the context.

    Where the system gives no thread, the job is done in this one. A job with an owner and a time limit fails with
    `ThreadLimitError` where too many jobs of the owner still run after theirs.

    Args:
        job: What to do.
        seconds: How long it is waited for; None is without end.
        owner: The function of the application that may hang; None is the guard's own work, which is never refused.
    """
    future: futures.Future[T] = futures.Future()
    if owner is not None and seconds is not None:
        timed = _Timed(owner, *_keys(owner), time.monotonic() + seconds)
        if _is_down(timed):
            future.set_exception(ThreadLimitError(f"{MAX_LATE} late calls still run"))
            return future
        _timed[future] = timed
        future.add_done_callback(_timed.pop)
    future.set_running_or_notify_cancel()  # from here on cancel() leaves it alone: the thread will set it
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(drive, job())
        except BaseException as error:  # noqa: BLE001 - lost with the thread otherwise; `error_of` raises it on
            future.set_exception(error)
        else:
            future.set_result(result)

    try:
        threading.Thread(target=work, name="rewriteguard", daemon=True).start()
    except RuntimeError:  # the system gives no more threads: late is better than not at all
        work()
    return future


def settled(job: Job[T]) -> futures.Future[T]:
    """Runs `job` in this thread, with its result or error in a future as a thread would give it."""
    future: futures.Future[T] = futures.Future()
    try:
        future.set_result(drive(job()))
    except (Exception, CancelledError) as error:  # noqa: BLE001 - as in a thread: the caller asks `error_of` about it
        future.set_exception(error)
    return future


def _is_down(job: _Timed) -> bool:
    """Whether so many jobs of the same owner are late that the next one would only add to them."""
    now = time.monotonic()
    late = [each for each in tuple(_timed.values()) if each.until < now and each.alike == job.alike]
    if len(late) < _MAX_ALIKE and sum(each.one == job.one for each in late) < MAX_LATE:
        return False
    warn_once(f"{MAX_LATE} late calls of one rewriter or search still run: its further ones count as timed out at once")
    return True


def _keys(owner: Any) -> tuple[Any, Any]:
    """What is the same for one function whenever it is passed, and for all functions made at one place of the code."""
    while isinstance(owner, partial):
        owner = owner.func
    if isinstance(owner, MethodType):  # made anew whenever it is looked up
        method = id(owner.__self__), id(owner.__func__)
        return method, method
    return id(owner), id(owner.__code__ if isinstance(owner, FunctionType) else owner)
