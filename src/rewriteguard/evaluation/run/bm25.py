"""BM25 over a few texts in the process, with ties in the order of the texts (needs bm25s and PyStemmer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bm25s
import numpy as np
import Stemmer

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
