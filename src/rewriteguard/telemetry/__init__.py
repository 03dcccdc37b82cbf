"""Spans, metrics and log lines: the only part that knows OpenTelemetry, and only its API."""

from rewriteguard.telemetry.contain import warn_once
from rewriteguard.telemetry.host import Host
from rewriteguard.telemetry.recorder import Telemetry, default_telemetry
from rewriteguard.telemetry.spans import Span, below

__all__ = ["Host", "Span", "Telemetry", "below", "default_telemetry", "warn_once"]
