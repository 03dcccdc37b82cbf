"""English Snowball stems, memoised."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")
_LOCK = Lock()  # a stemmer keeps the word it works on in itself, so threads must take turns


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of one word, in lower case."""
    with _LOCK:
        # Half of a surrogate pair, which a broken client may send, is no text for the stemmer in C.
        result: str = _STEMMER.stemWord(word.casefold().encode("utf-8", "replace").decode("utf-8"))
    return result
