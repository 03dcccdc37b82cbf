"""The conversation behind a search, for what runs inside the retriever: LangChain hands it the query alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date

from rewriteguard.model.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Talk:
    """What the user said, and the day that "today" means; None is today."""

    conversation: Conversation
    reference_date: date | None = None


_TALK: ContextVar[Talk | None] = ContextVar("rewriteguard_talk", default=None)


@contextmanager
def talking(talk: Talk) -> Iterator[None]:
    """Makes a conversation known to whatever is called inside."""
    before = _TALK.set(talk)
    try:
        yield
    finally:
        _TALK.reset(before)


def current_talk() -> Talk | None:
    """The conversation that is searched for; None outside of a guarded search."""
    return _TALK.get()
