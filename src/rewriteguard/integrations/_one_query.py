"""The decision for a host that searches with one string: `Decision.query`, told to telemetry and to the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypedDict

from rewriteguard.errors import ClarificationNeeded
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations._host_history import read
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve._runners import call, drive
from rewriteguard.retrieve.decider import Decider, decider_from, notify, today_in_utc
from rewriteguard.retrieve.rewrite import asafe_rewrite, safe_rewrite
from rewriteguard.retrieve.rewriter import Answer, rewritten_text
from rewriteguard.telemetry import Span, Telemetry


class OneQueryKeywords(TypedDict, total=False):
    """The keywords of all entry points whose host searches with one string; None is the default of each.

    `policy` is `Policy.single()` unless given. Any other is held to one search: `Policy.strict()` and
    `Policy.observe()` do what they say, and nothing is fused. `on_decision` gets each decision; what it raises is
    logged and dropped.
    """

    guard: Guard | None
    policy: Policy | None
    on_decision: Callable[[Decision], Any] | None
    telemetry: Telemetry | None


@dataclass(frozen=True, slots=True)
class OneQuery:
    """Decides for a host that searches with one string, and tells it.

    Attributes:
        decider: Who decides; its policy searches once.
        on_decision: Gets each decision.
    """

    decider: Decider
    on_decision: Callable[[Decision], Any] | None

    def rewritten(self, turn: Any, history: Any, ask: Callable[[], Any], day: date | None = None) -> Decision:
        """The decision about the rewrite that `ask` gives; a rewriter that fails gives FALL_BACK.

        Raises:
            Exception: What `ask` raised, where the search has to be as without the guard: under `Policy.observe()`, or
                where the turn is no text.
        """
        conversation, unread = read(turn, history)
        if unread is None:
            decision = safe_rewrite(conversation.turn, lambda _: ask(), conversation, **self._keywords(day))
            return self._called_back(decision)
        answer = Answer(rewritten_text(drive(call(ask)))) if self.decider.as_unguarded(conversation) else Answer()
        return self.unreadable(conversation, unread, answer)

    async def arewritten(
        self, turn: Any, history: Any, ask: Callable[[], Awaitable[Any]], day: date | None = None
    ) -> Decision:
        """The same as `rewritten`."""
        conversation, unread = read(turn, history)
        if unread is None:

            async def rewriter(_: str) -> Any:
                return await ask()

            return self._called_back(
                await asafe_rewrite(conversation.turn, rewriter, conversation, **self._keywords(day))
            )
        answer = Answer(rewritten_text(await ask())) if self.decider.as_unguarded(conversation) else Answer()
        return self.unreadable(conversation, unread, answer)

    def unreadable(self, conversation: Conversation, error: Exception, answer: Answer) -> Decision:
        """The decision where turn or history could not be read, so that nothing was checked; it is told."""
        self.decider.telemetry.failed("guard", error)
        return self.told(self.decider.unread(conversation, answer), conversation)

    def told(
        self,
        decision: Decision,
        conversation: Conversation,
        day: date | None = None,
        span: Span | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Decision:
        """The same decision, told to telemetry and to the application."""
        profile = decision.assessment.profile if decision.assessment else self.decider.profile
        self.decider.telemetry.decided(decision, profile, span)
        self.decider.telemetry.logged(conversation, decision, profile, day=day, metadata=metadata)
        return self._called_back(decision)

    def _called_back(self, decision: Decision) -> Decision:
        notify(self.decider.telemetry, self.on_decision, decision)
        return decision

    def _keywords(self, day: date | None) -> dict[str, Any]:
        decider = self.decider
        return {
            "guard": decider.guard,
            "policy": decider.policy,
            "telemetry": decider.telemetry,
            "reference_date": day or today_in_utc(),
        }


def one_query_from(keywords: OneQueryKeywords) -> OneQuery:
    """What the keywords of an entry point say.

    Raises:
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    arguments.keywords(keywords, OneQueryKeywords)
    arguments.function("on_decision", keywords.get("on_decision"))
    decider = decider_from(keywords.get("guard"), keywords.get("policy"), Profile.CONDENSE, keywords.get("telemetry"))
    policy = Policy.single() if keywords.get("policy") is None else decider.policy
    decider = replace(decider, policy=replace(policy, one_search=True, carried=False))
    return OneQuery(decider, keywords.get("on_decision"))


def query_of(decision: Decision) -> str:
    """The one text to search.

    Raises:
        ClarificationNeeded: The policy asks the user instead.
    """
    if decision.action is Action.CLARIFY:
        raise ClarificationNeeded(decision.candidates)
    return decision.query
