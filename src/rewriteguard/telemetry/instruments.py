"""The metric instruments, made once a process from whatever provider the application sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from opentelemetry import metrics

from rewriteguard.telemetry import names


@dataclass(frozen=True, slots=True)
class Instruments:
    """The counters and histograms."""

    decisions: metrics.Counter
    violations: metrics.Counter
    errors: metrics.Counter
    forbidden_hits: metrics.Counter
    judgements: metrics.Counter
    check_duration: metrics.Histogram
    retrieve_duration: metrics.Histogram
    length_ratio: metrics.Histogram
    arm_overlap: metrics.Histogram


@lru_cache(maxsize=1)
def instruments() -> Instruments:
    """The instruments. The API hands out stand-ins that become real as soon as a provider is set."""
    return make_instruments(metrics.get_meter("rewriteguard"))


def make_instruments(meter: metrics.Meter) -> Instruments:
    """The instruments of one meter, with advice on the buckets of each histogram."""

    def histogram(name: str, unit: str, buckets: Sequence[float], text: str) -> metrics.Histogram:
        return meter.create_histogram(name, unit, text, explicit_bucket_boundaries_advisory=buckets)

    return Instruments(
        decisions=meter.create_counter(names.DECISIONS, "{decision}", "Decisions by verdict, action and reason."),
        violations=meter.create_counter(names.VIOLATIONS, "{violation}", "Findings by fault, kind and severity."),
        errors=meter.create_counter(names.ERRORS, "{error}", "Errors by type and stage."),
        forbidden_hits=meter.create_counter(names.FORBIDDEN_HITS, "{document}", "Hits that admit= vetoed, by arm."),
        judgements=meter.create_counter(names.JUDGEMENTS, "{judgement}", "A judge's verdicts by the guard's verdict."),
        check_duration=histogram(names.CHECK_DURATION, "s", names.CHECK_BUCKETS, "Time of one check."),
        retrieve_duration=histogram(names.RETRIEVE_DURATION, "s", names.RETRIEVE_BUCKETS, "Time of one retrieval."),
        length_ratio=histogram(names.LENGTH_RATIO, "1", names.RATIO_BUCKETS, "Length of the rewrite over the turn's."),
        arm_overlap=histogram(names.ARM_OVERLAP, "1", names.SHARE_BUCKETS, "Jaccard index of original and rewrite."),
    )
