"""Self-query retrievers with their filters guarded: copies whose query constructor and translator are.

What the user did not say is taken out, the application's filter stays above what is left, and the number of results is
capped. Where anything was taken out, the question itself is searched, since the model moved its words into the filter.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar, Unpack

from langchain_core.callbacks.manager import AsyncParentRunManager, ParentRunManager
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSequence, RunnableSerializable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import patch_config, run_in_executor
from langchain_core.structured_query import (
    Comparator,
    Comparison,
    FilterDirective,
    Operation,
    Operator,
    StructuredQuery,
    Visitor,
)
from pydantic import ConfigDict

from rewriteguard.errors import InputError, UnsupportedChainError
from rewriteguard.filters.check import MAX_LIMIT
from rewriteguard.filters.finding import FilterAssessment, parts_beside
from rewriteguard.filters.tree import Branch, Node, fields_of, read_tree
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations._host import HostKeywords, read
from rewriteguard.model import arguments
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.rules import Verdict
from rewriteguard.retrieve.decider import default_guard, today_in_utc
from rewriteguard.telemetry import Telemetry, default_telemetry

_NEGATED = {"eq": Comparator.NE, "in": Comparator.NIN}
_log = logging.getLogger("rewriteguard")


@dataclass(frozen=True, slots=True)
class Talk:
    """What the user said, and the day that "today" means; None is today."""

    conversation: Conversation
    reference_date: date | None = None


_TALK: ContextVar[Talk | None] = ContextVar("rewriteguard_talk", default=None)


@contextmanager
def talking(talk: Talk) -> Iterator[None]:
    """Makes a conversation known to the filters of whatever is searched inside."""
    before = _TALK.set(talk)
    try:
        yield
    finally:
        _TALK.reset(before)


class GuardedTranslator(Visitor):
    """A translator beside which the search keywords that the application set are never replaced.

    Args:
        translator: Writes structured queries for the store.
        carried: The search keywords of the application.
    """

    def __init__(self, translator: Visitor, carried: Mapping[str, Any]) -> None:
        self.allowed_comparators = translator.allowed_comparators
        self.allowed_operators = translator.allowed_operators
        self._translator = translator
        self._carried = carried

    def visit_operation(self, operation: Operation) -> Any:
        """What the translator makes of it."""
        return self._translator.visit_operation(operation)

    def visit_comparison(self, comparison: Comparison) -> Any:
        """What the translator makes of it."""
        return self._translator.visit_comparison(comparison)

    def visit_structured_query(self, structured_query: StructuredQuery) -> tuple[str, dict[str, Any]]:
        """The text, and the search keywords with the application's filter above the model's."""
        text, keywords = self._translator.visit_structured_query(structured_query)
        return text, {name: self._beneath(name, value) for name, value in keywords.items()}

    def _beneath(self, name: str, value: Any) -> Any:
        """Both filters where the two can be joined, else the application's alone."""
        carried = self._carried.get(name)
        if carried is None:
            return value
        if isinstance(carried, Mapping) and isinstance(value, Mapping) and _is_mongo(value):
            return {"$and": [dict(carried), dict(value)]}
        if callable(carried) and callable(value):
            return lambda document: bool(carried(document)) and bool(value(document))
        return carried


def directive_of(structured: Any) -> FilterDirective | None:
    """A filter as LangChain writes it; None where there is none.

    Raises:
        InputError: It cannot be read, or has a comparator that LangChain does not know.
    """
    if structured is None or isinstance(structured, FilterDirective):
        read_tree(structured, "developer_filter")
        return structured
    merged: FilterDirective | None = all_of(
        [_directive(piece.node) for piece in read_tree(structured, "developer_filter")]
    )
    return merged


def _directive(node: Node) -> FilterDirective:
    if isinstance(node, Branch):
        return Operation(operator=Operator(node.operator), arguments=[_directive(part) for part in node.parts])
    if node.negated and node.comparator in _NEGATED:
        return Comparison(_NEGATED[node.comparator], node.attribute, node.value)
    try:
        plain = Comparison(Comparator(node.comparator), node.attribute, node.value)
    except ValueError as error:
        known = ", ".join(Comparator)
        raise InputError(f"developer_filter: expected one of {known}, got {node.comparator!r}") from error
    return Operation(operator=Operator.NOT, arguments=[plain]) if node.negated else plain


