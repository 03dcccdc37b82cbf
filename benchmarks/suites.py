"""Texts whose right verdict is known from how they were made: human rewrites, self-corrections, minimal pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spacy.tokens import Doc

import datafiles
import disfl
from checks import CHANGED, PRESERVED, UNCERTAIN, Outcome, Task, without_errors
from rewriteguard.evaluation.figure import Figure, share

Figures = dict[str, Figure]
HUMAN = ("cast2021", "canard")
PAIRS = {
    "timeqa": "time",
    "condaqa": "negation",
    "negation_nli": "negation",
    "ambignq": "disambiguation",
    "summedits": "edited summaries",
}


def human_tasks(name: str, rows: Iterable[datafiles.Row]) -> list[Task]:
    """One check a turn: a person's stand-alone rewrite, which is right but for few."""
    return [
        Task("human", row["id"], row["original"], row["human"], tuple(datafiles.history(row)), {"set": name})
        for row in rows
        if row["human"]
    ]


def human_figures(outcomes: Sequence[Outcome]) -> Figures:
    """Shares of CHANGED and UNCERTAIN, and how often each rule fires and decides, by set."""
    found: Figures = {}
    for name in HUMAN:
        group = [o for o in without_errors(outcomes) if o.task.about["set"] == name]
        found |= {f"human/{name}/{verdict}": figure for verdict, figure in _verdicts(group).items()}
        for rule in sorted({rule for o in group for rule in o.rules}):
            found[f"human/{name}/rule/{rule}/fired"] = share(sum(rule in o.rules for o in group), len(group))
            found[f"human/{name}/rule/{rule}/alone"] = share(sum(rule in o.alone for o in group), len(group))
    return found


def disfl_tasks(rows: Iterable[datafiles.Row], parse: Callable[[str], Doc]) -> list[Task]:
    """The fluent question of each self-correction, and, where its parts are certain, one with the withdrawn words."""
    tasks = []
    for row in rows:
        history = tuple(datafiles.history(row))
        tasks.append(Task("disfl", row["id"], row["original"], row["human"], history, {"set": "fluent"}))
        made = disfl.correction(row["original"], row["human"], parse)
        if made is not None:
            identifier = f"{row['id']}:withdrawn"
            tasks.append(Task("disfl", identifier, row["original"], made.wrong, history, {"set": "withdrawn"}))
    return tasks


def disfl_figures(outcomes: Sequence[Outcome]) -> Figures:
    """Verdicts on the fluent questions, and on those that keep the withdrawn words."""
    found: Figures = {}
    for name in ("fluent", "withdrawn"):
        group = [o for o in without_errors(outcomes) if o.task.about["set"] == name]
        found |= {f"disfl/{name}/{verdict}": figure for verdict, figure in _verdicts(group).items()}
    return found


def pair_tasks(name: str, rows: Iterable[datafiles.Row]) -> list[Task]:
    """One check a minimally edited pair, without a history."""
    return [
        Task("pairs", row["id"], row["a"], row["b"], (), {"group": PAIRS[name], "same": row["same_meaning"]})
        for row in rows
    ]


def pair_figures(outcomes: Sequence[Outcome]) -> Figures:
    """Verdicts by group, apart for pairs of different and of the same meaning; the latter together too."""
    paraphrases = [o for o in without_errors(outcomes) if o.task.about["same"]]
    found = {f"pairs/all/same/{key}": figure for key, figure in _verdicts(paraphrases).items()} if paraphrases else {}
    for group in dict.fromkeys(PAIRS.values()):
        for same, label in ((False, "different"), (True, "same")):
            pairs = [o for o in without_errors(outcomes) if o.task.about == {"group": group, "same": same}]
            if pairs:
                found |= {f"pairs/{group}/{label}/{key}": figure for key, figure in _verdicts(pairs).items()}
    return found


def _verdicts(outcomes: Sequence[Outcome]) -> Figures:
    verdicts, n = [o.verdict for o in outcomes], len(outcomes)
    return {
        "CHANGED": share(verdicts.count(CHANGED), n),
        "UNCERTAIN": share(verdicts.count(UNCERTAIN), n),
        "PRESERVED": share(verdicts.count(PRESERVED), n),
        "not PRESERVED": share(n - verdicts.count(PRESERVED), n),
    }
