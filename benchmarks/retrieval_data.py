"""The questions and passages of the retrieval benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datafiles


@dataclass(frozen=True, slots=True)
class Question:
    """One turn of a conversation with what answers it.

    Attributes:
        id: The turn's id.
        conversation: The conversation's id.
        turn: The turn's place in the conversation, from 1.
        history: The messages before it as (role, text), oldest first.
        original: The user's words.
        rewrites: The rewrites by system.
        relevant: The ids of the passages that answer it.
    """

    id: str
    conversation: str
    turn: int
    history: tuple[tuple[str, str], ...]
    original: str
    rewrites: Mapping[str, str]
    relevant: frozenset[str]

    @property
    def half(self) -> int:
        """0 or 1: the parity of the sha256 of the conversation's id, so that a conversation is in one half."""
        return int(hashlib.sha256(self.conversation.encode("utf-8")).hexdigest(), 16) % 2


@dataclass(frozen=True, slots=True)
class Collection:
    """A set of questions over one corpus, with the rewriters that it is measured with.

    Attributes:
        name: Its name.
        questions: In file order.
        ids: Of the passages, in file order.
        texts: Of the passages.
        rewriters: The system's name in the data by the name in the report.
        sources: The data files.
    """

    name: str
    questions: Sequence[Question]
    ids: Sequence[str]
    texts: Sequence[str]
    rewriters: Mapping[str, str]
    sources: Sequence[datafiles.Source]


def load(name: str, conditions: Mapping[str, Any], folder: Path = datafiles.FOLDER) -> Collection:
    """One set.

    Raises:
        DataError: A data file is absent or has changed.
    """
    settings = conditions["retrieval"]["sets"][name]
    rows, of_queries = datafiles.read(settings["queries"], conditions["data"], folder)
    passages, of_corpus = datafiles.read(settings["corpus"], conditions["data"], folder)
    return Collection(
        name,
        [_question(row) for row in rows],
        [passage["id"] for passage in passages],
        [passage["text"] for passage in passages],
        settings["rewriters"],
        (of_queries, of_corpus),
    )


def stale(questions: Sequence[Question], system: str) -> dict[str, str]:
    """For each question the rewrite of the nearest other turn of its conversation, the earlier of two; by id.

    A question that is alone in its conversation gets a foreign one.
    """
    rewritten = [question for question in questions if system in question.rewrites]
    talks: dict[str, list[Question]] = {}
    for question in rewritten:
        talks.setdefault(question.conversation, []).append(question)
    found = foreign(questions, system)
    for question in rewritten:
        others = [other for other in talks[question.conversation] if other.id != question.id]
        if others:
            nearest = min(others, key=lambda other: (abs(other.turn - question.turn), other.turn))
            found[question.id] = nearest.rewrites[system]
    return found


def foreign(questions: Sequence[Question], system: str) -> dict[str, str]:
    """For each question the rewrite of the next question in file order that is of another conversation; by id."""
    rewritten = [question for question in questions if system in question.rewrites]
    found = {}
    for place, question in enumerate(rewritten):
        after = (*rewritten[place + 1 :], *rewritten[:place])
        other = next(other for other in after if other.conversation != question.conversation)
        found[question.id] = other.rewrites[system]
    return found


def _question(row: datafiles.Row) -> Question:
    rewrites = dict(row["rewrites"])
    if row["human"]:
        rewrites["human"] = row["human"]
    return Question(
        row["id"],
        row["conversation"],
        row["turn"],
        tuple(datafiles.history(row)),
        row["original"],
        rewrites,
        frozenset(row["relevant"]),
    )
