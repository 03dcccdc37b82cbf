import asyncio
import json
import logging
import subprocess
import sys
import time
from collections import Counter
from dataclasses import fields

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.trace import StatusCode

from fakes import HISTORY, FakeGuard, probe
from rewriteguard.errors import InputError, ScopeError
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.rules import Verdict
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve.rewrite import asafe_rewrite, safe_rewrite
from rewriteguard.retrieve.search import GuardedSearch
from rewriteguard.telemetry import Telemetry, TripleLog, recorder, spans
from rewriteguard.telemetry.content import Capture, Content, content_from
from rewriteguard.telemetry.names import Instruments, make_instruments

TURN = "And how long takes a zebrafinch?"
GOOD = "How long does it take to renew a quokkapermit?"
SECRETS = ["zebrafinch", "quokkapermit", "parking", "town desk", "wombatdoc", "numbatmeta", "echidna"]
HASH = "blake2b:"


class Document:
    def __init__(self, text, place):
        self.page_content = f"{text} {place}"
        self.metadata = {"title": "numbatmeta", "page": 7}
        self.id = f"wombatdoc-id-{place}"


def search(query):
    return [Document("wombatdoc", place) for place in range(12)]


pytestmark = pytest.mark.usefixtures("no_switches")


@pytest.fixture
def seen(monkeypatch):
    return probe(monkeypatch)


def retrieve(telemetry=None, rewriter=lambda turn, history: GOOD, verdict=Verdict.UNCERTAIN, find=search, **settings):
    guard = settings.pop("guard", FakeGuard({GOOD: verdict}))
    key = settings.pop("key", lambda document: document.id)
    guarded = GuardedSearch(find, rewriter, guard=guard, telemetry=telemetry or Telemetry(), key=key, **settings)
    return guarded.run(TURN, HISTORY)


# what the spans say


def test_retrieve_span(seen):
    retrieve(Telemetry(rewriter="condense-v3", session_id="s-1"))
    told = dict(seen.span("rewriteguard.retrieve").attributes)
    assert told["openinference.span.kind"] == "CHAIN"
    assert told["gen_ai.operation.name"] == "retrieval"
    assert told["input.value"] == TURN
    assert json.loads(told["output.value"])[0]["id"] == "wombatdoc-id-0"
    assert told["session.id"] == "s-1"
    expected = {
        "verdict": "uncertain",
        "action": "fuse",
        "proposed_action": "fuse",
        "reason": "dropped",
        "reasons": ("dropped.time",),
        "dependent": True,
        "policy": "default",
        "rewriter": "condense-v3",
        "history.turns": 2,
        "turn.length": len(TURN),
        "rewrite.length": len(GOOD),
        "rewrite.added_tokens": 6,
        "documents.count": 12,
        "partial": False,
    }
    assert {name: told[f"rewriteguard.{name}"] for name in expected} == expected
    assert seen.span("rewriteguard.retrieve").status.status_code is StatusCode.UNSET


def test_check_span_and_evaluation_event(seen):
    retrieve()
    span = seen.span("rewriteguard.check")
    told = dict(span.attributes)
    assert told["openinference.span.kind"] == "GUARDRAIL"
    assert told["gen_ai.evaluation.name"] == "rewriteguard"
    assert told["gen_ai.evaluation.score.label"] == "uncertain"
    assert told["rewriteguard.original_turn"] == TURN
    assert told["rewriteguard.rewritten_query"] == GOOD
    assert json.loads(told["rewriteguard.history_window"])[0] == {"role": "user", "content": HISTORY[0][1]}
    finding = json.loads(told["rewriteguard.violations"])[0]
    assert (finding["code"], finding["evidence"][0]["text"]) == ("dropped.time", "zebrafinch?")
    given, found = json.loads(told["input.value"]), json.loads(told["output.value"])
    assert (given["turn"], given["rewrite"], given["history"][1]) == (TURN, GOOD, f"assistant: {HISTORY[1][1]}")
    assert found == {"verdict": "uncertain", "action": "fuse", "violations": [finding]}
    assert [event.name for event in span.events] == ["gen_ai.evaluation.result"]
    assert dict(span.events[0].attributes)["gen_ai.evaluation.explanation"] == "dropped.time"


