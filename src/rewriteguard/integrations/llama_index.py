"""LlamaIndex: both condensing chat engines with the guard behind their rewriter, and a query transform."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import Any, Self, Unpack, cast

from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle

from rewriteguard.integrations._host import OneQueryKeywords, arewritten, one_query_plan, query_of, rewritten
from rewriteguard.retrieve.rewriter import ask_for

# The engines' `from_defaults` drops the keywords that it does not know, so they reach the constructor past it.
_past_defaults: ContextVar[OneQueryKeywords | None] = ContextVar("keywords of from_defaults", default=None)


class GuardedCondenseMixin:
    """Puts the guard behind the rewriter of a condensing chat engine; stands before the engine among the bases.

    `chat`, `achat`, `stream_chat` and `astream_chat` search with the rewrite, or with the user's own words where it is
    CHANGED or the rewriter fails. Nothing is checked where the engine asks no rewriter: on a first turn, and with
    `skip_condense`. The constructor and `from_defaults` take the engine's arguments and the keywords of
    `OneQueryKeywords`.

    Raises:
        InputError: A keyword has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
        ClarificationNeeded: On a turn that has several readings, under `Policy(clarify=True)`.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        own = _taken(keywords)
        super().__init__(*args, **keywords)
        self._plan = one_query_plan(own or _past_defaults.get() or {})
        self._plan.decider.warm_up()

    @classmethod
    def from_defaults(cls, *args: Any, **keywords: Any) -> Self:
        """The engine with LlamaIndex's defaults."""
        token = _past_defaults.set(_taken(keywords))
        try:
            return cast("Self", super().from_defaults(*args, **keywords))  # type: ignore[misc] # the engine's
        finally:
            _past_defaults.reset(token)

    def _condense_question(self, chat_history: list[Any], message: str) -> str:
        condense = partial(super()._condense_question, chat_history, message)  # type: ignore[misc] # the engine's
        if not self._asks(chat_history):
            return str(condense())
        return query_of(rewritten(self._plan, message, chat_history, condense))

    async def _acondense_question(self, chat_history: list[Any], message: str) -> str:
        condense = partial(super()._acondense_question, chat_history, message)  # type: ignore[misc] # the engine's
        if not self._asks(chat_history):
            return str(await condense())
        return query_of(await arewritten(self._plan, message, chat_history, condense))

    def _asks(self, chat_history: list[Any]) -> bool:
        return bool(chat_history) and not getattr(self, "_skip_condense", False)


class GuardedCondenseQuestionChatEngine(GuardedCondenseMixin, CondenseQuestionChatEngine):
    """LlamaIndex's engine that answers the condensed question, guarded."""


class GuardedCondensePlusContextChatEngine(GuardedCondenseMixin, CondensePlusContextChatEngine):
    """LlamaIndex's engine that searches with the condensed question and answers the user's own, guarded."""


class GuardedQueryTransform(BaseQueryTransform):
    """A query transform that rewrites, with the guard behind it.

    `metadata["chat_history"]` holds the messages before the turn; without them the turn is searched as it is.
    `metadata["reference_date"]`, a `date`, says what "today" means; without it that is today in UTC.

    Args:
        rewriter: Another query transform, or what `safe_rewrite` takes: a callable `f(turn, history)` or `f(turn)`.
        **keywords: See `OneQueryKeywords`.

    Raises:
        InputError: The rewriter is nothing that can be asked, or a keyword has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
        ClarificationNeeded: On a turn that has several readings, under `Policy(clarify=True)`.
    """

    def __init__(self, rewriter: Any, **keywords: Unpack[OneQueryKeywords]) -> None:
        super().__init__()
        ask_for(rewriter, "", (), in_loop=False)  # says now what it would say at the first turn
        self._rewriter = rewriter
        self._plan = one_query_plan(keywords)
        self._plan.decider.warm_up()

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none."""

    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        turn, history = query_bundle.query_str, metadata.get("chat_history")
        if not history:
            return query_bundle
        ask = ask_for(self._rewriter, turn, history, in_loop=False).function
        if isinstance(self._rewriter, BaseQueryTransform):
            ask = partial(_transformed, self._rewriter, query_bundle, metadata)
        query = query_of(rewritten(self._plan, turn, history, ask, metadata.get("reference_date")))
        # A new bundle, since the old one may hold what the turn is embedded as.
        return query_bundle if query == turn else QueryBundle(query, image_path=query_bundle.image_path)


def _transformed(transform: BaseQueryTransform, query_bundle: QueryBundle, metadata: dict[str, Any]) -> str:
    return transform.run(query_bundle, metadata).query_str


def _taken(keywords: dict[str, Any]) -> OneQueryKeywords:
    """The guard's keywords, taken out of `keywords`."""
    own = {name: keywords.pop(name) for name in OneQueryKeywords.__annotations__ if name in keywords}
    return cast("OneQueryKeywords", own)
