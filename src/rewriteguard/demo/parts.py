"""The demo's parts: documents and conversation, BM25 as a LangChain retriever, and a model that replays rewrites."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from rewriteguard.evaluation.run.search import Bm25

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun


CONDENSE_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Rewrite the last question so that it can be understood without the conversation."),
        MessagesPlaceholder("chat_history"),
        ("human", "{input}"),
    ]
)


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


class RecordedRewriter(BaseChatModel):
    """Answers a question with the rewrite that was recorded for it."""

    rewrites: dict[str, str]

    @property
    def _llm_type(self) -> str:
        return "recorded-rewriter"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        rewrite = self.rewrites[messages[-1].text]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(rewrite))])