def test_search_and_fuse_spans(seen):
    retrieve(k=3)
    told = dict(seen.span("rewriteguard.search", rewriteguard__arm="rewrite").attributes)
    assert told["openinference.span.kind"] == "RETRIEVER"
    assert told["input.value"] == GOOD
    assert told["retrieval.documents.0.document.content"] == "wombatdoc 0"
    assert json.loads(told["retrieval.documents.0.document.metadata"]) == {"title": "numbatmeta", "page": 7}
    assert told["rewriteguard.documents.count"] == 12
    shown = json.loads(told["output.value"])
    assert set(shown[0]) == {"page_content", "metadata", "id"}
    assert len(shown) == 10
    assert "retrieval.documents.10.document.id" not in told
    fused = dict(seen.span("rewriteguard.fuse").attributes)
    assert fused["openinference.span.kind"] == "RERANKER"
    assert (fused["reranker.top_k"], fused["rewriteguard.fusion.k"]) == (3, 2.0)
    assert fused["rewriteguard.fusion.arms"] == ("original", "rewrite", "carried")
    assert fused["rewriteguard.fusion.weights"] == (1.0, 2.0, 2.0)
    assert fused["rewriteguard.fusion.sources"][1] == "original#2+rewrite#2+carried#2"
    assert fused["reranker.output_documents.1.document.id"] == "wombatdoc-id-1"
    assert fused["reranker.output_documents.1.document.content"] == "wombatdoc 1"
    shown = json.loads(fused["reranker.output_documents.1.document.metadata"])
    assert shown == {"found": "original#2+rewrite#2+carried#2"}
    assert "reranker.output_documents.3.document.id" not in fused


def test_every_span_carries_gen_ai_and_no_name_is_the_prefix_of_another(seen):
    retrieve()
    for span in seen.spans:
        names = sorted(span.attributes)
        assert any(name.startswith("gen_ai.") for name in names), span.name
        assert len(names) <= 64
        assert not [(a, b) for a in names for b in names if b.startswith(a + ".")]


def test_shadow_mode_says_what_would_have_been_done(seen):
    retrieve(policy=Policy.observe(), verdict=Verdict.CHANGED)
    told = dict(seen.span("rewriteguard.retrieve").attributes)
    assert (told["rewriteguard.action"], told["rewriteguard.proposed_action"]) == ("use_rewrite", "fall_back")


def test_session_id_from_context(seen):
    token = otel_context.attach(otel_context.set_value("session.id", "from-context"))
    retrieve()
    otel_context.detach(token)
    assert seen.span("rewriteguard.retrieve").attributes["session.id"] == "from-context"


def test_failed_arms_are_marked(seen):
    def find(query):
        if query == GOOD:
            raise OSError("index is down")
        return search(query)

    retrieve(find=find)
    told = dict(seen.span("rewriteguard.retrieve").attributes)
    assert told["rewriteguard.partial"] is True
    assert told["rewriteguard.failed_arms"] == ("rewrite:error",)
    failed = seen.span("rewriteguard.search", rewriteguard__arm="rewrite")
    assert failed.attributes["error.type"] == "OSError"
    assert failed.status.status_code is StatusCode.ERROR


# metrics


def test_metrics(seen):
    retrieve(admit=lambda document: not document.id.endswith("-3"))
    ((labels, point),) = seen.points("rewriteguard.retrieve.duration")  # first: reading takes the exemplars away
    assert labels == {"action": "fuse", "rewriter": "default"}
    assert point.explicit_bounds[-1] == 10
    assert point.exemplars[0].span_id == seen.span("rewriteguard.retrieve").context.span_id
    ((_, decisions),) = seen.points("rewriteguard.decisions")
    assert decisions.value == 1
    assert [labels for labels, _ in seen.points("rewriteguard.violations")] == [
        {"fault": "dropped", "kind": "time", "severity": "critical", "rewriter": "default"}
    ]
    vetoed = {labels["arm"]: point.value for labels, point in seen.points("rewriteguard.forbidden_hits")}
    assert vetoed == {"original": 1, "rewrite": 1, "carried": 1}
    ((labels, point),) = seen.points("rewriteguard.check.duration")
    assert labels == {"verdict": "uncertain", "rewriter": "default"}
    assert point.explicit_bounds[0] == 0.0005
    ((labels, ratio),) = seen.points("rewriteguard.rewrite.length_ratio")
    assert labels == {"verdict": "uncertain", "profile": "condense", "rewriter": "default"}
    assert ratio.sum == pytest.approx(len(GOOD) / len(TURN))
    ((_, overlap),) = seen.points("rewriteguard.arm_overlap")
    assert overlap.sum == 1


