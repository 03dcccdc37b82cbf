"""Whether a vector store searches with a keyword: many take any, and leave out without a word what they do not know."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

from langchain_core.vectorstores import VectorStoreRetriever

# What a vector store's retriever asks its store for, by its search type.
_SEARCHES = {
    "similarity": ("similarity_search", "asimilarity_search"),
    "similarity_score_threshold": (
        "similarity_search_with_relevance_scores",
        "asimilarity_search_with_relevance_scores",
    ),
    "mmr": ("max_marginal_relevance_search", "amax_marginal_relevance_search"),
}

# They lead to every search of a store, so that they say nothing of one; clients of databases have methods called so.
_DISPATCHERS = {"search", "asearch"}


def store_takes(retriever: VectorStoreRetriever, name: str) -> bool:
    """True where each search of the store that is used names the keyword, or hands any on to a method that names it."""
    store = type(retriever.vectorstore)
    searches = [defined[0] for defined in (_defined(store, each) for each in _searches(retriever)) if defined]
    return bool(searches) and all(_reaches(store, search, name, set()) for search in searches)


def names_it(function: Callable[..., Any], name: str) -> bool:
    """True where the function has a parameter of that name that can be given by name."""
    parameter = _parameters(function).get(name)
    return parameter is not None and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def takes_any(function: Callable[..., Any]) -> bool:
    """True where the function takes keywords that it does not name."""
    return any(each.kind is each.VAR_KEYWORD for each in _parameters(function).values())


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except ValueError:  # a built-in that does not tell its parameters
        return {}


def _searches(retriever: VectorStoreRetriever) -> set[str]:
    """The store's methods that are searched with: those of the search type, and what the retriever's own code names."""
    kinds = type(retriever).__mro__
    own = [vars(kind) for kind in kinds[: kinds.index(VectorStoreRetriever)]]
    methods = ("_get_relevant_documents", "_aget_relevant_documents")
    code = [inspect.unwrap(kind[each]).__code__ for kind in own for each in methods if each in kind]
    named = {name for each in code for name in _mentioned(each) if "search" in name}
    return named.union(_SEARCHES.get(retriever.search_type, ()))


def _reaches(store: type, method: Any, name: str, seen: set[Any]) -> bool:
    """True where a method names the keyword, or takes any and calls one that does."""
    method = inspect.unwrap(method)
    if not inspect.isfunction(method) or method in seen:
        return False
    seen.add(method)
    if names_it(method, name):
        return True
    return takes_any(method) and any(_reaches(store, each, name, seen) for each in _called(store, method))


def _called(store: type, method: Any) -> Iterator[Any]:
    """The methods of the store that a method may call, and the functions that it is wrapped around."""
    yield from inspect.getclosurevars(method).nonlocals.values()
    mentioned = _mentioned(method.__code__)
    for each in mentioned - _DISPATCHERS:
        defined = _defined(store, each)
        yield from defined if "super" in mentioned else defined[:1]


def _defined(kind: type, name: str) -> list[Any]:
    """What a class and those above it define under a name; the class's own first."""
    return [vars(each)[name] for each in kind.__mro__ if name in vars(each)]


def _mentioned(code: CodeType) -> set[str]:
    """The names that a function's code, and that of the functions inside it, looks up."""
    return set(code.co_names).union(*(_mentioned(each) for each in code.co_consts if isinstance(each, CodeType)))
