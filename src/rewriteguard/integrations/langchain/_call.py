"""One run of a guarded chain or retriever as a request: what its rewriter writes, and what LangChain hands over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import patch_config

from rewriteguard.errors import ClarificationNeeded, InputError
from rewriteguard.integrations._host import HostKeywords, read
from rewriteguard.integrations.langchain.keywords import only_synchronous, own_count, require_keywords
from rewriteguard.integrations.langchain.self_query import Talk, guard_filters, talking
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.decision import Action, Decision, Origin
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.decider import decider_from, today_in_utc
from rewriteguard.retrieve.request import Plan, Request, Result, Source
from rewriteguard.retrieve.rewriter import Ask, ask_for, rewritten
from rewriteguard.telemetry import Host


class GuardKeywords(HostKeywords, total=False):
    """The keywords that all entry points share; those of `GuardedSearch`, and how documents are told apart and scored.

    `scope` gets the run's config; a retriever that does not show that it takes the keywords that it gives is not
    searched (`ScopeError`). `id_key` names the metadata that identifies a document without an id. `score_key` names the
    metadata that holds its score, `score` is a function of the document that gives it: state one of them only where
    higher is better.
    """

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


def plan_from(keywords: GuardKeywords) -> Plan:
    """What the keywords of an entry point say, for every call.

    Raises:
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    arguments.keywords(keywords, GuardKeywords)
    profile = keywords.get("profile", Profile.CONDENSE)
    decider = decider_from(keywords.get("guard"), keywords.get("policy"), profile, keywords.get("telemetry"))
    score, score_key = keywords.get("score"), keywords.get("score_key")
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
        score=score if score is not None or score_key is None else partial(_score, score_key),
    )
    decider.warm_up()
    return plan


@dataclass(frozen=True, slots=True)
class Writer:
    """How a rewriter is asked, and what it gives: by default one query, or a list of stand-alone ones.

    Attributes:
        read: Gets its output, gives the rewrite or a tuple of several.
        always: Whether it is asked on turns without a history too.
        union: Whether all that the queries found is returned where no `k` is given.
        names: Further names under which a runnable gets the turn, beside `input`.
        beside: What the host searches beside the queries without the guard.
    """

    read: Callable[[Any], str | tuple[str, ...]] = rewritten
    always: bool = False
    union: bool = False
    names: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def as_host(self, output: Any) -> str | tuple[str, ...]:
        """What is searched of its output without the guard."""
        found = self.read(output)
        return (*found, *self.beside) if found and isinstance(found, tuple) else found


