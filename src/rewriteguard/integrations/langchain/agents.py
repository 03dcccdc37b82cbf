"""LangChain 1.x agents: in an agent the rewrite is the argument of a search tool's call.

The turn is the last human message of the state; the history is what stands before it, and what tools gave back since.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from rewriteguard.errors import InputError
from rewriteguard.integrations._one_query import OneQueryKeywords, one_query_from, query_of
from rewriteguard.integrations.langchain._call import host_of
from rewriteguard.integrations.langchain.calls import Search, search_of
from rewriteguard.model.assessment import Profile
from rewriteguard.model.decision import Decision
from rewriteguard.policy.policy import decide
from rewriteguard.retrieve._runners import TaskRunner, compute
from rewriteguard.retrieve.decider import today_in_utc
from rewriteguard.retrieve.rewriter import Answer
from rewriteguard.telemetry import Span

if TYPE_CHECKING:  # LangChain has moved this type between its packages
    from langchain.agents.middleware import ToolCallRequest

Answered = ToolMessage | Command[Any]


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
        self._one = one_query_from(keywords)
        self._one.decider.warm_up()

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
            return await handler(await compute(TaskRunner(), partial(self._guarded, search, span)))

    def _span(self, search: Search) -> Span:
        config = search.config
        host = host_of(config.get("callbacks"))
        return self._one.decider.telemetry.retrieve(search.conversation, host, config.get("metadata"))

    def _guarded(self, search: Search, span: Span) -> ToolCallRequest:
        day = (search.config.get("configurable") or {}).get("reference_date") or today_in_utc()
        decision = self._decide(search, day)
        query = query_of(self._one.told(decision, search.conversation, day, span, search.config.get("metadata")))
        return search.request if query == search.query else search.asking(query)

    def _decide(self, search: Search, day: date) -> Decision:
        decider, answer = self._one.decider, Answer(search.query)
        if search.unread is not None:
            decider.telemetry.failed("guard", search.unread)
            return decider.unread(search.conversation, answer)
        if len(search.queries) == 1:
            return decider.decide(search.conversation, answer, day)
        return decider.checked(search.conversation, answer, lambda: self._part(search, day))

    def _part(self, search: Search, day: date) -> Decision:
        """The decision about one query of several, each of which may leave out what another one asks."""
        decider, conversation = self._one.decider, search.conversation
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
