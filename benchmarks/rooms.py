"""Counts how much of the package a call crosses, how large its tree is and what its values cost to import.

A room is the first part of a module's name below `rewriteguard`. Prints a table, and writes figures, modules and edges
with `--out` alone. Ends with 1 where `--check` finds a figure above its bound; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

import provenance
import report
import rewriteguard
from rewriteguard import Guard, GuardedSearch, Hit

PACKAGE = Path(rewriteguard.__file__).parent
BOUNDS = {  # at most
    "check, modules": 42,
    "run, modules": 58,
    "entries at the top": 20,
    "Python files": 200,
    "lines": 29_500,
    "import of values, extra seconds": 0.1,
    "import of values, heavy modules": 0,
}
VALUES = "from rewriteguard import Verdict, Policy, Telemetry, Kind, Hit"
FLOOR = "import opentelemetry.trace"  # which whatever tells OpenTelemetry something has to load
HEAVY = ("spacy", "numpy", "dateparser", "quantulum3", "langchain_core")
_ROUNDS = 5
_TIMED = """
import json, sys, time
started = time.perf_counter()
{statement}
seconds = time.perf_counter() - started
package = getattr(sys.modules.get("rewriteguard"), "__file__", None)
print(json.dumps([seconds, [name for name in {heavy} if name in sys.modules], package]))
"""
Talk = tuple[str, str, list[tuple[str, str]]]
Sets = Mapping[str, set[Any]]


def _talk(place: str, euros: int, year: int) -> Talk:
    """Turn, rewrite and history; the turn points back, denies, compares and holds an amount and a year.

    At 553f788 its check entered 54 modules over 123 edges, and its run 74 over 185. Other turns of this length, with
    good rewrites and with bad ones, entered 50 to 54 and 70 to 74.
    """
    rest = f"did not cost more than {euros} euros in {year}?"
    answered = f"The {place} Express and the night boat go there in winter."
    history = [("user", f"Which ferries go to {place}?"), ("assistant", answered)]
    return f"Which of them {rest}", f"Which ferries to {place} {rest}", history


# The last is traced: each of its words was met before, as most words of a process that is warm, and none of its texts.
TALKS = (_talk("East Lund", 20, 2021), _talk("West Kiel", 30, 2022), _talk("East Kiel", 20, 2022))


@dataclass(slots=True)
class Trace:
    """The modules of the package that were entered, and the edges: from which other module of it, in the same thread.

    A module is entered where a function of it begins, or a method that was made for a dataclass of it. What stands
    between two modules and is not of the package, as a cache, is passed over.
    """

    modules: set[str] = field(default_factory=set)
    edges: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Takes one event of the interpreter, as `sys.setprofile` gives it."""
        module = _module_of(frame)
        if event != "call" or module is None:
            return
        self.modules.add(module)
        caller, above = frame.f_back, None
        while caller is not None and above is None:
            above, caller = _module_of(caller), caller.f_back
        if above is not None and above != module:
            self.edges.add((above, module))

    def sets(self) -> Sets:
        """Modules, rooms, and the edges between them, by name."""
        edges = {(_room(above), _room(below)) for above, below in self.edges}
        return {
            "modules": self.modules,
            "edges": self.edges,
            "rooms": {_room(module) for module in self.modules},
            "room edges": {(above, below) for above, below in edges if above != below},
        }


def _module_of(frame: FrameType) -> str | None:
    """The module that a frame runs in, named below the package; None where it is none of the package."""
    package, _, module = str(frame.f_globals.get("__name__", "")).partition(".")
    return (module or "__init__") if package == PACKAGE.name else None


def _room(module: str) -> str:
    return module.partition(".")[0]


def traced(call: Callable[[Talk], object]) -> Sets:
    """What a call about the last talk enters after the others have warmed it, in all threads that it starts."""
    *others, last = TALKS
    for talk in others:
        call(talk)
    before, trace = set(threading.enumerate()), Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        call(last)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    for thread in set(threading.enumerate()) - before:
        thread.join(1)
    return trace.sets()


def crossed() -> dict[str, Sets]:
    """What one `Guard.check` and one `GuardedSearch.run` enter, each with a guard of its own."""
    guard, rewrites = Guard(), {turn: rewrite for turn, rewrite, _ in TALKS}
    search = GuardedSearch(
        lambda query: [Hit(query, 2.0), Hit("timetable", 1.0)], lambda turn, _: rewrites[turn], guard=Guard()
    )
    return {"check": traced(lambda talk: guard.check(*talk)), "run": traced(lambda talk: search.run(talk[0], talk[2]))}


def tree() -> dict[str, tuple[float, str]]:
    """What stands at the top of the package, its Python files, and their lines with comments and blank ones."""
    top = [path for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")]
    files = list(PACKAGE.rglob("*.py"))
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in files)
    return {"entries at the top": (len(top), ""), "Python files": (len(files), ""), "lines": (lines, "")}


def imports() -> dict[str, tuple[float, str]]:
    """What the values take to import beside OpenTelemetry alone: medians of fresh processes, one of each in turn."""
    told = [(_fresh(VALUES), _fresh(FLOOR)) for _ in range(_ROUNDS + 1)][1:]  # the first may have to compile
    values, floor = (median(seconds) for seconds in zip(*((v[0], f[0]) for v, f in told), strict=True))
    heavy = told[0][0][1]
    return {
        "import of values, extra seconds": (round(values - floor, 3), f"{values:.3f} beside {floor:.3f}"),
        "import of values, heavy modules": (len(heavy), ", ".join(heavy)),
    }


def _fresh(statement: str) -> tuple[float, list[str]]:
    """The seconds of a statement in a process of its own, and what is loaded then of the heavy modules.

    Raises:
        RuntimeError: It found another copy of the package than this process.
    """
    code = _TIMED.format(statement=statement, heavy=HEAVY)
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    seconds, heavy, package = json.loads(ran.stdout)
    if package not in (None, rewriteguard.__file__):
        raise RuntimeError(f"a fresh process imports {package}, this one {rewriteguard.__file__}")
    return seconds, heavy


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts, and judges or writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="end with 1 where a figure is above its bound")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write figures, modules and edges")
    options = parser.parse_args(arguments)
    about = {"machine": provenance.machine(), "sources": provenance.digest_of_package()}
    calls = crossed()
    counts = {f"{call}, {name}": (float(len(s)), "") for call, sets in calls.items() for name, s in sets.items()}
    figures = counts | tree() | imports()
    unmet = {name for name, bound in BOUNDS.items() if figures[name][0] > bound}
    marks = {name: "NOT MET" if name in unmet else "met" for name in BOUNDS}
    rows = [[n, f"{v:,g}", str(BOUNDS.get(n, "-")), marks.get(n, ""), note] for n, (v, note) in figures.items()]
    print(report.table(["figure", "measured", "at most", "", ""], rows))
    if options.out:
        listed = {call: {name: sorted(s) for name, s in sets.items()} for call, sets in calls.items()}
        results = {**about, "packages": provenance.packages(), "figures": figures, "bounds": BOUNDS, "crossed": listed}
        options.out.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    return int(options.check and bool(unmet))


if __name__ == "__main__":
    sys.exit(main())
