"""Digests what the guard finds on every row of the research data and of the field cases; see benchmarks/README.md.

Two states of the code find the same, byte for byte, where their digests are equal. Writes results/digest.json: one
sha256 for each file of data. Ends with 1 where `--check` or `--diff` finds a difference, with 2 where there is nothing
to compare with or the data has changed, and with 0 and the reason where the data is not there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import datafiles
import provenance
from rewriteguard import Guard

RESULTS = Path(__file__).resolve().parent / "results" / "digest.json"
FOLDERS = ("data/labelled", "data/pairs", "data/conversations", "cases")  # below ../shared
SAMPLE = 20  # every so many rows have a digest of their own in the results, for a quick check
_DECIDED = 10  # on every so many rows of a conversation it is decided too, which costs more than the check
_CHUNK = 64  # checks of one guard: neighbours share a conversation, and no finding depends on which process has it
_REWRITES, _TURNS = "conversations/mtrag_rewriters.jsonl", "conversations/mtrag.jsonl"  # joined by id


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a guard is asked.

    Attributes:
        row: The number of the row in its file, from 0.
        id: The row's id, and whose rewrite it is where a row may have several.
        method: Of the guard: `check`, `check_all` or `check_filter`.
        arguments: Of the method: turn, rewrite and history, or filter, turn and history.
        keywords: Of the method; without a reference date where the row names none, as in the fidelity benchmark.
        decided: Whether the decision, the carried query and the dependence are digested too.
    """

    row: int
    id: str
    method: str
    arguments: tuple[Any, Any, Any]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Digest:
    """The sha256 of what was found, and the type of the exception that reached the caller, if one did."""

    ask: Ask
    sha256: str
    error: str = ""


def read(shared: Path) -> tuple[dict[str, list[datafiles.Row]], list[dict[str, Any]]]:
    """The rows of every file by `folder/file`, in the order of `FOLDERS` and of names, and what was read."""
    files, sources = {}, []
    for path in (path for folder in FOLDERS for path in sorted((shared / folder).glob("*.jsonl"))):
        raw, name = path.read_bytes(), f"{path.parent.name}/{path.name}"
        files[name] = [json.loads(line) for line in raw.decode("utf-8").splitlines() if line.strip()]
        sources.append(datafiles.Source(name, hashlib.sha256(raw).hexdigest(), len(files[name])).to_dict())
    turns = {row["id"]: row for row in files.get(_TURNS, ())}
    if _REWRITES in files:
        files[_REWRITES] = [turns[row["id"]] | row for row in files[_REWRITES]]
    return files, sources


def asks(name: str, rows: Iterable[datafiles.Row]) -> Iterator[Ask]:
    """What a guard is asked about the rows of a file, in their order."""
    folder = name.partition("/")[0]
    for number, row in enumerate(rows):
        if folder == "conversations":
            yield from _of_conversation(number, row)
        elif folder == "cases":
            yield _of_case(number, row)
        elif folder == "pairs":
            yield Ask(number, row["id"], "check", (row["a"], row["b"], ()))
        else:
            yield Ask(number, row["id"], "check", (row["original"], row["rewrite"], datafiles.history(row)))


def _of_conversation(number: int, row: datafiles.Row) -> Iterator[Ask]:
    turn, history, decided = row["original"], datafiles.history(row), number % _DECIDED == 0
    rewrites = row["rewrites"] | ({"human": row["human"]} if row["human"] else {})
    for system, rewrite in rewrites.items():
        yield Ask(number, f"{row['id']} {system}", "check", (turn, rewrite, history), decided=decided)
    if decided and len(row["rewrites"]) > 1:
        together = turn, list(row["rewrites"].values()), history
        for profile in ("expand", "decompose"):
            yield Ask(number, f"{row['id']} {profile}", "check_all", together, {"profile": profile}, decided=True)


def _of_case(number: int, row: datafiles.Row) -> Ask:
    day = date.fromisoformat(row["reference_date"]) if row["reference_date"] else None
    keywords = {"reference_date": day} | {key: row[key] for key in ("profile",) if key in row}
    turn, history, rewrite = row["turn"], row["history"], row.get("rewrite")
    if "rewrites" in row:
        return Ask(number, row["id"], "check_all", (turn, row["rewrites"], history), keywords, decided=True)
    if rewrite is None:
        return Ask(number, row["id"], "check_filter", (row["filter"], turn, history), keywords)
    text, times = rewrite["repeat"] if isinstance(rewrite, dict) else (rewrite, 1)
    keywords |= {key: row[key] for key in ("filter",) if key in row}
    return Ask(number, row["id"], "check", (turn, text * times, history), keywords, decided=True)


def digests(asked: Sequence[Ask]) -> list[Digest]:
    """The digests of what one guard finds that was asked nothing before."""
    guard = Guard()
    return [_digest(guard, ask) for ask in asked]


def _digest(guard: Guard, ask: Ask) -> Digest:
    error = ""
    try:
        found = _found(guard, ask)
    except Exception as raised:  # noqa: BLE001 - digested and counted as what the caller gets
        error = type(raised).__name__
        found = {"error": error}
    text = json.dumps(found, ensure_ascii=False, sort_keys=True)
    return Digest(ask, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), error)


