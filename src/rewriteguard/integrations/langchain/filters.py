"""LangChain's self-query retrievers: the filter that a model writes is checked before anything is searched with it.

What the user did not say is taken out, the application's filter stays above what is left, and the number of results is
capped. Where anything was taken out, the question itself is searched, since the model moved its words into the filter.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict, Unpack

from langchain_core.callbacks.manager import AsyncParentRunManager, ParentRunManager
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import patch_config, run_in_executor
from langchain_core.structured_query import FilterDirective, StructuredQuery
from pydantic import ConfigDict

from rewriteguard.filters.check import MAX_LIMIT
from rewriteguard.filters.finding import FilterAssessment
from rewriteguard.filters.merge import parts_beside
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations._host_history import read
from rewriteguard.integrations.langchain.talk import Talk, current_talk
from rewriteguard.integrations.langchain.translate import all_of, directive_of
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile, Verdict
from rewriteguard.retrieve.decider import default_guard, today_in_utc
from rewriteguard.telemetry import Telemetry, default_telemetry

_log = logging.getLogger("rewriteguard")


class FilterKeywords(TypedDict, total=False):
    """The keywords of guarded self-query.

    `developer_filter` is the application's own filter: a LangChain filter directive or a MongoDB-style mapping, which
    the translator writes for the store. `max_limit` caps the number of results that the model asks for; None caps
    nothing. `on_filter` gets each `FilterAssessment`; what it raises is logged and dropped.
    """

    guard: Guard | None
    developer_filter: Any
    max_limit: int | None
    on_filter: Callable[[FilterAssessment], Any] | None
    telemetry: Telemetry | None


@dataclass(frozen=True, slots=True)
class Filtering:
    """What holds for every query of one constructor.

    Attributes:
        guard: Checks the filters.
        developer: The application's filter, to be put above each.
        fixed: Every filter of the application whose fields the model may not name.
        max_limit: The cap of the number of results.
        on_filter: Gets each finding.
        telemetry: Who is told of errors.
    """

    guard: Guard
    developer: FilterDirective | None
    fixed: tuple[Any, ...]
    max_limit: int | None
    on_filter: Callable[[FilterAssessment], Any] | None
    telemetry: Telemetry

    def guarded(self, payload: Any, structured: Any, config: RunnableConfig) -> StructuredQuery:
        """The query that may be searched; where the guard fails, the question under the application's filter alone."""
        question = payload["query"] if isinstance(payload, Mapping) else payload
        try:
            assessment, query = self._checked(str(question), structured, config)
        except Exception as error:  # noqa: BLE001 - the guard's own failure: no unchecked filter is searched with
            self.telemetry.failed("filter", error)
            return StructuredQuery(query=str(question), filter=self.developer)
        self._tell(assessment)
        return query

    def _checked(
        self, question: str, structured: Any, config: RunnableConfig
    ) -> tuple[FilterAssessment, StructuredQuery]:
        talk = _talk(question, config)
        assessment = self.guard.check_filter(
            structured,
            talk.conversation.turn,
            talk.conversation,
            developer_filter=self.fixed,
            reference_date=talk.reference_date or today_in_utc(),
            max_limit=self.max_limit,
        )
        kept = all_of(parts_beside(self.fixed, assessment))
        text = self._text(question, structured.query, kept) if not assessment.violations else question
        merged = all_of([part for part in (self.developer, kept) if part is not None])
        return assessment, StructuredQuery(query=text, filter=merged, limit=assessment.limit)

    def _text(self, question: str, text: str, kept: Any) -> str:
        """The model's text where it and the filter still ask the question, else the question."""
        found = self.guard.check(question, text, profile=Profile.SHORTEN, filter=kept)
        return question if found.verdict is Verdict.CHANGED else text

    def _tell(self, assessment: FilterAssessment) -> None:
        if assessment.violations:
            _log.info("filter: %s", ",".join(violation.code for violation in assessment.violations))
        if self.on_filter is None:
            return
        try:
            self.on_filter(assessment)
        except Exception as error:  # noqa: BLE001 - the application's callback must not break its retrieval
            self.telemetry.failed("on_filter", error)


class GuardedQueryConstructor(RunnableSerializable[Any, StructuredQuery]):
    """A query constructor whose filters are checked: `{"query": question}` in, a structured query out.

    Attributes:
        constructor: The model's: a runnable that gives a structured query.
        filtering: What holds for every query.
    """

    constructor: Runnable[Any, Any]
    filtering: Filtering

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    def invoke(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> StructuredQuery:
        """The structured query that may be searched."""
        return self._call_with_config(self._construct, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> StructuredQuery:
        """The same as `invoke`."""
        return await self._acall_with_config(self._aconstruct, input, config, **kwargs)

    def _construct(
        self, payload: Any, run_manager: ParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> StructuredQuery:
        inner = patch_config(config, callbacks=run_manager.get_child())
        guarded: StructuredQuery = self.filtering.guarded(
            payload, self.constructor.invoke(payload, inner, **kwargs), config
        )
        return guarded

    async def _aconstruct(
        self, payload: Any, run_manager: AsyncParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> StructuredQuery:
        inner = patch_config(config, callbacks=run_manager.get_child())
        structured = await self.constructor.ainvoke(payload, inner, **kwargs)
        return await run_in_executor(config, self.filtering.guarded, payload, structured, config)


def guard_query_constructor(
    constructor: Runnable[Any, Any], **keywords: Unpack[FilterKeywords]
) -> GuardedQueryConstructor:
    """The same query constructor, whose filters keep to what the user said.

    The question is the user's turn of the guarded search that it runs in; elsewhere the query that it gets, with the
    history of `config["configurable"]["chat_history"]`.

    Args:
        constructor: A runnable that gets `{"query": question}` and gives a structured query.
        **keywords: See `FilterKeywords`.

    Raises:
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    arguments.keywords(keywords, FilterKeywords)
    arguments.instance("constructor", constructor, Runnable)
    arguments.count("max_limit", keywords.get("max_limit"))
    arguments.function("on_filter", keywords.get("on_filter"))
    developer = directive_of(keywords.get("developer_filter"))
    filtering = Filtering(
        guard=keywords.get("guard") or default_guard(),
        developer=developer,
        fixed=() if developer is None else (developer,),
        max_limit=keywords.get("max_limit", MAX_LIMIT),
        on_filter=keywords.get("on_filter"),
        telemetry=keywords.get("telemetry") or default_telemetry(),
    )
    arguments.instance("guard", filtering.guard, Guard)
    arguments.instance("telemetry", filtering.telemetry, Telemetry)
    return GuardedQueryConstructor(constructor=constructor, filtering=filtering)


def _talk(question: str, config: RunnableConfig) -> Talk:
    """What the user said: known from the guarded search around, else the question and the config's history."""
    talk = current_talk()
    if talk is not None and talk.conversation.turn:
        return talk
    configurable = config.get("configurable") or {}
    conversation, _ = read(question, configurable.get("chat_history"))
    return Talk(conversation, configurable.get("reference_date"))
