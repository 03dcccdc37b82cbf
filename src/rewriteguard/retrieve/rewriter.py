"""Asks a rewriter, whatever its form, and reads what it answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.model.conversation import Conversation, text_of
from rewriteguard.model.decision import Reason
from rewriteguard.retrieve._runners import Runner, call, error_of, is_async, timed_out
from rewriteguard.telemetry import Telemetry

# How many rewriters are at work around this one. A rewriter may search for itself; one that comes back to itself so
# many times will not stop, and with asyncio or threads no recursion limit ends it.
_asking: ContextVar[int] = ContextVar("rewriteguard_asking", default=0)
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Ask:
    """How the rewriter is asked.

    Attributes:
        function: Gives the rewriter's output, or an awaitable of it.
        blocking: Whether it would hold up an event loop.
        read: Gets the output, gives the rewrite or a tuple of several; None is `rewritten`.
    """

    function: Callable[[], Any]
    blocking: bool
    read: Callable[[Any], str | tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of the rewrite.

    Attributes:
        text: The rewrite as it came, or several rewrites of one turn; None where there is none.
        reason: Why there is none.
    """

    text: str | tuple[str, ...] | None = None
    reason: Reason = Reason.OK


def ask_for(rewriter: Any, turn: str, history: Any, *, in_loop: bool) -> Ask:
    """How to ask `rewriter` about this turn; `in_loop` says that an event loop is running.

    Raises:
        InputError: The rewriter is nothing that can be asked.
    """
    if isinstance(rewriter, str):
        return Ask(lambda: rewriter, blocking=False)
    for name in ("ainvoke", "invoke") if in_loop else ("invoke", "ainvoke"):
        method = getattr(rewriter, name, None)
        if callable(method):
            payload = {"input": turn, "chat_history": _as_chat_history(history)}
            return Ask(partial(method, payload), blocking=name == "invoke")
    if not callable(rewriter):
        raise InputError(f"rewriter: expected a callable, a runnable or a string, got {type(rewriter).__name__}")
    arguments = (turn, history) if _takes_history(rewriter) else (turn,)
    return Ask(partial(rewriter, *arguments), blocking=not is_async(rewriter))


async def ask_rewriter(
    runner: Runner, ask: Ask, telemetry: Telemetry, seconds: float | None = None, *, raises: bool = False
) -> Answer:
    """The rewriter's answer within `seconds`, or why there is none; with `raises` its errors are raised."""
    read = ask.read or rewritten

    async def job() -> str | tuple[str, ...]:
        depth = _asking.get()
        if depth >= _DEEPEST:
            raise RecursionError("rewriter: it searches through the guard, which asks it again")
        token = _asking.set(depth + 1)
        try:
            return read(await call(ask.function))
        finally:
            with suppress(ValueError):  # closed from another context: that one was never changed
                _asking.reset(token)

    with telemetry.rewrite() as span:
        handle = await runner.run(job, blocking=ask.blocking, seconds=seconds, owner=ask.function)
        late = timed_out(handle)
        error = error_of(handle)
        if error is None:
            answer = handle.result()
            return Answer(reason=Reason.REWRITER_ERROR) if answer == () else Answer(answer)
        telemetry.failed("rewriter", error)
        if raises:
            raise error
        span.failed(error)
        await runner.drop([handle])
    return Answer(reason=Reason.REWRITER_TIMEOUT if late else Reason.REWRITER_ERROR)


def rewritten(output: Any) -> str | tuple[str, ...]:
    """A rewriter's output: one text, or the texts of a list.

    Raises:
        InputError: It is neither.
    """
    if isinstance(output, list | tuple):
        return tuple(map(rewritten_text, output))
    return rewritten_text(output)


def rewritten_text(output: Any) -> str:
    """A rewriter's output as plain text: a string, or the text of a message.

    Raises:
        InputError: It is neither.
    """
    text = output if isinstance(output, str) else text_of(getattr(output, "content", NotImplemented))
    if text is None:
        raise InputError(f"rewriter: expected a string or a message as its output, got {type(output).__name__}")
    return str(text)


def kept(history: Any) -> Any:
    """The history as the caller gave it; one that can be read only once is made a list."""
    return list(history) if isinstance(history, Iterator) else history


def _as_chat_history(history: Any) -> Any:
    """A history that prompt templates can read; only our own Conversation needs a change."""
    if isinstance(history, Conversation):
        return [{"role": message.role.value, "content": message.text} for message in history.history]
    return history or []


def _takes_history(rewriter: Callable[..., Any]) -> bool:
    """True where the rewriter can be called with two arguments; one that does not tell its arguments gets two."""
    try:
        signature = inspect.signature(rewriter)
    except (TypeError, ValueError):  # a built-in or a proxy
        return True
    try:
        signature.bind("", ())
    except TypeError:
        return False
    return True
