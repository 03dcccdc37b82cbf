"""Runs one flow in two worlds: the same coroutine with threads for synchronous callers, with tasks for asyncio.

A flow is an `async def` that starts jobs and waits for them through a `Runner`. Under `ThreadRunner` nothing in it ever
suspends, so `drive` runs it to its end without an event loop; under `TaskRunner` it is an ordinary coroutine.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent import futures
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Job = Callable[[], Coroutine[Any, Any, T]]
Handle = futures.Future[T] | asyncio.Future[T]

_GRACE = 0.05  # seconds that a cancelled task has for its clean-up before the answer goes out without it


class Runner(Protocol):
    """Starts jobs beside the flow and waits for them."""

    def start(self, job: Job[T], *, blocking: bool) -> Handle[T]:
        """Starts `job` beside the flow; `blocking` says that it would hold up an event loop."""
        ...

    async def run(self, job: Job[T], *, blocking: bool, seconds: float | None) -> Handle[T]:
        """Runs `job` and waits for it, at most `seconds`; without a limit in the caller's own thread."""
        ...

    async def wait(self, handles: Sequence[Handle[Any]], seconds: float | None) -> None:
        """Waits until all `handles` are done, at most `seconds`."""
        ...

    async def drop(self, handles: Iterable[Handle[Any]]) -> None:
        """Cancels what is still running; a thread cannot be stopped, so its result is ignored."""
        ...


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


def drive(flow: Coroutine[Any, Any, T]) -> T:
    """The result of a flow that never suspends, without an event loop."""
    try:
        flow.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    flow.close()
    raise RuntimeError("a synchronous flow waited for an event loop")


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
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def error_of(handle: Handle[Any]) -> Exception | None:
    """The error of a handle: TimeoutError where it is not done, None where it has a result.

    Raises:
        BaseException: What no one should hold back, such as KeyboardInterrupt from a worker thread.
    """
    if not handle.done():
        return TimeoutError("the time limit was reached")
    if handle.cancelled():
        return RuntimeError("the job was cancelled")
    error = handle.exception()
    if error is None or isinstance(error, Exception):
        return error
    raise error


class ThreadRunner:
    """Runs jobs in daemon threads of their own, so that one that hangs holds up no other call and no exit."""

    def start(self, job: Job[T], *, blocking: bool) -> Handle[T]:  # noqa: ARG002 - all jobs have threads
        """Starts `job` in a thread that has a copy of the context."""
        return _thread(job)

    async def run(self, job: Job[T], *, blocking: bool, seconds: float | None) -> Handle[T]:
        """Runs `job` in this thread; in one of its own where there is a limit, or an event loop runs here."""
        if seconds is None and not _in_loop():
            return _settled(job)
        handle = self.start(job, blocking=blocking)
        await self.wait([handle], seconds)
        return handle

    async def wait(self, handles: Sequence[Handle[Any]], seconds: float | None) -> None:
        """Blocks until all `handles` are done, at most `seconds`."""
        futures.wait([handle for handle in handles if isinstance(handle, futures.Future)], seconds)

    async def drop(self, handles: Iterable[Handle[Any]]) -> None:
        """Leaves running threads to themselves."""
        for handle in handles:
            handle.cancel()


class TaskRunner:
    """Runs jobs as tasks; those that would hold up the event loop in daemon threads of their own."""

    def start(self, job: Job[T], *, blocking: bool) -> Handle[T]:
        """Starts `job` as a task, or in a thread that has a copy of the context."""
        return asyncio.wrap_future(_thread(job)) if blocking else asyncio.ensure_future(job())

    async def run(self, job: Job[T], *, blocking: bool, seconds: float | None) -> Handle[T]:
        """Runs `job` as a task and drops it where the caller is cancelled."""
        handle = self.start(job, blocking=blocking)
        try:
            await self.wait([handle], seconds)
        except asyncio.CancelledError:
            await self.drop([handle])
            raise
        return handle

    async def wait(self, handles: Sequence[Handle[Any]], seconds: float | None) -> None:
        """Waits until all `handles` are done, at most `seconds`."""
        waiting = [handle for handle in handles if isinstance(handle, asyncio.Future)]
        if waiting:
            await asyncio.wait(waiting, timeout=seconds)

    async def drop(self, handles: Iterable[Handle[Any]]) -> None:
        """Cancels tasks and gives them a moment to clean up."""
        running = [handle for handle in handles if isinstance(handle, asyncio.Future)]
        for handle in running:
            handle.cancel()
            handle.add_done_callback(_retrieve)
        await self.wait([handle for handle in running if not handle.done()], _GRACE)


def _thread(job: Job[T]) -> futures.Future[T]:
    future: futures.Future[T] = futures.Future()
    future.set_running_or_notify_cancel()  # from here on cancel() leaves it alone: the thread will set it
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(drive, job())
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises what is no Exception
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=work, name="rewriteguard", daemon=True).start()
    return future


def _settled(job: Job[T]) -> futures.Future[T]:
    future: futures.Future[T] = futures.Future()
    try:
        future.set_result(drive(job()))
    except Exception as error:  # noqa: BLE001 - handed to the caller in the future
        future.set_exception(error)
    return future


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
