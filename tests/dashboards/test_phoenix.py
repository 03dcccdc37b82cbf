"""The guarded chain as a real Phoenix shows it, beside OpenInference's own instrumentation of LangChain."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rewriteguard import Telemetry
from rewriteguard.demo import CONDENSE_PROMPT, conversation, documents
from rewriteguard.telemetry import spans

exporters = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter", reason="no OTLP exporter")
openinference = pytest.importorskip("openinference.instrumentation.langchain", reason="no OpenInference for LangChain")

import requests  # noqa: E402
from langchain_core.runnables import RunnableLambda  # noqa: E402
from openinference.instrumentation import TraceConfig  # noqa: E402
from opentelemetry.sdk.resources import Resource  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: E402

pytestmark = pytest.mark.backend

ROOT = Path(__file__).parents[2]
REJECTED = "Can I rent an e-bike without a credit card?"
NO_CONTENT = {"hide_inputs": True, "hide_outputs": True, "hide_retrieval_documents": True}
_PATIENCE = 30  # seconds until Phoenix has to show what was sent


@pytest.fixture(scope="session")
def phoenix(serve: Callable[..., None], free_port: Callable[[], int], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a Phoenix of these tests' own."""
    command = os.environ.get("REWRITEGUARD_PHOENIX") or shutil.which("phoenix")
    if command is None:
        pytest.skip("Phoenix is not installed; REWRITEGUARD_PHOENIX names its command")
    port = free_port()
    environ = {
        "PHOENIX_WORKING_DIR": str(tmp_path_factory.mktemp("phoenix")),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
    }
    address = f"http://127.0.0.1:{port}"
    serve([command, "serve"], f"{address}/healthz", environ)
    return address


class Recording(requests.Session):
    """Sends, and keeps the bytes of what it sends."""

    def __init__(self) -> None:
        super().__init__()
        self.raw = b""

    def send(self, request: requests.PreparedRequest, **keywords: Any) -> requests.Response:
        self.raw += request.body if isinstance(request.body, bytes) else b""
        return super().send(request, **keywords)


def spans_of(address: str, project: str, **wanted: str) -> list[dict[str, Any]]:
    """The spans that Phoenix has now; none where it does not know the project, as before its first span."""
    query = urllib.parse.urlencode({"limit": 1000, **wanted})
    try:
        with urllib.request.urlopen(f"{address}/v1/projects/{project}/spans?{query}", timeout=10) as answer:
            data: list[dict[str, Any]] = json.load(answer)["data"]
            return data
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return []
        raise


class Project:
    """One project of Phoenix: what is exported to it, and what it shows of that."""

    def __init__(self, address: str, config: TraceConfig | None, *, alone: bool = False) -> None:
        self.name = f"test-{uuid.uuid4().hex[:8]}"
        self.session = Recording()
        self.address = address
        self._provider = TracerProvider(resource=Resource.create({"openinference.project.name": self.name}))
        exporter = exporters.OTLPSpanExporter(f"{address}/v1/traces", session=self.session)
        self._ended = InMemorySpanExporter()
        for each in (BatchSpanProcessor(exporter), SimpleSpanProcessor(self._ended)):
            self._provider.add_span_processor(each)
        self.tracer = self._provider.get_tracer("rewriteguard")
        self._instrumentor = openinference.LangChainInstrumentor()
        if not alone:
            self._instrumentor.instrument(tracer_provider=self._provider, config=config)

    def spans(self, **wanted: str) -> list[dict[str, Any]]:
        """The spans that Phoenix finds, once it has all that ended; oldest first."""
        self._provider.force_flush()
        sent, shown = len(self._ended.get_finished_spans()), 0
        end = time.monotonic() + _PATIENCE
        while shown < sent:
            if time.monotonic() > end:
                pytest.fail(f"Phoenix showed {shown} of {sent} spans after {_PATIENCE} seconds")
            time.sleep(0.2)
            shown = len(spans_of(self.address, self.name))
        return sorted(spans_of(self.address, self.name, **wanted), key=lambda span: span["start_time"])

    @property
    def id(self) -> str:
        """The name that Phoenix itself gave the project."""
        with urllib.request.urlopen(f"{self.address}/v1/projects/{self.name}", timeout=10) as answer:
            return str(json.load(answer)["data"]["id"])

    def address_of(self, span: dict[str, Any]) -> str:
        """Where Phoenix shows the trace of a span."""
        return f"{self.address}/projects/{self.id}/traces/{span['context']['trace_id']}"

    def close(self) -> None:
        """Sends what is left, and instruments LangChain no longer."""
        if self._instrumentor.is_instrumented_by_opentelemetry:
            self._instrumentor.uninstrument()
        self._provider.shutdown()


