"""A vector store's retriever whose documents say how similar they are, so that lists can be weighed by their scores."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStoreRetriever

from rewriteguard.errors import InputError

SCORE = "similarity"
"""The metadata key that `with_scores` fills; give it as `score_key`."""

# What stores raise that have no scores or no scale for them; a store that cannot be reached is not asked again.
_NO_SCORES = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)


def with_scores(retriever: VectorStoreRetriever) -> VectorStoreRetriever:
    """The same retriever; its documents carry the store's score in their metadata, under `similarity`.

    The documents are copies. The scores are the store's relevance scores, or, where it has none, the scores of its own
    `similarity_search_with_score`. Some stores give distances there: lists whose scores rise from the first document on
    are fused by their ranks alone, so that a distance is never taken for a similarity. Documents of a store that has
    neither come without scores.

    Args:
        retriever: Made by `as_retriever()` of a vector store, with search type `similarity`.

    Raises:
        InputError: It is another retriever, or searches by another type.
    """
    if type(retriever) is not VectorStoreRetriever:
        raise InputError(f"retriever: expected a VectorStoreRetriever, got {type(retriever).__name__}")
    if retriever.search_type != "similarity":
        raise InputError(f"retriever: expected the search type 'similarity', got {retriever.search_type!r}")
    return _Scored(**{name: getattr(retriever, name) for name in VectorStoreRetriever.model_fields})


class _Scored(VectorStoreRetriever):
    """Searches as its base does for exact similarity, and keeps the scores."""

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - as the base
        **kwargs: Any,
    ) -> list[Document]:
        store, given = self.vectorstore, {**self.search_kwargs, **kwargs}
        for search in (store.similarity_search_with_relevance_scores, store.similarity_search_with_score):
            with suppress(*_NO_SCORES):
                return _scored(search(query, **given))
        return store.similarity_search(query, **given)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - as the base
        **kwargs: Any,
    ) -> list[Document]:
        store, given = self.vectorstore, {**self.search_kwargs, **kwargs}
        for search in (store.asimilarity_search_with_relevance_scores, store.asimilarity_search_with_score):
            with suppress(*_NO_SCORES):
                return _scored(await search(query, **given))
        return await store.asimilarity_search(query, **given)


def _scored(found: Iterable[tuple[Document, float]]) -> list[Document]:
    return [
        document.model_copy(update={"metadata": {**document.metadata, SCORE: float(score)}})
        for document, score in found
    ]