def test_every_metric_tells_the_rewriter(seen):
    def find(query):
        if query == TURN:
            raise OSError("index is down")
        return search(query)

    telemetry = Telemetry(rewriter="condense-v3")
    retrieve(telemetry, admit=lambda document: not document.id.endswith("-3"))
    retrieve(telemetry, find=find)
    ours = [field.name for field in fields(Instruments) if field.name != "judgements"]  # those are in test_judge.py
    for metric in (getattr(recorder.instruments(), name).name for name in ours):
        assert {labels["rewriter"] for labels, _ in seen.points(metric)} == {"condense-v3"}, metric


def test_shadow_mode_counts_what_would_have_been_done(seen):
    retrieve(policy=Policy.observe(), verdict=Verdict.CHANGED)
    ((labels, _),) = seen.points("rewriteguard.decisions")
    assert (labels["action"], labels["proposed_action"]) == ("use_rewrite", "fall_back")


def test_errors_are_counted_by_stage(seen):
    retrieve(rewriter=lambda turn, history: 1 / 0)
    guard = FakeGuard()
    guard.decide = lambda *_, **__: [][1]
    retrieve(guard=guard)
    counted = {(labels["stage"], labels["error.type"]) for labels, _ in seen.points("rewriteguard.errors")}
    assert counted == {("rewriter", "ZeroDivisionError"), ("guard", "IndexError")}
    verdicts = {labels["verdict"] for labels, _ in seen.points("rewriteguard.decisions")}
    assert verdicts == {"none"}


@pytest.mark.parametrize("scope", [lambda config: None, lambda config: 1 / 0])
def test_a_scope_that_is_not_decided_is_counted(seen, scope):
    with pytest.raises(ScopeError):
        retrieve(scope=scope)
    counted = {(labels["stage"], labels["error.type"]): p.value for labels, p in seen.points("rewriteguard.errors")}
    assert counted == {("scope", "ScopeError"): 1}


@pytest.mark.parametrize("profile", [Profile.CONDENSE, Profile.EXPAND])
def test_failures_of_a_rewriter_are_counted_from_zero(seen, profile):
    """Prometheus sees no rise in a series whose first value is 1, and each process has series of its own."""

    def fails(turn, history):
        raise ConnectionError("the model is down")

    guarded = GuardedSearch(search, fails, guard=FakeGuard(), profile=profile, key=lambda document: document.id)
    begun = [labels for labels, _ in seen.points("rewriteguard.decisions", zeros=True)]
    assert [labels["reason"] for labels in begun] == ["rewriter_error", "rewriter_timeout"]
    guarded.run(TURN, HISTORY)
    ((counted, _),) = seen.points("rewriteguard.decisions")
    assert counted == begun[0]  # the same series


def test_failures_of_a_rewriter_are_counted_from_zero_where_the_provider_came_late(monkeypatch):
    guarded = GuardedSearch(search, lambda turn: GOOD, guard=FakeGuard(), telemetry=Telemetry(rewriter="v3"))
    seen = probe(monkeypatch)
    guarded.run(TURN)
    begun = {(each["reason"], each["rewriter"]) for each, _ in seen.points("rewriteguard.decisions", zeros=True)}
    assert begun == {("rewriter_error", "v3"), ("rewriter_timeout", "v3")}


# content


def leaks(text):
    return [secret for secret in SECRETS if secret in text]


def everything(telemetry):
    """All paths whose spans could quote a user: good, failing rewriter, failing arm, failing guard."""

    def fails(turn, history):
        raise ValueError(f"cannot rewrite {turn} echidna")

    def broken(query):
        raise OSError(f"no index for {query} echidna")

    guard = FakeGuard()
    guard.decide = lambda turn, *_, **__: [][turn]
    retrieve(telemetry)
    retrieve(telemetry, rewriter=fails)
    retrieve(telemetry, guard=guard)
    with pytest.raises(OSError, match="echidna"):
        retrieve(telemetry, find=broken)


