"""Reads the calls of an agent's search tools: what is searched for, and which conversation the model saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from rewriteguard.errors import InputError
from rewriteguard.integrations._host_history import read
from rewriteguard.model.conversation import Conversation
from rewriteguard.telemetry import warn_once

if TYPE_CHECKING:  # LangChain has moved this type between its packages
    from langchain.agents.middleware import ToolCallRequest


@dataclass(frozen=True, slots=True)
class Search:
    """One call of a search tool.

    Attributes:
        request: The call, as the agent hands it over.
        argument: The name of the argument that holds the query.
        queries: The search queries of this turn, those of earlier steps first, up to the step of this call.
        query: Which of them this call searches with.
        conversation: The turn, and the messages that the model saw beside it.
        unread: Why turn or history could not be read.
    """

    request: ToolCallRequest
    argument: str
    queries: tuple[str, ...]
    query: str
    conversation: Conversation
    unread: Exception | None

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration of the agent's run."""
        return getattr(self.request.runtime, "config", None) or {}

    def asking(self, query: str) -> ToolCallRequest:
        """The same call with another query."""
        call = self.request.tool_call
        args = {**call["args"], self.argument: query}
        return self.request.override(tool_call=cast("ToolCall", {**call, "args": args}))


def search_of(request: ToolCallRequest, arguments: Mapping[str, str]) -> Search | None:
    """The search that a tool call is; None where it is none, or its query is no text."""
    call = request.tool_call
    argument = arguments.get(call["name"])
    if argument is None:
        return None
    query = _query(call, arguments)
    if query is None:
        warn_once(f"a call of the tool {call['name']!r} had no text as {argument!r}, and was not guarded")
        return None
    messages = _messages(request.state)
    spoken = [place for place, message in enumerate(messages) if _is_users(message)]
    place = spoken[-1] if spoken else len(messages)
    since = messages[place + 1 :]
    history = [_told(message) for message in messages[:place]]
    history += [message for message in since if isinstance(message, ToolMessage)]
    conversation, unread = read(messages[place] if spoken else "", history)
    if not conversation.turn.strip():
        unread = unread or InputError("messages: expected a human message with text")
    return Search(request, argument, _queries(since, call, arguments) or (query,), query, conversation, unread)


def _queries(messages: Sequence[Any], call: ToolCall, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """The search queries up to the step that holds `call`, that of `call` as it now is; none where no step holds it."""
    steps = [message.tool_calls for message in messages if isinstance(message, AIMessage)]
    while steps and not any(_same(each, call) for each in steps[-1]):
        steps.pop()
    if steps:  # another middleware may have changed the call
        steps[-1] = [call if _same(each, call) else each for each in steps[-1]]
    queries = (_query(each, arguments) for step in steps for each in step)
    return tuple(query for query in queries if query is not None)


def _query(call: ToolCall, arguments: Mapping[str, str]) -> str | None:
    """The query of a search tool's call; None where it is another tool's, or no text."""
    args: Any = call["args"]
    found = args.get(arguments.get(call["name"])) if isinstance(args, Mapping) else None
    return str(found) if isinstance(found, str) else None


def _same(one: ToolCall, other: ToolCall) -> bool:
    return one["id"] == other["id"] if other["id"] else one == other


def _messages(state: Any) -> Sequence[Any]:
    """The messages of a state, which is a mapping, a list of messages or an object with `messages`."""
    if isinstance(state, Mapping):
        state = state.get("messages")
    elif not isinstance(state, list):
        state = getattr(state, "messages", None)
    return state if isinstance(state, list) else []


def _is_users(message: Any) -> bool:
    return isinstance(message, HumanMessage) and not _is_made(message)


def _told(message: Any) -> Any:
    """The message, with the role of who wrote it: a summary of the conversation is a model's, whoever sends it."""
    return ("assistant", message.content) if isinstance(message, HumanMessage) and _is_made(message) else message


def _is_made(message: HumanMessage) -> bool:
    """True for a message that a middleware of LangChain put in."""
    return "lc_source" in message.additional_kwargs
