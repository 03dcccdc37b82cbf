"""LangChain: guarded chains, retrievers, agents and filters, each of which stays what it was.

`GuardMiddleware` needs the packages `langchain` and `langgraph`, and is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rewriteguard.integrations._host import OneQueryKeywords
from rewriteguard.integrations.langchain._call import GuardKeywords
from rewriteguard.integrations.langchain.chain import (
    FAITHFUL_CONDENSE_PROMPT,
    GuardedChain,
    create_guarded_history_aware_retriever,
    guard_history_aware_retriever,
)
from rewriteguard.integrations.langchain.conversational import guard_conversational_retrieval_chain
from rewriteguard.integrations.langchain.retrievers import (
    GuardedHydeRetriever,
    GuardedMultiQueryRetriever,
    GuardedRetriever,
    guard_hyde,
    guard_multi_query_retriever,
)
from rewriteguard.integrations.langchain.scores import with_scores
from rewriteguard.integrations.langchain.self_query import (
    FilterKeywords,
    GuardedQueryConstructor,
    guard_query_constructor,
    guard_self_query,
)

if TYPE_CHECKING:
    from rewriteguard.integrations.langchain.agents import GuardMiddleware

__all__ = [
    "FAITHFUL_CONDENSE_PROMPT",
    "FilterKeywords",
    "GuardKeywords",
    "GuardMiddleware",
    "GuardedChain",
    "GuardedHydeRetriever",
    "GuardedMultiQueryRetriever",
    "GuardedQueryConstructor",
    "GuardedRetriever",
    "OneQueryKeywords",
    "create_guarded_history_aware_retriever",
    "guard_conversational_retrieval_chain",
    "guard_history_aware_retriever",
    "guard_hyde",
    "guard_multi_query_retriever",
    "guard_query_constructor",
    "guard_self_query",
    "with_scores",
]


def __getattr__(name: str) -> Any:
    if name != "GuardMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("rewriteguard.integrations.langchain.agents").GuardMiddleware