@pytest.fixture
def project(phoenix: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Project]]:
    """A function that starts exporting to a new project; it takes OpenInference's own switches, or leaves it out."""
    started: list[Project] = []

    def start(*, alone: bool = False, **hidden: bool) -> Project:
        started.append(Project(phoenix, TraceConfig(**hidden) if hidden else None, alone=alone))
        monkeypatch.setattr(spans, "tracer", lambda: started[-1].tracer)
        return started[-1]

    yield start
    for each in started:
        each.close()


class Trace:
    """The spans of one trace, by what they are."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self._found = found
        known = {each["context"]["span_id"]: each for each in found}
        self.parents = {each["context"]["span_id"]: known.get(each["parent_id"]) for each in found}
        self.roots = [each for each in found if self.parent(each) is None]

    def named(self, name: str) -> list[dict[str, Any]]:
        return [each for each in self._found if each["name"] == name]

    def one(self, name: str) -> dict[str, Any]:
        (found,) = self.named(name)
        return found

    def parent(self, span: dict[str, Any]) -> dict[str, Any] | None:
        return self.parents[span["context"]["span_id"]]

    def above(self, span: dict[str, Any]) -> list[str]:
        """The names of the spans above one, from the nearest up."""
        above = self.parent(span)
        return [] if above is None else [above["name"], *self.above(above)]


def traces(found: list[dict[str, Any]]) -> list[Trace]:
    by_id: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        by_id.setdefault(each["context"]["trace_id"], []).append(each)
    return [Trace(each) for each in by_id.values()]


def converse(chain: Any, payloads: list[dict[str, Any]]) -> None:
    for payload in payloads:
        chain.invoke(payload)


# what Phoenix shows


@pytest.fixture(scope="module")
def shown(phoenix: str, guarded: Callable[..., Any], payloads: list[dict[str, Any]]) -> Iterator[Project]:
    """The demo conversation with everything recorded."""
    with pytest.MonkeyPatch.context() as patch:
        project = Project(phoenix, None)
        patch.setattr(spans, "tracer", lambda: project.tracer)
        converse(guarded(telemetry=Telemetry(rewriter="condense-v3")), payloads)
        project.close()
        yield project


def rejected(shown: Project) -> Trace:
    (found,) = [
        each
        for each in traces(shown.spans())
        if each.one("rewriteguard.retrieve")["attributes"]["input.value"] == REJECTED
    ]
    return found


def test_one_trace_for_each_turn(shown: Project, payloads: list[dict[str, Any]]) -> None:
    found = traces(shown.spans())
    asked = [each.one("rewriteguard.retrieve")["attributes"]["input.value"] for each in found]
    assert asked == [payload["input"] for payload in payloads]
    assert [[root["name"] for root in each.roots] for each in found] == [["chat_retriever_chain"]] * len(payloads)


def test_the_guard_s_span_stands_below_the_retriever_s(shown: Project) -> None:
    trace = rejected(shown)
    check = trace.one("rewriteguard.check")
    assert check["span_kind"] == "GUARDRAIL"
    assert trace.above(check) == ["rewriteguard.retrieve", "chat_retriever_chain"]
    kinds = {name: trace.one(f"rewriteguard.{name}")["span_kind"] for name in ("retrieve", "rewrite", "fuse")}
    assert kinds == {"retrieve": "CHAIN", "rewrite": "CHAIN", "fuse": "RERANKER"}


def test_the_guard_s_span_tells_triple_verdict_and_reasons(shown: Project, payloads: list[dict[str, Any]]) -> None:
    (told,) = [
        each["attributes"]
        for each in shown.spans(span_kind="GUARDRAIL", attribute="rewriteguard.action:fall_back")
        if each["attributes"]["rewriteguard.original_turn"] == REJECTED
    ]
    assert told["rewriteguard.rewritten_query"] == "Can I rent an e-bike with a credit card?"
    (payload,) = [each for each in payloads if each["input"] == REJECTED]
    window = [message["content"] for message in json.loads(told["rewriteguard.history_window"])]
    assert window == [message.text for message in payload["chat_history"]][-10:]
    assert (told["rewriteguard.verdict"], told["rewriteguard.reasons"]) == ("changed", ["dropped.negation"])
    assert told["rewriteguard.rewriter"] == "condense-v3"
    (violation,) = json.loads(told["rewriteguard.violations"])
    assert violation["evidence"][0]["text"] == "without"
    assert json.loads(told["input.value"])["turn"] == REJECTED
    assert json.loads(told["output.value"])["verdict"] == "changed"


def test_the_verdicts_are_those_of_the_conversation(shown: Project) -> None:
    found = [each["attributes"]["rewriteguard.verdict"] for each in shown.spans(span_kind="GUARDRAIL")]
    wrong = [bool(turn.mistake) for turn in conversation() if turn.rewrite is not None]
    assert [verdict != "preserved" for verdict in found] == wrong


def test_the_arms_show_their_documents(shown: Project) -> None:
    trace = rejected(shown)
    arms = {each["attributes"]["rewriteguard.arm"]: each for each in trace.named("rewriteguard.search")}
    assert set(arms) == {"original", "carried"}  # the rejected rewrite is not searched
    texts = {document.id: document.page_content for document in documents()}
    for arm in arms.values():
        told = arm["attributes"]
        assert arm["span_kind"] == "RETRIEVER"
        assert trace.above(arm) == ["rewriteguard.retrieve", "chat_retriever_chain"]
        assert told["input.value"].startswith(REJECTED)
        for place in range(min(told["rewriteguard.documents.count"], 10)):
            prefix = f"retrieval.documents.{place}.document"
            assert told[f"{prefix}.content"] == texts[told[f"{prefix}.id"]]
    fused = trace.one("rewriteguard.fuse")["attributes"]
    assert fused["reranker.output_documents.0.document.id"] == "rent-no-card"
    assert fused["reranker.output_documents.0.document.metadata.found"] == "original#1+carried#1"


def test_the_host_s_span_tells_the_decision(shown: Project) -> None:
    (root,) = rejected(shown).roots
    told = root["attributes"]
    assert (told["rewriteguard.verdict"], told["rewriteguard.action"]) == ("changed", "fall_back")
    assert told["metadata.rewriteguard_reasons"] == "dropped.negation"


def documented(page: str, pattern: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


CONDITIONS = documented("dashboards.md", r"^\| [^|]+ \| `([^`]+)` \|$")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_documented_conditions_find_something(shown: Project, condition: str) -> None:
    shown.spans()  # Phoenix has all of them
    query = "query($id: ID!, $condition: String!) { node(id: $id) { ... on Project {"
    query += " spans(first: 50, filterCondition: $condition) { edges { node { name } } } } } }"
    variables = {"id": shown.id, "condition": condition}
    request = urllib.request.Request(
        f"{shown.address}/graphql",
        json.dumps({"query": query, "variables": variables}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        told = json.load(answer)
    found = len(told["data"]["node"]["spans"]["edges"])
    assert 0 < found < 50, told


def test_the_documented_setup_sends_everything_to_one_project(phoenix: str) -> None:
    setup = documented("telemetry.md", r"^```text\n(from openinference.+?)^```$")[0]
    assert "http://127.0.0.1:6006" in setup
    example = (ROOT / "examples" / "01_guarded_chain.py").read_text("utf-8")
    code = f"{setup.replace('http://127.0.0.1:6006', phoenix)}\n{example}\nprovider.shutdown()\n"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=_PATIENCE * 4)
    expected = ([["chat_retriever_chain"]] * 8, 7)  # Phoenix shows a span before those above it
    end, found = time.monotonic() + _PATIENCE, None
    while found != expected and time.monotonic() < end:
        time.sleep(0.5)
        told = traces(spans_of(phoenix, "help-desk"))
        found = (
            [[root["name"] for root in each.roots] for each in told],
            sum(len(each.named("rewriteguard.check")) for each in told),
        )
    assert found == expected


# what a person sees


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Chromium without a window, with a profile of its own."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the extra `dashboards` is not installed")
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    switches = "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking"
    switches += " disable-component-update disable-sync hide-scrollbars window-size=1440,1240"
    switches += " force-prefers-reduced-motion"  # else the panel is taken while it slides in
    for switch in [*switches.split(), f"user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(f"--{switch}")
    chromium = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chromium
    chromium.quit()


def seen(browser: Any, shown: Project, span: dict[str, Any], picture: str, texts: list[str]) -> None:
    """Waits until Phoenix shows all of `texts` for a span; the picture goes to REWRITEGUARD_PICTURES where set."""
    browser.get(shown.address)
    browser.execute_script("localStorage.setItem('arize-phoenix-theme', 'light')")
    browser.get(f"{shown.address_of(span)}?selectedSpanNodeId={span['id']}")
    missing, end = texts, time.monotonic() + _PATIENCE
    while missing and time.monotonic() < end:
        time.sleep(0.5)
        panels = browser.find_elements("css selector", "[role=dialog]")
        visible = panels[0].text if panels else ""
        missing = [text for text in texts if text not in visible]
    assert missing == []
    folder = os.environ.get("REWRITEGUARD_PICTURES")
    if folder:
        panels[0].screenshot(str(Path(folder) / picture))


def test_a_person_sees_triple_verdict_and_evidence(browser: Any, shown: Project) -> None:
    check = rejected(shown).one("rewriteguard.check")
    triple = [REJECTED, "Can I rent an e-bike with a credit card?", "assistant: Only if no later boat leaves that day."]
    seen(browser, shown, check, "phoenix-check.png", [*triple, '"changed"', '"dropped.negation"', '"without"'])


def test_a_person_sees_what_both_arms_found(browser: Any, shown: Project) -> None:
    fuse = rejected(shown).one("rewriteguard.fuse")
    texts = ["document rent-no-card", "Without a credit card you can rent at the counter", "original#1+carried#1"]
    seen(browser, shown, fuse, "phoenix-arms.png", texts)


# the users' words


def words() -> set[str]:
    """Every word of five letters or more of turns, rewrites, answers and documents."""
    texts = [text for turn in conversation() for text in (turn.user, turn.rewrite or "", turn.assistant)]
    texts += [document.page_content for document in documents()]
    return set(re.findall(r"[a-z]{5,}", " ".join(texts).lower())) - {"carried"}  # an arm is called so


# What is in every export without being a user's: names and codes, and the prompt of the application.
OURS = ["carried", "first_turn", "preserved", '"where"', '"found"', CONDENSE_PROMPT.messages[0].prompt.template.lower()]


def leaked(project: Project) -> set[str]:
    exported = project.session.raw.decode("utf-8", "replace").lower()
    for each in OURS:
        exported = exported.replace(each, "")
    return {word for word in words() if word in exported}


def test_the_search_for_words_can_see_them(shown: Project) -> None:
    assert leaked(shown) == words()


@pytest.mark.parametrize("by", ["arguments", "environment"])
def test_content_off_leaves_no_word_in_the_export(
    project: Callable[..., Project],
    guarded: Callable[..., Any],
    payloads: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    by: str,
) -> None:
    if by == "environment":
        for name in NO_CONTENT:
            monkeypatch.setenv(f"OPENINFERENCE_{name.upper()}", "true")
        sent, telemetry = project(), Telemetry()
    else:
        sent, telemetry = project(**NO_CONTENT), Telemetry(capture="off")
    converse(guarded(telemetry=telemetry), payloads)
    checks = [each["attributes"] for each in sent.spans(span_kind="GUARDRAIL")]
    assert [each["rewriteguard.verdict"] for each in checks].count("changed") == 3
    assert leaked(sent) == set()


def test_a_rewriter_that_quotes_the_turn_in_its_error_leaks_nothing(
    project: Callable[..., Project], guarded: Callable[..., Any], payloads: list[dict[str, Any]]
) -> None:
    def failing(payload: Any) -> str:
        raise ValueError(f"cannot rewrite {payload}")

    sent = project(alone=True)  # OpenInference records the text of an error whatever its switches say
    converse(guarded(rewriter=RunnableLambda(failing), telemetry=Telemetry(capture="off")), payloads)
    errors = [each["attributes"].get("error.type") for each in sent.spans() if each["name"] == "rewriteguard.rewrite"]
    assert errors == ["ValueError"] * (len(payloads) - 1)
    assert leaked(sent) == set()


def test_a_redactor_gets_every_text(
    project: Callable[..., Project], guarded: Callable[..., Any], payloads: list[dict[str, Any]]
) -> None:
    sent = project(**NO_CONTENT)
    converse(guarded(telemetry=Telemetry(redact=lambda text: f"<{len(text)}>")), payloads)
    found = sent.spans()
    told = next(each["attributes"] for each in reversed(found) if each["name"] == "rewriteguard.check")
    assert told["rewriteguard.original_turn"] == f"<{len(payloads[-1]['input'])}>"
    assert {message["content"][0] for message in json.loads(told["rewriteguard.history_window"])} == {"<"}
    assert leaked(sent) == set()


def test_a_redactor_that_fails_leaks_nothing(
    project: Callable[..., Project], guarded: Callable[..., Any], payloads: list[dict[str, Any]]
) -> None:
    def failing(text: str) -> str:
        raise ValueError(f"cannot redact {text}")

    sent = project(**NO_CONTENT)
    converse(guarded(telemetry=Telemetry(redact=failing)), payloads)
    (told,) = {each["attributes"]["rewriteguard.original_turn"] for each in sent.spans(span_kind="GUARDRAIL")}
    assert told == "__REDACTION_FAILED__"
    assert leaked(sent) == set()


# each call in a trace of its own


def from_threads(chain: Any, payloads: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(chain.invoke, payloads))


def gathered(chain: Any, payloads: list[dict[str, Any]]) -> None:
    async def ask() -> None:
        await asyncio.gather(*map(chain.ainvoke, payloads))

    asyncio.run(ask())


WAYS: dict[str, Callable[[Any, list[dict[str, Any]]], Any]] = {
    "gathered": gathered,
    "batch": lambda chain, payloads: chain.batch(payloads),
    "abatch": lambda chain, payloads: asyncio.run(chain.abatch(payloads)),
    "threads": from_threads,
    "stream": lambda chain, payloads: [list(chain.stream(payload)) for payload in payloads],
    "inside a chain": lambda chain, payloads: (RunnableLambda(lambda each: each) | chain).batch(payloads),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_call_stays_in_its_trace(
    project: Callable[..., Project], guarded: Callable[..., Any], payloads: list[dict[str, Any]], way: str
) -> None:
    sent = project()
    WAYS[way](guarded(), payloads)
    found = traces(sent.spans())
    asked = [each.one("rewriteguard.retrieve")["attributes"]["input.value"] for each in found]
    assert sorted(asked) == sorted(payload["input"] for payload in payloads)
    for each in found:
        assert len(each.roots) == 1
        for check in each.named("rewriteguard.check"):
            assert each.above(check)[:2] == ["rewriteguard.retrieve", "chat_retriever_chain"]
            (turn,) = {
                span["attributes"]["input.value"]
                for span in each.named("rewriteguard.search")
                if span["attributes"]["rewriteguard.arm"] == "original"
            }
            assert check["attributes"]["rewriteguard.original_turn"] == turn
