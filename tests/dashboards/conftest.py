"""Servers that tests start themselves on this machine, and the demo conversation as input of a guarded chain."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_core.messages import AIMessage, HumanMessage

from rewriteguard.demo import CONDENSE_PROMPT, BM25Retriever, RecordedRewriter, conversation, documents
from rewriteguard.integrations.langchain import guard_history_aware_retriever

_PATIENCE = 180  # seconds until a server has to answer; Phoenix takes 10 to 60
_FAREWELL = 20  # seconds that a server has to end by itself


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """A function that gives a port of this machine which nobody listens on."""
    return _free_port


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., None]]:
    """A function that starts a server and waits until its `ready` address answers 200; all end with the tests."""
    running: list[subprocess.Popen[bytes]] = []

    def start(command: Sequence[str], ready: str, environ: Mapping[str, str] | None = None) -> None:
        log = tmp_path_factory.mktemp("server") / "log"
        with log.open("wb") as out:
            server = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **(environ or {})})
        running.append(server)
        _wait(server, ready, log)

    yield start
    for server in running:
        server.terminate()
    for server in running:
        try:
            server.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait(server: subprocess.Popen[bytes], ready: str, log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(ready, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"{server.args} did not answer at {ready}:\n{log.read_text(errors='replace')[-2_000:]}")


@pytest.fixture(scope="session")
def payloads() -> list[dict[str, Any]]:
    """The turns of the demo conversation, oldest first, each with the history before it."""
    history: list[HumanMessage | AIMessage] = []
    found = []
    for turn in conversation():
        found.append({"input": turn.user, "chat_history": list(history)})
        history += [HumanMessage(turn.user), AIMessage(turn.assistant)]
    return found


@pytest.fixture(scope="session")
def guarded(guard: Any) -> Callable[..., Any]:
    """A function that guards LangChain's own chain over the demo's documents; it takes the guard's keywords."""
    rewrites = {turn.user: turn.rewrite for turn in conversation() if turn.rewrite is not None}

    def make(**keywords: Any) -> Any:
        rewriter = keywords.pop("rewriter", None) or RecordedRewriter(rewrites=rewrites)
        chain = create_history_aware_retriever(rewriter, BM25Retriever(documents()), CONDENSE_PROMPT)
        return guard_history_aware_retriever(chain, guard=guard, **keywords)

    return make


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A `browsing.Browser`."""
    browsing = importlib.import_module("browsing")
    if not (browsing.CHROMIUM.exists() and browsing.DRIVER.exists()):
        pytest.skip("Debian's chromium and chromium-driver are not installed")
    running = browsing.Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.driver.quit()
