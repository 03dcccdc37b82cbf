"""Minimal edits of human rewrites: mutants, which change the question, and controls, which keep its meaning."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources

import datafiles
from checks import CHANGED, PRESERVED, Outcome, Task, without_errors
from rewriteguard.evaluation.figure import Figure, share
from rewriteguard.evaluation.mutants.mutants import Mutant, controls_of, mutants_of

Figures = dict[str, Figure]
_UNCHANGED = "unchanged"
_IN_CONVERSATION = "mutants, in conversation"
# Their triggers are words of closed classes; those of the other kinds are values or whole questions.
_BY_WORD = {"bound", "unit", "negation", "comparison", "quantifier", "modality", "answer_word", "qualifier"}


def tasks(rows: Iterable[datafiles.Row], seed: int, per_edit: int) -> list[Task]:
    """For each kind and edit up to `per_edit` mutants or controls of the human rewrites, drawn by the seed.

    Edits of the question as it was written are drawn first; where they are too few, questions to which a constraint was
    added fill up. Each is checked against the text that it was made from, as if that were the user's turn.
    """
    drawn: dict[tuple[str, str, str], list[tuple[bool, str, Task]]] = defaultdict(list)
    unchanged: dict[str, Task] = {}
    in_conversation: list[Task] = []
    words = _listed_words()
    for row in rows:
        history = tuple(datafiles.history(row))
        unchanged[row["id"]] = Task("mutants", row["id"], row["human"], row["human"], history, {"set": _UNCHANGED})
        for number, (name, mutant) in enumerate(_made(row, seed)):
            about = {
                "set": name,
                "kind": mutant.kind.value,
                "edit": mutant.edit.value,
                "seeded": mutant.seeded,
                "of": row["id"],
            }
            about["listed"] = _is_listed(mutant, words)
            identifier = f"{row['id']}:{name}:{number}"
            task = Task("mutants", identifier, mutant.base, mutant.text, history, about)
            if _is_of_turn(name, mutant, row["original"]):
                talk = about | {"set": _IN_CONVERSATION}
                in_conversation.append(
                    Task("mutants", f"{identifier}:talk", row["original"], mutant.text, history, talk)
                )
            lot = hashlib.sha256(f"{seed}:{identifier}".encode()).hexdigest()
            drawn[name, mutant.kind.value, mutant.edit.value].append((mutant.seeded, lot, task))
    chosen = {task.id for group in drawn.values() for *_, task in sorted(group, key=_lot)[:per_edit]}
    made = [task for group in drawn.values() for *_, task in group if task.id in chosen]
    made += in_conversation
    return [unchanged[row] for row in dict.fromkeys(task.about["of"] for task in made)] + made


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """Detection by kind and edit, controls left alone by kind; mutants of words that no list of the guard has apart.

    Some questions are not PRESERVED even unchanged ("... about this article?" leaves a reference open): `unchanged`
    counts them, and `whole questions` are the controls of the others.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    outcomes = without_errors(outcomes)
    whole_rows = [o for o in outcomes if o.task.about["set"] == _UNCHANGED]
    open_rows = {o.task.id for o in whole_rows if o.verdict != PRESERVED}
    groups[_UNCHANGED] = [o.verdict for o in whole_rows]
    for o in outcomes:
        about = o.task.about
        if about["set"] == _UNCHANGED:
            continue
        if about["set"] == "controls" and about["of"] not in open_rows:
            groups[f"controls/{about['kind']}/whole questions"].append(o.verdict)
        whole = f"{about['set']}/{about['kind']}" if about["listed"] else f"mutants, unlisted words/{about['kind']}"
        groups[whole].append(o.verdict)
        if about["set"] == _IN_CONVERSATION:
            groups[f"{_IN_CONVERSATION}/{about['kind']}"].append(o.verdict)
            continue
        if about["listed"] and about["set"] == "mutants":
            groups[f"{whole}/{about['edit']}"].append(o.verdict)
        if about["listed"] and not about["seeded"]:
            groups[f"{whole}/as written"].append(o.verdict)
    found: Figures = {}
    for name, verdicts in sorted(groups.items()):
        n = len(verdicts)
        found[f"{name}/not PRESERVED"] = share(n - verdicts.count(PRESERVED), n)
        found[f"{name}/CHANGED"] = share(verdicts.count(CHANGED), n)
        found[f"{name}/PRESERVED"] = share(verdicts.count(PRESERVED), n)
    return found


def _made(row: datafiles.Row, seed: int) -> Iterator[tuple[str, Mutant]]:
    context = "\n".join(text for _, text in datafiles.history(row))
    yield from (("mutants", mutant) for mutant in mutants_of(row["human"], context=context, seed=seed))
    yield from (("controls", control) for control in controls_of(row["human"], context=context, seed=seed))


def _is_of_turn(name: str, mutant: Mutant, turn: str) -> bool:
    """True for words that a mutant took from the question as the user put it, too."""
    taken = mutant.before.strip(" ,.?").lower()
    return (
        name == "mutants"
        and not mutant.seeded
        and bool(taken)
        and re.search(rf"\b{re.escape(taken)}\b", turn.lower()) is not None
    )


def _lot(item: tuple[bool, str, Task]) -> tuple[bool, str]:
    return item[:2]


def _is_listed(mutant: Mutant, words: frozenset[str]) -> bool:
    """True where the trigger is a value, or its words stand in some list of the guard."""
    if mutant.kind.value not in _BY_WORD:
        return True
    trigger = mutant.trigger.lower().replace("’", "'")
    return trigger in words or all(word in words for word in trigger.split())


def _listed_words() -> frozenset[str]:
    """Every entry of the guard's English lists, and every single word of theirs, in lower case."""
    text = resources.files("rewriteguard.language").joinpath("en.toml").read_text("utf-8")
    entries = {entry.lower() for entry in _strings(tomllib.loads(text))}
    return frozenset(entries | {word for entry in entries for word in entry.split()})


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
