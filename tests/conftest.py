from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewriteguard.guard.guard import Guard
from rewriteguard.telemetry import _contain as contain

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when Haystack is imported; tests send nothing anywhere


@pytest.fixture(scope="session")
def guard() -> Guard:
    """One guard for all tests: it keeps no state that a test could see."""
    return Guard()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public research data and the field cases; skips where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside the project")
    return folder


@pytest.fixture
def no_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """No switch of the environment says what may be recorded, and nothing was warned of before."""
    for name in list(os.environ):
        if name.startswith(("REWRITEGUARD_", "OPENINFERENCE_", "OTEL_INSTRUMENTATION_GENAI_")):
            monkeypatch.delenv(name)
    contain._said.clear()
