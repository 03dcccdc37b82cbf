"""One run of a guarded chain or retriever as a request: what its rewriter writes, and what LangChain hands over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, TypedDict, cast

from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import patch_config

from rewriteguard.errors import ClarificationNeeded, InputError, UnsupportedChainError
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations._host_history import read
from rewriteguard.integrations.langchain.keywords import only_synchronous, own_count, require_keywords
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Decision, Origin
from rewriteguard.policy.policy import Policy
from rewriteguard.reading.lists import listed_queries, queries_in
from rewriteguard.retrieve.decider import decider_from
from rewriteguard.retrieve.request import Plan, Request, Result, Source
from rewriteguard.retrieve.rewriter import Ask, ask_for, rewritten, rewritten_text
from rewriteguard.telemetry import Host, Telemetry


@dataclass(frozen=True, slots=True)
class Talk:
    """What the user said, and the day that "today" means; None is today."""

    conversation: Conversation
    reference_date: date | None = None


_TALK: ContextVar[Talk | None] = ContextVar("rewriteguard_talk", default=None)


@contextmanager
def talking(talk: Talk) -> Iterator[None]:
    """Makes a conversation known to whatever is called inside."""
    before = _TALK.set(talk)
    try:
        yield
    finally:
        _TALK.reset(before)


def current_talk() -> Talk | None:
    """The conversation that is searched for; None outside of a guarded search."""
    return _TALK.get()


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


class GuardKeywords(TypedDict, total=False):
    """The keywords that all entry points share; those of `GuardedSearch`, and how documents are told apart and scored.

    `scope` gets the run's config; a retriever that does not show that it takes the keywords that it gives is not
    searched (`ScopeError`). `id_key` names the metadata that identifies a document without an id. `score_key` names the
    metadata that holds its score, `score` is a function of the document that gives it: state one of them only where
    higher is better.
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


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every call of one guarded chain or retriever."""

    plan: Plan
    score: Callable[[Any], float | None] | None


@dataclass(frozen=True, slots=True)
class Call:
    """One run, as LangChain hands it over."""

    settings: Settings
    rewriter: Any
    retriever: Runnable[Any, Any]
    config: RunnableConfig
    run: Any
    in_loop: bool
    form: Form = ONE

    def request(self, payload: Mapping[str, Any], keywords: Mapping[str, Any], k: int | None = None) -> Request:
        """The request of this run; an input that the guard cannot read is one too, since the host may take it.

        Args:
            payload: `input`, `chat_history`, and whatever else the rewriter's prompt reads.
            keywords: Given to the retriever with every query.
            k: The number of documents to return; None is the plan's, or the retriever's own.
        """
        plan = self.settings.plan
        conversation, unread = read(payload["input"], payload.get("chat_history"))
        as_host = plan.decider.policy.shadow or unread is not None
        asked = self.form.always or bool(payload.get("chat_history") if as_host else conversation.history)
        original = conversation.turn or payload["input"]  # what is no text may still be what this retriever takes
        keywords, wanted = self._count(keywords, k, fused=asked and plan.hedged and unread is None)
        bridged = bool(keywords or plan.scope) and only_synchronous(self.retriever)
        awaited = self.in_loop and not bridged
        configurable = self.config.get("configurable") or {}
        talk = Talk(conversation, configurable.get("reference_date"))
        search, method = (self._asearch, self.retriever.ainvoke) if awaited else (self._search, self.retriever.invoke)
        return Request(
            conversation=conversation,
            ask=replace(self._ask(payload, original), read=self.form.read),
            sources=[
                Source(
                    partial(search, method, talk, original),
                    blocking=not awaited,
                    keywords=keywords,
                    score=self.settings.score,
                )
            ],
            config=cast("Mapping[str, Any]", self.config),
            asked=asked,
            reference_date=configurable.get("reference_date"),
            k=wanted,
            host=cast("Host", self.run),
            metadata=self.config.get("metadata") or {},
            takes=partial(require_keywords, self.retriever),
            union=self.form.union,
            unread=unread,
        )

    def _search(
        self, method: Callable[..., Any], talk: Talk, original: Any, query: str, origin: Origin, /, **keywords: Any
    ) -> Any:
        text = original if origin is Origin.ORIGINAL else query
        with talking(talk):
            return method(text, self._child(f"rewriteguard:{origin.value}"), **keywords)

    async def _asearch(
        self, method: Callable[..., Any], talk: Talk, original: Any, query: str, origin: Origin, /, **keywords: Any
    ) -> Any:
        text = original if origin is Origin.ORIGINAL else query
        with talking(talk):
            return await method(text, self._child(f"rewriteguard:{origin.value}"), **keywords)

    def _count(
        self, keywords: Mapping[str, Any], k: int | None, *, fused: bool
    ) -> tuple[Mapping[str, Any], int | None]:
        """The retriever's keywords and the number of documents to return: more are asked for where lists are fused."""
        plan = self.settings.plan
        if plan.decider.policy.shadow:
            return keywords, None
        wanted = keywords.get("k", plan.k if k is None else k)
        if wanted is None and self.form.union:
            return keywords, None
        own = own_count(self.retriever, keywords, in_loop=self.in_loop) if fused or wanted is not None else None
        if own is None:
            return keywords, wanted
        wanted = own if wanted is None else wanted
        return plan.counted(keywords, wanted, fused=fused), wanted

    def _ask(self, payload: Mapping[str, Any], turn: Any) -> Ask:
        if not isinstance(self.rewriter, Runnable):
            return ask_for(self.rewriter, turn, payload.get("chat_history"), in_loop=self.in_loop)
        method = self.rewriter.ainvoke if self.in_loop else self.rewriter.invoke
        # LangGraph leaves tokens of runs with this tag out of message streams.
        payload = {**payload, **dict.fromkeys(self.form.names, turn)}
        return Ask(partial(method, payload, self._child("rewriteguard:rewriter", "nostream")), not self.in_loop)

    def _child(self, *tags: str) -> RunnableConfig:
        config = patch_config(self.config, callbacks=self.run.get_child())
        config["tags"] = [*(config.get("tags") or ()), *tags]
        return config


