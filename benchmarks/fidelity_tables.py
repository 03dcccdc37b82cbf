"""The tables of the fidelity benchmark, made from its results file and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from expectations import is_met
from report import count, number, percent, short, table

Results = Mapping[str, Any]
_VERDICTS = ("CHANGED", "UNCERTAIN", "PRESERVED")
_LABELS = ("changed", "preserved", "uncertain")


def tables(results: Results) -> dict[str, str]:
    """Every table by the name of its place on the page."""
    figures = {key: figure for part in results["parts"].values() for key, figure in part["figures"].items()}
    return {
        "required": _required(results, figures),
        "labelled": _labelled(figures),
        "faults": _faults(figures),
        "peers": _peers(figures),
        "rules": _rules(figures),
        "human": _human(figures),
        "human-rules": _human_rules(figures),
        "self-corrections": _verdicts("disfl", ("fluent", "withdrawn"), figures),
        "pairs": _pairs(figures),
        "mutants": _mutants("mutants", figures),
        "in-conversation": _mutants("mutants, in conversation", figures),
        "unlisted": _mutants("mutants, unlisted words", figures),
        "controls": _controls(figures),
        "conditions": _conditions(results),
        "data": _data(results),
    }


def limits(results: Results) -> dict[str, str]:
    """The tables of the page on limits: what of the real rewrites' faults is found."""
    figures = {key: figure for part in results["parts"].values() for key, figure in part["figures"].items()}
    return {"faults": _faults(figures)}


def summary(results: Results) -> dict[str, str]:
    """The table of the README: what of real rewrites is found, and what good ones that costs."""
    figures = {key: figure for part in results["parts"].values() for key, figure in part["figures"].items()}
    rows = [
        (label, *(percent(figures.get(f"labelled/all/{key}")) for key in keys))
        for label, keys in (
            ("changed the question", ("rejected", "hedged, changed")),
            ("kept it", ("false rejection", "hedged, preserved")),
        )
    ]
    return {"detection": table(("rewrites of real systems that", "`CHANGED`", "`UNCERTAIN`"), rows)}


def _names(prefix: str, figures: Iterable[str]) -> list[str]:
    """The words that follow `prefix/` in the keys, in order, each once."""
    depth = prefix.count("/") + 1
    return list(dict.fromkeys(key.split("/")[depth] for key in figures if key.startswith(f"{prefix}/")))


def _required(results: Results, figures: Results) -> str:
    rows = []
    for part in results["parts"].values():
        for key, bound in part["required"].items():
            figure = figures.get(key)
            is_share = bound.get("at_most", bound.get("at_least")) <= 1
            limit = f"at {'most' if 'at_most' in bound else 'least'} "
            limit += " ".join(f"{100 * b:g} %" if is_share else f"{b:g}" for b in bound.values())
            value = percent(figure) if is_share else number(figure)
            met = is_met(figure["value"] if figure else None, bound)
            why = part["short"].get(key, "")
            rows.append((key.replace("/", ", "), value, limit, "met" if met else f"**not met**: {why}"))
    return table(("figure", "measured", "required", ""), rows)


def _labelled(figures: Results) -> str:
    columns = ("false rejection", "rejected", "confident", "hedged, preserved", "hedged, changed")
    ratios = ("LR of CHANGED", "LR of UNCERTAIN")
    names = ["all", "half 0", "half 1"]
    names += [f"{group}/{name}" for group in ("stratum", "system") for name in _names(f"labelled/{group}", figures)]
    rows = [
        (
            name.replace("/", " "),
            *(short(figures.get(f"labelled/{name}/{column}")) for column in columns),
            *(number(figures.get(f"labelled/{name}/{ratio}")) for ratio in ratios),
            _plain_percent(figures.get(f"labelled/{name}/dependence")),
        )
        for name in names
    ]
    return table(("rows", *columns, *ratios, "dependence"), rows)


def _plain_percent(figure: Results | None) -> str:
    return "-" if figure is None or figure["value"] is None else f"{100 * figure['value']:.1f} % (n {figure['n']})"


def _faults(figures: Results) -> str:
    rows = [
        (name.replace("_", " "), *(short(figures[f"labelled/fault/{name}/{key}"]) for key in ("rejected", "hedged")))
        for name in _names("labelled/fault", figures)
    ]
    return table(("critical fault", "rejected", "hedged"), rows)


