"""LangChain: guarded retrievers, whose rewriter writes one query, several queries, or a hypothetical document."""

from __future__ import annotations

from typing import Any, Unpack, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from pydantic import Field

from rewriteguard.errors import InputError
from rewriteguard.integrations.langchain._call import (
    ONE,
    Call,
    Form,
    GuardKeywords,
    Settings,
    document,
    documents_of,
    parts_of,
    settings_from,
    several,
    writer_of,
)
from rewriteguard.integrations.langchain.self_query import guard_filters
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.retrieve._runners import TaskRunner, ThreadRunner, drive
from rewriteguard.retrieve.flow import hedged_search
from rewriteguard.retrieve.request import Request
from rewriteguard.retrieve.rewriter import ask_for


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
    settings: Settings = Field(exclude=True, repr=False)

    def __init__(
        self, *, retriever: RetrieverLike, rewriter: Any, settings: Settings | None = None, **keywords: Any
    ) -> None:
        own = {name: keywords.pop(name) for name in list(keywords) if name in type(self).model_fields}
        if settings is None:
            settings = settings_from(cast("GuardKeywords", keywords))
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
        request = self._request(query, run_manager, run_config, k, kwargs, in_loop=False)
        return documents_of(drive(hedged_search(ThreadRunner(), self.settings.plan, request)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        run_config: RunnableConfig | None = None,
        k: int | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        request = self._request(query, run_manager, run_config, k, kwargs, in_loop=True)
        return documents_of(await hedged_search(TaskRunner(), self.settings.plan, request))

    def _request(
        self,
        query: str,
        run: Any,
        config: RunnableConfig | None,
        k: int | None,
        keywords: dict[str, Any],
        *,
        in_loop: bool,
    ) -> Request:
        config = ensure_config(config)
        history = (config.get("configurable") or {}).get("chat_history")
        searched = with_filters(self.retriever, self.settings)
        call = Call(self.settings, self.rewriter, searched, config, run, in_loop, self._form(query))
        k = self.k if k is None else k
        return call.request({"input": query, "chat_history": history or []}, keywords, k)

    def _form(self, query: str) -> Form:  # noqa: ARG002
        return ONE


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

    def _form(self, query: str) -> Form:
        shadow = self.settings.plan.decider.policy.shadow
        return several(query) if shadow and self.include_original else several()


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

    def _form(self, query: str) -> Form:  # noqa: ARG002
        return document(self.names)


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
    writer, retriever = parts_of(multi_query)
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
    chain, names = writer_of(writer)
    return GuardedHydeRetriever(retriever=retriever, rewriter=chain, names=names, **keywords)


def with_filters(retriever: Any, settings: Settings) -> Any:
    """The retriever with its self-query filters guarded; shadow mode searches exactly as without the guard."""
    decider = settings.plan.decider
    return retriever if decider.policy.shadow else guard_filters(retriever, decider.guard, decider.telemetry)


def _expanding(keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords, with the profile of rewriters that add to a query unless they say another; settings say theirs."""
    return keywords if keywords.get("settings") else {"profile": Profile.EXPAND, **keywords}
