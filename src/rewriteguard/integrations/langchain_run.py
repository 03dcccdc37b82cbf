"""One run of a guarded chain or retriever: LangChain's input, config and run manager as a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, cast

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import patch_config

from rewriteguard.asking import Ask, ask_for
from rewriteguard.assessment import Profile
from rewriteguard.conversation import Conversation
from rewriteguard.decision import Action, Decision
from rewriteguard.errors import ClarificationNeeded, InputError
from rewriteguard.guard import Guard
from rewriteguard.hedge import Plan, Request, Result
from rewriteguard.integrations.langchain_chain import own_count
from rewriteguard.policy import Policy
from rewriteguard.rewrite import Judge, ready_guard
from rewriteguard.telemetry import Host, Telemetry, default_telemetry

# Source: fusing four documents an arm was neutral on MTRAG, QReCC and CAsT; the gain came with twenty.
_OVERFETCH = 20

_KNOWN_ROLES = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool", "function"})


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
        keywords, wanted = self._count(keywords, k or plan.k, fused=asked and plan.hedged)
        method = self.retriever.ainvoke if self.in_loop else self.retriever.invoke
        configurable = self.config.get("configurable") or {}
        return Request(
            conversation=conversation,
            ask=self._ask(payload, conversation),
            search=lambda query, origin, /, **more: method(query, self._child(f"rewriteguard:{origin.value}"), **more),
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

    def _count(
        self, keywords: Mapping[str, Any], wanted: int | None, *, fused: bool
    ) -> tuple[Mapping[str, Any], int | None]:
        """The retriever's keywords and the number of documents to return: more are asked for where lists are fused."""
        if self.settings.plan.judge.policy.shadow or not (fused or wanted):
            return keywords, wanted
        own = own_count(self.retriever, keywords, in_loop=self.in_loop)
        if own is None:
            return keywords, wanted
        wanted = wanted or own
        return {**keywords, "k": max(_OVERFETCH, wanted) if fused else wanted}, wanted

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


def settings_from(keywords: GuardKeywords) -> Settings:
    """The settings that the keywords of an entry point say."""
    judge = Judge(
        ready_guard(keywords.get("guard")),
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
