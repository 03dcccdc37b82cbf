"""BM25 in the process, as a LangChain retriever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bm25s
import Stemmer
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.callbacks import CallbackManagerForRetrieverRun


class BM25Retriever(BaseRetriever):
    """Ranks documents by BM25 over English stems; every document found has its score under `metadata["score"]`."""

    k: int = 4
    _documents: tuple[Document, ...] = PrivateAttr()
    _index: Any = PrivateAttr()
    _stemmer: Any = PrivateAttr()

    def __init__(self, documents: Sequence[Document], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._documents = tuple(documents)
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()
        self._index.index(self._tokens([document.page_content for document in documents]), show_progress=False)

    def _tokens(self, texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        limit = min(k or self.k, len(self._documents))
        rows, scores = self._index.retrieve(self._tokens([query]), k=limit, show_progress=False)
        return [
            self._scored(self._documents[row], float(score))
            for row, score in zip(rows[0], scores[0], strict=True)
            if score > 0
        ]

    @staticmethod
    def _scored(document: Document, score: float) -> Document:
        metadata = {**document.metadata, "score": score}
        return Document(id=document.id, page_content=document.page_content, metadata=metadata)
