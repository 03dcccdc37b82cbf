"""Holds measured times against their bounds, which may be missed by a tolerance because time is noisy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from expectations import is_met

Bounds = Mapping[str, Mapping[str, float]]


def judged(results: Mapping[str, Any], parts: Iterable[str], slack: float = 0.0) -> Iterator[tuple[str, bool]]:
    """One line for each bound and each part without figures, and whether it fails the run.

    Args:
        results: The results with their bounds and the reasons of those that are known to be short.
        parts: What was measured; a bound that none of them measures is left out unless one of them crashed.
        slack: By what share the tolerances are wider.
    """
    chosen = [results["parts"][part] for part in parts]
    figures = {key: figure["value"] for part in chosen for key, figure in part.get("figures", {}).items()}
    for key, bound in results["required"].items():
        if key in figures:
            yield _line(key, figures[key], bound, results["short"].get(key), slack)
    for name, part in zip(parts, chosen, strict=True):
        if "error" in part:
            yield f"ERROR {name}: {part['error']}", True
        if "skipped" in part:
            yield f"skipped {name}: {part['skipped']}", False


def eased(bound: Mapping[str, float], share: float) -> dict[str, float]:
    """The bound, easier to meet by that share of itself; harder where the share is negative."""
    signs = {"at_most": 1, "at_least": -1}
    return {key: bound[key] * (1 + sign * share) for key, sign in signs.items() if key in bound}


def wanted(bound: Mapping[str, float]) -> str:
    """The bound in words: `at most 3`."""
    return " ".join(f"{key.replace('_', ' ')} {bound[key]:g}" for key in ("at_most", "at_least") if key in bound)


def _line(key: str, value: float, bound: Mapping[str, float], reason: str | None, slack: float) -> tuple[str, bool]:
    tolerance = bound["tolerance"] + slack
    if is_met(value, bound):
        stale = reason is not None and is_met(value, eased(bound, -tolerance))
        mark = "MET, and called short" if stale else ""
        failed = stale
    else:
        failed = reason is None and not is_met(value, eased(bound, tolerance))
        mark = "NOT MET" if failed else "known to be short" if reason else "missed within the tolerance"
    return f"{key:24} {value:>10.4g}   {wanted(bound)}   {mark}".rstrip(), failed
