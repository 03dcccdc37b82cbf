"""Who decides about a rewriter's answer, and by what rules: guard, policy, profile and telemetry of one entry point."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from threading import Lock

from rewriteguard.errors import PipelineNotFoundError
from rewriteguard.guard.guard import Guard
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Decision, Reason
from rewriteguard.policy.policy import Policy, without_rewrite
from rewriteguard.retrieve.rewriter import Answer
from rewriteguard.telemetry import Telemetry, default_telemetry

_BUILDING = Lock()


def default_guard() -> Guard:
    """The process-wide guard, built on first use.

    Raises:
        PipelineNotFoundError: No English spaCy pipeline is installed.
    """
    with _BUILDING:  # lru_cache alone would let two threads build one each
        return _guard()


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, by what rules, and who is told.

    Raises:
        InputError: One of them is something else.
    """

    guard: Guard
    policy: Policy
    profile: Profile
    telemetry: Telemetry

    def __post_init__(self) -> None:
        for name, kind in (("guard", Guard), ("policy", Policy), ("profile", Profile), ("telemetry", Telemetry)):
            arguments.instance(name, getattr(self, name), kind)

    def warm_up(self) -> None:
        """Pays first-call costs now; where the guard fails, it fails again at the first turn, and is contained.

        Raises:
            PipelineNotFoundError: No English spaCy pipeline is installed.
        """
        self.telemetry.begin(self.profile)
        try:
            self.guard.warm_up()
        except PipelineNotFoundError:
            raise
        except Exception as error:  # noqa: BLE001 - the guard's own failure, such as an extractor's, must break no search
            self.telemetry.failed("guard", error)

    def contained(self, conversation: Conversation, answer: Answer, reference_date: date | None) -> Decision:
        """The decision about an answer; where the guard itself fails, the original alone is searched."""
        guard, turn, policy = self.guard, conversation.turn, self.policy
        if answer.text is None:
            work = partial(guard.without_rewrite, turn, answer.reason, conversation, policy=policy)
            return self._contained(conversation, answer, work)
        decide = partial(guard.decide, policy=policy, profile=self.profile, reference_date=reference_date)
        return self.checked(conversation, answer, partial(decide, turn, answer.text, conversation))

    def checked(self, conversation: Conversation, answer: Answer, judge: Callable[[], Decision]) -> Decision:
        """What `judge` says about an answer, told as a check; where it fails, the original alone is searched."""
        started = time.perf_counter()
        with self.telemetry.check() as span:
            decision = self._contained(conversation, answer, judge)
            self.telemetry.checked(span, conversation, decision, time.perf_counter() - started)
        return decision

    def failed(self, conversation: Conversation, answer: Answer, error: Exception) -> Decision:
        """The decision where the guard itself failed: the original alone, or in shadow mode the unchecked rewrite."""
        self.telemetry.failed("guard", error)
        return without_rewrite(self.policy, conversation.turn, Reason.GUARD_ERROR, unchecked=answer.text)

    def unread(self, conversation: Conversation, answer: Answer, error: Exception) -> Decision:
        """The decision where turn or history could not be read; what is no text is searched as in shadow mode."""
        policy = self.policy if conversation.turn.strip() else replace(self.policy, shadow=True)
        return replace(self, policy=policy).failed(conversation, answer, error)

    def _contained(self, conversation: Conversation, answer: Answer, judge: Callable[[], Decision]) -> Decision:
        try:
            return judge()
        except Exception as error:  # noqa: BLE001 - a guard that fails must not take the search with it
            return self.failed(conversation, answer, error)


def decider_from(guard: Guard | None, policy: Policy | None, profile: Profile, telemetry: Telemetry | None) -> Decider:
    """The decider that an entry point's arguments say; None is the default of each.

    Raises:
        InputError: An argument has a type that cannot be used.
    """
    return Decider(
        default_guard() if guard is None else guard,
        Policy() if policy is None else policy,
        profile,
        default_telemetry() if telemetry is None else telemetry,
    )


def today_in_utc() -> date:
    """The day that "today" means where the application does not say it."""
    return datetime.now(UTC).date()


@lru_cache(maxsize=1)
def _guard() -> Guard:
    return Guard()
