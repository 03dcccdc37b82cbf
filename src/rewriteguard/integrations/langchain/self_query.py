"""Self-query retrievers with their filters guarded: copies whose query constructor and translator are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase

from rewriteguard.errors import InputError, UnsupportedChainError
from rewriteguard.filters.tree import fields_of
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations.langchain.filters import FilterKeywords, GuardedQueryConstructor, guard_query_constructor
from rewriteguard.integrations.langchain.translate import GuardedTranslator
from rewriteguard.telemetry import Telemetry


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
