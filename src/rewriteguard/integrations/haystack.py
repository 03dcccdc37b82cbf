"""Haystack: a component between the generator that rewrites and the retriever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from haystack import component
from haystack.dataclasses import ChatMessage, TextContent

from rewriteguard.errors import InputError
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations._host import one_query_plan, read
from rewriteguard.model.decision import Action, Decision, Reason
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.decider import today_in_utc
from rewriteguard.retrieve.request import Request
from rewriteguard.retrieve.rewriter import Answer, rewritten_text
from rewriteguard.telemetry import Telemetry


@component
class RewriteGuard:
    """Gives the query to search: the rewrite, or the user's own words where it is CHANGED.

    `query` is for a retriever that takes one text. `queries` is for one that takes several: under `Policy.single()`,
    the default, it holds the same text, under a policy that fuses up to three; their weights are in `decision`.
    Without arguments the component can be dumped and loaded with its pipeline.

    Args:
        guard: None is one process-wide guard.
        policy: None is `Policy.single()`.
        on_decision: Gets each decision; what it raises is logged and dropped.
        telemetry: None tells what the environment's switches allow.

    Raises:
        InputError: An argument has a value that cannot be used.
        PipelineNotFoundError: On `warm_up` or the first run: no English spaCy pipeline is installed.
    """

    def __init__(
        self,
        guard: Guard | None = None,
        policy: Policy | None = None,
        on_decision: Callable[[Decision], Any] | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        # Haystack reads the arguments from attributes of the same names when it dumps a pipeline.
        self.guard, self.policy, self.on_decision, self.telemetry = guard, policy, on_decision, telemetry
        plan = one_query_plan({"guard": guard, "policy": policy, "on_decision": on_decision, "telemetry": telemetry})
        self._plan = plan if policy is None else replace(plan, decider=replace(plan.decider, policy=policy))

    def warm_up(self) -> None:
        """Loads the pipeline now, not at the first run."""
        self._plan.decider.warm_up()

    @component.output_types(query=str, queries=list[str], verdict=str, decision=Decision, candidates=list[str])
    def run(
        self,
        query: str,
        replies: list[str] | list[ChatMessage] | None = None,
        history: list[ChatMessage] | None = None,
        reference_date: date | None = None,
    ) -> dict[str, Any]:
        """The query to search.

        Args:
            query: The user's turn.
            replies: What the rewriter answered, of which the first is judged. None where it was not asked; where it
                gave nothing, the user's own words are searched.
            history: The messages before the turn, oldest first.
            reference_date: The day that "today" means; None is today in UTC.

        Returns:
            `query`, `queries`, `verdict` ("none" where nothing was judged) and `decision`. Where the policy asks the
            user back there is no query, and `candidates` holds the readings instead.
        """
        conversation, unread = read(query, [_spoken(message) for message in history or ()])
        day = reference_date or today_in_utc()
        request = Request(conversation, _answer(replies), reference_date=day, unread=unread)
        decision = flow.decided(self._plan, request)
        verdict = decision.verdict.value if decision.verdict else "none"
        if decision.action is Action.CLARIFY:
            return {"candidates": list(decision.candidates), "verdict": verdict, "decision": decision}
        queries = [each.text for each in decision.queries]
        return {"query": decision.query, "queries": queries, "verdict": verdict, "decision": decision}


def _answer(replies: list[Any] | None) -> Answer:
    if replies is None:
        return Answer(reason=Reason.FIRST_TURN)
    try:
        return Answer(_text(replies[0]))
    except (IndexError, InputError):
        return Answer(reason=Reason.REWRITER_ERROR)


def _text(reply: Any) -> str:
    return "\n".join(reply.texts) if isinstance(reply, ChatMessage) else rewritten_text(reply)


def _spoken(message: Any) -> Any:
    """The role and the whole text of a message, what tools gave back included."""
    if not isinstance(message, ChatMessage):
        return message
    texts = list(message.texts)
    for found in message.tool_call_results:
        parts = [TextContent(found.result)] if isinstance(found.result, str) else found.result
        texts += [part.text for part in parts if isinstance(part, TextContent)]
    return (message.role.value, "\n".join(texts))
