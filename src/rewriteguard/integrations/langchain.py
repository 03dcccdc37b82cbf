"""LangChain: a guarded history-aware retriever chain, and a guarded retriever.

What was a chain stays a chain: a dict with `input` and `chat_history` goes in, a list of documents comes out.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.callbacks.manager import AsyncParentRunManager, ParentRunManager
from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable, ensure_config
from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs
from pydantic import ConfigDict, PrivateAttr

from rewriteguard.asking import ask_for
from rewriteguard.assessment import Profile
from rewriteguard.drivers import TaskRunner, ThreadRunner
from rewriteguard.hedge import hedged_search
from rewriteguard.integrations.langchain_chain import take_apart
from rewriteguard.integrations.langchain_filters import GuardedQueryConstructor, guard_query_constructor
from rewriteguard.integrations.langchain_multi import ONE, Form, document, parts_of, several, writer_of
from rewriteguard.integrations.langchain_run import (
    Call,
    GuardKeywords,
    Settings,
    documents_of,
    payload_of,
    settings_from,
)
from rewriteguard.integrations.langchain_scores import with_scores
from rewriteguard.integrations.langchain_self_query import guard_filters, guard_self_query
from rewriteguard.plan import Request
from rewriteguard.threads import drive

__all__ = [
    "FAITHFUL_CONDENSE_PROMPT",
    "GuardKeywords",
    "GuardedChain",
    "GuardedHydeRetriever",
    "GuardedMultiQueryRetriever",
    "GuardedQueryConstructor",
    "GuardedRetriever",
    "create_guarded_history_aware_retriever",
    "guard_history_aware_retriever",
    "guard_hyde",
    "guard_multi_query_retriever",
    "guard_query_constructor",
    "guard_self_query",
    "with_scores",
]

FAITHFUL_CONDENSE_PROMPT = ChatPromptTemplate.from_messages(
    [
        (
            "system",
            "You turn the user's last message into one search query that can be understood without the conversation.\n"
            "- If the message can be understood by itself, return it unchanged.\n"
            "- Otherwise replace only the words that point into the conversation, and complete only what is left out; "
            "use words of the conversation for that, and nothing else.\n"
            "- Copy exactly what limits the question: names, numbers, amounts, dates and periods, versions, codes, "
            "quotations; not, no, never, without, except; only, all, any, every, both, first, last; more, less, "
            "before, after, since, until; must, should, may, can; and the question word.\n"
            "- Add no detail that the user did not ask for, and take over nothing from an earlier topic that the "
            "message does not point to.\n"
            "- Keep every question where there are several, and keep corrections.\n"
            "- Do not answer, do not explain, do not ask back. Return the query alone, in the language of the message.",
        ),
        MessagesPlaceholder("chat_history"),
        ("human", "{input}"),
    ]
)
"""Asks a chat model for rewrites that the guard passes; gets `chat_history` and `input`."""


def guard_history_aware_retriever(
    chain: Runnable[Any, Any], **keywords: Unpack[GuardKeywords]
) -> Runnable[dict[str, Any], list[Document]]:
    """The same chain with the guard between its rewriter and its retriever.

    Args:
        chain: Made by `create_history_aware_retriever`, with whatever config, retries or listeners were put around it.
        **keywords: See `GuardKeywords`.

    Raises:
        UnsupportedChainError: The chain has another shape.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    parts = take_apart(chain)
    settings = settings_from(keywords)
    retriever = _with_filters(parts.retriever, settings)
    return parts.rebind(GuardedChain(rewriter=parts.rewriter, retriever=retriever, settings=settings))


