"""Keeps the spans of the demo in memory and draws those of one trace as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rich.text import Text
from rich.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

_SHOWN = (
    "openinference.span.kind",
    "rewriteguard.verdict",
    "rewriteguard.action",
    "rewriteguard.reasons",
    "rewriteguard.arm",
    "rewriteguard.original_turn",
    "rewriteguard.rewritten_query",
    "rewriteguard.documents.count",
)


def record() -> InMemorySpanExporter:
    """An exporter that from now on gets every span of this process."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


def tree(spans: Sequence[ReadableSpan]) -> Tree:
    """The spans below one another as their parents say, each with the attributes that matter here."""
    ordered = sorted(spans, key=lambda span: span.start_time or 0)
    known = {span.context.span_id for span in ordered if span.context}
    root = Tree("spans")
    branches: dict[int, Tree] = {}
    for span in ordered:
        parent = branches[span.parent.span_id] if span.parent and span.parent.span_id in known else root
        branch = parent.add(_label(span))
        if span.context:
            branches[span.context.span_id] = branch
    return root


def _label(span: ReadableSpan) -> Text:
    label = Text(span.name, style="bold")
    label.append(f"  {((span.end_time or 0) - (span.start_time or 0)) / 1e6:.1f} ms", style="dim")
    for name in _SHOWN:
        if span.attributes and name in span.attributes:
            label.append(f"\n{name} = {_value(span.attributes[name])}", style="not bold")
    return label


def _value(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
