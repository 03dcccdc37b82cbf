"""Reads every history form that applications have into one: `Conversation(turn, history)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType
from typing import Any

from rewriteguard.errors import HistoryError, InputError

MAX_MESSAGE = 12_000  # characters of one history message that are read
MAX_MESSAGES = 200  # of a history, the latest


class Role(StrEnum):
    """Who said a message. Only what users said is trusted in full."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "chatbot": Role.ASSISTANT,
    "aimessagechunk": Role.ASSISTANT,
    "humanmessagechunk": Role.USER,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}

_EXPECTED = (
    "expected a LangChain message, a mapping with 'role' and 'content' (or 'text'), a (role, text) pair "
    "or a (user, assistant) pair"
)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the history.

    Attributes:
        role: Who said it.
        text: What was said; content blocks other than text are left out.
        index: Position of the item in the history that the caller passed.
    """

    role: Role
    text: str
    index: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A turn and the messages before it, oldest first.

    Attributes:
        turn: The user's turn as written; empty where a conversation only carries a history.
        history: The messages before the turn that hold text, oldest first, without the turn itself.
    """

    turn: str
    history: tuple[Message, ...] = ()

    @classmethod
    def read(cls, turn: Any, history: Any = (), window: int | None = None) -> Conversation:
        """The conversation in its one normal form.

        Args:
            turn: The user's turn: a string or a message object with text content.
            history: Messages in any supported form, oldest first; None and "" are no history. Where the last
                message is the turn itself, said by the user, it is left out.
            window: Keep only the last `window` messages; None keeps all.

        Raises:
            InputError: `turn` is not text.
            HistoryError: An item of `history` has an unknown shape; the message names the item.
        """
        text = _turn_text(turn)
        messages = _messages(history, text)
        if messages and messages[-1].role is Role.USER and _folded(messages[-1].text) == _folded(text):
            messages = messages[:-1]
        if window is not None:
            messages = messages[-window:] if window > 0 else ()
        return cls(text, messages)

    @classmethod
    def from_user_turns(cls, texts: Iterable[str], turn: str = "") -> Conversation:
        """A conversation whose history holds only what the user said, oldest first."""
        return cls(turn, tuple(Message(Role.USER, _string(t, i), i) for i, t in enumerate(texts)))

    @classmethod
    def from_alternating(cls, texts: Iterable[str], turn: str = "") -> Conversation:
        """A conversation whose history alternates user, assistant, user ..., oldest first."""
        roles = (Role.USER, Role.ASSISTANT)
        return cls(turn, tuple(Message(roles[i % 2], _string(t, i), i) for i, t in enumerate(texts)))


