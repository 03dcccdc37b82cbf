"""The searches of one retrieval, side by side: started early, landed within the budget, dropped at the end."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock, get_ident

from rewriteguard.model.decision import Origin, WeightedQuery
from rewriteguard.retrieve._runners import Budget, Handle, Runner, error_of, timed_out
from rewriteguard.retrieve.arms import Arm, Found, Landed, Searcher, Status
from rewriteguard.retrieve.threads import Job


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
