from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rewriteguard
from rewriteguard.telemetry import _contain as contain

if TYPE_CHECKING:
    from rewriteguard import Guard

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when Haystack is imported; tests send nothing anywhere


def pytest_collection_finish() -> None:
    """What imports and collection made stays to the end: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def guard() -> Guard:
    """One guard for all tests: it keeps no state that a test could see."""
    return rewriteguard.Guard()  # not imported above: a process that only hands out tests need not load spaCy


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public research data and the field cases; skips where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside the project")
    return folder


class Workers:
    """Processes of an audit that are kept for the next one: each takes seconds to load the pipeline."""

    def __init__(self) -> None:
        self.kept: list[ProcessPoolExecutor] = []
        self.free: list[ProcessPoolExecutor] = []

    def one(self, *args: Any, **keywords: Any) -> Worker:
        if not self.free:
            self.kept.append(ProcessPoolExecutor(*args, **keywords))
            self.free.append(self.kept[-1])
        return Worker(self, self.free.pop())


class Worker:
    """One of them, which goes back to the others where an audit would end it."""

    def __init__(self, home: Workers, process: ProcessPoolExecutor) -> None:
        self.home, self.process, self.submit = home, process, process.submit

    def shutdown(self, **_: Any) -> None:
        self.home.free.append(self.process)


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    for process in made.kept:
        process.shutdown()


@pytest.fixture
def kept_workers(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits of this test get processes that were started by another, for tests of what comes out of several."""
    monkeypatch.setattr("rewriteguard.audit.run.ProcessPoolExecutor", workers.one)


@pytest.fixture
def no_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """No switch of the environment says what may be recorded, and nothing was warned of before."""
    for name in list(os.environ):
        if name.startswith(("REWRITEGUARD_", "OPENINFERENCE_", "OTEL_INSTRUMENTATION_GENAI_")):
            monkeypatch.delenv(name)
    contain._said.clear()