def _found(guard: Guard, ask: Ask) -> dict[str, Any]:
    assessment = getattr(guard, ask.method)(*ask.arguments, **ask.keywords)
    found = {"found": assessment.to_dict(), "explained": assessment.explain()}
    if ask.decided:
        turn, _, history = ask.arguments
        several = ask.method == "check_all"
        decide = getattr(guard, "decide_all", guard.decide) if several else guard.decide  # a name of older states
        found["decided"] = decide(*ask.arguments, **ask.keywords).to_dict()
        found["carried"] = asdict(guard.carried(turn, history))
        found["dependent"] = guard.dependent(turn, history)
    return found


def measure(files: Mapping[str, Sequence[datafiles.Row]], sample: int, jobs: int) -> dict[str, list[Digest]]:
    """The digests of every `sample`th row, by file and in the order of the rows."""
    found = {}
    with ProcessPoolExecutor(jobs) as pool:
        for name, rows in files.items():
            asked = [ask for ask in asks(name, rows) if ask.row % sample == 0]
            chunks = [asked[start : start + _CHUNK] for start in range(0, len(asked), _CHUNK)]
            found[name] = [digest for chunk in pool.map(digests, chunks) for digest in chunk]
            print(f"digest: {name}, {len(asked)} checks", file=sys.stderr, flush=True)
    return found


def summary(rows: Sequence[datafiles.Row], found: Sequence[Digest]) -> dict[str, Any]:
    """One file as it stands in the results."""
    errors = Counter(digest.error for digest in found if digest.error)
    sample = _sum(digest for digest in found if digest.ask.row % SAMPLE == 0)
    return {"rows": len(rows), "checks": len(found), "sha256": _sum(found), "sample": sample, "errors": dict(errors)}


def _sum(found: Iterable[Digest]) -> str:
    return hashlib.sha256("".join(f"{each.ask.id} {each.sha256}\n" for each in found).encode("utf-8")).hexdigest()


def differing_rows(one: Path, other: Path) -> Iterator[str]:
    """File and id of every check whose digests in two folders of `--rows` differ, or that one of them lacks."""
    for name in sorted({path.relative_to(folder) for folder in (one, other) for path in folder.rglob("*.jsonl")}):
        first, second = (_rows(folder / name) for folder in (one, other))
        for identifier in dict.fromkeys([*first, *second]):
            if first.get(identifier) != second.get(identifier):
                yield f"{name.as_posix()} {identifier}"


def _rows(path: Path) -> dict[str, str]:
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {row["id"]: row["sha256"] for row in map(json.loads, lines)}


def _write_rows(folder: Path, found: Mapping[str, Sequence[Digest]]) -> None:
    for name, each in found.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"id": digest.ask.id, "sha256": digest.sha256}) + "\n" for digest in each)
        (folder / name).write_text("".join(lines), "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Digests, and writes or compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the last results and write none")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help=f"every Nth row; {SAMPLE} with --check")
    parser.add_argument("--rows", type=Path, metavar="DIR", help="write the digest of each check there, by id")
    parser.add_argument("--diff", type=Path, nargs=2, metavar="DIR", help="print what differs in two such folders")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.sample < 1 or (options.check and options.sample not in (1, SAMPLE)):
        parser.error(f"--sample: expected at least 1, and with --check 1 or {SAMPLE}, got {options.sample}")
    if options.diff:
        if not all(folder.is_dir() for folder in options.diff):
            parser.error("--diff: expected two folders that --rows wrote")
        lines = list(differing_rows(*options.diff))
        print("\n".join([*lines, f"{len(lines)} checks differ"]))
        return int(bool(lines))
    if not datafiles.FOLDER.is_dir():
        print("digest: skipped, the data folder is not beside the project (shared/data)", file=sys.stderr)
        return 0
    try:
        return _run(options)
    except datafiles.DataError as error:
        print(f"digest: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    files, sources = read(datafiles.FOLDER.parent)
    results: dict[str, Any] = {"data": sources, "machine": provenance.machine(), "packages": provenance.packages()}
    results["sources"] = provenance.digest_of_package()  # before anything is measured: the code that was loaded
    last = json.loads(RESULTS.read_text("utf-8")) if options.check and RESULTS.is_file() else {"data": []}
    if options.check and last["data"] != sources:
        raise datafiles.DataError(f"{RESULTS.name}: nothing was recorded yet, or from other data")
    found = measure(files, options.sample, options.jobs)
    if options.rows:
        _write_rows(options.rows, found)
    results["files"] = {name: summary(files[name], each) for name, each in found.items()}
    for name, each in results["files"].items():
        print(f"{each['sha256'][:12]} {each['checks']:6} {name} {each['errors'] or ''}".rstrip())
    if options.check:
        return _verdict_on(results, last, "sha256" if options.sample == 1 else "sample")
    if options.sample == 1:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    return 0


def _verdict_on(results: Mapping[str, Any], last: Mapping[str, Any], key: str) -> int:
    """1 where a file differs, which is named, with the machine or the packages where they are others too; else 0."""
    names = [name for name, each in results["files"].items() if each[key] != last["files"][name][key]]
    for name in names:
        print(f"DIFFERS {name}")
    for about in ("machine", "packages"):
        if names and results[about] != last[about]:
            print(f"recorded with another value of {about}: {last[about]}")
    print(f"{len(names)} files differ")
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main())