def text_of(content: Any) -> str | None:
    """The text of a message's content: a string, or the text blocks of a list joined by line ends.

    Blocks of other types (images, tool calls, reasoning) are left out. None where the content has another shape.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return str(content)
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        return None
    parts = [_block_text(block) for block in content]
    return None if None in parts else "\n".join(part for part in parts if part)


def _block_text(block: Any) -> str | None:
    if isinstance(block, str):
        return str(block)
    is_mapping = isinstance(block, Mapping)
    if not is_mapping and not hasattr(block, "type") and not hasattr(block, "text"):
        return None
    text = block.get("text", "") if is_mapping else getattr(block, "text", "")
    return str(text) if isinstance(text, str) else None


def _turn_text(turn: Any) -> str:
    if isinstance(turn, str):
        return str(turn)
    content = _content(turn)
    text = None if content is None else text_of(content)
    if text is None:
        raise InputError(f"turn: expected a string or a message with text, got {type(turn).__name__}")
    return text


def _content(item: Any) -> Any:
    """What a message holds, under the name that its library gives it; None where it says nothing."""
    if isinstance(item, Mapping):
        return item.get("content", item.get("text"))
    return getattr(item, "content", None) if hasattr(item, "content") else getattr(item, "text", None)


def _messages(history: Any, turn: str) -> tuple[Message, ...]:
    if history is None or (isinstance(history, str) and not history.strip()):
        return ()
    if isinstance(history, Conversation):
        if history.turn and _folded(history.turn) != _folded(turn):
            raise HistoryError("history: the Conversation holds another turn than the one given to this call")
        return history.history
    if isinstance(history, str):
        raise HistoryError("history: one string does not say who spoke; expected a list of messages")
    if isinstance(history, bytes | Mapping | Set) or not isinstance(history, Iterable):
        raise HistoryError(f"history: expected a list of messages, got {type(history).__name__}")
    items = list(history)
    if items and all(isinstance(item, str) for item in items):
        raise HistoryError(
            "history: a list of strings does not say who spoke; use Conversation.from_user_turns(texts) "
            "or Conversation.from_alternating(texts)"
        )
    messages = (message for i, item in enumerate(items) for message in _read_item(item, i))
    return tuple(message for message in messages if message.text.strip())


def _read_item(item: Any, index: int) -> tuple[Message, ...]:
    if isinstance(item, Message):
        return (item,)
    if isinstance(item, Mapping):
        return (_read_mapping(item, index),)
    if isinstance(item, tuple | list):
        if len(item) == 2:
            return _pair(item[0], item[1], index)
        raise HistoryError(f"history[{index}]: {_EXPECTED}, got a {type(item).__name__} of {len(item)} items")
    role = getattr(item, "role", None) or getattr(item, "type", None)
    if role is not None and (hasattr(item, "content") or hasattr(item, "text")):
        return (_message(role, _content(item), index),)
    raise HistoryError(f"history[{index}]: {_EXPECTED}, got {type(item).__name__}")


def _read_mapping(item: Mapping[str, Any], index: int) -> Message:
    data = item.get("data")
    if isinstance(data, Mapping):  # the form in which LangChain stores messages: {"type": ..., "data": {...}}
        item = {"role": item.get("type"), **data}
    if "content" not in item and "text" not in item:
        raise HistoryError(f"history[{index}]: {_EXPECTED}, got a mapping without 'content' and 'text'")
    return _message(item.get("role") or item.get("type"), _content(item), index)


def _pair(first: Any, second: Any, index: int) -> tuple[Message, ...]:
    if isinstance(first, str) and first.lower() in _ROLES:
        return (_message(first, second, index),)
    if not isinstance(first, str) or not isinstance(second, str | NoneType):
        got = f"a pair of {type(first).__name__}, {type(second).__name__}"
        raise HistoryError(f"history[{index}]: {_EXPECTED}, got {got}")
    return (Message(Role.USER, first, index), Message(Role.ASSISTANT, second or "", index))


def _message(role: Any, content: Any, index: int) -> Message:
    name = getattr(role, "value", role)
    if not isinstance(name, str) or name.lower() not in _ROLES:
        known = ", ".join(sorted(_ROLES))
        raise HistoryError(f"history[{index}]: unknown role {role!r}; expected one of {known}")
    text = text_of(content)
    if text is None:
        raise HistoryError(f"history[{index}]: expected text or content blocks, got {type(content).__name__}")
    return Message(_ROLES[name.lower()], text, index)


def _string(text: Any, index: int) -> str:
    if not isinstance(text, str):
        raise HistoryError(f"history[{index}]: expected a string, got {type(text).__name__}")
    return text


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def text_from(value: Any, name: str) -> str:
    """A plain string from a string, a string subclass or a message.

    Raises:
        InputError: It has no text.
    """
    if isinstance(value, str):
        return str(value)
    content = text_of(getattr(value, "content", None)) if hasattr(value, "content") else None
    if content is None:
        raise InputError(f"{name}: expected a string or a message with text, got {type(value).__name__}")
    return content


def texts_from(values: Any, name: str) -> list[str]:
    """The texts of a list of strings or messages.

    Raises:
        InputError: It is no list, or an item has no text.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{name}: expected a list of strings or messages, got {type(values).__name__}")
    return [text_from(value, f"{name}[{place}]") for place, value in enumerate(values)]
