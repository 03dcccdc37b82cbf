"""BM25 in the process, as a LangChain retriever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from rewriteguard.evaluation.run.bm25 import Bm25

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.callbacks import CallbackManagerForRetrieverRun


class BM25Retriever(BaseRetriever):
    """Ranks documents by BM25 over English stems; every document found has its score under `metadata["score"]`."""

    k: int = 4
    _documents: tuple[Document, ...] = PrivateAttr()
    _index: Bm25 = PrivateAttr()

    def __init__(self, documents: Sequence[Document], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._documents = tuple(documents)
        self._index = Bm25([document.page_content for document in documents])

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        return [self._scored(self._documents[place], score) for place, score in self._index.search(query, k or self.k)]

    @staticmethod
    def _scored(document: Document, score: float) -> Document:
        metadata = {**document.metadata, "score": score}
        return Document(id=document.id, page_content=document.page_content, metadata=metadata)
