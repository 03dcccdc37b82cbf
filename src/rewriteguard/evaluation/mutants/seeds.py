"""Constraints added to a question, so that kinds that questions seldom hold can be dropped, altered and invented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question, replaced
from rewriteguard.evaluation.mutants.question import WORDS, ask


def edits(question: Question) -> Iterator[Mutant]:
    """For each kind with seeds: the constraint invented, and dropped and altered where it was added before.

    The three mutants of a seed share one constraint. The base of a drop and of an alteration is the question with the
    constraint; the base of an invention is the question itself or, with `part`, with the rest of the frame.
    """
    for seed, frame, old, new in _chosen(question, "seeds"):
        yield from _triple(question, seed, frame, old, new)


def controls(question: Question) -> Iterator[Mutant]:
    """For each kind of format: a constraint added, and said in another way that means the same."""
    for seed, frame, old, new in _chosen(question, "kept"):
        base, start = _with(question, frame, old)
        span, after, trigger = _difference(start + frame.index("{}"), old, new)
        yield replaced(base, MutantKind(seed["kind"]), Edit.KEEP, span, after, trigger, seeded=True)


def fronted(question: Question) -> Iterator[Mutant]:
    """A constraint at the end of the question, moved to its front."""
    text = question.text
    clause = ask(text)
    seeds = list(_chosen(question, "seeds"))
    if clause is None or clause.start or not seeds:
        return
    seed, frame, old, _ = seeds[question.draw(len(seeds), "fronted")]
    base, start = _with(question, frame, old)
    phrase = base[start : start + len(frame) - 2 + len(old)]
    # Only a word that is no name loses its capital: the question word or the auxiliary at the front.
    front = f"{phrase[0].upper()}{phrase[1:]}, {text[0].lower()}{text[1 : clause.end]}"
    yield replaced(base, MutantKind.WORD_ORDER, Edit.KEEP, (0, start + len(phrase)), front, seed["kind"], seeded=True)


def _chosen(question: Question, section: str) -> Iterator[tuple[dict[str, Any], str, str, str]]:
    """For each kind one seed, one of its frames and a pair that neither the question nor its context knows."""
    clause = ask(question.text)
    if clause is None or "," in question.text[clause.start : clause.end] or "according to" in question.text:
        return
    for kind in dict.fromkeys(seed["kind"] for seed in WORDS[section]):
        seeds = [seed for seed in WORDS[section] if seed["kind"] == kind]
        seed = seeds[question.draw(len(seeds), f"{section} {kind}")]
        frame = seed["frames"][question.draw(len(seed["frames"]), f"{section} {kind} frame")]
        pairs = [
            pair for pair in seed["pairs"] if not any(part.strip() and question.known(part.strip()) for part in pair)
        ]
        if pairs:
            old, new = pairs[question.draw(len(pairs), f"{section} {kind} pair")]
            yield seed, frame, old, new


def _with(question: Question, frame: str, value: str) -> tuple[str, int]:
    """The question with the constraint in front of its question mark, and the offset of the constraint."""
    clause = ask(question.text)
    end = clause.end if clause else len(question.text)
    return f"{question.text[:end]}, {frame.format(value)}{question.text[end:]}", end + 2


def _triple(question: Question, seed: dict[str, Any], frame: str, old: str, new: str) -> Iterator[Mutant]:
    kind, part = MutantKind(seed["kind"]), seed.get("part", False)
    base, start = _with(question, frame, old)
    value = start + frame.index("{}")
    span, after, trigger = _difference(value, old, new)
    trigger = old.strip() if part else trigger
    if new:
        yield replaced(base, kind, Edit.ALTER, span, after, trigger, seeded=True)
    if kind in (MutantKind.DATE, MutantKind.NAME):
        trigger = old
    # A constraint starts behind a comma and a space, which come and go with it.
    cut = (value, value + len(old)) if part else (start - 2, start + len(frame) - 2 + len(old))
    words = base[cut[0] : cut[1]]
    without = base[: cut[0]] + base[cut[1] :]
    yield replaced(base, kind, Edit.DROP, cut, "", trigger, seeded=True)
    yield replaced(without, kind, Edit.INVENT, (cut[0], cut[0]), words, trigger, seeded=True)


def _difference(start: int, old: str, new: str) -> tuple[tuple[int, int], str, str]:
    """The span of the words of `old` that `new` does not share at its ends, the words instead, and the trigger."""
    left, right = old.split(" "), new.split(" ")
    lead = 0
    while lead < min(len(left), len(right)) and left[lead] == right[lead]:
        lead += 1
    trail = 0
    while trail < min(len(left), len(right)) - lead and left[-1 - trail] == right[-1 - trail]:
        trail += 1
    before = " ".join(left[lead : len(left) - trail])
    after = " ".join(right[lead : len(right) - trail])
    at = start + len(" ".join(left[:lead])) + (1 if lead else 0)
    return (at, at + len(before)), after, before.strip() or old.strip()
