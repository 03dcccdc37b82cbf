"""What a guarded retrieval is given and gives back: the settings, one request with its searches, the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from rewriteguard.errors import InputError, ScopeError
from rewriteguard.model import arguments
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Decision, Origin
from rewriteguard.retrieve._runners import is_async
from rewriteguard.retrieve.decider import Decider
from rewriteguard.retrieve.rewriter import Answer, Ask
from rewriteguard.telemetry import Host

# Source: fusing four documents an arm was neutral on MTRAG, QReCC and CAsT; the gain came with twenty.
_OVERFETCH = 20

_REWRITE_WHEN = ("always", "dependent")


class Status(StrEnum):
    """What became of an arm; a skipped one was started early and turned out not to be needed."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Arm:
    """One searched query, and what became of it.

    Attributes:
        origin: Where the query's text comes from.
        query: The text.
        weight: Its weight in fusion, without the margin; 0 where it was skipped.
        status: What became of it.
        count: The number of items that it found and that were admitted.
        vetoed: The number of items that `admit` dropped.
        error: The type of its error; None where there was none.
        seconds: How long it took; up to now where it was given up.
        margin: What its weight was multiplied by.
        source: The name of the search, where there are several.
    """

    origin: Origin
    query: str
    weight: float
    status: Status
    count: int = 0
    vetoed: int = 0
    error: str | None = None
    seconds: float = 0.0
    margin: float = 1.0
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The arm as plain JSON values."""
        return asdict(self) | {"origin": self.origin.value, "status": self.status.value}


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

    Attributes:
        score: The score of a bare item, higher is better; None leaves bare items without.

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
    score: Callable[[Any], float | None] | None = None

    def __post_init__(self) -> None:
        if self.rewrite_when not in _REWRITE_WHEN:
            raise InputError(f"rewrite_when: expected 'always' or 'dependent', got {self.rewrite_when!r}")
        arguments.count("k", self.k)
        for name in ("rewriter_timeout", "timeout"):
            arguments.seconds(name, getattr(self, name))
        for name in ("key", "scope", "admit", "on_decision"):
            function = getattr(self, name)
            arguments.function(name, function)
            if function is not None and is_async(function):
                raise InputError(f"{name}: expected a synchronous callable, got a coroutine function")
        arguments.function("score", self.score)

    @property
    def hedged(self) -> bool:
        """Whether the policy can fuse, so that the original is worth searching before the rewriter answers."""
        return not self.decider.policy.one_search

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
        function: Called as function(query, origin, **keywords); gives items or hits, best first, or an awaitable.
        blocking: Whether it would hold up an event loop.
        owner: What of the application may hang; only so many of its calls may.
        keywords: Given identically to every arm; each gets copies of the dicts and lists in them.
        name: Tells it apart where there are several.
    """

    function: Callable[..., Any]
    blocking: bool
    owner: Any
    keywords: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        conversation: The turn and the messages before it.
        ask: How the rewriter is asked, or what it has answered.
        asked: Whether the rewriter is to be asked at all; false on a first turn.
        sources: The searches, each of which gets every query; none where the host searches.
        config: The trusted configuration that `scope` reads.
        reference_date: The day that "today" means.
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
    ask: Ask | Answer
    asked: bool = True
    sources: Sequence[Source] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
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
