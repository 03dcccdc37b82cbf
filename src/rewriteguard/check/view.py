"""A turn, its rewrite and what stands before them, side by side; and the words that the rewrite added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rewriteguard.check.alignment import Alignment
from rewriteguard.extract.base import Facts
from rewriteguard.filters.beside import NO_FILTER, Filtered
from rewriteguard.language.detect import LATIN, is_foreign, language_of
from rewriteguard.language.words import Word
from rewriteguard.model.comparison import Comparison
from rewriteguard.model.conversation import Role
from rewriteguard.model.tokens import LITERAL, Evidence, Kind
from rewriteguard.reading.references import Reference
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.units import Unit


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn, its rewrite and what stands before them; `dependent` where words of the turn point outside it."""

    turn: Reading
    rewrite: Reading
    past: Past
    references: tuple[Reference, ...]
    comparison: Comparison
    dependent: bool
    facts: Facts
    alignment: Alignment
    beside: Filtered = NO_FILTER


_TOO_SHORT = 2  # content words


def language_of_turn(turn: Reading, past: Past) -> str:
    """The language of a turn; of one too short to tell, with the user's message before it."""
    own = language_of(turn.text)
    before = past.last(Role.USER)
    told_by_script = is_foreign(own) and own not in LATIN
    if before is None or told_by_script or (own and len(turn.content) > _TOO_SHORT):
        return own
    return language_of(f"{turn.text} {before.text}") or own


def new_words(rewrite: Reading, turn: Reading) -> tuple[Word, ...]:
    """The content words of a rewrite that its turn does not support."""
    return tuple(w for w in rewrite.content if not turn.vocabulary.supports(w))


def invented_words(scene: Scene) -> tuple[Word, ...]:
    """The content words of a rewrite that neither turn nor history supports; numbers and codes are judged apart."""
    judged = [t for t in scene.rewrite.tokens if t.kind in LITERAL and t.value != "present"]
    judged += [t for t in scene.comparison.invented if t.kind is not Kind.TOPIC]
    aliases = {
        part for t in scene.turn.tokens for name in scene.facts.equivalents.get(t.value, ()) for part in name.split()
    }
    words = [
        w
        for w in new_words(scene.rewrite, scene.turn)
        if not scene.past.vocabulary.supports(w)
        and w.lower not in aliases
        and not any(t.start < w.end and w.start < t.end for t in judged)
    ]
    spans = ((run, scene.rewrite.words[run[0].i : run[-1].i + 1]) for run in phrases_of(words))
    return tuple(w for run, span in spans if not scene.turn.vocabulary.expands(span) for w in run)


def phrases_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Runs of words that stand side by side, one function word between them allowed."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and word.i - runs[-1][-1].i <= 2:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [tuple(run) for run in runs]


def run_evidence(where: str, reading: Reading, words: Sequence[Word]) -> Evidence:
    """The text from the first to the last of `words`."""
    return Evidence(where, reading.text[words[0].start : words[-1].end], words[0].start, words[-1].end)


def unit_evidence(where: str, reading: Reading, unit: Unit) -> Evidence:
    """The text of a unit."""
    start, end = reading.words[unit.first].start, reading.words[unit.last - 1].end
    return Evidence(where, reading.text[start:end], start, end)


def reference_evidence(where: str, reading: Reading, reference: Reference) -> Evidence:
    """The words of a reference."""
    start, end = reading.words[reference.first].start, reading.words[reference.last - 1].end
    return Evidence(where, reading.text[start:end], start, end)


def lower_of(reading: Reading, reference: Reference) -> str:
    """The words of a reference in lower case."""
    return " ".join(w.lower for w in reading.words[reference.first : reference.last])
