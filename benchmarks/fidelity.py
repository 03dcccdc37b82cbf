"""Measures how well the guard tells good rewrites from bad ones; see benchmarks/README.md.

Writes results/fidelity.json (figures) and results/fidelity-items.jsonl (verdicts of single items, by id).
Ends with 1 where a figure moved or a check crashed, and with 2 where the data is not there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import datafiles
import fidelity_tables
import labelled
import mutation
import peers
import provenance
import report
import suites
from checks import Outcome, Task, run
from expectations import expectations, part_of, record
from rewriteguard.evaluation.figure import Figure
from rewriteguard.language.pipeline import english
from stats import told

RESULTS = datafiles.HERE / "results" / "fidelity.json"
ITEMS = datafiles.HERE / "results" / "fidelity-items.jsonl"
DOCS = datafiles.HERE.parent / "docs"
PAGES = {
    DOCS / "benchmarks.md": fidelity_tables.tables,
    DOCS / "limits.md": fidelity_tables.limits,
    DOCS.parent / "README.md": fidelity_tables.summary,
}
Conditions = Mapping[str, Any]


@dataclass(slots=True)
class Measured:
    """What one part gave: its data, its checks and its figures."""

    sources: list[datafiles.Source]
    figures: Mapping[str, Figure]
    outcomes: list[Outcome] = field(default_factory=list)
    packages: Mapping[str, str] = field(default_factory=dict)


Read = Callable[[str], list[datafiles.Row]]


def measure(part: str, conditions: Conditions, jobs: int, folder: Path = datafiles.FOLDER) -> Measured:
    """One part of the benchmark, measured.

    Raises:
        DataError: A data file is absent or has changed.
    """
    sources: list[datafiles.Source] = []

    def read(name: str) -> list[datafiles.Row]:
        rows, source = datafiles.read(name, conditions["data"], folder)
        sources.append(source)
        return rows

    if part == "peers":
        rows = read("labelled")
        cosine, packages = peers.read_cosine(sources[0])
        return Measured(sources, peers.figures(rows, cosine), packages=packages)
    outcomes = run(_tasks(part, read, conditions["fidelity"]), jobs)
    return Measured(sources, _FIGURES[part](outcomes), outcomes)


def _tasks(part: str, read: Read, settings: Conditions) -> list[Task]:
    if part == "labelled":
        return labelled.tasks(read("labelled"))
    if part == "human":
        return [task for name in suites.HUMAN for task in suites.human_tasks(name, read(name))]
    if part == "disfl":
        return suites.disfl_tasks(read("disfl_qa"), english())
    if part == "pairs":
        return [task for name in suites.PAIRS for task in suites.pair_tasks(name, read(name))]
    rows = [row for name in suites.HUMAN for row in read(name)]
    return mutation.tasks(rows, settings["seed"], settings["mutants_per_edit"])


_FIGURES: dict[str, Callable[[Sequence[Outcome]], Mapping[str, Figure]]] = {
    "labelled": labelled.figures,
    "human": suites.human_figures,
    "disfl": suites.disfl_figures,
    "pairs": suites.pair_figures,
    "mutants": mutation.figures,
}
PARTS = (*_FIGURES, "peers")


def summary(part: str, measured: Measured, settings: Conditions, digest: str) -> dict[str, Any]:
    """The part as it stands in the results file: figures, and everything they depend on."""
    bounds = {key: {k: v for k, v in c.items() if k.startswith("at_")} for key, c in settings["figures"].items()}
    return {
        "n": len(measured.outcomes),
        "errors": [{"id": o.task.id, "error": o.error} for o in measured.outcomes if o.error],
        "seed": settings["seed"],
        "data": [source.to_dict() for source in measured.sources],
        "machine": provenance.machine(),
        "packages": {**provenance.packages(), **measured.packages},
        "sources": digest,
        "required": {key: bound for key, bound in bounds.items() if bound and part_of(key) == part},
        "short": {key: why for key, why in settings["short"].items() if part_of(key) == part},
        "figures": {key: told(figure) for key, figure in measured.figures.items()},
    }


def verdict_on(results: Conditions, conditions: Conditions, parts: Iterable[str]) -> int:
    """Prints each condition of the parts with what was measured.

    Returns 1 where a figure moved, where a bound is not met and no reason stands under `short` in the conditions, where
    a bound is met that is called short, or where a check crashed; else 0.
    """
    chosen = [part for part in results["parts"] if part in set(parts)]
    figures = {key: figure for part in chosen for key, figure in results["parts"][part]["figures"].items()}
    failed, short = 0, conditions["fidelity"]["short"]
    for each in expectations(conditions["fidelity"]["figures"], figures, chosen):
        value = "-" if each.value is None else f"{each.value:.4f}"
        wanted = " ".join(f"{key} {bound}" for key, bound in each.condition.items())
        bounded = "at_most" in each.condition or "at_least" in each.condition
        unmet, called_short = bounded and not each.is_met, each.key in short
        wrong = "" if unmet == called_short else "NOT MET" if unmet else "MET, and called short"
        marks = ["known to be short" if unmet and not wrong else "", wrong, "MOVED" if each.has_moved else ""]
        print(f"{each.key:60} {value:>8}   {wanted}   {' '.join(filter(None, marks))}".rstrip())
        failed += each.has_moved or bool(wrong)
    errors = [(part, item) for part in chosen for item in results["parts"][part]["errors"]]
    for part, item in errors:
        print(f"ERROR {part} {item['id']}: {item['error']}")
    print(f"{failed} figures not as expected, {len(errors)} checks crashed")
    return 1 if failed or errors else 0


def items(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """What was found about single items, without their words; labelled rows of half 1 are known by aggregates only."""
    return [
        {
            "part": o.task.part,
            "id": o.task.id,
            "about": o.task.about,
            "verdict": o.verdict,
            "dependent": o.dependent,
            "rules": o.rules,
            "alone": o.alone,
            "error": o.error,
        }
        for o in outcomes
        if o.task.about.get("half") != 1
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts that were asked for, or writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="of %(default)s; the others keep their last results")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default: %(default)s)")
    parser.add_argument(
        "--report", action="store_true", help="measure nothing; write docs/benchmarks.md, docs/limits.md and README.md"
    )
    parser.add_argument("--record", action="store_true", help="measure nothing; expect the last results from now on")
    parser.add_argument("--check", action="store_true", help="measure and judge; write no file")
    options = parser.parse_args(arguments)
    parts = options.parts.split(",")
    if not set(parts) <= set(PARTS):
        parser.error(f"--parts: expected some of {', '.join(PARTS)}")
    try:
        if options.report or options.record:
            results = _results()
            return _write_report(results) if options.report else _record(results)
        return _measure_all(parts, options.jobs, keep=not options.check)
    except (datafiles.DataError, report.ReportError) as error:
        print(f"fidelity: {error}", file=sys.stderr)
        return 2


def _measure_all(parts: Sequence[str], jobs: int, *, keep: bool) -> int:
    conditions = datafiles.conditions()
    results = _results() if RESULTS.is_file() else {"parts": {}}
    digest = provenance.digest_of_package()  # before anything is measured: the code that was loaded
    for part in parts:
        measured = measure(part, conditions, jobs)
        results["parts"][part] = summary(part, measured, conditions["fidelity"], digest)
        results["parts"] = {name: results["parts"][name] for name in PARTS if name in results["parts"]}
        if keep:
            _write(RESULTS, json.dumps(results, indent=1) + "\n")
        if keep and part != "peers":
            _write_items(part, items(measured.outcomes))
    return verdict_on(results, conditions, parts)


def _results() -> dict[str, Any]:
    if not RESULTS.is_file():
        raise datafiles.DataError(f"{RESULTS.name}: nothing was measured yet")
    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    return results


def _write_report(results: Conditions) -> int:
    for page, tables in PAGES.items():
        _write(page, report.fill(page.read_text("utf-8"), tables(results)))
    return 0


def _record(results: Conditions) -> int:
    figures = {key: figure for part in results["parts"].values() for key, figure in part["figures"].items()}
    print(f"{record(datafiles.CONDITIONS, figures)} figures recorded")
    return 0


def _write_items(part: str, found: Iterable[Mapping[str, Any]]) -> None:
    """Replaces the items of the part and keeps those of the others."""
    old = [json.loads(line) for line in ITEMS.read_text("utf-8").splitlines()] if ITEMS.is_file() else []
    kept = [item for item in old if item["part"] != part]
    _write(ITEMS, "".join(json.dumps(item) + "\n" for item in [*kept, *found]))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
