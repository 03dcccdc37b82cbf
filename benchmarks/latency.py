"""Measures how long the guard takes, beside what it has to be as fast as; see benchmarks/README.md.

Writes results/latency.json. Ends with 1 where a bound is missed by more than its tolerance or a part crashed, and with
2 where the data is not there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import datafiles
import latency_check
import latency_process
import latency_retrieval
import latency_tables
import latency_telemetry
import latency_workload
import latency_worst
import provenance
import report
from latency_judge import judged
from latency_timing import Figures
from rewriteguard import Guard

RESULTS = datafiles.HERE / "results" / "latency.json"
PEERS = datafiles.HERE / "results" / "latency-peers.json"
PAGE = datafiles.HERE.parent / "docs" / "benchmarks.md"
OWNER = "latency"
Part = Callable[[latency_workload.Bench], Figures]
_MEASURED: dict[str, Part] = {
    "warm": latency_check.warm,
    "identical": latency_check.identical,
    "running": latency_check.running,
    "cold": latency_check.cold,
    "repeated": latency_check.repeated,
    "growth": latency_check.growth,
    "long": latency_check.long_messages,
    "worst": latency_worst.worst,
    "telemetry": latency_telemetry.telemetry,
    "chain": latency_retrieval.chain,
    "at-once": latency_retrieval.at_once,
    "threads": latency_retrieval.threads,
    "start": latency_process.start,
    "audit": latency_process.audit,
}
PARTS = (*_MEASURED, "peers")
QUICK_PARTS = ("warm", "identical", "cold", "repeated", "worst", "telemetry", "threads")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts that were asked for, or writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", help=f"of {','.join(PARTS)}; the others keep their last results")
    parser.add_argument("--quick", action="store_true", help="few parts, few rounds, wide tolerances; write no file")
    parser.add_argument("--report", action="store_true", help="measure nothing; write docs/benchmarks.md")
    options = parser.parse_args(arguments)
    parts = options.parts.split(",") if options.parts else QUICK_PARTS if options.quick else PARTS
    if not set(parts) <= set(PARTS):
        parser.error(f"--parts: expected some of {', '.join(PARTS)}")
    try:
        if options.report:
            return _write_report(results())
        return _measure_all(parts, quick=options.quick)
    except (datafiles.DataError, report.ReportError) as error:
        print(f"latency: {error}", file=sys.stderr)
        return 2


def measured(part: str, bench: latency_workload.Bench) -> dict[str, Any]:
    """The figures of one part, or why there are none; its process is a copy of this one.

    So no part finds what another one has warmed, and none gets an SDK that another one has set up.
    """
    started = time.perf_counter()
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        try:
            figures = pool.submit(_figures_of, part, bench).result()
        except latency_process.Skipped as reason:
            return {"skipped": str(reason)}
        except Exception as error:  # noqa: BLE001 - a crash is listed and fails the run; it is never a figure
            return {"error": f"{type(error).__name__}: {error}"}
    return {"seconds": round(time.perf_counter() - started, 1), "figures": figures}


def _figures_of(part: str, bench: latency_workload.Bench) -> dict[str, Any]:
    return {key: figure.to_dict() for key, figure in _MEASURED[part](bench).items()}


def _measure_all(parts: Sequence[str], *, quick: bool) -> int:
    conditions = datafiles.conditions()
    settings = conditions["latency"]
    about = {"machine": provenance.machine(), "sources": provenance.digest_of_package()}
    bench, sources = latency_workload.load(conditions, quick, datafiles.FOLDER)
    Guard().warm_up()
    about |= {"packages": provenance.packages(), "data": [source.to_dict() for source in sources]}
    last = results() if RESULTS.is_file() and not quick else {"parts": {}}
    found_now = last | {"required": settings["bounds"], "short": settings["short"]}
    for part in parts:
        found = _peers() if part == "peers" else about | measured(part, bench)
        print(f"{part}: {found.get('seconds', '-')} s", file=sys.stderr, flush=True)
        found_now["parts"][part] = found
        found_now["parts"] = {name: found_now["parts"][name] for name in PARTS if name in found_now["parts"]}
        if not quick:
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(found_now, indent=1) + "\n", "utf-8")
    return _verdict_on(found_now, parts, settings["quick_slack"] if quick else 0.0)


def _peers() -> dict[str, Any]:
    if not PEERS.is_file():
        return {"skipped": f"no {PEERS.name} among the results; `make latency-peers` writes it"}
    peers: dict[str, Any] = json.loads(PEERS.read_text("utf-8"))
    return peers


def _verdict_on(results: Mapping[str, Any], parts: Sequence[str], slack: float) -> int:
    """Prints each bound of the parts with what was measured; 1 where one fails the run, else 0."""
    lines = list(judged(results, parts, slack))
    for line, _ in lines:
        print(line)
    failed = sum(fails for _, fails in lines)
    print(f"{failed} not as required")
    return 1 if failed else 0


def results() -> dict[str, Any]:
    """What was measured last, with the bounds and reasons of the conditions, which may have been worded anew since.

    Raises:
        DataError: Nothing was measured yet.
    """
    if not RESULTS.is_file():
        raise datafiles.DataError(f"{RESULTS.name}: nothing was measured yet")
    settings = datafiles.conditions()["latency"]
    last: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    return last | {"required": settings["bounds"], "short": settings["short"]}


def _write_report(results: Mapping[str, Any], page: Path = PAGE) -> int:
    page.write_text(report.fill(page.read_text("utf-8"), latency_tables.tables(results), OWNER), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