def all_of(parts: Sequence[Any]) -> Any:
    """Filters that must all hold as one; None where there are none."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Operation(operator=Operator.AND, arguments=list(parts))


def _is_mongo(value: Any) -> bool:
    """True for a mapping whose comparisons and operations start with a dollar sign."""
    if isinstance(value, Mapping):
        return any(str(key).startswith("$") or _is_mongo(inner) for key, inner in value.items())
    return False


class FilterKeywords(HostKeywords, total=False):
    """The keywords of guarded self-query.

    `developer_filter` is the application's own filter: a LangChain filter directive or a MongoDB-style mapping, which
    the translator writes for the store. `max_limit` caps the number of results that the model asks for; None caps
    nothing. `on_filter` gets each `FilterAssessment`; what it raises is logged and dropped.
    """

    developer_filter: Any
    max_limit: int | None
    on_filter: Callable[[FilterAssessment], Any] | None


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
    talk = _TALK.get()
    if talk is not None and talk.conversation.turn:
        return talk
    configurable = config.get("configurable") or {}
    conversation, _ = read(question, configurable.get("chat_history"))
    return Talk(conversation, configurable.get("reference_date"))


def guard_self_query(retriever: BaseRetriever, **keywords: Unpack[FilterKeywords]) -> BaseRetriever:
    """A copy of a self-query retriever that searches with no filter which the user did not ask for.

    The filter among its `search_kwargs` stays above the model's: both hold where the two can be joined (MongoDB-style
    mappings, functions), else the application's holds alone. Give `developer_filter` instead where the store's own
    language cannot be joined.

    Args:
        retriever: One with the fields `query_constructor` and `structured_query_translator`.
        **keywords: See `FilterKeywords`.

    Raises:
        UnsupportedChainError: The retriever is none, or is guarded already.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    if not is_self_query(retriever):
        raise UnsupportedChainError(
            "expected a retriever with query_constructor and structured_query_translator, "
            f"got {type(retriever).__name__}"
        )
    if is_guarded(retriever):
        raise UnsupportedChainError("the filters of this retriever are guarded already")
    searched: Any = retriever
    guarded: BaseRetriever = _guarded(searched, guard_query_constructor(searched.query_constructor, **keywords))
    return guarded


def guard_filters(retriever: Any, guard: Guard, telemetry: Telemetry) -> Any:
    """The same retriever, in which self-query retrievers that are not guarded yet are; also inside bindings."""
    if isinstance(retriever, RunnableBindingBase):
        bound = guard_filters(retriever.bound, guard, telemetry)
        return retriever if bound is retriever.bound else retriever.model_copy(update={"bound": bound})
    if isinstance(retriever, RunnableSequence):
        steps = [guard_filters(step, guard, telemetry) for step in retriever.steps]
        same = all(ours is theirs for ours, theirs in zip(steps, retriever.steps, strict=True))
        return retriever if same else RunnableSequence(*steps, name=retriever.name)
    if not is_self_query(retriever):
        return retriever
    constructor = retriever.query_constructor
    if not is_guarded(retriever):
        constructor = guard_query_constructor(constructor, guard=guard, telemetry=telemetry)
    return _guarded(retriever, constructor)


def is_self_query(retriever: Any) -> bool:
    """True for a retriever that has a model write its filter."""
    return isinstance(retriever, BaseRetriever) and all(
        hasattr(retriever, name) for name in ("query_constructor", "structured_query_translator")
    )


def is_guarded(retriever: Any) -> bool:
    """True where the filters of a self-query retriever are checked already."""
    constructor = retriever.query_constructor
    while isinstance(constructor, RunnableBindingBase):
        constructor = constructor.bound
    return isinstance(constructor, GuardedQueryConstructor)


def _guarded(retriever: Any, constructor: Any) -> Any:
    carried = getattr(retriever, "search_kwargs", None) or {}
    if isinstance(constructor, GuardedQueryConstructor):
        filtering = constructor.filtering
        fixed = (*filtering.fixed, *(each for each in carried.values() if _is_readable(each)))
        constructor = constructor.model_copy(update={"filtering": replace(filtering, fixed=fixed)})
    translator = retriever.structured_query_translator
    if not isinstance(translator, GuardedTranslator):
        translator = GuardedTranslator(translator, carried)
    return retriever.model_copy(update={"query_constructor": constructor, "structured_query_translator": translator})


def _is_readable(carried: Any) -> bool:
    """True for a filter in the store's own language that names its fields as a mapping does."""
    try:
        return isinstance(carried, Mapping) and bool(fields_of(carried))
    except InputError:
        return False
