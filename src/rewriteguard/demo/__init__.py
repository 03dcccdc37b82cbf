"""A conversation with a help desk, its documents, and a rewriter that makes the mistakes of the field."""

from rewriteguard.demo.parts import CONDENSE_PROMPT, BM25Retriever, RecordedRewriter, conversation, documents

__all__ = ["CONDENSE_PROMPT", "BM25Retriever", "RecordedRewriter", "conversation", "documents"]
