"""What the command says by its exit code where the application's code fails, and which guard it uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rewriteguard.cli import app

MODULE = """
from rewriteguard import Guard

guard = Guard(history_window=0)
text = "guard"


def search(query):
    return ["prices"]


def leaves(query):
    raise SystemExit(1)
"""
CASE = {
    "id": "1",
    "original": "What does it cost?",
    "history": [{"role": "user", "text": "Tell me about the tram."}],
    "relevant": ["prices"],
    "rewrites": {"r": "What does the tram cost?"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "commanded.py").write_text(MODULE, "utf-8")
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n", "utf-8")
    return tmp_path


def command(*args: str) -> Result:
    given = args if "--search" in args else ("--search", "commanded:search", *args)
    return CliRunner().invoke(app, ["evaluate", "cases.jsonl", "--out", "out", *given])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise ValueError('no key')", "ValueError: no key"),
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("def (", "SyntaxError: "),
        ("", "module 'broken_"),
    ],
)
def test_a_module_that_fails_is_wrong_usage(folder: Path, text: str, said: str) -> None:
    name = f"broken_{abs(hash(text))}"
    (folder / f"{name}.py").write_text(text, "utf-8")
    result = command("--search", f"{name}:search")
    assert result.exit_code == 2
    assert f"--search: {name}:search: {said}" in result.stderr


def test_a_crash_is_not_a_refusal(folder: Path) -> None:
    result = command("--search", "commanded:leaves")
    assert result.exit_code == 3
    assert "SystemExit: 1" in result.stderr
    assert "in leaves" in result.stderr


def test_the_guard_can_be_named(folder: Path) -> None:
    assert command("--guard", "commanded:guard").exit_code in (0, 1)
    told = json.loads((folder / "out" / "report.json").read_text("utf-8"))
    assert told["conditions"]["guard"]["history_window"] == 0
    result = command("--guard", "commanded:text")
    assert result.exit_code == 2
    assert "--guard: commanded:text: expected a Guard, got str" in result.stderr
    other = command()
    assert other.exit_code == 2
    assert "guard.history_window was 0 and is None" in other.stderr
