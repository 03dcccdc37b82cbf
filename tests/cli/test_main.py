"""`python -m rewriteguard` is the command."""

import runpy
import subprocess
import sys

import pytest


def test_the_package_runs_as_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = subprocess.run([sys.executable, "-m", "rewriteguard", "--help"], capture_output=True, text=True, check=True)
    assert "audit" in shown.stdout
    monkeypatch.setattr(sys, "argv", ["rewriteguard", "audit"])
    with pytest.raises(SystemExit) as wrong:
        runpy.run_module("rewriteguard", run_name="__main__")
    assert wrong.value.code == 2
