"""Rewriters that write several queries, or a document: what they are, what they get, and how their output is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase

from rewriteguard.errors import InputError, UnsupportedChainError
from rewriteguard.reading.lists import listed_queries, queries_in
from rewriteguard.retrieve.rewriter import rewritten, rewritten_text


@dataclass(frozen=True, slots=True)
class Form:
    """How a rewriter is asked, and what it gives.

    Attributes:
        read: Gets its output, gives the rewrite or a tuple of several; None reads a text or a list of texts.
        always: Whether it is asked on turns without a history too.
        union: Whether all that the queries found is returned where no `k` is given.
        names: Further names under which a runnable gets the turn, beside `input`.
    """

    read: Callable[[Any], str | tuple[str, ...]] | None = None
    always: bool = False
    union: bool = False
    names: tuple[str, ...] = ()


ONE = Form()
"""The form of a rewriter that writes one query, or a list of stand-alone ones."""


def several(*beside: str) -> Form:
    """The form of a rewriter that writes several queries; `beside` are searched beside them in shadow mode."""
    return Form(partial(_queries, beside), always=True, union=True, names=("question",))


def document(names: tuple[str, ...]) -> Form:
    """The form of a writer of one hypothetical document."""
    return Form(_document, always=True, names=names)


def parts_of(multi_query: Any) -> tuple[Runnable[Any, Any], Runnable[Any, Any]]:
    """The writer of queries and the retriever inside a `MultiQueryRetriever`.

    Raises:
        UnsupportedChainError: It has no `llm_chain` and `retriever`.
    """
    writer, retriever = (getattr(multi_query, name, None) for name in ("llm_chain", "retriever"))
    bound = isinstance(multi_query, RunnableBindingBase)  # it shows what it holds, and would lose what was bound to it
    if bound or not isinstance(writer, Runnable) or not isinstance(retriever, Runnable):
        raise UnsupportedChainError(
            f"expected a MultiQueryRetriever with `llm_chain` and `retriever`, got {type(multi_query).__name__}. "
            "Pass its parts instead: GuardedMultiQueryRetriever(retriever=..., rewriter=...)"
        )
    return writer, retriever


def writer_of(writer: Any) -> tuple[Any, tuple[str, ...]]:
    """What writes the document, and the names under which it gets the turn; a HyDE embedder holds it.

    Raises:
        InputError: It is a bare language model, which would answer instead of writing a document.
    """
    held, names = getattr(writer, "llm_chain", None), getattr(writer, "input_keys", ())
    if isinstance(held, Runnable):
        return held, tuple(names)
    if isinstance(writer, BaseLanguageModel):
        raise InputError("writer: expected a chain of prompt and model, or a callable, got a bare language model")
    return writer, ("question",)


def _queries(beside: tuple[str, ...], output: Any) -> tuple[str, ...]:
    """The lines as they came, for the guard to clean; none where they hold no query."""
    held = output.get("text") if isinstance(output, Mapping) else output  # LLMChain gives a dict
    found = rewritten(held)
    lines = queries_in(found) if isinstance(found, str) else found
    return (*lines, *beside) if listed_queries(lines) else ()


def _document(output: Any) -> tuple[str, ...]:
    held = output.get("text") if isinstance(output, Mapping) else output
    text = rewritten_text(held)
    return (text,) if text.strip() else ()