@dataclass(frozen=True, slots=True)
class Call:
    """One run, as LangChain hands it over.

    Attributes:
        plan: What holds for every call.
        rewriter: As for `safe_rewrite`.
        retriever: Gets a query, gives documents.
        config: The run's configuration.
        run: Its manager.
        in_loop: Whether an event loop is running.
        writer: How the rewriter is asked.
    """

    plan: Plan
    rewriter: Any
    retriever: Runnable[Any, Any]
    config: RunnableConfig
    run: Any
    in_loop: bool
    writer: Writer = Writer()

    def documents(
        self, payload: Mapping[str, Any], keywords: Mapping[str, Any], k: int | None = None
    ) -> list[Document]:
        """The documents that are found.

        Args:
            payload: `input`, `chat_history`, and whatever else the rewriter's prompt reads.
            keywords: Given to the retriever with every query.
            k: The number of documents to return; None is the plan's, or the retriever's own.

        Raises:
            ClarificationNeeded: The policy asks the user instead.
        """
        return _documents(flow.run(self.plan, partial(self._request, payload, keywords, k)))

    async def adocuments(
        self, payload: Mapping[str, Any], keywords: Mapping[str, Any], k: int | None = None
    ) -> list[Document]:
        """The same as `documents`."""
        return _documents(await flow.arun(self.plan, partial(self._request, payload, keywords, k)))

    def _request(
        self,
        payload: Mapping[str, Any],
        keywords: Mapping[str, Any],
        k: int | None,
        unguarded: bool,
    ) -> Request:
        """The request of this run; an input that the guard cannot read is one too, since the host may take it."""
        plan, configurable = self.plan, self.config.get("configurable") or {}
        conversation, unread = read(payload["input"], payload.get("chat_history"))
        as_host = unguarded or unread is not None
        asked = self.writer.always or bool(payload.get("chat_history") if as_host else conversation.history)
        original = conversation.turn or payload["input"]  # what is no text may still be what this retriever takes
        retriever, wanted = self.retriever, None
        if not unguarded:
            retriever = guard_filters(retriever, plan.decider.guard, plan.decider.telemetry)
            keywords, wanted = self._counted(keywords, k, fused=asked and plan.hedged and unread is None)
        awaited = self.in_loop and not ((keywords or plan.scope) and only_synchronous(retriever))
        search = partial(
            self._asearch if awaited else self._search,
            retriever.ainvoke if awaited else retriever.invoke,
            Talk(conversation, configurable.get("reference_date")),
            original,
        )
        read_as = self.writer.as_host if unguarded else self.writer.read
        return Request(
            conversation=conversation,
            ask=replace(self._ask(payload, original), read=read_as),
            asked=asked,
            sources=[Source(search, blocking=not awaited, owner=plan, keywords=keywords)],
            config=cast("Mapping[str, Any]", self.config),
            reference_date=configurable.get("reference_date") or today_in_utc(),
            k=wanted,
            host=cast("Host", self.run),
            metadata=self.config.get("metadata") or {},
            takes=partial(require_keywords, retriever),
            union=self.writer.union,
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

    def _counted(
        self, keywords: Mapping[str, Any], k: int | None, *, fused: bool
    ) -> tuple[Mapping[str, Any], int | None]:
        """The retriever's keywords and the number of documents to return: more are asked for where lists are fused."""
        wanted = keywords.get("k", self.plan.k if k is None else k)
        if wanted is None and (self.writer.union or not fused):
            return keywords, None
        own = own_count(self.retriever, keywords, in_loop=self.in_loop)
        if own is None:
            return keywords, wanted
        wanted = own if wanted is None else wanted
        return self.plan.counted(keywords, wanted, fused=fused), wanted

    def _ask(self, payload: Mapping[str, Any], turn: Any) -> Ask:
        if not isinstance(self.rewriter, Runnable):
            return ask_for(self.rewriter, turn, payload.get("chat_history"), in_loop=self.in_loop)
        method = self.rewriter.ainvoke if self.in_loop else self.rewriter.invoke
        # LangGraph leaves tokens of runs with this tag out of message streams.
        payload = {**payload, **dict.fromkeys(self.writer.names, turn)}
        return Ask(partial(method, payload, self._child("rewriteguard:rewriter", "nostream")), not self.in_loop)

    def _child(self, *tags: str) -> RunnableConfig:
        config = patch_config(self.config, callbacks=self.run.get_child())
        config["tags"] = [*(config.get("tags") or ()), *tags]
        return config


@dataclass(frozen=True, slots=True)
class _Above:
    run_id: Any
    handlers: Sequence[Any]


def host_of(callbacks: Any) -> Host | None:
    """The run that `callbacks`, a callback manager, was made below; None where they belong to no run."""
    run_id = getattr(callbacks, "parent_run_id", None)
    return None if run_id is None else cast("Host", _Above(run_id, callbacks.handlers))


def payload_of(payload: Any) -> Mapping[str, Any]:
    """A chain's input, checked.

    Raises:
        InputError: It is no mapping with `input`.
    """
    if not isinstance(payload, Mapping) or "input" not in payload:
        raise InputError("expected a mapping with `input`, and with `chat_history` where there is one")
    return payload


def _documents(result: Result) -> list[Document]:
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
