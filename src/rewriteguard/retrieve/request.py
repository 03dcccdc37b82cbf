"""What a hedged search is given and gives back: the settings, one request, the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from rewriteguard.errors import InputError, ScopeError
from rewriteguard.model import arguments
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Decision
from rewriteguard.retrieve._runners import is_async
from rewriteguard.retrieve.arms import Arm, Status
from rewriteguard.retrieve.decider import Decider
from rewriteguard.retrieve.rewriter import Ask
from rewriteguard.telemetry import Host

# Source: fusing four documents an arm was neutral on MTRAG, QReCC and CAsT; the gain came with twenty.
_OVERFETCH = 20

_REWRITE_WHEN = ("always", "dependent")


@dataclass(frozen=True, slots=True)
class Result:
    """What a guarded retrieval gives back.

    Attributes:
        items: The items, best first, as the search returned them; empty where the action is CLARIFY.
        decision: What was decided about the rewrite.
        arms: The searches, in the order of the decision's queries, then those that were started but not needed.
        id: The trace id where the retrieval is traced, else the id of the host's run, else a random one; 32 hex digits.
    """

    items: list[Any]
    decision: Decision
    arms: tuple[Arm, ...]
    id: str

    @property
    def partial(self) -> bool:
        """Whether an arm that was to be fused failed or was given up."""
        return any(arm.status in (Status.ERROR, Status.TIMEOUT) for arm in self.arms)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON values, except that the items stay as they are."""
        return {
            "items": list(self.items),
            "decision": self.decision.to_dict(),
            "arms": [arm.to_dict() for arm in self.arms],
            "partial": self.partial,
            "id": self.id,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What holds for every call: the settings of `GuardedSearch`, without search and rewriter.

    Raises:
        InputError: A setting has a value that cannot be used.
    """

    decider: Decider
    k: int | None = None
    key: Callable[[Any], Any] | None = None
    rewrite_when: str = "always"
    rewriter_timeout: float | None = None
    timeout: float | None = None
    scope: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None = None
    admit: Callable[[Any], bool] | None = None
    on_decision: Callable[[Decision], Any] | None = None

    def __post_init__(self) -> None:
        if self.rewrite_when not in _REWRITE_WHEN:
            raise InputError(f"rewrite_when: expected 'always' or 'dependent', got {self.rewrite_when!r}")
        arguments.count("k", self.k)
        for name in ("rewriter_timeout", "timeout"):
            arguments.seconds(name, getattr(self, name))
        for name in ("key", "scope", "admit", "on_decision"):
            arguments.function(name, getattr(self, name))
        for name in ("key", "scope", "admit", "on_decision"):
            if is_async(getattr(self, name)):
                raise InputError(f"{name}: expected a synchronous callable, got a coroutine function")

    @property
    def hedged(self) -> bool:
        """Whether the policy can fuse, so that the original is worth searching before the rewriter answers."""
        return not (self.decider.policy.shadow or self.decider.policy.one_search)

    def counted(self, keywords: Mapping[str, Any], wanted: int, *, fused: bool) -> Mapping[str, Any]:
        """The keywords of a search that takes `k`, to return `wanted` items: more are asked for where lists are fused.

        Raises:
            InputError: `wanted` is no whole number above 0.
        """
        arguments.count("k", wanted)
        return {**keywords, "k": max(_OVERFETCH, wanted) if fused else wanted}


@dataclass(frozen=True, slots=True)
class Source:
    """One search over one index.

    Attributes:
        search: Called as search(query, origin, **keywords).
        blocking: Whether `search` would hold up an event loop.
        keywords: The caller's search keywords, given to every arm.
        score: The score of a bare item, higher is better.
        name: Tells it apart where there are several.
        owner: The application's own function, of which only so many calls may hang; None counts by the plan.
    """

    search: Callable[..., Any]
    blocking: bool
    keywords: Mapping[str, Any]
    score: Callable[[Any], float | None] | None = None
    name: str = ""
    owner: Any = None


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        conversation: The turn and the messages before it.
        ask: How the rewriter is asked.
        sources: The searches, each of which gets every query.
        config: The trusted configuration that `scope` reads.
        asked: Whether the rewriter is to be asked at all; false on a first turn.
        reference_date: The day that "today" means; None is today in UTC.
        k: The number of items to return; None is what the longest arm found.
        host: The run of a host framework, for its place in the trace.
        metadata: The run's metadata, for its session id.
        takes: Gets the names of the keywords that limit the search, and raises ScopeError where a search would not pass
            them on.
        union: Whether all that the arms found is returned where `k` is None, as hosts with several queries do.
        unread: Why turn or history could not be read; the conversation holds what could.

    Raises:
        InputError: `k` is no whole number above 0.
    """

    conversation: Conversation
    ask: Ask
    sources: Sequence[Source]
    config: Mapping[str, Any]
    asked: bool
    reference_date: date | None = None
    k: int | None = None
    host: Host | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    takes: Callable[[Iterable[str]], None] | None = None
    union: bool = False
    unread: Exception | None = None

    def __post_init__(self) -> None:
        arguments.count("k", self.k)


def limits_of(
    scope: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None, config: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The search keywords that a scope gives for a configuration; none where there is no scope.

    Raises:
        ScopeError: The scope raised, or did not decide.
    """
    if scope is None:
        return {}
    try:
        limits = scope(config)
    except Exception as error:  # whatever it raised, it did not say what may be searched
        raise ScopeError(f"scope: it raised {type(error).__name__}; nothing was searched") from error
    if not isinstance(limits, Mapping):
        raise ScopeError(
            f"scope: expected a mapping of search keywords, got {type(limits).__name__}; nothing was searched"
        )
    undecided = [name for name, limit in limits.items() if limit is None]
    if undecided:  # searches take None as "no limit"
        raise ScopeError(f"scope: it gave None for {', '.join(map(repr, undecided))}; nothing was searched")
    return limits