def test_full_capture_is_the_default_and_the_test_can_see_words(seen):
    everything(Telemetry())
    assert leaks(seen.text()) == SECRETS


SWITCHES = {
    "own switch": ("REWRITEGUARD_CAPTURE_CONTENT", "off"),
    "general switch": ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "false"),
    "unreadable": ("REWRITEGUARD_CAPTURE_CONTENT", "ful"),
}


@pytest.mark.parametrize("variable", ["argument", *SWITCHES])
def test_content_off_leaves_no_word_anywhere(seen, monkeypatch, variable, caplog):
    caplog.set_level(logging.DEBUG)
    if variable == "argument":
        telemetry = Telemetry(capture="off")
    else:
        monkeypatch.setenv(*SWITCHES[variable])
        telemetry = Telemetry()
    everything(telemetry)
    assert leaks(seen.text()) == []
    assert leaks(caplog.text) == []
    assert not [event for span in seen.spans for event in span.events if event.name == "exception"]
    assert [span.status.description for span in seen.spans if span.status.status_code is StatusCode.ERROR] == [None] * 6


def test_hashes_compare_but_say_nothing(seen):
    everything(Telemetry(capture="hash"))
    assert leaks(seen.text()) == []
    checks = [span for span in seen.spans if span.name == "rewriteguard.check"]
    hashes = {span.attributes["rewriteguard.original_turn"] for span in checks}
    assert len(hashes) == 1
    assert hashes.pop().startswith(HASH)


def test_a_redactor_sees_every_text_first(seen):
    def redact(text):
        for secret in SECRETS:
            text = text.replace(secret, "#")
        return text

    everything(Telemetry(redact=redact))
    assert leaks(seen.text()) == []
    assert seen.spans[-1].name


def test_a_redactor_that_raises_or_returns_no_text(seen):
    for redact in (lambda text: 1 / 0, lambda text: None):
        retrieve(Telemetry(redact=redact))
    assert leaks(seen.text()) == []
    told = [span.attributes["input.value"] for span in seen.spans if span.name == "rewriteguard.retrieve"]
    assert told == ["__REDACTION_FAILED__"] * 2


@pytest.mark.parametrize(
    ("variable", "hidden", "kept"),
    [
        ("OPENINFERENCE_HIDE_INPUTS", ["zebrafinch", "parking"], ["wombatdoc"]),
        ("OPENINFERENCE_HIDE_OUTPUTS", ["quokkapermit", "wombatdoc"], ["zebrafinch"]),
        ("OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS", ["wombatdoc", "numbatmeta"], ["zebrafinch", "quokkapermit"]),
    ],
)
def test_openinference_s_switches(seen, monkeypatch, variable, hidden, kept):
    monkeypatch.setenv(variable, "true")
    retrieve()
    text = seen.text()
    assert [word for word in hidden if word in text] == []
    assert [word for word in kept if word in text] == kept


