"""What a process of its own takes: start-up and memory, and a whole log through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from latency_timing import Figure, Figures
from latency_workload import Bench

# Memory is what is resident at that moment, in pages of /proc/self/statm.
_RESIDENT = "int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 2**20"
_RUN = """
import json, resource, time
started = time.perf_counter()
{imports}
imported = time.perf_counter()
{warm_up}
print(json.dumps([imported - started, time.perf_counter() - imported, {resident}]))
"""
_IMPORTS = {"": "from rewriteguard import Guard", "-floor": "import spacy"}
_WARM_UPS = {"": "Guard().warm_up()", "-floor": "spacy.load({name!r})('When did the 5 km tunnel open in 2024?')"}


class Skipped(Exception):  # noqa: N818 - no error: a part that cannot be measured here, and why
    """A part that is not measured; the message says why."""


def start(bench: Bench) -> Figures:
    """Import, best of five processes; warm-up and resident memory, best of two; the same of spaCy alone."""
    name = f"{bench.floor.meta['lang']}_{bench.floor.meta['name']}"
    found: Figures = {}
    for arm, imports in _IMPORTS.items():
        bare = [_told(imports, "") for _ in range(bench.some(5, 1))]
        warm = [_told(imports, _WARM_UPS[arm].format(name=name)) for _ in range(bench.some(2, 1))]
        found[f"import{arm}"] = Figure(min(run[0] for run in bare), len(bare), "s")
        found[f"warm-up{arm}"] = Figure(min(run[1] for run in warm), len(warm), "s")
        found[f"memory{arm}"] = Figure(min(run[2] for run in warm), len(warm), "MB")
    return found


def audit(bench: Bench) -> Figures:
    """Checks a second of `rewriteguard audit` on a log, start-up and all, with one worker process and with two.

    Raises:
        Skipped: The command has no option for the number of processes, or the run is a quick one.
    """
    if bench.quick:
        raise Skipped("on few rows the start of the processes is all that would be measured")
    if "--jobs" not in _command("audit", "--help"):
        raise Skipped("`rewriteguard audit` has no option --jobs")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_text(json.dumps(bench.log[0]) + "\n", "utf-8")
        begun = _wall("audit", str(log), "--jobs", "1")
        log.write_text("".join(json.dumps(row) + "\n" for row in bench.log), "utf-8")
        one, two = (_wall("audit", str(log), "--jobs", jobs) for jobs in ("1", "2"))
    n = len(bench.log)
    return {
        "audit-1": Figure(n / one, n, "/s"),
        "audit-2": Figure(n / two, n, "/s"),
        "audit-2-x": Figure(one / two, n, "x"),
        "audit-1-begun": Figure((n - 1) / (one - begun), n - 1, "/s"),
    }


def _told(imports: str, warm_up: str) -> list[float]:
    code = _RUN.format(imports=imports, warm_up=warm_up, resident=_RESIDENT)
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    told: list[float] = json.loads(ran.stdout)
    return told


def _wall(*arguments: str) -> float:
    started = time.perf_counter()
    _command(*arguments)
    return time.perf_counter() - started


def _command(*arguments: str) -> str:
    command = [sys.executable, "-m", "rewriteguard", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
