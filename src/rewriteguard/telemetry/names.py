"""Every span, metric and attribute name, the attribute sets of both, and the instruments of the metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from opentelemetry import metrics

from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision, Reason
from rewriteguard.telemetry.content import UNREADABLE, Capture, Content, as_json, describe

Value = str | bool | int | float | Sequence[str] | Sequence[float]
Attributes = dict[str, Value]
_DOCUMENTS = 10  # a span keeps 128 attributes and drops the oldest
_MESSAGES = 10
_WORD = re.compile(r"\w+")
EVALUATION_EVENT = "gen_ai.evaluation.result"
CANCELLED = "rewriteguard.cancelled"
ERROR_TYPE = "error.type"
ARM = "rewriteguard.arm"
SOURCE = "rewriteguard.search.source"
PARTIAL = "rewriteguard.partial"
FAILED_ARMS = "rewriteguard.failed_arms"
DECISIONS = "rewriteguard.decisions"
VIOLATIONS = "rewriteguard.violations"
ERRORS = "rewriteguard.errors"
FORBIDDEN_HITS = "rewriteguard.forbidden_hits"
CHECK_DURATION = "rewriteguard.check.duration"
RETRIEVE_DURATION = "rewriteguard.retrieve.duration"
LENGTH_RATIO = "rewriteguard.rewrite.length_ratio"
ARM_OVERLAP = "rewriteguard.arm_overlap"
JUDGEMENTS = "rewriteguard.judgements"
# The labels of decisions about rewriters that failed, which alerts count.
FAILURES: tuple[dict[str, str | bool], ...] = tuple(
    {
        "verdict": "none",
        "action": Action.FALL_BACK.value,
        "proposed_action": Action.FALL_BACK.value,
        "reason": reason.value,
        "dependent": False,
    }
    for reason in (Reason.REWRITER_ERROR, Reason.REWRITER_TIMEOUT)
)
CHECK_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
RETRIEVE_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
RATIO_BUCKETS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
SHARE_BUCKETS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class SpanName(StrEnum):
    """The spans."""

    RETRIEVE = "rewriteguard.retrieve"
    DECIDE = "rewriteguard.decide"
    REWRITE = "rewriteguard.rewrite"
    CHECK = "rewriteguard.check"
    SEARCH = "rewriteguard.search"
    FUSE = "rewriteguard.fuse"


# Each span carries one attribute of gen_ai.*: a back end in wide use drops spans that have none.
FIXED: Mapping[SpanName, Mapping[str, str]] = {
    SpanName.RETRIEVE: {"openinference.span.kind": "CHAIN", "gen_ai.operation.name": "retrieval"},
    SpanName.DECIDE: {"openinference.span.kind": "CHAIN", "gen_ai.operation.name": "rewrite"},
    SpanName.REWRITE: {"openinference.span.kind": "CHAIN", "gen_ai.operation.name": "rewrite"},
    SpanName.CHECK: {"openinference.span.kind": "GUARDRAIL", "gen_ai.evaluation.name": "rewriteguard"},
    SpanName.SEARCH: {"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "retrieval"},
    SpanName.FUSE: {"openinference.span.kind": "RERANKER", "gen_ai.operation.name": "retrieval"},
}


def verdict_of(decision: Decision) -> str:
    """The verdict as a label; `none` where no rewrite was judged."""
    return decision.verdict.value if decision.verdict else "none"


def codes_of(decision: Decision) -> list[str]:
    """Closed codes of the findings, gravest first, each once; the reason where there are none."""
    found = decision.assessment.violations if decision.assessment else ()
    return list(dict.fromkeys(violation.code for violation in found)) or [decision.reason.value]


def dependent_of(decision: Decision) -> bool:
    """Whether the turn was found to need the conversation; false where nothing was judged."""
    return bool(decision.assessment and decision.assessment.dependent)


def decision_labels(decision: Decision) -> dict[str, str | bool]:
    """What the metric of decisions is told of one."""
    return {
        "verdict": verdict_of(decision),
        "action": decision.action.value,
        "proposed_action": decision.proposed.value,
        "reason": decision.reason.value,
        "dependent": dependent_of(decision),
    }


def size_attributes(conversation: Conversation) -> Attributes:
    """How long turn and history are."""
    return {
        "rewriteguard.history.turns": len(conversation.history),
        "rewriteguard.turn.length": len(conversation.turn),
    }


def window_of(conversation: Conversation, content: Content) -> list[tuple[str, str]]:
    """Role and text of the last messages as they may be recorded; empty where they may not."""
    window = conversation.history[-_MESSAGES:] if content.inputs else ()
    return [(message.role.value, content.text(message.text)) for message in window]


def conversation_attributes(
    conversation: Conversation, window: Sequence[tuple[str, str]], content: Content
) -> Attributes:
    """The turn and the window of the history, with their sizes."""
    found = size_attributes(conversation)
    if content.inputs:
        found["rewriteguard.original_turn"] = content.text(conversation.turn)
        found["rewriteguard.history_window"] = as_json([{"role": role, "content": text} for role, text in window])
    return found


def decision_attributes(decision: Decision, rewriter: str, content: Content) -> Attributes:
    """What was found and what is done about it: codes always, words where they may be recorded."""
    found: Attributes = {
        "rewriteguard.verdict": verdict_of(decision),
        "rewriteguard.action": decision.action.value,
        "rewriteguard.proposed_action": decision.proposed.value,
        "rewriteguard.reason": decision.reason.value,
        "rewriteguard.reasons": codes_of(decision),
        "rewriteguard.policy": decision.policy,
        "rewriteguard.rewriter": rewriter,
    }
    if decision.request_class:
        found["rewriteguard.request_class"] = decision.request_class
    if decision.carried_terms and content.inputs:
        found["rewriteguard.carried_terms"] = [content.text(term) for term in decision.carried_terms]
    return found | _assessment_attributes(decision, content)


def host_attributes(decision: Decision) -> Attributes:
    """What the span of the host's run is told."""
    return {"rewriteguard.verdict": verdict_of(decision), "rewriteguard.action": decision.action.value}