def test_precedence_of_the_switches():
    both = {"REWRITEGUARD_CAPTURE_CONTENT": "hash", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT"}
    general = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
    assert content_from("full", None, both).capture is Capture.FULL
    assert content_from(None, None, both).capture is Capture.HASH
    assert content_from(None, None, general).capture is Capture.FULL
    assert content_from(None, None, {}).capture is Capture.FULL
    with pytest.raises(InputError, match=r"capture: .*'ful'"):
        Telemetry(capture="ful")


def test_long_texts_are_cut_after_redaction():
    content = Content(Capture.FULL, redact=lambda text: text.replace("secret", ""))
    kept = content.text("secret" * 100 + "x" * 2_500)
    assert kept == "x" * 2_000 + "... [500 more characters]"
    assert content.text("short") == "short"


PERSON = "echidna@example.org"
PHONE = 4915112345678


def owned(query):
    document = Document("wombatdoc", 0)
    document.metadata = {PERSON: "owner", "phone": PHONE, "page": 7, "of": {PERSON: [PHONE, 0.5]}}
    return [document]


def metadata_of(seen):
    return json.loads(seen.span("rewriteguard.search", rewriteguard__arm="rewrite").attributes[METADATA])


METADATA = "retrieval.documents.0.document.metadata"


def test_names_and_numbers_in_metadata_are_redacted_too(seen):
    def redact(text):
        return text.replace(PERSON, "#").replace(str(PHONE), "+")

    retrieve(Telemetry(redact=redact, session_id=PERSON), find=owned)
    assert metadata_of(seen) == {"#": "owner", "phone": "+", "page": 7, "of": {"#": ["+", 0.5]}}
    assert seen.span("rewriteguard.retrieve").attributes["session.id"] == "#"
    assert [secret for secret in (PERSON, str(PHONE)) if secret in seen.text()] == []


def test_names_in_metadata_and_sessions_are_hashed_too(seen):
    retrieve(Telemetry(capture="hash", session_id=PERSON), find=owned)
    assert [name for name in metadata_of(seen) if not name.startswith(HASH)] == []
    session = seen.span("rewriteguard.retrieve").attributes["session.id"]
    assert session == Content(Capture.HASH).text(PERSON)  # the same for each turn of a conversation
    assert [secret for secret in (PERSON, str(PHONE)) if secret in seen.text()] == []


@pytest.mark.parametrize(("capture", "told"), [("full", PERSON), ("off", None)])
def test_a_session_that_was_not_set_for_tracing_is_not_told_with_content_off(seen, capture, told):
    with Telemetry(capture=capture).retrieve(conversation(), metadata={"thread_id": PERSON}):
        pass
    assert seen.span("rewriteguard.retrieve").attributes.get("session.id") == told


def test_a_session_that_was_set_for_tracing_is_told_with_content_off(seen):
    with Telemetry(capture="off", session_id="s-1").retrieve(conversation()):
        pass
    assert seen.span("rewriteguard.retrieve").attributes["session.id"] == "s-1"


@pytest.mark.parametrize("log", [False, True])
def test_a_redactor_is_asked_once_about_a_text(seen, tmp_path, log):
    asked = Counter()

    def redact(text):
        asked[text] += 1
        return text

    telemetry = Telemetry(redact=redact, log=TripleLog(tmp_path / "triples.jsonl") if log else None)
    retrieve(telemetry)
    assert {TURN, GOOD, HISTORY[0][1], "wombatdoc 9", "numbatmeta"} <= set(asked)
    assert {text: times for text, times in asked.items() if times > 1} == {}
    retrieve(telemetry)
    assert set(asked.values()) == {2}  # nothing is kept beyond a call


async def test_a_redactor_is_asked_once_about_a_text_in_a_loop(seen):
    asked = Counter()

    async def find(query):
        return search(query)

    telemetry = Telemetry(redact=lambda text: asked.update([text]) or text)
    guard = FakeGuard({GOOD: Verdict.UNCERTAIN})
    await GuardedSearch(find, lambda turn: GOOD, guard=guard, telemetry=telemetry, key=lambda d: d.id).arun(
        TURN, HISTORY
    )
    assert set(asked.values()) == {1}


HALF = "\ud83d"  # of a surrogate pair: str holds it, UTF-8 does not


def exported(seen, caplog):
    """The spans as an OTLP exporter sends them; it logs an error for what it has to leave out."""
    caplog.clear()
    (resource,) = encode_spans(seen.spans).resource_spans
    sent = [span for scope in resource.scope_spans for span in scope.spans]
    assert [record.getMessage() for record in caplog.records if record.name.startswith("opentelemetry")] == []
    return sent


def test_half_a_surrogate_pair_takes_no_span_with_it(seen, caplog):
    def broken(query):
        raise OSError(f"no index for {query}{HALF}")

    class Odd(Document):
        def __init__(self, text, place):
            super().__init__(text + HALF, place)
            self.metadata = {f"title{HALF}": HALF}
            self.id += HALF

    telemetry = Telemetry(rewriter=f"v1{HALF}", session_id=f"s{HALF}")
    searches = {f"desk{HALF}": lambda query: [Odd("wombatdoc", place) for place in range(2)]}
    talk = [("user", f"{HALF} How do I renew a parking permit?"), *HISTORY[1:]]
    rewriter = f"{GOOD}{HALF}"
    GuardedSearch(searches, rewriter, guard=FakeGuard(), telemetry=telemetry).run(f"{TURN} {HALF}", talk)
    with pytest.raises(OSError, match="no index"):
        GuardedSearch(broken, rewriter, guard=FakeGuard(), telemetry=telemetry).run(f"{TURN} {HALF}", talk)
    told = {attribute.key for span in exported(seen, caplog) for attribute in span.attributes}
    assert told == {name for span in seen.spans for name in span.attributes}
    assert {"rewriteguard.original_turn", "rewriteguard.rewriter", "session.id", "input.value"} <= told
    check = next(span for span in seen.spans if span.name == "rewriteguard.check")
    assert check.attributes["rewriteguard.original_turn"] == f"{TURN} \\ud83d"
    shown = next(span for span in seen.spans if "retrieval.documents.0.document.metadata" in span.attributes)
    assert json.loads(shown.attributes["retrieval.documents.0.document.metadata"]) == {f"title{HALF}": HALF}
    errors = [event for span in exported(seen, caplog) for event in span.events if event.name == "exception"]
    assert len(errors) == len([span for span in seen.spans if span.attributes.get("error.type") == "OSError"]) > 0
    assert encode_metrics(seen.metrics)


# parenting


class Handler:
    """A tracing callback handler that keeps its own spans, as OpenInference's does."""

    def __init__(self, found):
        self.found = found

    def get_span(self, run_id):
        return self.found[run_id]


class Run:
    def __init__(self, handlers):
        self.handlers = handlers
        self.run_id = "run-1"


def hosted(tracer, wrap):
    host = tracer.start_span("host")
    telemetry = Telemetry()
    with telemetry.retrieve(conversation(), Run([object(), wrap(host)])) as span:
        telemetry.decided(FakeGuard().decide(TURN, GOOD, HISTORY), Profile.CONDENSE, span)
    host.end()
    return host


def conversation():
    return Conversation.read(TURN, HISTORY)


class Langfuse:
    def __init__(self, span):
        self._runs = {"run-1": type("Entry", (), {"_otel_span": span})()}


STAMP = {"rewriteguard.verdict": "preserved", "rewriteguard.action": "fuse"}
LANGFUSE_STAMP = {
    "langfuse.observation.metadata.rewriteguard_verdict": "preserved",
    "langfuse.observation.metadata.rewriteguard_action": "fuse",
    "langfuse.observation.metadata.rewriteguard_proposed_action": "fuse",
    "langfuse.observation.metadata.rewriteguard_reasons": "ok",
    "langfuse.trace.tags": ("rewriteguard:preserved", "rewriteguard:fuse"),
}


@pytest.mark.parametrize(
    ("wrap", "stamp"),
    [(lambda span: Handler({"run-1": span}), STAMP), (Langfuse, STAMP | LANGFUSE_STAMP)],
    ids=["get_span", "run table"],
)
def test_the_span_of_the_host_s_run_is_the_parent_and_is_stamped(seen, wrap, stamp):
    host = hosted(spans.tracer(), wrap)
    assert seen.span("rewriteguard.retrieve").parent.span_id == host.get_span_context().span_id
    assert dict(seen.span("host").attributes) == stamp


class Traced:
    """A run as LangChain's tracers keep it."""

    def __init__(self):
        self.metadata = {"tenant": "north"}
        self.extra = {"metadata": self.metadata}
        self.tags = self.given = ["mine"]


def test_the_host_s_run_gets_metadata_and_tags_of_its_own(seen):
    run = Traced()
    hosted(spans.tracer(), lambda _: type("Tracer", (), {"run_map": {"run-1": run}})())
    assert run.tags == ["mine", "rewriteguard:preserved", "rewriteguard:fuse"]
    assert run.extra["metadata"]["rewriteguard_reasons"] == "ok"
    assert run.extra["metadata"]["tenant"] == "north"
    # The containers of the config belong to other runs too.
    assert (run.given, run.metadata) == (["mine"], {"tenant": "north"})


def test_without_an_sdk_the_host_s_run_is_told_too():
    run = Traced()
    telemetry = Telemetry()
    tracer = type("Tracer", (), {"run_map": {"run-1": run}})()
    with telemetry.retrieve(conversation(), Run([tracer])) as span:
        telemetry.decided(FakeGuard({GOOD: Verdict.CHANGED}).decide(TURN, GOOD, HISTORY), Profile.CONDENSE, span)
    assert run.tags == ["mine", "rewriteguard:changed", "rewriteguard:fall_back"]


def test_a_tracer_that_raises_is_passed_over(seen, caplog):
    run = Traced()
    tracers = [
        type("Tracer", (), {"run_map": {"run-1": each}})()
        for each in (type("Odd", (), {"extra": 3, "tags": ()})(), run)
    ]
    telemetry = Telemetry()
    with telemetry.retrieve(conversation(), Run(tracers)) as span:
        telemetry.decided(FakeGuard().decide(TURN, GOOD, HISTORY), Profile.CONDENSE, span)
    assert "rewriteguard:fuse" in run.tags
    assert "host_run.TypeError" in caplog.text


def test_a_handler_that_raises_is_passed_over(seen, caplog):
    hosted(spans.tracer(), lambda span: Handler({}))
    assert seen.span("rewriteguard.retrieve").parent is None
    assert "host_span.KeyError" in caplog.text


# what can go wrong


class Broken:
    """A tracer and instruments that raise at every touch."""

    def __getattr__(self, name):
        raise RuntimeError("exporter is down")


def test_broken_telemetry_breaks_nothing_and_is_said_once(monkeypatch, caplog):
    monkeypatch.setattr(spans, "tracer", Broken)
    monkeypatch.setattr(recorder, "instruments", Broken)
    for _ in range(3):
        result = retrieve()
        assert len(result.items) == 12
    lines = [record.getMessage() for record in caplog.records if "telemetry failed" in record.getMessage()]
    assert len(lines) == len(set(lines)) > 0


class Odd:
    """An item whose own code raises."""

    id = "odd"

    def __init__(self, text=None, metadata=None):
        self._text, self._metadata = text, metadata

    @property
    def metadata(self):
        return self._metadata or [][0]

    def __str__(self):
        return self._text or [][0]


@pytest.mark.parametrize("odd", [Odd(), Odd("text"), Odd("text", {"n": Odd()}), Odd("text", {"n": 10**5_000})])
def test_an_item_that_cannot_be_read_takes_nothing_with_it(seen, odd):
    items = [Document("wombatdoc", 0), odd, Document("wombatdoc", 2)]
    assert retrieve(find=lambda query: items).items == items
    for span in (each for each in seen.spans if each.name in ("rewriteguard.search", "rewriteguard.retrieve")):
        told = dict(span.attributes)
        assert told["rewriteguard.documents.count"] == 3
        texts = [told[f"retrieval.documents.{place}.document.content"] for place in range(3)]
        assert texts == ["wombatdoc 0", "unreadable", "wombatdoc 2"]
        assert [each["page_content"] for each in json.loads(told["output.value"])] == texts
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.partial"] is False
    fused = seen.span("rewriteguard.fuse").attributes
    assert (fused["reranker.top_k"], fused["reranker.output_documents.1.document.content"]) == (3, "unreadable")


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_numbers_that_json_does_not_have_are_texts(seen, number):
    document = Document("wombatdoc", 0)
    document.metadata = {"score": float(number), "page": 7}
    retrieve(find=lambda query: [document])
    told = seen.span("rewriteguard.search", rewriteguard__arm="rewrite").attributes
    for text in (told[METADATA], told["output.value"]):
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert metadata_of(seen) == {"score": number, "page": 7}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"redact": 3}, "redact: expected a callable or None, got int"),
        ({"rewriter": None}, "rewriter: expected a str, got NoneType"),
        ({"rewriter": ["a"]}, "rewriter: expected a str, got list"),
    ],
)
def test_settings_that_cannot_be_used_are_said_at_once(settings, message):
    with pytest.raises(InputError, match=message):
        Telemetry(**settings)


