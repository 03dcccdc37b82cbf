"""What spans, metrics and log lines add to a decision and to a fused call, without an SDK and with one.

The guard's decision is made once and then returned as it is, searches and rewriter return at once, and everything runs
in one event loop. So the same call with a telemetry that tells nothing differs by the telemetry alone; the figure is
the difference of the two medians, timed in turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from statistics import median
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from latency_timing import Call, Figure, Figures, side_by_side
from latency_workload import Bench, Triple
from rewriteguard import Decision, Guard, GuardedSearch, Hit, Telemetry, asafe_rewrite
from rewriteguard.carry import CarriedQuery

_DOCUMENTS = 10  # each arm finds as many


class _NoSpan:
    trace_id = None
    recording = False

    def __enter__(self) -> _NoSpan:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was opened."""

    def set(self, *_: object) -> None:
        """Tells nothing; so do the others."""

    event = stamp_host = failed = set


class Silent(Telemetry):
    """A telemetry that tells nothing."""

    def retrieve(self, *_: Any, **__: Any) -> Any:
        """A span that is none; so do the others."""
        return _NoSpan()

    rewrite = check = search = fuse = retrieve

    def checked(self, *_: Any, **__: Any) -> None:
        """Tells nothing; so do the others."""

    decided = found = fused = overlap = returned = failed = checked


class Ready(Guard):
    """A guard that has decided already, about one triple."""

    def __init__(self, triple: Triple) -> None:
        guard = Guard()
        self._decision = guard.decide(triple.turn, triple.rewrite, triple.history)
        self._carried = guard.carried(triple.turn, triple.history)

    def warm_up(self) -> None:
        """Nothing to load."""

    def decide(self, *_: Any, **__: Any) -> Decision:
        """The decision."""
        return self._decision

    def carried(self, *_: Any, **__: Any) -> CarriedQuery:
        """The carried query."""
        return self._carried


def telemetry(bench: Bench) -> Figures:
    """Microseconds that the layer adds; the process has an SDK from the middle of this on."""
    triple = next(t for t in bench.rewritten if len(Guard().decide(t.turn, t.rewrite, t.history).queries) == 3)
    found = _added(bench, triple, "none")
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    found |= _added(bench, triple, "sdk")
    provider.force_flush()
    spans = len(exporter.get_finished_spans())
    if spans < found["fused-sdk"].n:
        raise RuntimeError(f"{spans} spans were exported: the SDK was not in use")
    return found


def _added(bench: Bench, triple: Triple, name: str) -> Figures:
    guard = Ready(triple)
    documents = [Hit(text, 1.0) for talk in bench.conversations for _, text in talk[-1].history][:_DOCUMENTS]

    async def rewriter(*_: Any) -> str:
        return triple.rewrite

    async def search(_: str) -> list[Hit[str]]:
        return documents

    def decide(telemetry: Telemetry) -> Callable[[], Coroutine[Any, Any, Any]]:
        return lambda: asafe_rewrite(triple.turn, triple.rewrite, triple.history, guard=guard, telemetry=telemetry)

    def retrieve(telemetry: Telemetry) -> Callable[[], Coroutine[Any, Any, Any]]:
        guarded = GuardedSearch(search, rewriter, guard=guard, telemetry=telemetry)
        return lambda: guarded.arun(triple.turn, triple.history)

    n = bench.some(1_500, 300)
    return {f"decide-{name}": _difference(decide, 2 * n), f"fused-{name}": _difference(retrieve, n)}


def _difference(make: Callable[[Telemetry], Callable[[], Coroutine[Any, Any, Any]]], n: int) -> Figure:
    arms = {"told": make(Telemetry()), "silent": make(Silent())}
    with asyncio.Runner() as loop:

        def rounds() -> Iterator[Mapping[str, Call]]:
            for _ in range(n):
                yield {name: lambda start=start: loop.run(start()) for name, start in arms.items()}

        times = side_by_side(rounds())
    return Figure(1e6 * (median(times["told"]) - median(times["silent"])), n, "us")
