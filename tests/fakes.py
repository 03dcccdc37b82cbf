"""Stand-ins that make tests of the runtime sharp: a guard that says what it is told, and a telemetry probe."""

from __future__ import annotations

from dataclasses import dataclass, field

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Assessment, Checked, Comparison, Evidence, Profile, Violation
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.rules import Rule, Verdict
from rewriteguard.model.tokens import Kind
from rewriteguard.policy.carry import CarriedQuery, carried_query
from rewriteguard.policy.policy import Policy, decide, without_rewrite
from rewriteguard.telemetry import recorder, spans
from rewriteguard.telemetry.names import make_instruments

HISTORY = [("user", "How do I renew a parking permit?"), ("assistant", "You renew a permit at the town desk.")]


@dataclass
class FakeGuard(Guard):
    """Passes every rewrite but those in `verdicts`; `broken` makes every method raise."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    broken: bool = False
    needs_history: bool = True
    candidates: tuple[str, ...] = ()
    calls: list[tuple[str, object]] = field(default_factory=list)

    def warm_up(self):
        """Nothing to load."""

    def decide(self, turn, rewrite, history=(), *, policy=None, profile=Profile.CONDENSE, reference_date=None):
        self._called("decide", reference_date)
        conversation = Conversation.read(turn, history)
        verdict = self.verdicts.get(rewrite, Verdict.PRESERVED)
        assessment = Assessment(
            verdict=verdict,
            violations=() if verdict is Verdict.PRESERVED else (self._violation(conversation.turn),),
            comparison=Comparison(),
            dependent=self.needs_history,
            checked=Checked(),
            turn=conversation.turn,
            rewrite=rewrite.strip(),
            raw_rewrite=rewrite,
            candidates=self.candidates,
            profile=profile,
        )
        return decide(policy or Policy(), assessment, self.carried(turn, history))

    def without_rewrite(self, turn, reason, history=(), *, policy=None, unchecked=None):
        self._called("without_rewrite", reason)
        carried = self.carried(turn, history)
        return without_rewrite(policy or Policy(), turn, reason, carried, unchecked=unchecked)

    def carried(self, turn, history=()) -> CarriedQuery:
        self._called("carried", None)
        conversation = Conversation.read(turn, history)
        return carried_query(conversation.turn, conversation.history)

    def dependent(self, turn, history=()) -> bool:
        self._called("dependent", None)
        return self.needs_history

    def _violation(self, turn: str) -> Violation:
        rule, kind = (Rule.AMBIGUOUS_CANDIDATES, None) if self.candidates else (Rule.DROPPED_TIME, Kind.TIME)
        word = turn.split()[-1]
        start = len(turn) - len(word)
        return Violation(rule, kind, (Evidence("turn", word, start, len(turn)),))

    def _called(self, name: str, argument: object) -> None:
        self.calls.append((name, argument))
        if self.broken:
            raise ZeroDivisionError("guard is broken")


class Probe:
    """Reads back what was told to OpenTelemetry."""

    def __init__(self, exporter: InMemorySpanExporter, reader: InMemoryMetricReader) -> None:
        self._exporter = exporter
        self._reader = reader

    @property
    def spans(self):
        return self._exporter.get_finished_spans()

    def span(self, name: str, **attributes):
        """The one span of that name with these attributes (a dot is written as two underscores)."""
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}
        found = [s for s in self.spans if s.name == name and wanted.items() <= dict(s.attributes).items()]
        assert len(found) == 1, [(s.name, dict(s.attributes)) for s in self.spans]
        return found[0]

    @property
    def metrics(self):
        return self._reader.get_metrics_data()

    def points(self, name: str, *, zeros: bool = False):
        """The data points of a metric, as (attributes, point) pairs; `zeros` are those of what did not happen."""
        data = self.metrics
        return [
            (dict(point.attributes), point)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
            if zeros is (getattr(point, "value", None) == 0)
        ]

    def text(self) -> str:
        """Every exported string: names, attributes, events, status texts, metric attributes."""
        parts = [span.to_json() for span in self.spans]
        data = self._reader.get_metrics_data()
        return "\n".join([*parts, data.to_json() if data else ""])


def probe(monkeypatch) -> Probe:
    """Sends spans and metrics to memory for one test, past the global providers, which can be set only once."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = traces.get_tracer("rewriteguard")
    made = make_instruments(MeterProvider([reader]).get_meter("rewriteguard"))
    monkeypatch.setattr(spans, "tracer", lambda: tracer)
    monkeypatch.setattr(recorder, "instruments", lambda: made)
    return Probe(exporter, reader)
