"""The built-in search: BM25 over a corpus in a JSONL file, for teams whose index is not at hand."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewriteguard.errors import CorpusError
from rewriteguard.evaluation.run.bm25 import Bm25
from rewriteguard.evaluation.vocabulary import words_of
from rewriteguard.retrieve.fuse import Hit


@dataclass(frozen=True, slots=True)
class Passage:
    """One document of the corpus."""

    id: str
    text: str
    title: str = ""

    @property
    def indexed(self) -> str:
        """What is searched: title and text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class Corpus:
    """A corpus that can be searched: `corpus(query, k=10)` gives hits with BM25 scores, best first.

    Equal scores are in the order of the corpus. Passages that share no word with the query are not found.

    Args:
        passages: The documents; no id twice.
        fingerprint: Names the state of the corpus; None is the digest of the passages.

    Raises:
        CorpusError: Two passages have one id.
    """

    def __init__(self, passages: Sequence[Passage], fingerprint: str | None = None) -> None:
        twice = [each for each, n in Counter(passage.id for passage in passages).items() if n > 1]
        if twice:
            raise CorpusError(f"passages: expected each id once, got {twice[0]!r} several times")
        self.passages = tuple(passages)
        self.fingerprint = _digest(self.passages) if fingerprint is None else fingerprint
        self._index = Bm25([passage.indexed for passage in passages])

    def __call__(self, query: str, k: int = 10) -> list[Hit[Passage]]:
        """The best `k` passages."""
        return [Hit(self.passages[place], score) for place, score in self._index.search(query, k)]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Corpus:
        """The corpus of a file with `id`, `text` and optionally `title` on each line; its fingerprint is its sha256.

        Raises:
            CorpusError: A line cannot be read; the message names file, line and field.
            OSError: The file cannot be read.
        """
        raw = Path(path).read_bytes()
        passages = list(_passages(raw, Path(path).name))
        return cls(passages, f"sha256:{hashlib.sha256(raw).hexdigest()}")

    def vocabulary(self) -> Counter[str]:
        """The words of the corpus in lower case, each with the number of documents that hold it."""
        return Counter(word for passage in self.passages for word in set(words_of(passage.indexed)))


def _passages(raw: bytes, name: str) -> Iterator[Passage]:
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            try:
                yield _passage(json.loads(line.decode("utf-8-sig")))
            except (ValueError, RecursionError) as error:
                raise CorpusError(f"{name}, line {number}: {error}") from None


def _passage(row: Any) -> Passage:
    if not isinstance(row, dict):
        raise CorpusError(f"expected an object with 'id' and 'text', got {type(row).__name__}")
    identity = row.get("id")
    if isinstance(identity, bool) or not isinstance(identity, str | int) or identity == "":
        raise CorpusError(f"id: expected text or a whole number, got {identity!r}")
    text, title = row.get("text"), row.get("title") or ""
    for field, value in (("text", text), ("title", title)):
        if not isinstance(value, str):
            raise CorpusError(f"{field}: expected text, got {value!r}")
    return Passage(str(identity), str(text), str(title))


def _digest(passages: Sequence[Passage]) -> str:
    digest = hashlib.sha256()
    for passage in passages:
        digest.update(json.dumps([passage.id, passage.title, passage.text]).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"
