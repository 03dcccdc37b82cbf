"""LangChain: a guarded history-aware retriever chain, and a guarded retriever.

What was a chain stays a chain: a dict with `input` and `chat_history` goes in, a list of documents comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, TypedDict, Unpack, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.callbacks.manager import AsyncParentRunManager, ParentRunManager
from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable, ensure_config
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs
from pydantic import PrivateAttr

from rewriteguard.asking import Ask, ask_for
from rewriteguard.conversation import Conversation
from rewriteguard.drivers import TaskRunner, ThreadRunner, drive
from rewriteguard.errors import ClarificationNeeded, InputError
from rewriteguard.guard import Guard
from rewriteguard.hedge import Plan, Request, Result, hedged_search
from rewriteguard.integrations.langchain_chain import own_count, take_apart
from rewriteguard.policy import Action, Decision, Origin, Policy
from rewriteguard.rewrite import Judge, default_guard
from rewriteguard.telemetry import Host, Telemetry, default_telemetry
from rewriteguard.verdict import Profile

# Source: fusing four documents an arm was neutral on MTRAG, QReCC and CAsT; the gain came with twenty.
_OVERFETCH = 20

FAITHFUL_CONDENSE_PROMPT = ChatPromptTemplate.from_messages(
    [
        (
            "system",
            "You turn the user's last message into one search query that can be understood without the conversation.\n"
            "- If the message can be understood by itself, return it unchanged.\n"
            "- Otherwise replace only the words that point into the conversation, and complete only what is left out; "
            "use words of the conversation for that, and nothing else.\n"
            "- Copy exactly what limits the question: names, numbers, amounts, dates and periods, versions, codes, "
            "quotations; not, no, never, without, except; only, all, any, every, both, first, last; more, less, before, "
            "after, since, until; must, should, may, can; and the question word.\n"
            "- Add no detail that the user did not ask for, and take over nothing from an earlier topic that the message "
            "does not point to.\n"
            "- Keep every question where there are several, and keep corrections.\n"
            "- Do not answer, do not explain, do not ask back. Return the query alone, in the language of the message.",
        ),
        MessagesPlaceholder("chat_history"),
        ("human", "{input}"),
    ]
)
"""Asks a chat model for rewrites that the guard passes; gets `chat_history` and `input`."""


class GuardKeywords(TypedDict, total=False):
    """The keywords that all entry points share; those of `GuardedSearch`, and how documents are told apart and scored.

    `scope` gets the run's config. `id_key` names the metadata that identifies a document without an id. `score_key`
    names the metadata that holds its score, `score` is a function of the document that gives it: state one of them only
    where higher is better.
    """

    guard: Guard | None
    policy: Policy | None
    profile: Profile
    k: int | None
    id_key: str | None
    score_key: str | None
    score: Callable[[Document], float | None] | None
    rewrite_when: str
    rewriter_timeout: float | None
    timeout: float | None
    scope: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None
    admit: Callable[[Any], bool] | None
    on_decision: Callable[[Decision], Any] | None
    telemetry: Telemetry | None


def guard_history_aware_retriever(
    chain: Runnable[Any, Any], **keywords: Unpack[GuardKeywords]
) -> Runnable[dict[str, Any], list[Document]]:
    """The same chain with the guard between its rewriter and its retriever.

    Args:
        chain: Made by `create_history_aware_retriever`, with whatever config, retries or listeners were put around it.
        **keywords: See `GuardKeywords`.

    Raises:
        UnsupportedChainError: The chain has another shape.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    parts = take_apart(chain)
    return parts.rebind(GuardedChain(rewriter=parts.rewriter, retriever=parts.retriever, settings=_settings(keywords)))


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
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    if "input" not in prompt.input_variables:
        raise ValueError(f"prompt: expected a variable `input`, got {prompt.input_variables}")
    chain = GuardedChain(rewriter=prompt | llm | StrOutputParser(), retriever=retriever, settings=_settings(keywords))
    return chain.with_config(run_name="chat_retriever_chain")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every call of one guarded chain or retriever."""

    plan: Plan
    score: Callable[[Any], float | None] | None


@dataclass(frozen=True, slots=True)
class _Call:
    """One run, as LangChain hands it over."""

    settings: Settings
    rewriter: Any
    retriever: Runnable[Any, Any]
    config: RunnableConfig
    run: Any
    in_loop: bool

    def request(self, payload: Mapping[str, Any], keywords: Mapping[str, Any], k: int | None = None) -> Request:
        """The request of this run.

        Args:
            payload: `input`, `chat_history`, and whatever else the rewriter's prompt reads.
            keywords: Given to the retriever with every query.
            k: The number of documents to return; None is the plan's, or the retriever's own.
        """
        plan, given = self.settings.plan, payload.get("chat_history")
        conversation = Conversation.read(payload["input"], _history(given))
        asked = bool(given) if plan.judge.policy.shadow else bool(conversation.history)
        wanted = k or plan.k
        own = own_count(self.retriever, keywords) if asked and plan.hedged else None
        if own is not None:
            wanted = wanted or own
            keywords = {**keywords, "k": max(_OVERFETCH, wanted)}
        method = self.retriever.ainvoke if self.in_loop else self.retriever.invoke
        configurable = self.config.get("configurable") or {}
        return Request(
            conversation=conversation,
            ask=self._ask(payload, conversation),
            search=lambda query, origin, **more: method(query, self._child(f"rewriteguard:{origin.value}"), **more),
            blocking=not self.in_loop,
            keywords=keywords,
            config=cast("Mapping[str, Any]", self.config),
            asked=asked,
            reference_date=configurable.get("reference_date"),
            k=wanted,
            score=self.settings.score,
            host=cast("Host", self.run),
            metadata=self.config.get("metadata") or {},
        )

    def _ask(self, payload: Mapping[str, Any], conversation: Conversation) -> Ask:
        if not isinstance(self.rewriter, Runnable):
            return ask_for(self.rewriter, conversation.turn, payload.get("chat_history"), in_loop=self.in_loop)
        method = self.rewriter.ainvoke if self.in_loop else self.rewriter.invoke
        # LangGraph leaves tokens of runs with this tag out of message streams.
        return Ask(partial(method, payload, self._child("rewriteguard:rewriter", "nostream")), not self.in_loop)

    def _child(self, *tags: str) -> RunnableConfig:
        config = patch_config(self.config, callbacks=self.run.get_child())
        config["tags"] = [*(config.get("tags") or ()), *tags]
        return config


class GuardedChain(RunnableSerializable[dict[str, Any], list[Document]]):
    """A dict with `input` and `chat_history` in, documents out, and the guard between rewriter and retriever.

    Attributes:
        rewriter: Gets the whole input, gives the rewrite.
        retriever: Gets a query, gives documents.
        settings: What holds for every call.

    Raises (on every call):
        ClarificationNeeded: Under `Policy(clarify=True)`, where the turn has several readings.
        ScopeError: The scope could not be decided; nothing was searched.
        InputError, HistoryError: `input` or `chat_history` cannot be read.
    """

    rewriter: Runnable[Any, Any]
    retriever: Runnable[Any, Any]
    settings: Settings

    model_config = {"arbitrary_types_allowed": True}

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The configurable fields of both parts."""
        return get_unique_config_specs([*self.rewriter.config_specs, *self.retriever.config_specs])

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: A002
    ) -> list[Document]:
        """The documents for `input`; `kwargs` go to the retriever with every query."""
        return self._call_with_config(self._retrieve, input, config, **kwargs)

    async def ainvoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: A002
    ) -> list[Document]:
        """The same as `invoke`."""
        return await self._acall_with_config(self._aretrieve, input, config, **kwargs)

    def _retrieve(
        self, payload: dict[str, Any], run_manager: ParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> list[Document]:
        request = self._call(config, run_manager, in_loop=False).request(_payload(payload), kwargs)
        return _documents(drive(hedged_search(ThreadRunner(), self.settings.plan, request)))

    async def _aretrieve(
        self, payload: dict[str, Any], run_manager: AsyncParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> list[Document]:
        request = self._call(config, run_manager, in_loop=True).request(_payload(payload), kwargs)
        return _documents(await hedged_search(TaskRunner(), self.settings.plan, request))

    def _call(self, config: RunnableConfig, run: Any, *, in_loop: bool) -> _Call:
        return _Call(self.settings, self.rewriter, self.retriever, config, run, in_loop)


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

    def __init__(self, *, retriever: RetrieverLike, rewriter: Any, **keywords: Any) -> None:
        own = {name: keywords.pop(name) for name in list(keywords) if name in type(self).model_fields}
        super().__init__(retriever=retriever, rewriter=rewriter, **own)
        unknown = sorted(set(keywords) - set(GuardKeywords.__annotations__))
        if unknown:
            raise InputError(f"GuardedRetriever: unknown keywords {', '.join(unknown)}")
        ask_for(rewriter, "", (), in_loop=False)  # says now what it would say at the first turn
        self._settings = _settings(cast("GuardKeywords", keywords))

    def invoke(
        self,
        input: str,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: A002
    ) -> list[Document]:
        """The documents for the turn `input`; `kwargs` go to the inner retriever with every query."""
        return super().invoke(input, config, run_config=ensure_config(config), **kwargs)

    async def ainvoke(
        self,
        input: str,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: A002
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
        return _documents(drive(hedged_search(ThreadRunner(), self._settings.plan, request)))

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
        return _documents(await hedged_search(TaskRunner(), self._settings.plan, request))

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
        call = _Call(self._settings, self.rewriter, self.retriever, config, run, in_loop)
        return call.request({"input": query, "chat_history": history or []}, keywords, k or self.k)


def _settings(keywords: GuardKeywords) -> Settings:
    judge = Judge(
        keywords.get("guard") or default_guard(),
        keywords.get("policy") or Policy(),
        keywords.get("profile", Profile.CONDENSE),
        keywords.get("telemetry") or default_telemetry(),
    )
    plan = Plan(
        judge=judge,
        k=keywords.get("k"),
        key=partial(_identity, keywords.get("id_key")),
        rewrite_when=keywords.get("rewrite_when", "always"),
        rewriter_timeout=keywords.get("rewriter_timeout"),
        timeout=keywords.get("timeout"),
        scope=keywords.get("scope"),
        admit=keywords.get("admit"),
        on_decision=keywords.get("on_decision"),
    )
    score_key = keywords.get("score_key")
    by_key = None if score_key is None else partial(_score, score_key)
    return Settings(plan, keywords.get("score") or by_key)


def _payload(payload: Any) -> Mapping[str, Any]:
    if not isinstance(payload, Mapping) or "input" not in payload:
        raise InputError("expected a mapping with `input`, and with `chat_history` where there is one")
    return payload


def _documents(result: Result) -> list[Document]:
    if result.decision.action is Action.CLARIFY:
        raise ClarificationNeeded(result.decision.candidates)
    return result.items


def _identity(id_key: str | None, document: Any) -> tuple[Any, ...]:
    """What makes two documents the same: the id, else the metadata of `id_key`, else text and source."""
    if not isinstance(document, Document):
        return ("item", repr(document))
    if document.id is not None:
        return ("id", document.id)
    if id_key is not None and id_key in document.metadata:
        return ("key", str(document.metadata[id_key]))
    return ("text", document.page_content, str(document.metadata.get("source")))


def _score(score_key: str, document: Document) -> float | None:
    score = document.metadata.get(score_key)
    return float(score) if isinstance(score, int | float) else None


def _history(given: Any) -> Any:
    """The history in a form that the guard reads: prompts take some that do not say who spoke.

    A bare string in a list is the user's, as prompts read it. A whole history as one string, and a message of a role of
    the application's own, count as the assistant's: words are trusted only where the structure says that the user
    spoke them.
    """
    if isinstance(given, str):
        return [("assistant", given)] if given.strip() else []
    if given is None or isinstance(given, Conversation | Mapping | bytes):
        return given
    return [_item(item) for item in given]


def _item(item: Any) -> Any:
    if isinstance(item, str):
        return ("user", str(item))
    if getattr(item, "type", None) == "chat":  # ChatMessage: a role in the application's own words
        return item if item.role in _KNOWN_ROLES else ("assistant", item.content)
    return item


_KNOWN_ROLES = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool", "function"})
