"""`rewriteguard audit` over real conversations: every line is read, rows without the system are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rewriteguard.cli import app


@pytest.mark.parametrize(
    ("name", "system", "closing"),
    [
        ("cast2021", "cast_organizers_t5-canard", "239 checked, 0 lines"),
        ("cast2021", "human", "239 checked, 0 lines"),
        ("mtrag", "mtrag_official_mixtral-8x7b", "396 checked, 33 without a rewrite by mtrag_official_mixtral-8x7b"),
    ],
)
def test_real_logs_are_read_without_an_error_line(shared: Path, name: str, system: str, closing: str) -> None:
    path = shared / "data" / "conversations" / f"{name}.jsonl"
    done = CliRunner().invoke(app, ["audit", str(path), "--system", system], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert closing in done.stdout
    assert "line " not in done.stderr
