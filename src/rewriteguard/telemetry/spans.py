"""One span as a context manager that can break nothing, placed below the span of the host framework's run."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from rewriteguard.model.decision import Decision
from rewriteguard.telemetry import names
from rewriteguard.telemetry._contain import contained
from rewriteguard.telemetry.content import REDACTED, Content, encodable
from rewriteguard.telemetry.host import Host, span_of, stamp
from rewriteguard.telemetry.names import FIXED, Attributes, SpanName


class Span:
    """A span as a context manager that never raises by itself and never holds an error back."""

    def __init__(
        self,
        name: SpanName,
        content: Content,
        at_start: Callable[[], Attributes] | None = None,
        host: Host | None = None,
    ) -> None:
        self._name = name
        self._content = content
        self._at_start = at_start
        self._host = host
        self._host_span: trace.Span | None = None
        self._span: trace.Span = trace.INVALID_SPAN
        self._token: Any = None

    @property
    def recording(self) -> bool:
        """Whether anyone will see the attributes."""
        return self._span.is_recording()

    @property
    def trace_id(self) -> str | None:
        """The trace's id in 32 hex digits; None where the span is not recorded."""
        return _trace_id(self._span)

    def __enter__(self) -> Self:
        self._open()
        if self._at_start is not None:
            self.set(self._at_start)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is not None:
            self.failed(error)
        if isinstance(error, GeneratorExit) and trace.get_current_span() is not self._span:
            self._token = None  # closed from another context, as with a loop that is gone: nothing is attached here
        self._close()

    @contained
    def set(self, build: Callable[[], Attributes]) -> None:
        """Sets the attributes that `build` gives; it is not called where no one records."""
        if self.recording:
            self._span.set_attributes(_encodable(build()))

    @contained
    def event(self, name: str, build: Callable[[], Attributes]) -> None:
        """Adds an event with the attributes that `build` gives."""
        if self.recording:
            self._span.add_event(name, _encodable(build()))

    @contained
    def stamp_host(self, decision: Decision) -> None:
        """Writes the decision, in codes, on the host framework's own run, as attributes, metadata and tags."""
        if self._host_span is not None and self._host_span.is_recording():
            self._host_span.set_attributes(names.host_attributes(decision))
        if self._host is not None:
            stamp(self._host, names.host_metadata(decision), names.host_tags(decision))

    @contained
    def failed(self, error: BaseException) -> None:
        """Marks the span as failed, or as cancelled; the error's text is kept only where all content may be."""
        if not self.recording:
            return
        self._span.set_attribute(names.ERROR_TYPE, type(error).__name__)
        if isinstance(error, asyncio.CancelledError | GeneratorExit):
            self._span.set_attribute(names.CANCELLED, True)
        elif self._content.errors:
            self._span.record_exception(error, _encodable(_texts_of(error)))
            self._span.set_status(Status(StatusCode.ERROR, encodable(self._content.text(str(error)))))
        else:
            self._span.set_status(Status(StatusCode.ERROR))

    @contained
    def _open(self) -> None:
        parent = None
        if self._host is not None:
            self._host_span = span_of(self._host)
            if self._host_span is not None:
                parent = trace.set_span_in_context(self._host_span)
        current = tracer()
        if isinstance(current, trace.ProxyTracer) and _is_unset(trace.get_tracer_provider()):
            return  # nobody records: a span that does nothing would still cost its context
        # A dict copy each, because the SDK keeps what it is given.
        self._span = current.start_span(self._name.value, context=parent, attributes=dict(FIXED[self._name]))
        if self._span.get_span_context().is_valid:
            self._token = otel_context.attach(self._context())

    def _context(self) -> otel_context.Context:
        """What holds inside the span; the first one of a call makes room for its redacted texts."""
        inside = trace.set_span_in_context(self._span)
        if self._content.redact is None or otel_context.get_value(REDACTED) is not None:
            return inside
        return otel_context.set_value(REDACTED, {}, inside)

    @contained
    def _close(self) -> None:
        if self._token is not None:
            otel_context.detach(self._token)
        self._span.end()


def current_trace_id() -> str | None:
    """The id of the trace around the call in 32 hex digits; None where none is recorded."""
    return _trace_id(trace.get_current_span())


@contextmanager
def below(host: Host | None) -> Iterator[None]:
    """Places the spans that are opened inside below the span of the host's run, where there is one."""
    span = None if host is None else span_of(host)
    token = None if span is None else otel_context.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        if token is not None:
            otel_context.detach(token)


@lru_cache(maxsize=1)
def tracer() -> trace.Tracer:
    """The tracer. The API hands out a stand-in that becomes real as soon as a provider is set, so it can be kept."""
    return trace.get_tracer("rewriteguard")


def _encodable(found: Attributes) -> Attributes:
    """The attributes with texts that UTF-8 can hold: for one that it cannot, an exporter drops its whole batch."""
    for name, value in found.items():  # in place, since hardly any changes
        if isinstance(value, str):
            if not value.isascii():
                found[name] = encodable(value)
        elif isinstance(value, list):
            found[name] = [encodable(each) if isinstance(each, str) else each for each in value]
    return found


def _texts_of(error: BaseException) -> Attributes:
    """What an event of an exception holds of its text."""
    return {
        "exception.message": str(error),
        "exception.stacktrace": "".join(traceback.format_exception(error)),
    }


def _trace_id(span: trace.Span) -> str | None:
    return trace.format_trace_id(span.get_span_context().trace_id) if span.is_recording() else None


def _is_unset(provider: trace.TracerProvider) -> bool:
    """True where the application has set no provider."""
    return isinstance(provider, trace.ProxyTracerProvider)
