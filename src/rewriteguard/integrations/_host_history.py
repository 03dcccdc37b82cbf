"""Turn and history as a host hands them over: hosts take more forms than the guard reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.model.conversation import Conversation

_KNOWN_ROLES = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool", "function"})


def read(turn: Any, history: Any) -> tuple[Conversation, Exception | None]:
    """As much of the conversation as can be read, and why the rest cannot; a turn that is no text is empty."""
    spoken = Conversation("")
    try:
        spoken = Conversation.read(turn)
        if not isinstance(turn, str) and not spoken.turn.strip():  # images, say: there is nothing to check a rewrite by
            return Conversation(""), InputError(f"turn: expected text, got a {type(turn).__name__} without any")
        return Conversation.read(spoken.turn, _history(history)), None
    except Exception as error:  # noqa: BLE001 - the guard's own failure: the host takes forms that it does not know
        return spoken, error


def _history(given: Any) -> Any:
    """The history in a form that the guard reads: prompts take some that do not say who spoke.

    A bare string in a list is the user's, as prompts read it. A whole history as one string, and a message of a role of
    the application's own, count as the assistant's: words are trusted only where the structure says that the user
    spoke them.
    """
    if isinstance(given, str):
        return [("assistant", given)] if given.strip() else []
    if given is None or isinstance(given, Conversation | Mapping | bytes):
        return given
    return [_item(item) for item in given]


def _item(item: Any) -> Any:
    if isinstance(item, str):
        return ("user", str(item))
    if getattr(item, "type", None) == "chat":  # ChatMessage: a role in the application's own words
        return item if item.role in _KNOWN_ROLES else ("assistant", item.content)
    return item