@dataclass(frozen=True, slots=True)
class _Run:
    run_id: Any
    handlers: Sequence[Any]


def host_of(callbacks: Any) -> Host | None:
    """The run that `callbacks`, a callback manager, was made below; None where they belong to no run."""
    run_id = getattr(callbacks, "parent_run_id", None)
    return None if run_id is None else cast("Host", _Run(run_id, callbacks.handlers))


def settings_from(keywords: GuardKeywords) -> Settings:
    """The settings that the keywords of an entry point say.

    Raises:
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    arguments.keywords(keywords, GuardKeywords)
    profile = keywords.get("profile", Profile.CONDENSE)
    decider = decider_from(keywords.get("guard"), keywords.get("policy"), profile, keywords.get("telemetry"))
    plan = Plan(
        decider=decider,
        k=keywords.get("k"),
        key=partial(_identity, keywords.get("id_key")),
        rewrite_when=keywords.get("rewrite_when", "always"),
        rewriter_timeout=keywords.get("rewriter_timeout"),
        timeout=keywords.get("timeout"),
        scope=keywords.get("scope"),
        admit=keywords.get("admit"),
        on_decision=keywords.get("on_decision"),
    )
    arguments.function("score", keywords.get("score"))
    decider.warm_up()
    score_key = keywords.get("score_key")
    by_key = None if score_key is None else partial(_score, score_key)
    return Settings(plan, keywords.get("score") or by_key)


def payload_of(payload: Any) -> Mapping[str, Any]:
    """A chain's input, checked.

    Raises:
        InputError: It is no mapping with `input`.
    """
    if not isinstance(payload, Mapping) or "input" not in payload:
        raise InputError("expected a mapping with `input`, and with `chat_history` where there is one")
    return payload


def documents_of(result: Result) -> list[Document]:
    """The documents of a result.

    Raises:
        ClarificationNeeded: The policy asks the user instead.
    """
    if result.decision.action is Action.CLARIFY:
        raise ClarificationNeeded(result.decision.candidates)
    return result.items


def _identity(id_key: str | None, document: Any) -> tuple[Any, ...]:
    """What makes two documents the same: the id, else the metadata of `id_key`, else text and source; empty is none."""
    if not isinstance(document, Document):
        return ("item", repr(document))
    if document.id:  # some stores leave it empty
        return ("id", document.id)
    own = None if id_key is None else document.metadata.get(id_key)
    if own is not None and own != "":  # 0 is a key like any other
        return ("key", str(own))
    return ("text", document.page_content, str(document.metadata.get("source")))


def _score(score_key: str, document: Document) -> float | None:
    score = document.metadata.get(score_key)
    return None if score is None else float(score)
