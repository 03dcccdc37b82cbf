"""The tables of the retrieval report, from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Any

from expectations import is_met
from report import table

Sets = Mapping[str, Any]
Figures = Mapping[str, Mapping[str, Any]]
SETS = {"mtrag": "MTRAG", "qrecc": "QReCC"}
INDEXES = {"bm25": "BM25", "dense": "dense", "hybrid": "hybrid"}
OFFICIAL = "Mixtral"
ROWS = {
    "raw": "the turn as it is",
    "rewrite": "the rewrite alone",
    "rrf60": "both, k = 60, 1 : 1",
    "carried": "turn and four terms of the history",
    "fall-back": "guarded, no rewrite (the rewriter fails)",
    "guarded": "guarded",
    "no-margins": "guarded, ranks alone",
    "no-verdicts": "guarded, every rewrite taken for `PRESERVED`",
    "single": "guarded, one search",
    "dependent": "guarded, rewriter spared for complete turns",
    "oracle-2": "the better of turn and rewrite",
    "oracle-3": "the best of the three arms",
}
REQUIRED = {
    "worst": "guarded over the rewrite alone, R@10, worst of all pairs",
    "mtrag-mean": "guarded over the rewrite alone, R@10, mean on MTRAG",
    "losing": "questions that lose against the turn, guarded over rewrite alone, in sum",
    "rrf60": "guarded over k = 60, 1 : 1, R@10, worst of all pairs",
    "turn-1": "first turns that are not searched as they are",
    "fall-back": "fall back without a rewrite over Mixtral's rewrite, R@10, worst index, MTRAG",
    "stale": "another turn's rewrite put in: guarded over that rewrite alone, R@10, worst of MTRAG, ratio",
}


def requirements(sets: Sets) -> dict[str, float]:
    """The figures that requirements are held against, of the reported half."""
    pairs = list(_pairs(sets, "reported"))
    mtrag = [(label, index, found) for name, label, index, found in pairs if name == "mtrag"]
    over = [found["guarded/over-rewrite"]["value"] for *_, found in pairs]
    lost, lost_alone = (sum(f[f"{row}/lose-raw"]["count"] for *_, f in pairs) for row in ("guarded", "rewrite"))
    return {
        "worst": min(over),
        "mtrag-mean": mean(found["guarded/over-rewrite"]["value"] for *_, found in mtrag),
        "losing": lost / lost_alone,
        "rrf60": min(found["guarded/r10"]["value"] - found["rrf60/r10"]["value"] for *_, found in pairs),
        "turn-1": float(sum(sum(each["first-turns"]["differing"].values()) for each in sets.values())),
        "fall-back": min(f["fall-back/over-rewrite"]["value"] for label, _, f in mtrag if label == OFFICIAL),
        "stale": min(f["stale/r10"]["value"] / f["stale-alone/r10"]["value"] for *_, f in mtrag),
    }


def tables(sets: Sets, settings: Mapping[str, Any]) -> dict[str, str]:
    """Every table of the retrieval section by name; `settings` has the bounds, and why some are not met."""
    return {
        "required": _required(sets, settings),
        "pairs": _overview(sets),
        "rows": _rows(sets),
        "drop-in": _drop_in(sets),
        "wrong": _wrong(sets),
        "conditions": _conditions(sets),
    }


def summary(sets: Sets) -> dict[str, str]:
    """The table of the README: the best rows beside the plain ones."""
    rows = [
        (
            f"{SETS[name]}, {label}, {INDEXES[index]}", f"{found['guarded/r10']['n']:,}",
            *(_value(found, f"{row}/r10") for row in ("raw", "rewrite", "rrf60", "guarded", "single")),
            *(_value(found, f"{row}/r4") for row in ("drop-in-rewrite", "drop-in")),
        )
        for name, label, index, found in _pairs(sets, "reported")
    ]  # fmt: skip
    head = (
        "questions, rewriter, index", "n", "the turn, R@10", "the rewrite, R@10", "both, k = 60, R@10", "guarded, R@10",
        "`Policy.single()`, R@10", "the rewrite, R@4", "guarded drop-in, R@4",
    )  # fmt: skip
    return {"summary": table(head, rows)}


def _pairs(sets: Sets, part: str) -> Iterator[tuple[str, str, str, Figures]]:
    """Set, rewriter, index and figures of each pair of set and rewriter."""
    for name, each in sets.items():
        for key, found in each["figures"].items():
            label, index, of_part = key.split("/")
            if of_part == part:
                yield name, label, index, found


def _required(sets: Sets, settings: Mapping[str, Any]) -> str:
    rows, measured = [], requirements(sets)
    for key, bound in settings["bounds"].items():
        value = measured[key]
        wanted = f"at most {bound['at_most']}" if "at_most" in bound else f"at least {bound['at_least']}"
        state = "met" if is_met(value, bound) else f"not met: {settings['short'].get(key, 'no reason given')}"
        rows.append((REQUIRED[key], f"{value:.3f}", wanted, state))
    return table(("figure, reported half", "measured", "required", ""), rows)


def _overview(sets: Sets) -> str:
    head = (
        "set, rewriter", "index", "n", "turn", "rewrite", "k = 60", "guarded", "over the rewrite, R@10",
        "gain : lose to the turn, rewrite", "gain : lose to the turn, guarded", "MRR@10, rewrite / guarded",
        "nDCG@10, rewrite / guarded",
    )  # fmt: skip
    rows = [
        (
            f"{SETS[name]}, {label}", INDEXES[index], f"{found['guarded/r10']['n']:,}",
            *(_value(found, f"{row}/r10") for row in ("raw", "rewrite", "rrf60", "guarded")),
            _difference(found["guarded/over-rewrite"]),
            *(_gained(found, row, "raw") for row in ("rewrite", "guarded")),
            *(f"{_value(found, f'rewrite/{m}')} / {_value(found, f'guarded/{m}')}" for m in ("mrr10", "ndcg10")),
        )
        for name, label, index, found in _pairs(sets, "reported")
    ]  # fmt: skip
    return table(head, rows)


def _rows(sets: Sets) -> str:
    pairs = [pair for pair in _pairs(sets, "all") if pair[0] == "qrecc" or pair[1] == OFFICIAL]
    head = ["R@10", *(f"{SETS[name]}, {label}, {INDEXES[index]}" for name, label, index, _ in pairs), "searches"]
    rows = []
    for row, text in ROWS.items():
        searches = pairs[0][3].get(f"{row}/searches")
        rows.append([text, *(_value(found, f"{row}/r10") for *_, found in pairs), _count(searches)])
    spared = [f"{1 - found['dependent/asked']['value']:.0%}" for *_, found in pairs]
    rows.append(["rewriter calls spared for complete turns", *spared, ""])
    return table(head, rows)


def _drop_in(sets: Sets) -> str:
    rows = [
        (
            f"{SETS[name]}, {label}", INDEXES[index],
            _value(found, "rewrite/r10"), _value(found, "single/r10"), _difference(found["single/over-rewrite"]),
            _value(found, "drop-in-rewrite/r4"), _value(found, "drop-in/r4"),
            _difference(found["drop-in/over-rewrite"]),
            _gained(found, "drop-in-rewrite", "raw"), _gained(found, "drop-in", "raw"),
        )
        for name, label, index, found in _pairs(sets, "reported")
    ]  # fmt: skip
    head = (
        "set, rewriter", "index", "rewrite alone, R@10", "one search, R@10", "difference",
        "rewrite alone, R@4", "drop-in, R@4", "difference",
        "gain : lose to the turn, rewrite", "gain : lose to the turn, drop-in",
    )  # fmt: skip
    return table(head, rows)


def _wrong(sets: Sets) -> str:
    keys = ("raw", "stale-alone", "stale", "foreign-alone", "foreign", "fall-back")
    rows = [
        (f"{SETS[name]}, {label}", INDEXES[index], *(_value(found, f"{key}/r10") for key in keys))
        for name, label, index, found in _pairs(sets, "all")
    ]
    head = (
        "set, rewriter", "index", "turn", "another turn's rewrite alone", "guarded",
        "another conversation's rewrite alone", "guarded", "no rewrite",
    )  # fmt: skip
    return table(head, rows)


def _conditions(sets: Sets) -> str:
    rows = []
    for name, each in sets.items():
        machine = each["machine"]
        packages = ", ".join(f"{package} {version}" for package, version in each["packages"].items())
        files = ", ".join(f"{source['file']} ({source['n']:,})" for source in each["data"])
        where = f"{machine['cores']} cores, Python {machine['python']}, {machine['platform']}"
        rows.append((SETS[name], files, where, packages, str(each["seed"]), f"`{each['sources'][:12]}`"))
    return table(("set", "data", "machine", "packages", "seed", "sources"), rows)


def _value(found: Figures, key: str) -> str:
    return f"{found[key]['value']:.3f}"


def _difference(figure: Mapping[str, Any]) -> str:
    return f"{figure['value']:+.3f} ({figure['low']:+.3f} to {figure['high']:+.3f})"


def _gained(found: Figures, row: str, other: str) -> str:
    return f"{found[f'{row}/gain-{other}']['count']} : {found[f'{row}/lose-{other}']['count']}"


def _count(figure: Mapping[str, Any] | None) -> str:
    return "-" if figure is None else f"{figure['value']:.1f}"
