"""Measures what guarded search finds beside the turn, the rewrite and usual fusion; see benchmarks/README.md.

Writes results/retrieval.json. It runs in an environment of its own (`make retrieval`), which has torch. Ends with 1
where a requirement is not met and no reason stands under `short`, and with 2 where the data is not there.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import datafiles
import dense
import provenance
import report
import retrieval_indexes
import retrieval_tables
from expectations import is_met
from retrieval_data import Collection, Question, foreign, load, stale
from retrieval_rows import Case, Strategies
from retrieval_scores import Scores, figures
from rewriteguard import Guard
from stats import told

RESULTS = datafiles.HERE / "results" / "retrieval.json"
ROOT = datafiles.HERE.parent
OWNER = "retrieval"
REPORTED = 1  # the half of the conversations that requirements are held against
INDEXES = {"bm25": ("bm25",), "dense": ("dense",), "hybrid": ("bm25", "dense")}
_PACKAGES = ("bm25s", "PyStemmer", "ir-measures", *dense.PACKAGES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the sets that were asked for, or writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="some of the sets; the others keep their last results")
    parser.add_argument("--report", action="store_true", help="measure nothing; write docs/benchmarks.md and README.md")
    options = parser.parse_args(arguments)
    conditions = datafiles.conditions()
    names = options.sets.split(",") if options.sets else list(conditions["retrieval"]["sets"])
    try:
        if not options.report:
            _measure_all(names, conditions)
        results = json.loads(RESULTS.read_text("utf-8"))
        if options.report:
            for page, tables in pages(results["sets"], conditions["retrieval"]).items():
                page.write_text(report.fill(page.read_text("utf-8"), tables, OWNER), "utf-8")
            return 0
        return _verdict_on(results["sets"], conditions["retrieval"])
    except (datafiles.DataError, report.ReportError) as error:
        print(f"retrieval: {error}", file=sys.stderr)
        return 2


def measure(collection: Collection, conditions: Mapping[str, Any], encoder: dense.Encoder) -> dict[str, Any]:
    """The figures of one set: by rewriter, index and half, and how many first turns are not searched as they are."""
    settings = conditions["retrieval"]
    single = {
        "bm25": retrieval_indexes.bm25(collection),
        "dense": retrieval_indexes.dense(collection, encoder),
    }
    guard = Guard()
    today = settings["reference_date"]
    encoder.queries([text for q in collection.questions for text in (q.original, *q.rewrites.values())])
    encoder.queries([guard.carried(q.original, q.history).text for q in collection.questions])
    strategies = {
        name: Strategies({part: single[part] for part in parts}, guard, today) for name, parts in INDEXES.items()
    }
    found: dict[str, Any] = {}
    for label, system in collection.rewriters.items():
        scores = {name: Scores() for name in strategies}
        for case in _cases(collection.questions, system):
            for name, each in strategies.items():
                scores[name].add(case.question, dict(each.run(case)))
        for name, each in scores.items():
            each.measure()
            parts = {"all": each, "reported": each.half(REPORTED)}
            for part, of_part in parts.items():
                made = figures(of_part, settings["resamples"], settings["seed"])
                found[f"{label}/{name}/{part}"] = {key: told(figure) for key, figure in made.items()}
        print(f"{collection.name}, {label}: {len(scores['bm25'].questions)} questions", file=sys.stderr, flush=True)
    firsts = [question for question in collection.questions if question.turn == 1]
    differing = {name: sum(not each.first_turn_is_raw(q) for q in firsts) for name, each in strategies.items()}
    return {"figures": found, "first-turns": {"n": len(firsts), "differing": differing}}


def pages(sets: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[Path, dict[str, str]]:
    """The tables of each page of the documentation."""
    return {
        ROOT / "docs" / "benchmarks.md": retrieval_tables.tables(sets, settings),
        ROOT / "README.md": retrieval_tables.summary(sets),
    }


def _cases(questions: Sequence[Question], system: str) -> Iterator[Case]:
    """The turns with a history that have a rewrite, each with a wrong one of either kind to put in."""
    old, other = stale(questions, system), foreign(questions, system)
    for question in questions:
        if question.history and system in question.rewrites:
            yield Case(question, question.rewrites[system], old[question.id], other[question.id])


def _measure_all(names: Sequence[str], conditions: Mapping[str, Any]) -> None:
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {"sets": {}}
    encoder = dense.Encoder()
    for name in names:
        collection = load(name, conditions)
        results["sets"][name] = {
            "data": [source.to_dict() for source in collection.sources],
            "machine": provenance.machine(),
            "packages": {**provenance.packages(), **{each: importlib.metadata.version(each) for each in _PACKAGES}},
            "sources": provenance.digest_of_package(),
            "seed": conditions["retrieval"]["seed"],
            **measure(collection, conditions, encoder),
        }
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def _verdict_on(sets: Mapping[str, Any], settings: Mapping[str, Any]) -> int:
    """1 where a requirement is missed without a reason, or met although one stands there.

    Raises:
        DataError: A set was not measured yet.
    """
    missing = [name for name in settings["sets"] if name not in sets]
    if missing:
        raise datafiles.DataError(f"{', '.join(missing)}: not measured yet")
    failed, measured = 0, retrieval_tables.requirements(sets)
    for key, bound in settings["bounds"].items():
        value = measured[key]
        met, known = is_met(value, bound), key in settings.get("short", {})
        failed += met == known
        print(f"{key:14} {value:8.4f}   {bound}   {'met' if met else 'not met'}{', reason given' if known else ''}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
