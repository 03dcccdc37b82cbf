"""Langfuse's own client and callback handler, with an exporter that keeps what would be sent: no server, no network."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rewriteguard import Policy
from rewriteguard.telemetry import spans

langfuse = pytest.importorskip("langfuse", reason="the extra `dashboards` is not installed")

from langfuse.langchain import CallbackHandler  # noqa: E402

pytestmark = pytest.mark.backend

REJECTED = "Can I rent an e-bike without a credit card?"
METADATA = "langfuse.observation.metadata.rewriteguard_"
TAGS = "langfuse.trace.tags"


class Sent:
    """What Langfuse's span processor hands to its exporter, past its own filter."""

    def __init__(self, client: Any, exporter: InMemorySpanExporter, handler: Any) -> None:
        self._client = client
        self._exporter = exporter
        self.config = {"callbacks": [handler], "tags": ["mine"], "metadata": {"tenant": "north"}}

    @property
    def spans(self) -> list[ReadableSpan]:
        self._client.flush()
        return list(self._exporter.get_finished_spans())

    def one(self, name: str) -> ReadableSpan:
        (found,) = [each for each in self.spans if each.name == name]
        return found


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sent]:
    exporter, provider, key = InMemorySpanExporter(), TracerProvider(), f"pk-{uuid.uuid4()}"
    client = langfuse.Langfuse(
        public_key=key,
        secret_key="none",
        base_url="http://127.0.0.1:9",
        tracer_provider=provider,
        span_exporter=exporter,
    )
    tracer = provider.get_tracer("rewriteguard")
    monkeypatch.setattr(spans, "tracer", lambda: tracer)
    yield Sent(client, exporter, CallbackHandler(public_key=key))
    client.shutdown()


def call(chain: Any, payload: dict[str, Any], config: dict[str, Any]) -> None:
    chain.invoke(payload, config)


def acall(chain: Any, payload: dict[str, Any], config: dict[str, Any]) -> None:
    asyncio.run(chain.ainvoke(payload, config))


@pytest.fixture
def rejected(payloads: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [each for each in payloads if each["input"] == REJECTED]
    return found


@pytest.mark.parametrize("way", [call, acall])
def test_no_span_is_dropped_and_all_are_in_one_trace(
    sent: Sent, guarded: Callable[..., Any], rejected: dict[str, Any], way: Callable[..., None]
) -> None:
    way(guarded(), rejected, sent.config)
    ours = [each for each in sent.spans if each.name.startswith("rewriteguard.")]
    assert sorted(each.name.removeprefix("rewriteguard.") for each in ours) == [
        "check",
        "fuse",
        "retrieve",
        "rewrite",
        "search",
        "search",
    ]
    host = sent.one("chat_retriever_chain")
    assert {each.context.trace_id for each in sent.spans} == {host.context.trace_id}
    assert sent.one("rewriteguard.retrieve").parent.span_id == host.context.span_id
    assert sent.one("rewriteguard.check").attributes["rewriteguard.original_turn"] == REJECTED


@pytest.mark.parametrize("way", [call, acall])
def test_the_decision_is_metadata_and_tag_of_the_host_s_run(
    sent: Sent, guarded: Callable[..., Any], rejected: dict[str, Any], way: Callable[..., None]
) -> None:
    way(guarded(), rejected, sent.config)
    told = dict(sent.one("chat_retriever_chain").attributes)
    assert {name.removeprefix(METADATA): value for name, value in told.items() if name.startswith(METADATA)} == {
        "verdict": "changed",
        "action": "fall_back",
        "proposed_action": "fall_back",
        "reasons": "dropped.negation",
    }
    assert told["langfuse.observation.metadata.tenant"] == "north"
    assert set(told[TAGS]) == {"mine", "rewriteguard:changed", "rewriteguard:fall_back"}
    others = [each for each in sent.spans if each.name != "chat_retriever_chain"]
    assert not [each.name for each in others for name in each.attributes if name.startswith(METADATA)]


def test_shadow_mode_says_what_would_have_been_done(
    sent: Sent, guarded: Callable[..., Any], rejected: dict[str, Any]
) -> None:
    guarded(policy=Policy.observe()).invoke(rejected, sent.config)
    told = sent.one("chat_retriever_chain").attributes
    assert (told[f"{METADATA}action"], told[f"{METADATA}proposed_action"]) == ("use_rewrite", "fall_back")
