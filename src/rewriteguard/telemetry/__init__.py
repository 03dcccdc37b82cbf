"""Spans, metrics and log lines: the only part that knows OpenTelemetry, and only its API."""

from rewriteguard.telemetry._contain import warn_once
from rewriteguard.telemetry.calibration import Calibration
from rewriteguard.telemetry.host import Host
from rewriteguard.telemetry.judge import Judge
from rewriteguard.telemetry.log import Retrieved, TripleLog
from rewriteguard.telemetry.recorder import Telemetry, default_telemetry
from rewriteguard.telemetry.spans import Span, below

__all__ = [
    "Calibration",
    "Host",
    "Judge",
    "Retrieved",
    "Span",
    "Telemetry",
    "TripleLog",
    "below",
    "default_telemetry",
    "warn_once",
]
