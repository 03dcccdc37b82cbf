"""The searches of one retrieval: started early, waited for together, dropped when they are not needed."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.model.decision import Origin, WeightedQuery
from rewriteguard.retrieve._runners import call
from rewriteguard.retrieve.fuse import Hit
from rewriteguard.telemetry import Telemetry

_DEEPEST = 16  # levels of nested keywords that are copied; filters of query languages have fewer


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
        return {
            "origin": self.origin.value,
            "query": self.query,
            "weight": self.weight,
            "status": self.status.value,
            "count": self.count,
            "vetoed": self.vetoed,
            "error": self.error,
            "seconds": self.seconds,
            "margin": self.margin,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Found:
    """What one search gave: admitted hits, best first, and how many were vetoed."""

    hits: tuple[Hit[Any], ...]
    vetoed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Landed:
    """A query of the decision with what one search gave for it, or with its error."""

    query: WeightedQuery
    source: str
    found: Found | None
    error: Exception | None
    status: Status
    seconds: float

    def arm(self, margin: float = 1.0) -> Arm:
        """The outcome as it is reported."""
        found = self.found
        return Arm(
            origin=self.query.origin,
            query=self.query.text,
            weight=self.query.weight,
            status=self.status,
            count=len(found.hits) if found else 0,
            vetoed=found.vetoed if found else 0,
            error=type(self.error).__name__ if self.error else None,
            seconds=self.seconds,
            margin=margin,
            source=self.source,
        )


@dataclass(frozen=True, slots=True)
class Searcher:
    """How an arm searches.

    Attributes:
        function: Called as function(query, origin, **keywords); gives items or hits, best first, or an awaitable.
        blocking: Whether it would hold up an event loop.
        keywords: Given identically to every arm; each gets copies of the dicts and lists in them.
        admit: Whether an item may be returned; one for which it raises is dropped.
        telemetry: Who is told.
        score: The score of a bare item, higher is better; None leaves bare items without.
        name: Tells it apart where there are several.
        owner: What may hang: the search as the application gave it.
    """

    function: Callable[..., Any]
    blocking: bool
    keywords: Mapping[str, Any]
    admit: Callable[[Any], bool] | None
    telemetry: Telemetry
    score: Callable[[Any], float | None] | None = None
    name: str = ""
    owner: Any = None

    async def search(self, text: str, origin: Origin) -> Found:
        """What one arm finds."""
        started = time.perf_counter()
        with self.telemetry.search(origin.value, text, self.name) as span:
            hits = self._hits(await call(self.function, text, origin, **copied(self.keywords)))
            admitted = tuple(hit for hit in hits if self._admits(hit.item))
            vetoed = len(hits) - len(admitted)
            items, scores = [hit.item for hit in admitted], [hit.score for hit in admitted]
            self.telemetry.found(span, origin.value, items, scores, vetoed)
        return Found(admitted, vetoed, time.perf_counter() - started)

    def _hits(self, items: Any) -> list[Hit[Any]]:
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            raise InputError(f"search: expected a list of items, got {type(items).__name__}")
        return [self._hit(item) for item in items]

    def _hit(self, item: Any) -> Hit[Any]:
        try:
            if isinstance(item, Hit):
                return Hit(item.item, None if item.score is None else float(item.score))
            score = None if self.score is None else self.score(item)
            return Hit(item, None if score is None else float(score))
        except Exception as error:  # noqa: BLE001 - a score that cannot be read is none: the item itself was found
            self.telemetry.failed("score", error)
            return Hit(item.item if isinstance(item, Hit) else item)

    def _admits(self, item: Any) -> bool:
        if self.admit is None:
            return True
        try:
            admitted = self.admit(item)
            if inspect.isawaitable(admitted):  # it would count as true
                raise InputError("admit: expected True or False, got an awaitable")
            return bool(admitted)
        except Exception as error:  # noqa: BLE001 - the application's veto failed: what is not cleared is not returned
            self.telemetry.failed("admit", error)
            return False


def copied(value: Any, depth: int = _DEEPEST) -> Any:
    """The same keywords with dicts, lists, tuples and sets of their own: who changes theirs changes no other's."""
    if depth == 0:
        return value
    if type(value) is dict:
        return {name: copied(each, depth - 1) for name, each in value.items()}
    return type(value)(copied(each, depth - 1) for each in value) if type(value) in (list, set, tuple) else value
