"""Any search in one form, queries in and scored documents out; and the built-in one, BM25 over a JSONL corpus."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import Stemmer

from rewriteguard.errors import InputError
from rewriteguard.evaluation.errors import CorpusError
from rewriteguard.evaluation.run.conditions import described
from rewriteguard.evaluation.vocabulary import words_of
from rewriteguard.integrations.langchain.keywords import own_count, require_keywords
from rewriteguard.retrieve.flow import called
from rewriteguard.retrieve.fuse import Hit
from rewriteguard.retrieve.search import takes_k
from rewriteguard.telemetry.content import describe, identity_of

_K1 = 1.2
_B = 0.75


class Bm25:
    """Ranks texts by BM25 (k1 1.2, b 0.75) over English stems without English stop words.

    The same texts and query always give the same ranking. It may be searched from several threads.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._index = bm25s.BM25(k1=_K1, b=_B)
        tokens = _tokens(list(texts))
        self._empty = not tokens.vocab or not any(len(each) for each in tokens.ids)
        if not self._empty:
            self._index.index(tokens, show_progress=False)

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        """Place and score of the best `k` texts that share a stem with the query, best first."""
        if self._empty:
            return []
        tokens = _tokens([query])
        words = {place: word for word, place in tokens.vocab.items()}
        known = self._index.get_tokens_ids([words[each] for each in tokens.ids[0]])
        if not len(known):
            return []
        scores = self._index.get_scores_from_ids(known)
        k = min(k, self._size)
        least = max(np.partition(scores, -k)[-k], np.finfo(scores.dtype).tiny)
        places = np.flatnonzero(scores >= least)
        best = places[np.argsort(-scores[places], kind="stable")][:k]
        return [(int(place), float(scores[place])) for place in best]


def _tokens(texts: list[str]) -> Any:
    # A stemmer of its own for each call: PyStemmer's keep a cache that threads must not share.
    return bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)


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


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that was found: the id that labels name it by, and the document itself."""

    id: str
    item: Any


class Searching:
    """A search of the application, asked for a number of documents where it can be.

    Args:
        search: A LangChain retriever or another runnable that gets a query, or a callable `search(query, **keywords)`;
            gives documents or `Hit(document, score)`, best first. One that has a parameter `k` is asked for as many as
            the budget allows.
        id_key: The key of the metadata that holds the id which labels name; None takes the document's own id.
        score_key: The key of the metadata that holds a document's score; state it only where higher is better.

    Attributes:
        counts: Whether it can be asked for a number of documents.

    Raises:
        InputError: It is nothing that can be searched.
    """

    def __init__(self, search: Any, id_key: str | None = None, score_key: str | None = None) -> None:
        self._runnable = callable(getattr(search, "invoke", None))
        if not self._runnable and not callable(search):
            raise InputError(f"search: expected a retriever or a callable, got {type(search).__name__}")
        self._search = search
        self._id_key = id_key
        self._score_key = score_key
        self.counts = own_count(search, {}, in_loop=False) is not None if self._runnable else takes_k(search)

    def __call__(self, query: str, limits: Mapping[str, Any], depth: int) -> list[Hit[FoundDocument]]:
        """At most `depth` documents, each id once, at its best rank.

        Raises:
            ScopeError: The search would not pass on the `limits`.
            InputError: It gave something else than a list of documents with ids.
            Exception: What it raised itself.
        """
        if self._runnable:
            require_keywords(self._search, limits)
        search = self._search.invoke if self._runnable else self._search
        keywords = {**limits, "k": depth} if self.counts else dict(limits)
        found = called(search, query, **keywords)
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
            raise InputError(f"search: expected a list of documents, got {type(found).__name__}")
        hits: dict[str, Hit[FoundDocument]] = {}
        for each in found:
            hit = self._hit(each)
            hits.setdefault(hit.item.id, hit)
        return list(hits.values())[:depth]

    def settings(self) -> dict[str, Any]:
        """The search and how it is asked, as plain JSON values."""
        return {
            "search": described(self._search),
            "id_key": self._id_key,
            "score_key": self._score_key,
            "takes_k": self.counts,
        }

    def _hit(self, given: Any) -> Hit[FoundDocument]:
        hit = given if isinstance(given, Hit) else Hit(given)
        score, metadata = hit.score, describe(hit.item)[2]
        if score is None and self._score_key is not None:
            score = metadata.get(self._score_key)
        identity = self._identity(hit.item, metadata)
        return Hit(FoundDocument(identity, hit.item), None if score is None else float(score))

    def _identity(self, item: Any, metadata: Mapping[str, Any]) -> str:
        if self._id_key is not None:
            found = metadata.get(self._id_key, item.get(self._id_key) if isinstance(item, Mapping) else None)
        else:
            found = item if isinstance(item, str) else identity_of(item)
        if found is None or found == "":
            where = "an id" if self._id_key is None else f"{self._id_key!r} in the metadata"
            raise InputError(
                f"search: expected documents with {where}, got {type(item).__name__} without; labels name documents "
                "by their ids, and `id_key` says where they stand"
            )
        return str(found)