def create_guarded_history_aware_retriever(
    llm: LanguageModelLike,
    retriever: RetrieverLike,
    prompt: BasePromptTemplate[Any],
    **keywords: Unpack[GuardKeywords],
) -> Runnable[dict[str, Any], list[Document]]:
    """The guarded form of LangChain's `create_history_aware_retriever`, with the same three arguments.

    Args:
        llm: Rewrites the turn.
        retriever: Gets a query, gives documents.
        prompt: Has `input` among its variables, and usually `chat_history`.
        **keywords: See `GuardKeywords`.

    Raises:
        ValueError: The prompt has no variable `input`.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    if "input" not in prompt.input_variables:
        raise ValueError(f"prompt: expected a variable `input`, got {prompt.input_variables}")
    settings = settings_from(keywords)
    guarded = _with_filters(retriever, settings)
    chain = GuardedChain(rewriter=prompt | llm | StrOutputParser(), retriever=guarded, settings=settings)
    return chain.with_config(run_name="chat_retriever_chain")


class GuardedChain(RunnableSerializable[dict[str, Any], list[Document]]):
    """A dict with `input` and `chat_history` in, documents out, and the guard between rewriter and retriever.

    Attributes:
        rewriter: Gets the whole input, gives the rewrite.
        retriever: Gets a query, gives documents.
        settings: What holds for every call.

    Raises (on every call):
        ClarificationNeeded: Under `Policy(clarify=True)`, where the turn has several readings.
        ScopeError: The scope could not be decided; nothing was searched.
        InputError: The input is no mapping with `input`.
        Exception: What the rewriter or the retriever raised, where there is nothing to fall back on.
    """

    rewriter: Runnable[Any, Any]
    retriever: Runnable[Any, Any]
    settings: Settings

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The configurable fields of both parts."""
        return get_unique_config_specs([*self.rewriter.config_specs, *self.retriever.config_specs])

    def invoke(
        self,
        input: dict[str, Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The documents for `input`; `kwargs` go to the retriever with every query."""
        return self._call_with_config(self._retrieve, input, config, **kwargs)

    async def ainvoke(
        self,
        input: dict[str, Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The same as `invoke`."""
        return await self._acall_with_config(self._aretrieve, input, config, **kwargs)

    def _retrieve(
        self, payload: dict[str, Any], run_manager: ParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> list[Document]:
        request = self._call(config, run_manager, in_loop=False).request(payload_of(payload), kwargs)
        return documents_of(drive(hedged_search(ThreadRunner(), self.settings.plan, request)))

    async def _aretrieve(
        self, payload: dict[str, Any], run_manager: AsyncParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> list[Document]:
        request = self._call(config, run_manager, in_loop=True).request(payload_of(payload), kwargs)
        return documents_of(await hedged_search(TaskRunner(), self.settings.plan, request))

    def _call(self, config: RunnableConfig, run: Any, *, in_loop: bool) -> Call:
        return Call(self.settings, self.rewriter, self.retriever, config, run, in_loop)


class GuardedRetriever(BaseRetriever):
    """Any retriever behind any rewriter, with the guard between them; the history comes with the run's config.

    `retriever.invoke(question, {"configurable": {"chat_history": messages}})`: without a history the question itself is
    searched. The keywords of `GuardKeywords` are constructor arguments.

    Attributes:
        retriever: Gets a query, gives documents.
        rewriter: A runnable that gets {"input", "chat_history"}, a callable `f(turn, history)` or `f(turn)`.
        k: The number of documents to return; None is the retriever's own.
    """

    retriever: Runnable[Any, Any]
    rewriter: Any
    k: int | None = None
    _settings: Settings = PrivateAttr()
    _searched: Runnable[Any, Any] = PrivateAttr()

    def __init__(self, *, retriever: RetrieverLike, rewriter: Any, **keywords: Any) -> None:
        own = {name: keywords.pop(name) for name in list(keywords) if name in type(self).model_fields}
        super().__init__(**own, retriever=retriever, rewriter=rewriter)  # type: ignore[call-arg] # pydantic's own
        ask_for(rewriter, "", (), in_loop=False)  # says now what it would say at the first turn
        self._settings = settings_from(cast("GuardKeywords", {**keywords, "k": self.k}))
        self._searched = _with_filters(self.retriever, self._settings)

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
        return documents_of(drive(hedged_search(ThreadRunner(), self._settings.plan, request)))

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
        return documents_of(await hedged_search(TaskRunner(), self._settings.plan, request))

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
        call = Call(self._settings, self.rewriter, self._searched, config, run, in_loop, self._form(query))
        return call.request({"input": query, "chat_history": history or []}, keywords, k or self.k)

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
        super().__init__(retriever=retriever, rewriter=rewriter, **{"profile": Profile.EXPAND, **keywords})

    def _form(self, query: str) -> Form:
        shadow = self._settings.plan.judge.policy.shadow
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
        super().__init__(retriever=retriever, rewriter=rewriter, **{"profile": Profile.EXPAND, **keywords})

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


def _with_filters(retriever: Any, settings: Settings) -> Any:
    """The retriever with its self-query filters guarded; shadow mode searches exactly as without the guard."""
    judge = settings.plan.judge
    return retriever if judge.policy.shadow else guard_filters(retriever, judge.guard, judge.telemetry)
