"""What hosts have in common: their keywords, how they hand over turn and history, and searching with one string."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, TypedDict

from rewriteguard.errors import ClarificationNeeded, InputError
from rewriteguard.guard.guard import Guard
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.decider import decider_from, today_in_utc
from rewriteguard.retrieve.request import Plan, Request
from rewriteguard.retrieve.rewriter import Ask
from rewriteguard.telemetry import Telemetry

_KNOWN_ROLES = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool", "function"})


class HostKeywords(TypedDict, total=False):
    """The keywords of every entry point; None is the default of each."""

    guard: Guard | None
    telemetry: Telemetry | None


class OneQueryKeywords(HostKeywords, total=False):
    """The keywords of all entry points whose host searches with one string; None is the default of each.

    `policy` is `Policy.single()` unless given. Any other is held to one search: `Policy.strict()` and
    `Policy.observe()` do what they say, and nothing is fused. `on_decision` gets each decision; what it raises is
    logged and dropped.
    """

    policy: Policy | None
    on_decision: Callable[[Decision], Any] | None


def one_query_plan(keywords: OneQueryKeywords) -> Plan:
    """What the keywords of an entry point say; the policy searches once.

    Raises:
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    arguments.keywords(keywords, OneQueryKeywords)
    decider = decider_from(keywords.get("guard"), keywords.get("policy"), Profile.CONDENSE, keywords.get("telemetry"))
    policy = Policy.single() if keywords.get("policy") is None else decider.policy
    decider = replace(decider, policy=replace(policy, one_search=True, carried=False))
    return Plan(decider, on_decision=keywords.get("on_decision"))


def rewritten(plan: Plan, turn: Any, history: Any, ask: Callable[[], Any], day: date | None = None) -> Decision:
    """The decision about the rewrite that `ask` gives, told; a rewriter that fails gives FALL_BACK.

    Raises:
        Exception: What `ask` raised, where the search has to be as without the guard: under `Policy.observe()`, or
            where the turn is no text.
    """
    return flow.decided(plan, _request(turn, history, Ask(ask, blocking=True), day))


async def arewritten(
    plan: Plan, turn: Any, history: Any, ask: Callable[[], Awaitable[Any]], day: date | None = None
) -> Decision:
    """The same as `rewritten`."""
    return await flow.adecided(plan, _request(turn, history, Ask(ask, blocking=False), day))


def query_of(decision: Decision) -> str:
    """The one text to search.

    Raises:
        ClarificationNeeded: The policy asks the user instead.
    """
    if decision.action is Action.CLARIFY:
        raise ClarificationNeeded(decision.candidates)
    return decision.query


def read(turn: Any, history: Any) -> tuple[Conversation, Exception | None]:
    """As much of the conversation as can be read, and why the rest cannot; a turn that is no text is empty.

    Hosts take more forms than the guard reads.
    """
    spoken = Conversation("")
    try:
        spoken = Conversation.read(turn)
        if not isinstance(turn, str) and not spoken.turn.strip():  # images, say: there is nothing to check a rewrite by
            return Conversation(""), InputError(f"turn: expected text, got a {type(turn).__name__} without any")
        return Conversation.read(spoken.turn, _history(history)), None
    except Exception as error:  # noqa: BLE001 - the guard's own failure: the host takes forms that it does not know
        return spoken, error


def _request(turn: Any, history: Any, ask: Ask, day: date | None) -> Request:
    conversation, unread = read(turn, history)
    return Request(conversation, ask, reference_date=day or today_in_utc(), unread=unread)


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
