"""Threads for jobs that block: daemons, so that one that hangs holds up no exit, and only so many that hang."""

from __future__ import annotations

import contextvars
import threading
from asyncio import CancelledError
from collections.abc import Callable, Coroutine
from concurrent import futures
from typing import Any, TypeVar

from rewriteguard.telemetry import warn_once

T = TypeVar("T")
Job = Callable[[], Coroutine[Any, Any, T]]

# A thread cannot be stopped, so a back end that hangs leaves one behind with every call that times out. With 64 of them
# it is down: about half a gigabyte of address space is held, and the next call would only add to that.
MAX_ABANDONED = 64
_abandoned: set[futures.Future[Any]] = set()


class ThreadLimitError(TimeoutError):
    """A timed job was not started, because too many threads of jobs that timed out still run."""


def drive(flow: Coroutine[Any, Any, T]) -> T:
    """The result of a flow that never suspends, without an event loop."""
    try:
        flow.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    flow.close()
    raise RuntimeError("a synchronous flow waited for an event loop")


def in_thread(job: Job[T], *, timed: bool) -> futures.Future[T]:
    """Starts `job` in a daemon thread that has a copy of the context.

    A job that is `timed` fails with `ThreadLimitError` where too many abandoned threads still run. Where the system
    gives no thread, the job is done in this one.
    """
    future: futures.Future[T] = futures.Future()
    if timed and len(_abandoned) >= MAX_ABANDONED:
        warn_once(f"{MAX_ABANDONED} threads of calls that timed out still run: further ones count as timed out at once")
        future.set_exception(ThreadLimitError(f"{MAX_ABANDONED} calls that timed out still run"))
        return future
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


def abandon(thread: futures.Future[Any]) -> None:
    """Counts a thread that no one waits for any more, until it ends."""
    if not thread.done():
        _abandoned.add(thread)
        thread.add_done_callback(_abandoned.discard)


def settled(job: Job[T]) -> futures.Future[T]:
    """Runs `job` in this thread, with its result or error in a future as a thread would give it."""
    future: futures.Future[T] = futures.Future()
    try:
        future.set_result(drive(job()))
    except (Exception, CancelledError) as error:  # noqa: BLE001 - as in a thread: the caller asks `error_of` about it
        future.set_exception(error)
    return future
