"""The run of a host framework: its span, and the decision written where the host's own tracing shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from opentelemetry import trace

from rewriteguard.telemetry._contain import say_once

# Names of Langfuse: what it shows as an observation's metadata and as a trace's tags.
_LANGFUSE_METADATA = "langfuse.observation.metadata"
_LANGFUSE_TAGS = "langfuse.trace.tags"


class Host(Protocol):
    """The run of a host framework, as LangChain's run managers tell it."""

    run_id: Any
    handlers: Sequence[Any]


def span_of(host: Host) -> trace.Span | None:
    """The span that a tracing handler opened for the host's run; OpenInference and Langfuse are known."""
    for find in (_by_get_span, _by_run_table):
        for span in _spans(host, find):
            return span
    return None


def stamp(host: Host, metadata: Mapping[str, str], tags: Sequence[str]) -> None:
    """Adds metadata and tags to the host's run in every tracer that keeps one: LangSmith, OpenInference, Langfuse."""
    for handler in host.handlers:
        try:
            run = _traced_run(handler, host.run_id)
            if run is not None:
                _stamp_run(run, metadata, tags)
        except Exception as error:  # noqa: BLE001 - a handler of another library
            say_once("host_run", error)
    for span in _spans(host, _by_run_table):
        _stamp_langfuse(span, metadata, tags)


def _stamp_run(run: Any, metadata: Mapping[str, str], tags: Sequence[str]) -> None:
    """Writes to a run of LangChain's tracers; made anew, since runs share the containers of their config."""
    extra = run.extra or {}
    run.extra = {**extra, "metadata": {**(extra.get("metadata") or {}), **metadata}}
    run.tags = [*(run.tags or ()), *tags]


def _stamp_langfuse(span: trace.Span, metadata: Mapping[str, str], tags: Sequence[str]) -> None:
    known = (getattr(span, "attributes", None) or {}).get(_LANGFUSE_TAGS) or ()
    span.set_attributes({f"{_LANGFUSE_METADATA}.{name}": value for name, value in metadata.items()})
    span.set_attribute(_LANGFUSE_TAGS, [*known, *tags])


def _spans(host: Host, find: Any) -> Iterator[trace.Span]:
    for handler in getattr(host, "handlers", ()):
        try:
            span = find(handler, host.run_id)
        except Exception as error:  # noqa: BLE001 - a handler of another library
            say_once("host_span", error)
            continue
        if isinstance(span, trace.Span):
            yield span


def _by_get_span(handler: Any, run_id: Any) -> Any:
    get = getattr(handler, "get_span", None)
    return get(run_id) if callable(get) else None


def _by_run_table(handler: Any, run_id: Any) -> Any:
    """Langfuse keeps its span in a private table and leaves the ambient context empty in asynchronous runs."""
    return getattr(getattr(handler, "_runs", {}).get(run_id), "_otel_span", None)


def _traced_run(handler: Any, run_id: Any) -> Any:
    """The run that a tracer of LangChain's own kind will report when it ends; LangSmith's is one."""
    run = getattr(handler, "run_map", {}).get(str(run_id))
    return run if hasattr(run, "extra") and hasattr(run, "tags") else None
