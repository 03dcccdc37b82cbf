"""The documents and the conversation of the demo."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from langchain_core.documents import Document


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the recorded conversation.

    Attributes:
        user: What the user asks.
        rewrite: What the rewriter made of it; None for the first turn, which needs no rewriter.
        mistake: What the rewriter did wrong; empty where it did well.
        assistant: What the assistant answered.
        answer: The id of the document that answers the question.
    """

    user: str
    rewrite: str | None
    mistake: str
    assistant: str
    answer: str


def documents() -> tuple[Document, ...]:
    """The help desk's documents, in the order of the file; each has an id."""
    rows = (json.loads(line) for line in _text("corpus.jsonl").splitlines())
    return tuple(
        Document(id=row["id"], page_content=f"{row['title']}. {row['text']}", metadata={"title": row["title"]})
        for row in rows
    )


def conversation() -> tuple[Turn, ...]:
    """The turns of the conversation, oldest first."""
    return tuple(Turn(**turn) for turn in json.loads(_text("conversation.json")))


def _text(name: str) -> str:
    return resources.files("rewriteguard.demo").joinpath(name).read_text("utf-8")
