"""Runs one flow in two worlds: the same coroutine with threads for synchronous callers, with tasks for asyncio.

A flow is an `async def` that starts jobs and waits for them through a `Runner`. Under its threads nothing in it ever
suspends, so `drive` runs it to its end without an event loop; under `TaskRunner` it is an ordinary coroutine.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
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
Handle = futures.Future[T] | asyncio.Future[T]
_GRACE = 0.05  # seconds that a cancelled task has for its clean-up before the answer goes out without it


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


class Budget:
    """Seconds that are left of a time limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self, limit: float | None = None) -> float | None:
        """The seconds left, at most `limit`; None where neither is limited."""
        rest = None if self._end is None else max(0.0, self._end - time.monotonic())
        if rest is None or limit is None:
            return limit if rest is None else rest
        return min(rest, limit)


async def compute(runner: Runner, work: Callable[[], T], seconds: float | None = None) -> T:
    """What `work` returns, or raises what it raises; it is pure computation, and holds up no event loop.

    Raises:
        TimeoutError: It took more than `seconds`.
    """

    async def job() -> T:
        return work()

    handle = await runner.run(job, blocking=True, seconds=seconds)
    error = error_of(handle)
    if error is None:
        return handle.result()
    await runner.drop([handle])
    raise error


async def call(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """What `function` returns; an awaitable is awaited, in an event loop of its own where this thread has none."""
    value = function(*args, **keywords)
    if not inspect.isawaitable(value):
        return value
    if _in_loop():
        return await value
    return asyncio.run(_awaited(value))


def is_async(function: Callable[..., Any]) -> bool:
    """True where calling `function` gives an awaitable, as far as its definition says."""
    while isinstance(function, partial):  # and nothing else that has a `func`: a mock has one at every depth
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def error_of(handle: Handle[Any]) -> Exception | None:
    """The error of a handle: TimeoutError where it is not done, None where it has a result.

    Raises:
        BaseException: What no one should hold back, such as KeyboardInterrupt from a worker thread.
    """
    if not handle.done():
        return TimeoutError("the time limit was reached")
    error = None if handle.cancelled() else handle.exception()
    if handle.cancelled() or isinstance(error, asyncio.CancelledError):  # by itself: nobody cancels what is waited for
        return RuntimeError("the job was cancelled")
    if error is None or isinstance(error, Exception):
        return error
    raise error


def timed_out(handle: Handle[Any]) -> bool:
    """True where a handle is not done, or its job was not started because too many before it hang."""
    if not handle.done():
        return True
    return not handle.cancelled() and isinstance(handle.exception(), ThreadLimitError)


class Runner:
    """Starts jobs beside the flow and waits for them: in daemon threads, so that one that hangs holds up nothing."""

    def start(
        self,
        job: Job[T],
        *,
        blocking: bool,  # noqa: ARG002 - all jobs have threads
        seconds: float | None = None,
        owner: Any = None,
    ) -> Handle[T]:
        """Starts `job` beside the flow, with a copy of the context.

        Args:
            job: What to do.
            blocking: Whether it would hold up an event loop.
            seconds: How long it is waited for; None is without end.
            owner: The function of the application that may hang; None is the guard's own work.
        """
        return in_thread(job, seconds=seconds, owner=owner)

    async def run(self, job: Job[T], *, blocking: bool, seconds: float | None, owner: Any = None) -> Handle[T]:
        """Runs `job` and waits for it, at most `seconds`.

        It runs in the caller's own thread where there is no limit and no event loop.
        """
        if seconds is None and not _in_loop():
            return settled(job)
        handle = self.start(job, blocking=blocking, seconds=seconds, owner=owner)
        await self.wait([handle], seconds)
        return handle

    def here(self, job: Job[T]) -> Handle[T] | None:
        """Runs `job`, which blocks, in the caller's own thread; None where that would hold up an event loop."""
        return settled(job)

    async def wait(self, handles: Sequence[Handle[Any]], seconds: float | None) -> None:
        """Waits until all `handles` are done, at most `seconds`."""
        futures.wait([handle for handle in handles if isinstance(handle, futures.Future)], seconds)

    async def drop(self, handles: Iterable[Handle[Any]]) -> None:
        """Cancels what is still running; a thread cannot be stopped, so its result is ignored."""


class TaskRunner(Runner):
    """Runs jobs as tasks; those that would hold up the event loop in daemon threads."""

    def start(self, job: Job[T], *, blocking: bool, seconds: float | None = None, owner: Any = None) -> Handle[T]:
        """Starts `job` as a task, or in a thread."""
        if not blocking:
            return asyncio.ensure_future(job())
        return asyncio.wrap_future(in_thread(job, seconds=seconds, owner=owner))

    async def run(self, job: Job[T], *, blocking: bool, seconds: float | None, owner: Any = None) -> Handle[T]:
        """Runs `job` beside the event loop, and drops it where the caller is cancelled."""
        handle = self.start(job, blocking=blocking, seconds=seconds, owner=owner)
        try:
            await self.wait([handle], seconds)
        except asyncio.CancelledError:
            await self.drop([handle])
            raise
        return handle

    def here(self, job: Job[T]) -> Handle[T] | None:  # noqa: ARG002 - nothing that blocks is done in a loop's thread
        """None: the caller's thread runs the event loop."""
        return None

    async def wait(self, handles: Sequence[Handle[Any]], seconds: float | None) -> None:
        """Waits until all `handles` are done, at most `seconds`."""
        waiting = [handle for handle in handles if isinstance(handle, asyncio.Future)]
        if waiting:
            await asyncio.wait(waiting, timeout=seconds)

    async def drop(self, handles: Iterable[Handle[Any]]) -> None:
        """Cancels tasks and gives them a moment to clean up."""
        running = [handle for handle in handles if isinstance(handle, asyncio.Future)]
        for handle in running:
            if not handle.get_loop().is_closed():  # a task of a closed loop is over, and cannot be cancelled any more
                handle.cancel()
                handle.add_done_callback(_retrieve)
        await self.wait([each for each in running if not (each.done() or each.get_loop().is_closed())], _GRACE)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _awaited(value: Awaitable[T]) -> T:
    return await value


def _retrieve(handle: asyncio.Future[Any]) -> None:
    """Reads the error of a dropped task, so that asyncio does not warn that no one did."""
    if not handle.cancelled():
        handle.exception()
