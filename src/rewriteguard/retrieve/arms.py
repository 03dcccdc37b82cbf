"""The searches of one retrieval, side by side: started early, landed within the budget, dropped at the end."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock, get_ident
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.model.decision import Origin, WeightedQuery
from rewriteguard.retrieve._runners import Budget, Handle, Job, Runner, call, error_of, timed_out
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


@dataclass(frozen=True, slots=True)
class _Running:
    origin: Origin
    handle: Handle[Found]
    started: float


class Flight:
    """The arms of one retrieval, each text in each search; equal texts are searched once."""

    def __init__(self, runner: Runner, searchers: Sequence[Searcher], budget: Budget) -> None:
        self._runner = runner
        self._searchers = tuple(searchers)
        self._budget = budget
        self._running: dict[tuple[str, str], _Running] = {}
        self._open = True
        self._starting = Lock()
        self._home = get_ident()
        self._apart: set[tuple[str, str]] = set()

    def start(self, text: str, origin: Origin) -> None:
        """Starts the searches of a text beside the flow, from any of its threads; too late is not at all."""
        with self._starting:
            for searcher in self._searchers if self._open else ():
                self._start(searcher, text, origin)

    async def land(self, queries: Sequence[WeightedQuery]) -> tuple[Landed, ...]:
        """What the searches of `queries` gave within the budget, in their order; those not running yet are started."""
        self._close()
        wanted = [(searcher, query) for query in queries for searcher in self._searchers]
        places = {(query.text, searcher.name) for searcher, query in wanted}
        for place, running in self._running.items():
            if place not in places:
                running.handle.cancel()
        missing = [each for each in wanted if (each[1].text, each[0].name) not in self._running]
        for searcher, query in missing[:-1]:
            self._start(searcher, query.text, query.origin)
        for searcher, query in missing[-1:]:
            await self._run(searcher, query)
        await self._runner.wait([self._running[place].handle for place in places], self._budget.left())
        landed = [self._landed(searcher, query) for searcher, query in wanted]
        if not any(each.found for each in landed):  # the first query is the original, where it is searched
            landed[: len(self._searchers)] = map(self._again, wanted[: len(self._searchers)], landed)
        return tuple(landed)

    def skipped(self, queries: Iterable[WeightedQuery]) -> tuple[Arm, ...]:
        """The arms that were started and are none of `queries`."""
        used = {query.text for query in queries}
        return tuple(
            Arm(running.origin, text, 0, Status.SKIPPED, source=source)
            for (text, source), running in self._running.items()
            if text not in used
        )

    async def drop(self) -> None:
        """Cancels whatever still runs."""
        self._close()
        await self._runner.drop([running.handle for running in self._running.values()])

    def _close(self) -> None:
        with self._starting:
            self._open = False

    def _start(self, searcher: Searcher, text: str, origin: Origin) -> None:
        handle = self._runner.start(
            self._job(searcher, text, origin),
            blocking=searcher.blocking,
            seconds=self._budget.left(),
            owner=searcher.owner,
        )
        self._running[text, searcher.name] = _Running(origin, handle, time.perf_counter())

    async def _run(self, searcher: Searcher, query: WeightedQuery) -> None:
        started = time.perf_counter()
        handle = await self._runner.run(
            self._job(searcher, query.text, query.origin),
            blocking=searcher.blocking,
            seconds=self._budget.left(),
            owner=searcher.owner,
        )
        self._running[query.text, searcher.name] = _Running(query.origin, handle, started)

    def _again(self, wanted: tuple[Searcher, WeightedQuery], landed: Landed) -> Landed:
        """What failed in another thread, once more in the caller's: the back end may be bound to that, as SQLite is."""
        searcher, query = wanted
        place = query.text, searcher.name
        bound = landed.status is Status.ERROR and place in self._apart and searcher.blocking
        if not bound or self._budget.left() == 0:
            return landed
        started = time.perf_counter()
        handle = self._runner.here(self._job(searcher, query.text, query.origin))
        if handle is None:
            return landed
        self._running[place] = _Running(query.origin, handle, started)
        return self._landed(searcher, query)

    def _job(self, searcher: Searcher, text: str, origin: Origin) -> Job[Found]:
        async def search() -> Found:
            if get_ident() != self._home:
                self._apart.add((text, searcher.name))
            return await searcher.search(text, origin)

        return search

    def _landed(self, searcher: Searcher, query: WeightedQuery) -> Landed:
        running = self._running[query.text, searcher.name]
        late = timed_out(running.handle)
        error = error_of(running.handle)
        if error is None:
            found = running.handle.result()
            return Landed(query, searcher.name, found, None, Status.OK, found.seconds)
        searcher.telemetry.failed("search", error)
        status = Status.TIMEOUT if late else Status.ERROR
        return Landed(query, searcher.name, None, error, status, time.perf_counter() - running.started)
