"""Runs `rewriteguard evaluate` on MTRAG: how long it takes, whether it repeats itself, and what it decides.

Writes results/acceptance.json; see benchmarks/README.md. Ends with 1 where two runs, or a run that was killed half-way
and resumed, differ, or where one takes too long; with 2 where the data is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import datafiles
import provenance
import report
from rewriteguard.evaluation import Corpus

RESULTS = datafiles.HERE / "results" / "acceptance.json"
PAGE = datafiles.HERE.parent / "docs" / "benchmarks.md"
OWNER = "acceptance"
_ALIKE = ("report.json", "report.md", "report.html")
_ARMS = ("original", "without_rewrite", "rewrite", "guarded")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, or writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--report", action="store_true", help="measure nothing; write docs/benchmarks.md")
    options = parser.parse_args(arguments)
    conditions = datafiles.conditions()
    try:
        if options.report:
            results = json.loads(RESULTS.read_text("utf-8"))
            PAGE.write_text(report.fill(PAGE.read_text("utf-8"), tables(results), OWNER), "utf-8")
            return 0
        results = measure(conditions)
        if not options.check:
            RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    except (datafiles.DataError, report.ReportError) as error:
        print(f"acceptance: {error}", file=sys.stderr)
        return 2
    return _verdict_on(results, conditions["acceptance"])


def measure(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The times of the runs, whether they agree, and what the first of them found."""
    settings = conditions["acceptance"]
    sources = [datafiles.read(settings[name], conditions["data"])[1] for name in ("queries", "corpus")]
    queries, corpus = (datafiles.FOLDER / source.file for source in sources)
    started = time.perf_counter()
    Corpus.read(corpus)
    indexing = time.perf_counter() - started
    command = [sys.executable, "-m", "rewriteguard", "evaluate", str(queries), "--corpus", str(corpus)]
    command += ["--reference-date", settings["reference_date"].isoformat(), "--out"]
    with tempfile.TemporaryDirectory() as folder:
        first, second, broken = (Path(folder) / name for name in ("first", "second", "broken"))
        seconds = [_timed([*command, str(each)]) for each in (first, second)]
        print(
            f"acceptance: {seconds[0]:.0f} s and {seconds[1]:.0f} s, indexing {indexing:.0f} s of it", file=sys.stderr
        )
        outcomes = _kept(first)
        killed_at = _killed([*command, str(broken)], broken, outcomes // 2)
        _timed([*command, str(broken)])
        found = json.loads((first / "report.json").read_text("utf-8"))
        return {
            "data": [source.to_dict() for source in sources],
            "machine": provenance.machine(),
            "packages": provenance.packages(),
            "sources": provenance.digest_of_package(),
            "seconds": [round(each, 1) for each in seconds],
            "indexing": round(indexing, 1),
            "outcomes": outcomes,
            "killed_at": killed_at,
            "second_differs": _differing(first, second),
            "resumed_differs": _differing(first, broken),
            "releases": [_released(each, found["results"]) for each in found["releases"] if each["enforced"]],
        }


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """What was decided, and how the runs went."""
    head = ["rewriter", "class", "n", "release", "the turn", "no rewriter", "the rewrite", "guarded"]
    head += ["the rewrite lost : gained", "guarded lost : gained", "decided by"]
    rows = [
        [
            each["rewriter"],
            each["group"],
            str(each["n"]),
            each["release"].replace("_", " "),
            *(_number(each["recall"].get(arm)) for arm in _ARMS),
            *(" : ".join(map(str, each["pairs"].get(arm, ["-"]))) for arm in ("rewrite", "guarded")),
            ", ".join(f"`{code}`" for code in dict.fromkeys(each["decided_by"])) or "-",
        ]
        for each in results["releases"]
    ]
    data = ", ".join(f"{source['file']} ({source['n']:,})" for source in results["data"])
    machine = results["machine"]
    agree = {True: "the same bytes", False: "differs"}
    conditions = [
        ["data", data],
        ["machine", f"{machine['cores']} cores, Python {machine['python']}, {machine['platform']}"],
        ["outcomes", f"{results['outcomes']:,}"],
        [
            "two runs",
            f"{results['seconds'][0]} s and {results['seconds'][1]} s, {results['indexing']} s of it indexing",
        ],
        ["second run", agree[not results["second_differs"]]],
        ["killed at", f"{results['killed_at']:,} outcomes, resumed: {agree[not results['resumed_differs']]}"],
        ["sources", f"`{results['sources'][:12]}`"],
    ]
    return {"releases": report.table(head, rows), "conditions": report.table(["", ""], conditions)}


def _released(decision: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """One decision with the recall of the arms, and what rewrite and guarded arm lost and gained against the turn."""
    (group,) = [each for each in results["groups"] if each["name"] == decision["group"] and each["enforced"]]
    arms = {each["arm"]: each for each in group["arms"] if each["rewriter"] in ("", decision["rewriter"])}
    paired = {name: arms[name]["over_original"] for name in ("rewrite", "guarded") if name in arms}
    return {
        **{name: decision[name] for name in ("rewriter", "group", "n", "release", "reasons", "decided_by")},
        "recall": {name: arms[name]["scores"]["evidence"]["recall"]["value"] for name in _ARMS if name in arms},
        "pairs": {name: [each["lost"], each["gained"]] for name, each in paired.items() if each},
    }


def _timed(command: Sequence[str]) -> float:
    """The seconds of a run that ends with 0 or 1.

    Raises:
        CalledProcessError: It ended otherwise.
    """
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, command)
    return time.perf_counter() - started


def _killed(command: Sequence[str], out: Path, outcomes: int) -> int:
    """How many outcomes a run had kept when it was killed, at least so many."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and _kept(out) < outcomes:
            time.sleep(0.2)
        os.kill(process.pid, signal.SIGKILL)
    return _kept(out)


def _kept(out: Path) -> int:
    """The outcomes that a run has kept, also while it goes on."""
    journal = out / "run.sqlite"
    if not journal.is_file():
        return 0
    with closing(sqlite3.connect(f"file:{journal}?immutable=1", uri=True)) as file, suppress(sqlite3.DatabaseError):
        return int(file.execute("SELECT count(*) FROM kept WHERE kind = 'outcome'").fetchone()[0])
    return 0  # it is being begun


def _differing(one: Path, other: Path) -> list[str]:
    """The files of two runs that differ."""
    names = [*_ALIKE, *sorted(path.name for path in one.glob("policy.*.toml"))]
    return [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _complaints(results: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    slowest = max(results["seconds"]) - results["indexing"]
    if slowest > settings["seconds"]:
        yield f"a run took {slowest:.0f} s after indexing, at most {settings['seconds']} are required"
    for what in ("second", "resumed"):
        if results[f"{what}_differs"]:
            yield f"the {what} run differs in {', '.join(results[f'{what}_differs'])}"
    if not 0 < results["killed_at"] < results["outcomes"]:
        yield f"the run was killed at {results['killed_at']} of {results['outcomes']} outcomes, not half-way"


def _verdict_on(results: Mapping[str, Any], settings: Mapping[str, Any]) -> int:
    complaints = list(_complaints(results, settings))
    for each in complaints:
        print(f"acceptance: {each}", file=sys.stderr)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
