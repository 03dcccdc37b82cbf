"""What is told about each decision: spans, metrics and log lines.

Nothing here can break a retrieval: every method contains what goes wrong inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from opentelemetry import context as otel_context

from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation, text_from
from rewriteguard.model.decision import Decision, Reason
from rewriteguard.model.rules import Verdict
from rewriteguard.telemetry import names
from rewriteguard.telemetry._contain import contained, log, warn_once
from rewriteguard.telemetry.content import Capture, content_from, encodable
from rewriteguard.telemetry.host import Host
from rewriteguard.telemetry.judge import Judge, Outcome, messages_of
from rewriteguard.telemetry.log import (
    Retrieved,
    Row,
    TripleLog,
    answer_row,
    day_of,
    found_row,
    history_of,
    triple_row,
    whole,
)
from rewriteguard.telemetry.names import Attributes, SpanName, instruments
from rewriteguard.telemetry.spans import Span, current_trace_id


class Telemetry:
    """What is told about each decision, and how much of the users' words goes with it.

    Args:
        capture: `full`, `hash` or `off`; None asks REWRITEGUARD_CAPTURE_CONTENT, then
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, and is `full` where neither is set.
        redact: Gets each text, in the call and once there, and returns the text to record.
        rewriter: The application's label of rewriter and prompt version.
        session_id: The conversation's id; None asks OpenTelemetry's context, then, unless `capture` is `off`, the run's
            metadata.
        log: Gets one line for each decision, with the words that `capture` and `redact` allow.
        judge: Asked about a sample of the decisions, in the words that `redact` leaves; never where `capture` or a
            switch of the environment keeps words from being recorded.

    Raises:
        InputError: An argument has a value that cannot be used.
    """

    def __init__(
        self,
        capture: str | None = None,
        redact: Callable[[str], str] | None = None,
        rewriter: str = "default",
        session_id: str | None = None,
        log: TripleLog | None = None,
        judge: Judge | None = None,
    ) -> None:
        arguments.function("redact", redact)
        arguments.instance("rewriter", rewriter, str)
        for name, value, kind in (("log", log, TripleLog), ("judge", judge, Judge)):
            if value is not None:
                arguments.instance(name, value, kind)
        self._content = content_from(capture, redact)
        self._kept = whole(self._content)  # what may stand in the log
        self._triples, self._judge = log, judge
        self._rewriter = encodable(rewriter)
        self._session_id = session_id
        self._begun: set[Profile] = set()
        self._told: tuple[Decision, Attributes] | None = None  # the last decision's: two spans carry it

    def retrieve(
        self, conversation: Conversation, host: Host | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Span:
        """The span around one guarded retrieval, below the span of the host's run where there is one."""
        return Span(SpanName.RETRIEVE, self._content, lambda: self._about(conversation, metadata or {}), host)

    def without_search(self, conversation: Conversation) -> Span:
        """The span around rewriter and check where the guard searches nothing."""
        return Span(SpanName.DECIDE, self._content, lambda: self._about(conversation, {}))

    def rewrite(self) -> Span:
        """The span around the rewriter."""
        return Span(SpanName.REWRITE, self._content)

    def check(self) -> Span:
        """The span around the check of one rewrite."""
        return Span(SpanName.CHECK, self._content)

    def search(self, arm: str, query: str, source: str = "") -> Span:
        """The span around the search of one arm; `source` names the search where there are several."""
        return Span(
            SpanName.SEARCH,
            self._content,
            lambda: (
                {names.ARM: arm}
                | ({names.SOURCE: source} if source else {})
                | names.query_attributes(query, self._content)
            ),
        )

    def fuse(self) -> Span:
        """The span around the fusion of the arms."""
        return Span(SpanName.FUSE, self._content)

    @contained
    def checked(self, span: Span, conversation: Conversation, decision: Decision, seconds: float) -> None:
        """Tells what a check found: the triple, the verdict as an evaluation result, and how long it took."""

        def found() -> Attributes:
            window = names.window_of(conversation, self._content)
            told = names.conversation_attributes(conversation, window, self._content) | self._decision(decision)
            label = {"gen_ai.evaluation.score.label": names.verdict_of(decision)}
            return told | names.check_attributes(told, window) | label

        span.set(found)
        span.event(names.EVALUATION_EVENT, lambda: names.evaluation_attributes(decision))
        meters = instruments()
        verdict = names.verdict_of(decision)
        meters.check_duration.record(seconds, self._labelled(verdict=verdict))
        judged = decision.assessment
        if judged and judged.turn:
            ratio = len(judged.rewrite) / len(judged.turn)
            meters.length_ratio.record(ratio, self._labelled(verdict=verdict, profile=judged.profile.value))

    @contained
    def begin(self, profile: Profile) -> None:
        """Counts 0 failures of the rewriter, since a series whose first value is 1 does not show that it rose to it."""
        for labels in names.FAILURES:
            instruments().decisions.add(0, self._labelled(**labels, profile=profile.value))

    @contained
    def decided(self, decision: Decision, profile: Profile, span: Span | None = None) -> None:
        """Counts a decision and its findings, logs it in codes, and stamps the retrieval's and the host's span."""
        self._log(decision)
        if profile not in self._begun:  # the application may have set its provider only after `begin`
            self._begun.add(profile)
            self.begin(profile)
        meters = instruments()
        meters.decisions.add(1, self._labelled(**names.decision_labels(decision), profile=profile.value))
        for violation in decision.assessment.violations if decision.assessment else ():
            kind = violation.kind.value if violation.kind else "none"
            fault, severity = violation.fault.value, violation.severity.value
            meters.violations.add(1, self._labelled(fault=fault, kind=kind, severity=severity))
        if span is not None:
            span.set(lambda: dict(self._decision(decision)))
            span.stamp_host(decision)

    @contained
    def found(self, span: Span, arm: str, items: Sequence[Any], scores: Sequence[float | None], vetoed: int) -> None:
        """Tells what one arm found, and how many of its hits were vetoed."""
        span.set(lambda: names.document_attributes(items, scores, self._content))
        if vetoed:
            instruments().forbidden_hits.add(vetoed, self._labelled(arm=arm))

    @contained
    def fused(
        self,
        span: Span,
        k: float,
        items: Sequence[Any],
        weights: Mapping[str, float],
        ranks: Sequence[Mapping[str, int]],
    ) -> None:
        """Tells how the arms were fused; `ranks` has one entry for each of the `items`, its rank in each arm."""
        span.set(lambda: names.fusion_attributes(k, items, weights, ranks, self._content))

    @contained
    def overlap(self, decision: Decision, share: float) -> None:
        """Tells which share of what original and rewrite found was found by both."""
        instruments().arm_overlap.record(share, self._labelled(action=decision.action.value))

    @contained
    def returned(
        self, span: Span, decision: Decision, items: Sequence[Any], failed: Sequence[str], seconds: float
    ) -> None:
        """Tells what a retrieval returned, which arms failed (`carried:timeout`), and how long it took."""
        span.set(
            lambda: (
                names.document_attributes(items, (), self._content)
                | {names.PARTIAL: bool(failed), names.FAILED_ARMS: list(failed)}
            )
        )
        instruments().retrieve_duration.record(seconds, self._labelled(action=decision.action.value))

    @contained
    def logged(
        self,
        conversation: Conversation,
        decision: Decision,
        profile: Profile,
        *,
        identity: str | None = None,
        day: Any = None,
        metadata: Mapping[str, Any] | None = None,
        retrieved: Callable[[], Retrieved] | None = None,
    ) -> None:
        """Writes a decision to the triple log, and has it judged where it is in the sample.

        Args:
            conversation: What was asked.
            decision: What was decided.
            profile: What kind of rewriter was judged.
            identity: The result's id; None is the id of the trace around the call, or else a random one.
            day: The day that "today" meant.
            metadata: The run's, for its session id.
            retrieved: Gives what was found, where the guard searched itself.
        """
        if self._triples is None and self._judge is None:
            return
        identity = identity or current_trace_id() or uuid4().hex
        told = {
            "session_id": self._session(metadata or {}).get("session.id"),
            "rewriter": self._rewriter,
            "profile": profile.value,
            "reference_date": day_of(day),
        }

        def row() -> Row:
            found = {} if retrieved is None else found_row(retrieved(), self._kept)
            return triple_row(identity, conversation, decision, self._kept, told) | found

        self._write(row)
        self._sample(identity, conversation, decision)

    @contained
    def log_answer(self, identity: str, answer: Any) -> None:
        """Logs the answer that the user got, a string or a message, for readers to join; without a log nothing is done.

        Args:
            identity: `Result.id`, or the trace id where the host searched.
            answer: What the user got; it is left out where outputs may not be recorded.
        """
        if self._kept.outputs:
            self._write(lambda: answer_row(identity, text_from(answer, "answer"), self._kept))

    @contained
    def failed(self, stage: str, error: BaseException) -> None:
        """Counts an error at `stage`, and logs its type but never its text."""
        instruments().errors.add(1, self._labelled(stage=stage) | {names.ERROR_TYPE: type(error).__name__})
        log.info("%s failed: %s", stage, type(error).__name__)

    def _write(self, build: Callable[[], Row]) -> None:
        if self._triples is None:
            return
        try:
            self._triples.write(build())
        except Exception as error:  # noqa: BLE001 - a full disk, or text that cannot be read, must not break a retrieval
            self.failed("log", error)
            warn_once(f"the triple log misses lines: {type(error).__name__}")

    def _sample(self, identity: str, conversation: Conversation, decision: Decision) -> None:
        """Has a decision judged where it is in the sample."""
        judge, found = self._judge, decision.assessment
        if judge is None or found is None or not judge.wants(identity, found.verdict):
            return
        if not self._kept.readable:
            warn_once("the judge is not asked: the words may not be recorded")
        elif judge.calibration is None:
            warn_once("the judge is not asked: it is not calibrated")
        else:
            turn, rewrite = self._kept.text(conversation.turn), self._kept.text(found.rewrite)
            messages = messages_of(turn, rewrite, history_of(conversation, self._kept))
            judge.ask_later(messages, partial(self._judged, found.verdict))

    @contained
    def _judged(self, verdict: Verdict, outcome: Outcome) -> None:
        if isinstance(outcome, Exception):
            self.failed("judge", outcome)
        else:
            instruments().judgements.add(1, self._labelled(verdict=verdict.value, judged=outcome.value))

    def _decision(self, decision: Decision) -> Attributes:
        told = self._told
        if told is None or told[0] is not decision:
            self._told = told = decision, names.decision_attributes(decision, self._rewriter, self._content)
        return told[1]

    def _labelled(self, **labels: str | bool) -> dict[str, str | bool]:
        """The attributes of a metric: all carry the rewriter's label, so that each can be told by rewriter."""
        return labels | {"rewriter": self._rewriter}

    def _about(self, conversation: Conversation, metadata: Mapping[str, Any]) -> Attributes:
        return (
            names.input_attributes(conversation.turn, self._content)
            | names.size_attributes(conversation)
            | self._session(metadata)
        )

    def _session(self, metadata: Mapping[str, Any]) -> Attributes:
        found = self._session_id or otel_context.get_value("session.id")
        if (
            not found and self._content.capture is not Capture.OFF
        ):  # not set for tracing: it may be a name or an address
            found = metadata.get("session_id") or metadata.get("thread_id")
        return {"session.id": self._content.text(str(found))} if found else {}

    def _log(self, decision: Decision) -> None:
        planned = decision.assessment is None and decision.reason in (Reason.FIRST_TURN, Reason.SKIPPED)
        if decision.verdict is Verdict.PRESERVED or planned:
            return
        log.info(
            "%s: action=%s proposed=%s reasons=%s policy=%s rewriter=%s",
            names.verdict_of(decision),
            decision.action.value,
            decision.proposed.value,
            ",".join(names.codes_of(decision)),
            f"{decision.policy}/{decision.request_class}" if decision.request_class else decision.policy,
            self._rewriter,
        )


@lru_cache(maxsize=1)
def default_telemetry() -> Telemetry:
    """The telemetry of calls that were given none, with the switches that the environment had on first use."""
    return Telemetry()
