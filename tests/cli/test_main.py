"""`python -m rewriteguard` is the command."""

import subprocess
import sys


def test_the_package_runs_as_a_module() -> None:
    shown = subprocess.run([sys.executable, "-m", "rewriteguard", "--help"], capture_output=True, text=True, check=True)
    assert "audit" in shown.stdout
    wrong = subprocess.run([sys.executable, "-m", "rewriteguard", "audit"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
