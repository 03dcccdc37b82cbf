"""The searches of the retrieval benchmark: BM25 and dense, each with its scores, each text searched once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import bm25s
import numpy as np
import Stemmer

from retrieval_data import Collection
from rewriteguard import Hit

if TYPE_CHECKING:
    from dense import Encoder

DEPTH = 20  # what a guarded search asks of an arm; the unguarded rows read the same lists
Search = Callable[[str, int], list[Hit[str]]]


class Index:
    """A search that remembers what it found, since every strategy searches the same texts."""

    def __init__(self, find: Callable[[str], list[Hit[str]]]) -> None:
        self._find = find
        self._found: dict[str, list[Hit[str]]] = {}

    def __call__(self, query: str, k: int = DEPTH) -> list[Hit[str]]:
        """The best `k` passages, at most 20."""
        if query not in self._found:
            self._found[query] = self._find(query)
        return self._found[query][:k]


def bm25(collection: Collection) -> Index:
    """BM25 with k1 1.2, b 0.75, English stop words and stems; passages without a common word are not found."""
    stemmer = Stemmer.Stemmer("english")
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    tokens = bm25s.tokenize(list(collection.texts), stopwords="en", stemmer=stemmer, show_progress=False)
    retriever.index(tokens, show_progress=False)

    def find(query: str) -> list[Hit[str]]:
        asked = bm25s.tokenize([query], stopwords="en", stemmer=stemmer, show_progress=False)
        places, scores = retriever.retrieve(asked, k=DEPTH, show_progress=False)
        return _hits(collection.ids, places[0], scores[0])

    return Index(find)


def dense(collection: Collection, encoder: Encoder) -> Index:
    """Cosine of all-MiniLM-L6-v2 vectors, exact."""
    vectors = encoder.corpus(collection.texts)

    def find(query: str) -> list[Hit[str]]:
        scores = vectors @ encoder.query(query)
        places = np.argpartition(-scores, DEPTH)[:DEPTH]
        places = places[np.argsort(-scores[places], kind="stable")]
        return _hits(collection.ids, places, scores[places])

    return Index(find)


def _hits(ids: Sequence[str], places: Iterable[int], scores: Iterable[float]) -> list[Hit[str]]:
    return [Hit(ids[int(place)], float(score)) for place, score in zip(places, scores, strict=True) if float(score) > 0]