def _peers(figures: Results) -> str:
    """The guard first, on the same rows."""
    keys = ("labelled/all/rejected", "labelled/all/false rejection", "labelled/all/LR of CHANGED")
    own = [figures.get(key) for key in keys]
    rows = [("rewriteguard", percent(own[0]), percent(own[1]), number(own[2]), "")]
    for name in _names("peers", figures):
        rejected, false, ratio = (figures[f"peers/{name}/{key}"] for key in ("rejected", "false rejection", "LR"))
        area = figures.get(f"peers/{name}/AUC")
        rows.append((name, percent(rejected), percent(false), number(ratio), f"{area['value']:.2f}" if area else ""))
    return table(("check", "rejected", "false rejection", "likelihood ratio", "AUC"), rows)


def _rules(figures: Results) -> str:
    rows = []
    for rule in _names("labelled/rule", figures):
        held = {key: figures[f"labelled/rule/{rule}/{key}"] for key in _names(f"labelled/rule/{rule}", figures)}
        fired, later, alone = (
            " : ".join(count(held[f"{what}, {label}{half}"]) for label in _LABELS)
            for what, half in (("fired", ""), ("fired", ", half 1"), ("alone", ""))
        )
        rows.append((f"`{rule}`", fired, number(held["LR"]), later, number(held["LR, half 1"]), alone))
    return table(("rule", "fired", "LR", "fired, half 1", "LR, half 1", "alone"), rows)


def _human(figures: Results) -> str:
    return _verdicts("human", _names("human", figures), figures)


def _human_rules(figures: Results) -> str:
    sets = _names("human", figures)
    rules = sorted({rule for name in sets for rule in _names(f"human/{name}/rule", figures)})
    keys = [(name, what) for name in sets for what in ("fired", "alone")]
    rows = [(f"`{rule}`", *(count(figures.get(f"human/{n}/rule/{rule}/{what}")) for n, what in keys)) for rule in rules]
    return table(("rule", *(f"{name}, {what}" for name, what in keys)), rows)


def _verdicts(prefix: str, names: Iterable[str], figures: Results) -> str:
    rows = [(name, *(percent(figures.get(f"{prefix}/{name}/{verdict}")) for verdict in _VERDICTS)) for name in names]
    return table(("set", *_VERDICTS), rows)


def _pairs(figures: Results) -> str:
    columns = ("not PRESERVED", "CHANGED", "PRESERVED")
    rows = [
        (group, meaning, *(percent(figures[f"pairs/{group}/{meaning}/{column}"]) for column in columns))
        for group in _names("pairs", figures)
        for meaning in _names(f"pairs/{group}", figures)
    ]
    return table(("pairs", "meaning", *columns), rows)


def _mutants(prefix: str, figures: Results) -> str:
    columns = ("not PRESERVED", "CHANGED")
    rows = []
    for kind in _names(prefix, figures):
        edits = [edit for edit in _names(f"{prefix}/{kind}", figures) if edit not in (*columns, "PRESERVED")]
        for edit in ("", *edits):
            key = f"{prefix}/{kind}/{edit}".rstrip("/")
            rows.append((f"**{kind}**" if not edit else "", edit, *(percent(figures[f"{key}/{c}"]) for c in columns)))
    return table(("kind", "edit", *columns), rows)


def _controls(figures: Results) -> str:
    columns = ("PRESERVED", "CHANGED", "as written/PRESERVED", "whole questions/PRESERVED")
    rows = [(k, *(percent(figures.get(f"controls/{k}/{c}")) for c in columns)) for k in _names("controls", figures)]
    whole = (percent(figures.get("unchanged/PRESERVED")), percent(figures.get("unchanged/CHANGED")), "", "")
    rows.append(("none: the question as it was", *whole))
    named = ("PRESERVED, as written", "PRESERVED, of questions that are when unchanged")
    return table(("edit that keeps the meaning", *columns[:2], *named), rows)


def _conditions(results: Results) -> str:
    rows = []
    for name, part in results["parts"].items():
        packages = ", ".join(f"{package} {version}" for package, version in part["packages"].items())
        machine = f"{part['machine']['cores']} cores, Python {part['machine']['python']}, {part['machine']['platform']}"
        errors = str(len(part["errors"]))
        rows.append((name, f"{part['n']:,}", errors, str(part["seed"]), machine, packages, f"`{part['sources'][:12]}`"))
    return table(("part", "checks", "crashed", "seed", "machine", "packages", "sources"), rows)


def _data(results: Results) -> str:
    sources = {item["file"]: item for part in results["parts"].values() for item in part["data"]}
    rows = [(f"`{file}`", f"{item['n']:,}", f"`{item['sha256']}`") for file, item in sorted(sources.items())]
    return table(("file", "rows", "sha256"), rows)
