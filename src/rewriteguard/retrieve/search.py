"""`GuardedSearch`: any search function behind any rewriter, with the guard between them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Decision
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import flow
from rewriteguard.retrieve._runners import is_async
from rewriteguard.retrieve.decider import decider_from, today_in_utc
from rewriteguard.retrieve.fuse import Hit
from rewriteguard.retrieve.request import Arm, Plan, Request, Result, Source, Status
from rewriteguard.retrieve.rewriter import ask_for, kept
from rewriteguard.telemetry import Telemetry

__all__ = ["Arm", "GuardedSearch", "Hit", "Result", "Status"]


class GuardedSearch:
    """A search behind a rewriter, with the guard between them.

    Args:
        search: Called as search(query, **search_kwargs), synchronous or not; gives items or `Hit(item, score)`, best
            first, scores higher-is-better. A mapping of names to such functions searches each of them with every query
            and fuses all lists at once (hybrid retrieval; see `Policy.hybrid`).
        rewriter: As for `safe_rewrite`. It is not asked where there is no history.
        guard: None is one process-wide guard. What it loads on first use is loaded now, not at the first turn.
        policy: None is `Policy()`.
        profile: What kind of rewriter is judged.
        k: The number of items to return; None is the number that the longest arm found. A `search` that has a parameter
            `k` is asked for more where lists are fused, since fusion gains nothing from short ones.
        key: What makes two items the same; None compares the items themselves. Items that raise there are the same only
            as themselves.
        rewrite_when: `always`, or `dependent`: turns that are complete by themselves are searched as they are.
        rewriter_timeout: Seconds that the rewriter may take.
        timeout: Seconds for the whole retrieval. When they are over, what the arms have found by then is returned; a
            check has a tenth of a second at least.
            A policy that searches once has nothing by then if the rewriter took it all: set `rewriter_timeout` too.
        scope: Gets the search keywords of a call, once, and gives the keywords that limit every arm; they win over the
            caller's. None from it or for one of its keywords, or an exception, stops the call before anything is asked
            or searched. Synchronous.
        admit: Whether an item may be returned; one for which it raises is dropped. Dropped items are counted.
            Synchronous.
        on_decision: Gets each decision; what it raises is logged and dropped. Synchronous.
        telemetry: None tells what the environment's switches allow.

    Each arm gets dicts, lists and sets of its own among the search keywords, and the same objects otherwise.
    A synchronous search that hangs keeps its thread, since threads cannot be stopped; the call goes on without it.
    Under `Policy.observe()` there is one search and no time limit, and what the rewriter raises is raised.

    Raises:
        PipelineNotFoundError: `guard` is None and no English spaCy pipeline is installed.
        InputError: An argument has a value that cannot be used.
    """

    def __init__(
        self,
        search: Callable[..., Any] | Mapping[str, Callable[..., Any]],
        rewriter: Any,
        *,
        guard: Guard | None = None,
        policy: Policy | None = None,
        profile: Profile = Profile.CONDENSE,
        k: int | None = None,
        key: Callable[[Any], Any] | None = None,
        rewrite_when: str = "always",
        rewriter_timeout: float | None = None,
        timeout: float | None = None,
        scope: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None = None,
        admit: Callable[[Any], bool] | None = None,
        on_decision: Callable[[Decision], Any] | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        ask_for(rewriter, "", (), in_loop=False)  # says now what it would say at the first turn
        self._searches = _searches(search)
        self._rewriter = rewriter
        decider = decider_from(guard, policy, profile, telemetry)
        self._plan = Plan(decider, k, key, rewrite_when, rewriter_timeout, timeout, scope, admit, on_decision)
        decider.warm_up()

    def run(self, turn: Any, history: Any = (), *, reference_date: date | None = None, **search_kwargs: Any) -> Result:
        """The items for a turn.

        Args:
            turn: The user's turn: a string or a message.
            history: The messages before the turn, oldest first, in any supported form.
            reference_date: The day that "today" means in the turn; None is today in UTC.
            **search_kwargs: Given to `search` with every query. `k` is the number of items to return, and wins over the
                constructor's.

        Raises:
            InputError: The turn is not text, or `k` is no whole number above 0.
            HistoryError: An item of the history has an unknown shape.
            ScopeError: The scope could not be decided; nothing was searched.
            TimeoutError: The time was over before any arm found anything.
            Exception: What the original's search raised, or the next arm's, where all searches failed.
        """
        return flow.run(self._plan, partial(self._request, turn, history, reference_date, search_kwargs, False))

    async def arun(
        self, turn: Any, history: Any = (), *, reference_date: date | None = None, **search_kwargs: Any
    ) -> Result:
        """The same as `run`; synchronous searches and rewriters run in threads."""
        return await flow.arun(self._plan, partial(self._request, turn, history, reference_date, search_kwargs, True))

    def _request(
        self,
        turn: Any,
        history: Any,
        reference_date: date | None,
        keywords: Mapping[str, Any],
        in_loop: bool,
        unguarded: bool,
    ) -> Request:
        history = kept(history)
        conversation = Conversation.read(turn, history)
        wanted = None if unguarded else keywords.get("k", self._plan.k)
        asked = bool(conversation.history)
        fused = len(self._searches) > 1 or (asked and self._plan.hedged)
        counted = keywords if wanted is None else self._plan.counted(keywords, wanted, fused=fused)
        return Request(
            conversation=conversation,
            ask=ask_for(self._rewriter, conversation.turn, history, in_loop=in_loop),
            sources=[
                Source(
                    partial(_without_origin, search),
                    blocking=not is_async(search),
                    owner=search,
                    keywords=counted if takes_k(search) else keywords,
                    name=name,
                )
                for name, search in self._searches.items()
            ],
            config=keywords,
            asked=asked,
            reference_date=reference_date or today_in_utc(),
            k=wanted,
        )


def _searches(search: Any) -> Mapping[str, Callable[..., Any]]:
    """The searches by name; a single one has none."""
    if not isinstance(search, Mapping):
        if not callable(search):
            raise InputError(f"search: expected a callable or a mapping of names to them, got {type(search).__name__}")
        return {"": search}
    if not search:
        raise InputError("search: expected at least one search, got an empty mapping")
    for name, each in search.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"search: expected names that are strings, got {name!r}")
        if not callable(each):
            raise InputError(f"search[{name!r}]: expected a callable, got {type(each).__name__}")
    return dict(search)


def _without_origin(search: Callable[..., Any], query: str, _origin: Any, /, **keywords: Any) -> Any:
    return search(query, **keywords)


def takes_k(search: Callable[..., Any]) -> bool:
    """True where `search` names a parameter `k`; one that takes any keyword may mean something else by it."""
    try:
        return "k" in inspect.signature(search).parameters
    except (TypeError, ValueError):  # a built-in or a proxy that does not tell its parameters
        return False