def host_metadata(decision: Decision) -> dict[str, str]:
    """What the metadata of the host's run is told: codes, under names that every tracer can filter by."""
    return {
        "rewriteguard_verdict": verdict_of(decision),
        "rewriteguard_action": decision.action.value,
        "rewriteguard_proposed_action": decision.proposed.value,
        "rewriteguard_reasons": ",".join(codes_of(decision)),
    }


def host_tags(decision: Decision) -> list[str]:
    """Verdict, where there is one, and action as tags."""
    told = [decision.verdict.value] if decision.verdict else []
    return [f"rewriteguard:{word}" for word in (*told, decision.action.value)]


def _assessment_attributes(decision: Decision, content: Content) -> Attributes:
    assessment = decision.assessment
    if assessment is None:
        return {}
    found: Attributes = {
        "rewriteguard.dependent": assessment.dependent,
        "rewriteguard.profile": assessment.profile.value,
        "rewriteguard.rewrite.length": len(assessment.rewrite),
        "rewriteguard.rewrite.added_tokens": _added(assessment.turn, assessment.rewrite),
    }
    if content.outputs:
        found["rewriteguard.rewritten_query"] = content.text(assessment.rewrite)
    if content.inputs and content.outputs:
        found["rewriteguard.violations"] = as_json(
            [_violation(violation.to_dict(), content) for violation in assessment.violations[:_DOCUMENTS]]
        )
    return found


def check_attributes(told: Attributes, window: Sequence[tuple[str, str]]) -> Attributes:
    """What a check was given and what it found as its span's input and output, made of what the span is `told` anyway.

    Back ends show these two first, the history with a line for each message. Nothing of it is added where the words
    may not be recorded.
    """
    turn, rewrite = told.get("rewriteguard.original_turn"), told.get("rewriteguard.rewritten_query")
    if turn is None or rewrite is None:
        return {}
    verdict = as_json({"verdict": told["rewriteguard.verdict"], "action": told["rewriteguard.action"]})
    lines = [f"{role}: {text}" for role, text in window]
    return {
        "input.value": as_json({"turn": turn, "rewrite": rewrite, "history": lines}),
        "input.mime_type": "application/json",
        "output.value": f'{verdict[:-1]},"violations":{told["rewriteguard.violations"]}}}',
        "output.mime_type": "application/json",
    }


def evaluation_attributes(decision: Decision) -> Attributes:
    """The verdict as an evaluation result; the explanation is made of codes."""
    return {
        "gen_ai.evaluation.name": "rewriteguard",
        "gen_ai.evaluation.score.label": verdict_of(decision),
        "gen_ai.evaluation.explanation": ", ".join(codes_of(decision)),
    }


