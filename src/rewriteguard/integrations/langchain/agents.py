"""LangChain 1.x agents: in an agent the rewrite is the argument of a search tool's call.

The turn is the last human message of the state; the history is what stands before it, and what tools gave back since.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langgraph.types import Command

from rewriteguard.errors import InputError
from rewriteguard.integrations._host import OneQueryKeywords, one_query_plan, query_of, read
from rewriteguard.integrations.langchain._call import host_of
from rewriteguard.model.assessment import Profile
from rewriteguard.model.decision import Decision
from rewriteguard.policy.policy import decide
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.decider import today_in_utc
from rewriteguard.retrieve.request import Request
from rewriteguard.retrieve.rewriter import Answer
from rewriteguard.telemetry import Span, warn_once

if TYPE_CHECKING:
    from langchain.agents.middleware import ToolCallRequest


Answered = ToolMessage | Command[Any]


@dataclass(frozen=True, slots=True)
class Search:
    """One call of a search tool.

    Attributes:
        call: The call, as the agent hands it over.
        argument: The name of the argument that holds the query.
        queries: The search queries of this turn, those of earlier steps first, up to the step of this call.
        query: Which of them this call searches with.
        request: The turn, the messages that the model saw beside it, and the query as the rewriter's answer.
    """

    call: ToolCallRequest
    argument: str
    queries: tuple[str, ...]
    query: str
    request: Request

    def asking(self, query: str) -> ToolCallRequest:
        """The same call with another query."""
        call = self.call.tool_call
        args = {**call["args"], self.argument: query}
        return self.call.override(tool_call=cast("ToolCall", {**call, "args": args}))


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
    config: Mapping[str, Any] = getattr(request.runtime, "config", None) or {}
    asked = Request(
        conversation,
        Answer(query),
        reference_date=(config.get("configurable") or {}).get("reference_date") or today_in_utc(),
        host=host_of(config.get("callbacks")),
        metadata=config.get("metadata") or {},
        unread=unread,
    )
    return Search(request, argument, _queries(since, call, arguments) or (query,), query, asked)


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


class GuardMiddleware(AgentMiddleware[Any, Any]):
    """Guards the search tools of an agent: a query that is CHANGED is replaced by the user's own words.

    `create_agent(model, tools, middleware=[GuardMiddleware({"search": "query"})])`. Several queries of one turn are
    judged together, as the parts of a question: together they must keep what the user asked for. Other tools are left
    alone, and so is a call whose query is no text. `config["configurable"]["reference_date"]`, a `date`, says what
    "today" means; without it that is today in UTC.

    Args:
        tools: For each search tool the name of the argument that holds the query.
        **keywords: See `OneQueryKeywords`.

    Raises:
        InputError: `tools` is no mapping of names, or a keyword has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """

    def __init__(self, tools: Mapping[str, str], **keywords: Unpack[OneQueryKeywords]) -> None:
        super().__init__()
        self._arguments = _names(tools)
        self._plan = one_query_plan(keywords)
        self._plan.decider.warm_up()

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answered]) -> Answered:
        """Calls the tool, with the user's own words where its query is CHANGED.

        Raises:
            ClarificationNeeded: Under `Policy(clarify=True)`, where the turn has several readings.
        """
        search = search_of(request, self._arguments)
        if search is None:
            return handler(request)
        with self._span(search) as span:
            return handler(self._guarded(search, span))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answered]]
    ) -> Answered:
        """The same as `wrap_tool_call`; the guard computes in a thread beside the event loop."""
        search = search_of(request, self._arguments)
        if search is None:
            return await handler(request)
        with self._span(search) as span:
            return await handler(await flow.computed(partial(self._guarded, search, span)))

    def _span(self, search: Search) -> Span:
        request = search.request
        return self._plan.decider.telemetry.retrieve(request.conversation, request.host, request.metadata)

    def _guarded(self, search: Search, span: Span) -> ToolCallRequest:
        query = query_of(flow.tell(self._plan, search.request, self._judged(search), span))
        return search.call if query == search.query else search.asking(query)

    def _judged(self, search: Search) -> Decision:
        decider, request, answer = self._plan.decider, search.request, Answer(search.query)
        if request.unread is not None:
            return decider.unread(request.conversation, answer, request.unread)
        if len(search.queries) == 1:
            return decider.contained(request.conversation, answer, request.reference_date)
        return decider.checked(request.conversation, answer, lambda: self._part(search))

    def _part(self, search: Search) -> Decision:
        """The decision about one query of several, each of which may leave out what another one asks."""
        decider, conversation, day = self._plan.decider, search.request.conversation, search.request.reference_date
        found = decider.guard.check_all(
            conversation.turn,
            search.queries,
            conversation,
            profile=Profile.DECOMPOSE,
            reference_date=day,
            listed=False,
        )
        for each in found.assessments:
            if each.raw_rewrite == search.query:
                known = decider.guard.class_of(conversation.turn, conversation, policy=decider.policy)
                return decide(decider.policy, each, request_class=known)
        # It was left out, since it is blank.
        return decider.guard.decide(
            conversation.turn, search.query, conversation, policy=decider.policy, reference_date=day
        )


def _names(tools: Any) -> Mapping[str, str]:
    if not isinstance(tools, Mapping) or not all(isinstance(name, str) for pair in tools.items() for name in pair):
        raise InputError(f"tools: expected a mapping from tool name to argument name, got {tools!r}")
    return dict(tools)
