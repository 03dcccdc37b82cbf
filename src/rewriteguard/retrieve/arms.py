"""The searches of one retrieval, side by side: started early, landed within the budget, dropped at the end."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock, get_ident
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.model.decision import Origin, WeightedQuery
from rewriteguard.retrieve._runners import Budget, Handle, Job, Runner, call, error_of, timed_out
from rewriteguard.retrieve.fuse import Hit
from rewriteguard.retrieve.request import Arm, Plan, Source, Status

_DEEPEST = 16  # levels of nested keywords that are copied; filters of query languages have fewer


@dataclass(frozen=True, slots=True)
class Landed:
    """An arm as it is reported, with the admitted hits that it found, best first, or with its error."""

    arm: Arm
    hits: tuple[Hit[Any], ...] = ()
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class _Running:
    origin: Origin
    handle: Handle[Landed]
    started: float


class Flight:
    """The arms of one retrieval, each text in each search; equal texts are searched once."""

    def __init__(self, runner: Runner, plan: Plan, sources: Sequence[Source], budget: Budget) -> None:
        self._runner = runner
        self._plan = plan
        self._telemetry = plan.decider.telemetry
        self._sources = tuple(sources)
        self._budget = budget
        self._running: dict[tuple[str, str], _Running] = {}
        self._open = True
        self._starting = Lock()
        self._home = get_ident()
        self._apart: set[tuple[str, str]] = set()

    def start(self, text: str, origin: Origin) -> None:
        """Starts the searches of a text beside the flow, from any of its threads; too late is not at all."""
        with self._starting:
            for source in self._sources if self._open else ():
                self._start(source, text, origin)

    async def land(self, queries: Sequence[WeightedQuery]) -> tuple[Landed, ...]:
        """What the searches of `queries` gave within the budget, in their order; those not running yet are started."""
        self._close()
        wanted = [(source, query) for query in queries for source in self._sources]
        places = {(query.text, source.name) for source, query in wanted}
        for place, running in self._running.items():
            if place not in places:
                running.handle.cancel()
        missing = [each for each in wanted if (each[1].text, each[0].name) not in self._running]
        for source, query in missing[:-1]:
            self._start(source, query.text, query.origin)
        for source, query in missing[-1:]:
            await self._run(source, query)
        await self._runner.wait([self._running[place].handle for place in places], self._budget.left())
        landed = [self._landed(source, query) for source, query in wanted]
        if all(each.error is not None for each in landed):  # the first query is the original, where it is searched
            landed[: len(self._sources)] = map(self._again, wanted[: len(self._sources)], landed)
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

    def _start(self, source: Source, text: str, origin: Origin) -> None:
        handle = self._runner.start(
            self._job(source, text, origin), blocking=source.blocking, seconds=self._budget.left(), owner=source.owner
        )
        self._running[text, source.name] = _Running(origin, handle, time.perf_counter())

    async def _run(self, source: Source, query: WeightedQuery) -> None:
        started, job = time.perf_counter(), self._job(source, query.text, query.origin)
        handle = await self._runner.run(job, blocking=source.blocking, seconds=self._budget.left(), owner=source.owner)
        self._running[query.text, source.name] = _Running(query.origin, handle, started)

    def _again(self, wanted: tuple[Source, WeightedQuery], landed: Landed) -> Landed:
        """What failed in another thread, once more in the caller's: the back end may be bound to that, as SQLite is."""
        source, query = wanted
        place = query.text, source.name
        bound = landed.arm.status is Status.ERROR and place in self._apart and source.blocking
        if not bound or self._budget.left() == 0:
            return landed
        started = time.perf_counter()
        handle = self._runner.here(self._job(source, query.text, query.origin))
        if handle is None:
            return landed
        self._running[place] = _Running(query.origin, handle, started)
        return self._landed(source, query)

    def _job(self, source: Source, text: str, origin: Origin) -> Job[Landed]:
        async def search() -> Landed:
            if get_ident() != self._home:
                self._apart.add((text, source.name))
            return await self._search(source, text, origin)

        return search

    async def _search(self, source: Source, text: str, origin: Origin) -> Landed:
        started = time.perf_counter()
        with self._telemetry.search(origin.value, text, source.name) as span:
            hits = self._hits(await call(source.function, text, origin, **copied(source.keywords)))
            admitted = tuple(hit for hit in hits if self._admits(hit.item))
            vetoed = len(hits) - len(admitted)
            items, scores = [hit.item for hit in admitted], [hit.score for hit in admitted]
            self._telemetry.found(span, origin.value, items, scores, vetoed)
        seconds = time.perf_counter() - started
        arm = Arm(origin, text, 0, Status.OK, len(admitted), vetoed, seconds=seconds, source=source.name)
        return Landed(arm, admitted)

    def _landed(self, source: Source, query: WeightedQuery) -> Landed:
        running = self._running[query.text, source.name]
        late = timed_out(running.handle)
        error = error_of(running.handle)
        if error is None:
            found = running.handle.result()
            return replace(found, arm=replace(found.arm, origin=query.origin, weight=query.weight))
        self._telemetry.failed("search", error)
        status, seconds = Status.TIMEOUT if late else Status.ERROR, time.perf_counter() - running.started
        name = type(error).__name__
        arm = Arm(query.origin, query.text, query.weight, status, error=name, seconds=seconds, source=source.name)
        return Landed(arm, error=error)

    def _hits(self, items: Any) -> list[Hit[Any]]:
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            raise InputError(f"search: expected a list of items, got {type(items).__name__}")
        return [self._hit(item) for item in items]

    def _hit(self, item: Any) -> Hit[Any]:
        try:
            if isinstance(item, Hit):
                return Hit(item.item, None if item.score is None else float(item.score))
            score = None if self._plan.score is None else self._plan.score(item)
            return Hit(item, None if score is None else float(score))
        except Exception as error:  # noqa: BLE001 - a score that cannot be read is none: the item itself was found
            self._telemetry.failed("score", error)
            return Hit(item.item if isinstance(item, Hit) else item)

    def _admits(self, item: Any) -> bool:
        if self._plan.admit is None:
            return True
        try:
            admitted = self._plan.admit(item)
            if inspect.isawaitable(admitted):  # it would count as true
                raise InputError("admit: expected True or False, got an awaitable")
            return bool(admitted)
        except Exception as error:  # noqa: BLE001 - the application's veto failed: what is not cleared is not returned
            self._telemetry.failed("admit", error)
            return False


def copied(value: Any, depth: int = _DEEPEST) -> Any:
    """The same keywords with dicts, lists, tuples and sets of their own: who changes theirs changes no other's."""
    if depth == 0:
        return value
    if type(value) is dict:
        return {name: copied(each, depth - 1) for name, each in value.items()}
    return type(value)(copied(each, depth - 1) for each in value) if type(value) in (list, set, tuple) else value