async def test_a_cancelled_task_closes_its_spans_and_says_so(seen):
    async def slow(turn, history):
        await asyncio.sleep(5)

    task = asyncio.create_task(asafe_rewrite(TURN, slow, HISTORY, guard=FakeGuard()))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    told = seen.span("rewriteguard.rewrite").attributes
    assert (told["error.type"], told["rewriteguard.cancelled"]) == ("CancelledError", True)


async def test_a_timed_out_rewriter_s_span_is_an_error(seen):
    async def slow(turn, history):
        await asyncio.sleep(5)

    await asafe_rewrite(TURN, slow, HISTORY, guard=FakeGuard(), timeout=0.01)
    span = seen.span("rewriteguard.rewrite")
    assert span.attributes["error.type"] == "TimeoutError"
    assert span.status.status_code is StatusCode.ERROR


def test_the_ambient_span_is_restored(seen):
    with spans.tracer().start_as_current_span("app") as app:
        retrieve()
        assert trace.get_current_span() is app
    assert seen.span("rewriteguard.retrieve").parent.span_id == app.get_span_context().span_id


# the logger


def test_the_logger_says_codes_of_what_is_not_preserved(caplog):
    caplog.set_level(logging.INFO, logger="rewriteguard")
    safe_rewrite(TURN, GOOD, HISTORY, guard=FakeGuard())
    retrieve_first = GuardedSearch(search, GOOD, guard=FakeGuard(), key=lambda document: document.id)
    retrieve_first.run(TURN)
    assert caplog.messages == []
    safe_rewrite(TURN, GOOD, HISTORY, guard=FakeGuard({GOOD: Verdict.CHANGED}))
    safe_rewrite(TURN, lambda turn: 1 / 0, HISTORY, guard=FakeGuard())
    assert caplog.messages == [
        "changed: action=fall_back proposed=fall_back reasons=dropped.time policy=default rewriter=default",
        "rewriter failed: ZeroDivisionError",
        "none: action=fall_back proposed=fall_back reasons=rewriter_error policy=default rewriter=default",
    ]
    assert leaks(caplog.text) == []


