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
_START = f"""
import json, resource, time
started = time.perf_counter()
from rewriteguard import Guard
imported = time.perf_counter()
Guard().warm_up()
warm = time.perf_counter()
print(json.dumps([imported - started, warm - imported, {_RESIDENT}]))
"""
_FLOOR = f"""
import json, resource, time
started = time.perf_counter()
import spacy
imported = time.perf_counter()
nlp = spacy.load({{name!r}})
nlp("When did the 5 km tunnel under Lake Vinter open in 2024?")
warm = time.perf_counter()
print(json.dumps([imported - started, warm - imported, {_RESIDENT}]))
"""
_NAMES = ("import", "warm-up", "memory")
_UNITS = ("s", "s", "MB")


class Skipped(Exception):  # noqa: N818 - no error: a part that cannot be measured here, and why
    """A part that is not measured; the message says why."""


def start(bench: Bench) -> Figures:
    """Import, warm-up and resident memory, best of five processes; the same of the full spaCy pipeline alone."""
    name = f"{bench.floor.meta['lang']}_{bench.floor.meta['name']}"
    runs = {"": [], "-floor": []}
    for _ in range(bench.some(5, 1)):
        runs[""].append(_told(_START))
        runs["-floor"].append(_told(_FLOOR.format(name=name)))
    return {
        f"{key}{arm}": Figure(min(run[i] for run in told), len(told), unit)
        for arm, told in runs.items()
        for i, (key, unit) in enumerate(zip(_NAMES, _UNITS, strict=True))
    }


def audit(bench: Bench) -> Figures:
    """Checks a second of `rewriteguard audit` on a log, start-up and all, with one worker process and with two.

    Raises:
        Skipped: The command has no option for the number of processes.
    """
    if "--jobs" not in _command("audit", "--help"):
        raise Skipped("`rewriteguard audit` has no option --jobs")
    rows = bench.log[: bench.some(100_000, 200)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        rates = {jobs: len(rows) / _wall("audit", str(log), "--jobs", str(jobs)) for jobs in (1, 2)}
    found = {f"audit-{jobs}": Figure(rate, len(rows), "/s") for jobs, rate in rates.items()}
    return found | {"audit-2-x": Figure(rates[2] / rates[1], len(rows), "x")}


def _told(code: str) -> list[float]:
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