def document_attributes(items: Sequence[Any], scores: Sequence[float | None], content: Content) -> Attributes:
    """Found documents, at most ten, with the total count; each told twice, since back ends differ in what they read."""
    found: Attributes = {"rewriteguard.documents.count": len(items)}
    if not content.documents:
        return found
    told = []
    for place, item in enumerate(items[:_DOCUMENTS]):
        identity, shown, about = _readable(item, content)
        prefix = f"retrieval.documents.{place}.document"
        found[f"{prefix}.content"] = shown
        whole = f'{{"page_content":{as_json(shown)}'
        if about:
            found[f"{prefix}.metadata"] = about
            whole += f',"metadata":{about}'
        if identity is not None:
            found[f"{prefix}.id"] = identity
            whole += f',"id":{as_json(identity)}'
        score = scores[place] if place < len(scores) else None
        if score is not None:
            found[f"{prefix}.score"] = float(score)
        told.append(whole + "}")
    found["output.value"], found["output.mime_type"] = f"[{','.join(told)}]", "application/json"
    return found


def input_attributes(text: str, content: Content) -> Attributes:
    """A text as a span's input."""
    return {"input.value": content.text(text), "input.mime_type": "text/plain"} if content.inputs else {}


def query_attributes(text: str, content: Content) -> Attributes:
    """A searched text as a span's input: it holds words of the turn, or of the rewrite, or both."""
    return input_attributes(text, content) if content.outputs else {}


def fusion_attributes(
    k: float, items: Sequence[Any], weights: Mapping[str, float], ranks: Sequence[Mapping[str, int]], content: Content
) -> Attributes:
    """How lists were fused: constant, weights with their margins, and where each returned document came from."""
    sources = ["+".join(f"{arm}#{rank}" for arm, rank in each.items()) for each in ranks[:_DOCUMENTS]]
    found: Attributes = {
        "reranker.top_k": len(items),
        "rewriteguard.fusion.k": float(k),
        "rewriteguard.fusion.arms": list(weights),
        "rewriteguard.fusion.weights": [float(weight) for weight in weights.values()],
        "rewriteguard.fusion.sources": sources,
        "rewriteguard.documents.count": len(items),
    }
    for place, (item, source) in enumerate(zip(items, sources, strict=False) if content.documents else ()):
        identity, shown, _ = _readable(item, content)
        prefix = f"reranker.output_documents.{place}.document"
        found[f"{prefix}.content"] = shown
        found[f"{prefix}.metadata"] = as_json({"found": source})
        if identity is not None:
            found[f"{prefix}.id"] = identity
    return found


def _readable(item: Any, content: Content) -> tuple[str | None, str, str]:
    """Id, text and metadata of an item as they may be recorded, the metadata as JSON or empty."""
    try:
        identity, text, metadata = describe(item)
        name = None if identity is None else content.text(identity)
        return name, content.text(text), as_json(content.tree(metadata)) if metadata else ""
    except Exception:  # noqa: BLE001 - the item's own code: what else the span says is worth more than one item
        return None, UNREADABLE, ""


def _violation(told: dict[str, Any], content: Content) -> dict[str, Any]:
    """A finding with its words as they may be recorded; a hashed word keeps no offsets, which would tell its length."""
    hashed = content.capture is Capture.HASH
    evidence = [
        {"where": each["where"], "text": content.text(each["text"])}
        | ({} if hashed else {"start": each["start"], "end": each["end"]})
        for each in told["evidence"]
    ]
    return {"code": told["code"], "severity": told["severity"], "evidence": evidence}


def _added(turn: str, rewrite: str) -> int:
    """The number of words of the rewrite that the turn does not have."""
    return sum((Counter(_WORD.findall(rewrite.casefold())) - Counter(_WORD.findall(turn.casefold()))).values())


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
        decisions=meter.create_counter(DECISIONS, "{decision}", "Decisions by verdict, action and reason."),
        violations=meter.create_counter(VIOLATIONS, "{violation}", "Findings by fault, kind and severity."),
        errors=meter.create_counter(ERRORS, "{error}", "Errors by type and stage."),
        forbidden_hits=meter.create_counter(FORBIDDEN_HITS, "{document}", "Hits that admit= vetoed, by arm."),
        judgements=meter.create_counter(JUDGEMENTS, "{judgement}", "A judge's verdicts by the guard's verdict."),
        check_duration=histogram(CHECK_DURATION, "s", CHECK_BUCKETS, "Time of one check."),
        retrieve_duration=histogram(RETRIEVE_DURATION, "s", RETRIEVE_BUCKETS, "Time of one retrieval."),
        length_ratio=histogram(LENGTH_RATIO, "1", RATIO_BUCKETS, "Length of the rewrite over the turn's."),
        arm_overlap=histogram(ARM_OVERLAP, "1", SHARE_BUCKETS, "Jaccard index of original and rewrite."),
    )