# without and with an SDK


@pytest.fixture
def no_sdk(monkeypatch):
    """What the API does by itself; another test may have set a provider for the process."""
    made = make_instruments(NoOpMeterProvider().get_meter("rewriteguard"))
    monkeypatch.setattr(spans, "tracer", lambda: trace.NoOpTracer())
    monkeypatch.setattr(recorder, "instruments", lambda: made)


def test_without_an_sdk_nothing_is_serialised(no_sdk):
    seen = []
    result = retrieve(Telemetry(redact=lambda text: seen.append(text) or text))
    assert (len(result.items), len(result.id), seen) == (12, 32, [])


AFTERWARDS = """
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.metrics import NoOpMeterProvider
from rewriteguard.telemetry import Telemetry
from rewriteguard.model.conversation import Conversation
with Telemetry().retrieve(Conversation("before")) as span:
    assert span.trace_id is None
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
with Telemetry().retrieve(Conversation("after")) as span:
    assert len(span.trace_id) == 32
"""


def test_a_provider_that_is_set_later_works():
    subprocess.run([sys.executable, "-c", AFTERWARDS], check=True)


def test_cost_without_an_sdk(no_sdk):
    telemetry = Telemetry()
    talk = conversation()
    decision = FakeGuard().decide(TURN, GOOD, HISTORY)
    best = min(_cost_of_one_call(telemetry, talk, decision) for _ in range(20))
    assert best < 500e-6  # a loose bound against accidents; the measured figure is a tenth of it


def _cost_of_one_call(telemetry, talk, decision):
    """Seconds of everything that one fused call asks of telemetry."""
    started = time.perf_counter()
    with telemetry.retrieve(talk) as span:
        for arm in ("original", "rewrite", "carried"):
            with telemetry.search(arm, TURN) as searching:
                telemetry.found(searching, arm, [], [], 0)
        with telemetry.rewrite():
            pass
        with telemetry.check() as checking:
            telemetry.checked(checking, talk, decision, 0.001)
        telemetry.decided(decision, Profile.CONDENSE, span)
        with telemetry.fuse() as fusing:
            telemetry.fused(fusing, 2, [], {}, [])
        telemetry.overlap(decision, 0.5)
        telemetry.returned(span, decision, [], [], 0.01)
    return time.perf_counter() - started
