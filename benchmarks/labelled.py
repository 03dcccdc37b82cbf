"""The labelled rewrites: what the guard rejects, hedges and passes, by half, stratum, system, fault and rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import datafiles
from checks import CHANGED, PRESERVED, UNCERTAIN, Outcome, Task, without_errors
from rewriteguard.evaluation.figure import Figure, share
from stats import balanced_accuracy, likelihood_ratio

Figures = dict[str, Figure]


def tasks(rows: Iterable[datafiles.Row]) -> list[Task]:
    """One check a labelled row, without a reference date."""
    return [
        Task("labelled", row["id"], row["original"], row["rewrite"], tuple(datafiles.history(row)), about(row))
        for row in rows
    ]


def about(row: datafiles.Row) -> dict[str, object]:
    """What the figures of a row are grouped by."""
    return {
        "half": datafiles.half(row),
        "label": row["verdict"],
        "dependent": row["dependent"],
        "stratum": row["stratum"],
        "system": row["system"],
        "faults": sorted({fault["kind"] for fault in row["faults"] if fault["severity"] == "critical"}),
    }


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """Every figure of the labelled rewrites, by key."""
    scored = without_errors(outcomes)
    groups = {"all": scored}
    for half in (0, 1):
        groups[f"half {half}"] = [o for o in scored if o.task.about["half"] == half]
    for name in ("stratum", "system"):
        for value in sorted({str(o.task.about[name]) for o in scored}):
            groups[f"{name}/{value}"] = [o for o in scored if o.task.about[name] == value]
    found: Figures = {}
    for name, group in groups.items():
        found |= {f"labelled/{name}/{key}": figure for key, figure in _verdicts(group).items()}
    found |= _faults(scored)
    for rule in sorted({rule for o in scored for rule in o.rules}):
        found |= {f"labelled/rule/{rule}/{key}": figure for key, figure in _rule(rule, scored).items()}
    return found


def odds(fires: Callable[[Outcome], bool], outcomes: Iterable[Outcome]) -> Figure:
    """The likelihood ratio of a sign: its share among changed over its share among preserved rows."""
    by_label = {label: [fires(o) for o in outcomes_of(label, outcomes)] for label in (CHANGED, PRESERVED)}
    changed, preserved = by_label[CHANGED], by_label[PRESERVED]
    return likelihood_ratio(sum(changed), len(changed), sum(preserved), len(preserved))


def outcomes_of(label: str, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes of the rows that are labelled so."""
    return [o for o in outcomes if o.task.about["label"] == label]


def _verdicts(outcomes: Sequence[Outcome]) -> Figures:
    rows: Mapping[str, list[str]] = {
        label: [o.verdict for o in outcomes_of(label, outcomes)] for label in (CHANGED, PRESERVED, UNCERTAIN)
    }
    known = [o for o in outcomes if o.task.about["dependent"] is not None]
    return {
        "false rejection": _share(CHANGED, rows[PRESERVED]),
        "rejected": _share(CHANGED, rows[CHANGED]),
        "confident": _share(PRESERVED, rows[PRESERVED]),
        "hedged, preserved": _share(UNCERTAIN, rows[PRESERVED]),
        "hedged, changed": _share(UNCERTAIN, rows[CHANGED]),
        "passed, changed": _share(PRESERVED, rows[CHANGED]),
        "rejected, uncertain": _share(CHANGED, rows[UNCERTAIN]),
        "hedged, uncertain": _share(UNCERTAIN, rows[UNCERTAIN]),
        "LR of CHANGED": odds(lambda o: o.verdict == CHANGED, outcomes),
        "LR of UNCERTAIN": odds(lambda o: o.verdict == UNCERTAIN, outcomes),
        "dependence": balanced_accuracy([o.task.about["dependent"] for o in known], [o.dependent for o in known]),
        "dependent found": share(
            sum(o.dependent for o in known if o.task.about["dependent"]),
            sum(bool(o.task.about["dependent"]) for o in known),
        ),
        "independent found": share(
            sum(not o.dependent for o in known if not o.task.about["dependent"]),
            sum(not o.task.about["dependent"] for o in known),
        ),
    }


def _share(verdict: str, verdicts: Sequence[str]) -> Figure:
    return share(verdicts.count(verdict), len(verdicts))


def _faults(outcomes: Sequence[Outcome]) -> Figures:
    """For the rows that are labelled changed, by critical fault; a row with several faults counts for each."""
    changed = outcomes_of(CHANGED, outcomes)
    found: Figures = {}
    for fault in sorted({fault for o in changed for fault in o.task.about["faults"]}):
        verdicts = [o.verdict for o in changed if fault in o.task.about["faults"]]
        found[f"labelled/fault/{fault}/rejected"] = _share(CHANGED, verdicts)
        found[f"labelled/fault/{fault}/hedged"] = _share(UNCERTAIN, verdicts)
    return found


def _rule(rule: str, outcomes: Sequence[Outcome]) -> Figures:
    """Where a rule fires and what it alone decides; on half 1 too, where no rule was developed."""
    halves = {"": outcomes, ", half 1": [o for o in outcomes if o.task.about["half"] == 1]}
    found: Figures = {}
    for suffix, group in halves.items():
        for label in (CHANGED, PRESERVED, UNCERTAIN):
            rows = outcomes_of(label, group)
            found[f"fired, {label}{suffix}"] = share(sum(rule in o.rules for o in rows), len(rows))
            found[f"alone, {label}{suffix}"] = share(sum(rule in o.alone for o in rows), len(rows))
        found[f"LR{suffix}"] = odds(lambda o: rule in o.rules, group)
    return found
