"""What spans, metrics and log lines cost in a decision and in a fused call of three searches.

The calls of the layer are made one after the other as the retrieval makes them, with the decision about a real triple
and ten documents an arm, and with nothing in between; so the time is that of the layer alone. With an SDK, the spans
of a real retrieval have to be the same ones, or the part fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from latency_timing import Figure, Figures, quantile, seconds
from latency_workload import Bench, Triple
from rewriteguard import Conversation, Decision, Guard, GuardedSearch, Profile, Telemetry

_DOCUMENTS = 10  # that each arm finds


def telemetry(bench: Bench) -> Figures:
    """Microseconds of the layer, median; the process has an SDK from the middle of this on.

    Raises:
        RuntimeError: The spans are not those of a real retrieval.
    """
    guard = Guard()
    triple = next(t for t in bench.rewritten if len(guard.decide(t.turn, t.rewrite, t.history).queries) == 3)
    conversation = Conversation.read(triple.turn, triple.history)
    decision = guard.decide(triple.turn, triple.rewrite, conversation)
    documents = [text for talk in bench.conversations for _, text in talk[-1].history][:_DOCUMENTS]
    calls = {
        "decide": partial(_decide, Telemetry(), conversation, decision),
        "fused": partial(_retrieve, Telemetry(), conversation, decision, documents),
    }
    found = _timed(calls, "none", bench)
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    search = GuardedSearch(lambda _: documents, lambda _: triple.rewrite, guard=guard)
    told = [_spans(call, provider, exporter) for call in (calls["fused"], partial(_run, search, triple))]
    if told[0] != told[1]:
        raise RuntimeError(f"the spans are {told[0]}, those of a retrieval are {told[1]}")
    return found | _timed(calls, "sdk", bench)


def _decide(telemetry: Telemetry, conversation: Conversation, decision: Decision) -> None:
    with telemetry.check() as span:
        telemetry.checked(span, conversation, decision, 0.01)
    telemetry.decided(decision, Profile.CONDENSE)


def _retrieve(telemetry: Telemetry, conversation: Conversation, decision: Decision, documents: list[str]) -> None:
    weights = {query.origin.value: query.weight for query in decision.queries}
    ranks = [dict.fromkeys(weights, rank) for rank in range(1, len(documents) + 1)]
    with telemetry.retrieve(conversation) as whole:
        with telemetry.rewrite():
            pass
        with telemetry.check() as span:
            telemetry.checked(span, conversation, decision, 0.01)
        telemetry.decided(decision, Profile.CONDENSE, whole)
        for query in decision.queries:
            with telemetry.search(query.origin.value, query.text) as span:
                telemetry.found(span, query.origin.value, documents, [None] * len(documents), 0)
        with telemetry.fuse() as span:
            telemetry.fused(span, 2, documents, weights, ranks)
        telemetry.overlap(decision, 0.5)
        telemetry.returned(whole, decision, documents, (), 0.4)


def _timed(calls: dict[str, Callable[[], object]], name: str, bench: Bench) -> Figures:
    n = bench.some(2_000, 500)
    return {
        f"{key}-{name}": Figure(1e6 * quantile([seconds(call) for _ in range(n)], 0.5), n, "us")
        for key, call in calls.items()
    }


def _run(search: GuardedSearch, triple: Triple) -> None:
    search.run(triple.turn, triple.history)


def _spans(call: Callable[[], object], provider: TracerProvider, exporter: InMemorySpanExporter) -> Counter[str]:
    exporter.clear()
    call()
    provider.force_flush()
    return Counter(span.name for span in exporter.get_finished_spans())
