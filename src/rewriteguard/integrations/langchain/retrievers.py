"""LangChain: guarded retrievers, whose rewriter writes one query, several queries, or a hypothetical document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import Field

from rewriteguard.errors import InputError, UnsupportedChainError
from rewriteguard.integrations.langchain._call import Call, GuardKeywords, Writer, plan_from
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.reading.lists import listed_queries, queries_in
from rewriteguard.retrieve.request import Plan
from rewriteguard.retrieve.rewriter import ask_for, rewritten, rewritten_text


class GuardedRetriever(BaseRetriever):
    """Any retriever behind any rewriter, with the guard between them; the history comes with the run's config.

    `retriever.invoke(question, {"configurable": {"chat_history": messages}})`: without a history the question itself is
    searched. The keywords of `GuardKeywords` are constructor arguments.

    Attributes:
        retriever: Gets a query, gives documents.
        rewriter: A runnable that gets {"input", "chat_history"}, a callable `f(turn, history)` or `f(turn)`.
        k: The number of documents to return; None is the retriever's own.
        settings: What the other keywords say, for every call.
    """

    retriever: Runnable[Any, Any]
    rewriter: Any
    k: int | None = None
    # A field: LangChain makes configured runnables anew of their fields, and would lose the scope in anything else.
    settings: Plan = Field(exclude=True, repr=False)

    def __init__(
        self, *, retriever: RetrieverLike, rewriter: Any, settings: Plan | None = None, **keywords: Any
    ) -> None:
        own = {name: keywords.pop(name) for name in list(keywords) if name in type(self).model_fields}
        if settings is None:
            settings = plan_from(cast("GuardKeywords", keywords))
        elif keywords:
            names = ", ".join(sorted(keywords))
            raise InputError(f"settings: expected no further keywords beside it, got {names}")
        super().__init__(**own, retriever=retriever, rewriter=rewriter, settings=settings)  # type: ignore[call-arg] # pydantic's own
        arguments.count("k", self.k)
        ask_for(rewriter, "", (), in_loop=False)  # says now what it would say at the first turn

    def invoke(
        self,
        input: str,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The documents for the turn `input`; `kwargs` go to the inner retriever with every query."""
        return super().invoke(input, config, run_config=ensure_config(config), **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The same as `invoke`."""
        return await super().ainvoke(input, config, run_config=ensure_config(config), **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        run_config: RunnableConfig | None = None,
        k: int | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        call, payload = self._call(query, run_manager, run_config, in_loop=False)
        return call.documents(payload, kwargs, self.k if k is None else k)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        run_config: RunnableConfig | None = None,
        k: int | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        call, payload = self._call(query, run_manager, run_config, in_loop=True)
        return await call.adocuments(payload, kwargs, self.k if k is None else k)

    def _call(
        self, query: str, run: Any, config: RunnableConfig | None, *, in_loop: bool
    ) -> tuple[Call, dict[str, Any]]:
        config = ensure_config(config)
        history = (config.get("configurable") or {}).get("chat_history")
        call = Call(self.settings, self.rewriter, self.retriever, config, run, in_loop, self._writer(query))
        return call, {"input": query, "chat_history": history or []}

    def _writer(self, query: str) -> Writer:  # noqa: ARG002
        return Writer()


class GuardedMultiQueryRetriever(GuardedRetriever):
    """A retriever behind a rewriter that writes several queries, with the guard between them.

    The turn itself is always searched, and each query that the guard does not reject. As LangChain does, it returns all
    that they found, best first; with `k` the best of them. The history may come with the run's config, as for
    `GuardedRetriever`; without one the rewriter is asked too.

    Attributes:
        rewriter: A runnable that gets {"question", "input", "chat_history"}, or a callable `f(turn, history)` or
            `f(turn)`; gives a list of queries, or a text with one a line.
        include_original: Whether LangChain's retriever searches the turn too; read in shadow mode only.
    """

    include_original: bool = False

    def __init__(self, *, retriever: RetrieverLike, rewriter: Any, **keywords: Any) -> None:
        super().__init__(retriever=retriever, rewriter=rewriter, **_expanding(keywords))

    def _writer(self, query: str) -> Writer:
        beside = (query,) if self.include_original else ()
        return Writer(_queries, always=True, union=True, names=("question",), beside=beside)


class GuardedHydeRetriever(GuardedRetriever):
    """A retriever that searches a hypothetical document beside the turn, never alone, and not where it contradicts.

    Attributes:
        rewriter: Writes the document: a runnable that gets {"question", "input", "chat_history"}, or a callable
            `f(turn, history)` or `f(turn)`.
        names: The names under which a runnable gets the turn, beside `input`.
    """

    names: tuple[str, ...] = ("question",)

    def __init__(self, *, retriever: RetrieverLike, rewriter: Any, **keywords: Any) -> None:
        super().__init__(retriever=retriever, rewriter=rewriter, **_expanding(keywords))

    def _writer(self, query: str) -> Writer:  # noqa: ARG002
        return Writer(_document, always=True, names=self.names)


def guard_multi_query_retriever(multi_query: Any, **keywords: Unpack[GuardKeywords]) -> GuardedMultiQueryRetriever:
    """The same retriever with the guard between its language model and its searches.

    Args:
        multi_query: LangChain's `MultiQueryRetriever`, or anything with `llm_chain` and `retriever`.
        **keywords: See `GuardKeywords`; `profile` is `Profile.EXPAND` unless given.

    Raises:
        UnsupportedChainError: It has no `llm_chain` and `retriever`.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    writer, retriever = _parts_of(multi_query)
    own = {name: getattr(multi_query, name, None) for name in ("tags", "metadata")}
    original = bool(getattr(multi_query, "include_original", False))
    return GuardedMultiQueryRetriever(
        retriever=retriever, rewriter=writer, include_original=original, **own, **keywords
    )


def guard_hyde(writer: Any, retriever: RetrieverLike, **keywords: Unpack[GuardKeywords]) -> GuardedHydeRetriever:
    """A retriever that searches the user's turn and, beside it, the document that `writer` invents for it.

    Args:
        writer: Writes a hypothetical document: a callable `f(turn)` or `f(turn, history)`, a runnable that gets
            {"question", "input", "chat_history"}, or LangChain's `HypotheticalDocumentEmbedder`, whose chain is taken.
        retriever: Gets a text, gives documents; with plain embeddings, since the document is written here.
        **keywords: See `GuardKeywords`; `profile` is `Profile.EXPAND` unless given.

    Raises:
        InputError: `writer` cannot be asked, or a keyword is unknown or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    chain, names = _writer_of(writer)
    return GuardedHydeRetriever(retriever=retriever, rewriter=chain, names=names, **keywords)


def _parts_of(multi_query: Any) -> tuple[Runnable[Any, Any], Runnable[Any, Any]]:
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


def _writer_of(writer: Any) -> tuple[Any, tuple[str, ...]]:
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


def _expanding(keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords, with the profile of rewriters that add to a query unless they say another; settings say theirs."""
    return keywords if keywords.get("settings") else {"profile": Profile.EXPAND, **keywords}


def _queries(output: Any) -> tuple[str, ...]:
    """The lines as they came, for the guard to clean; none where they hold no query."""
    found = rewritten(_held(output))
    lines = queries_in(found) if isinstance(found, str) else found
    return tuple(lines) if listed_queries(lines) else ()


def _document(output: Any) -> tuple[str, ...]:
    text = rewritten_text(_held(output))
    return (text,) if text.strip() else ()


def _held(output: Any) -> Any:
    return output.get("text") if isinstance(output, Mapping) else output  # LLMChain gives a dict
