"""What a LangChain retriever can be asked: how many documents, and which keywords reach the search itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.vectorstores import VectorStoreRetriever

from rewriteguard.errors import ScopeError

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


def own_count(retriever: Any, keywords: Mapping[str, Any], *, in_loop: bool) -> int | None:
    """The number of documents that `retriever` would return; None where it is unknown or cannot be asked for more."""
    while isinstance(retriever, RunnableBindingBase):
        keywords = {**retriever.kwargs, **keywords}
        retriever = retriever.bound
    if not isinstance(retriever, BaseRetriever):
        return None
    if isinstance(retriever, VectorStoreRetriever):
        if retriever.search_type == "mmr":  # more documents would be picked for variety, not for rank
            return None
        search: Callable[..., Any] = retriever.vectorstore.similarity_search
        given = {**retriever.search_kwargs, **keywords}
    else:
        methods = _methods(retriever)
        search = methods[-1] if in_loop else methods[0]
        given = dict(keywords)
    parameter = inspect.signature(search).parameters.get("k")
    if parameter is None:
        return None
    count = given.get("k") or getattr(retriever, "k", None) or parameter.default
    return count if isinstance(count, int) else None


def only_synchronous(retriever: Any) -> bool:
    """True for a retriever whose asynchronous side is LangChain's bridge, which takes no keywords over."""
    first = _first(retriever)
    return isinstance(first, BaseRetriever) and not _overrides_async(first) and _inherits_invoke(first)


def require_keywords(retriever: Any, names: Iterable[str]) -> None:
    """Makes sure that search keywords reach the search: LangChain drops those that a retriever does not take.

    Raises:
        ScopeError: It cannot be shown that the retriever takes one of `names`, or the retriever carries one of them
            already: neither may silently win.
    """
    carried = _carried(retriever)
    for name in names:
        if name in carried:
            raise ScopeError(
                f"scope: the retriever already carries {name!r}, which the scope would replace; nothing was searched. "
                "Let the scope return both together, and take it off the retriever"
            )
        if not _takes(retriever, name):
            raise ScopeError(
                f"scope: it cannot be shown that {type(_first(retriever)).__name__} searches with {name!r}, and "
                "LangChain drops what a retriever does not take; nothing was searched. Pass a retriever whose "
                f"_get_relevant_documents names {name!r}, a vector store's retriever whose store does, or "
                f"RunnableLambda(find) with def find(query, *, {name}); or limit the parts of the retriever themselves"
            )


def _takes(runnable: Any, name: str) -> bool:
    runnable = _first(runnable)
    if isinstance(runnable, RunnableLambda):
        # By name only: a function that takes any keyword may as well be a step that prepares the query.
        functions = [getattr(runnable, side) for side in ("func", "afunc") if hasattr(runnable, side)]
        return all(names_it(function, name) for function in functions)
    if not isinstance(runnable, BaseRetriever) or not _inherits_invoke(runnable):
        return False
    methods = _methods(runnable)
    if all(names_it(method, name) for method in methods):
        return True
    if not all(names_it(method, name) or takes_any(method) for method in methods):
        return False
    if isinstance(runnable, VectorStoreRetriever):
        return store_takes(runnable, name)
    # A retriever that takes any keyword and holds no retriever may leave it unused; that cannot be seen from here.
    parts = tuple(_parts(runnable))
    return bool(parts) and all(_takes(part, name) for part in parts)


def _first(runnable: Any) -> Any:
    """The runnable that gets the keywords of a call: LangChain gives them to the first step of a sequence alone."""
    while isinstance(runnable, RunnableBindingBase | RunnableSequence):
        runnable = runnable.bound if isinstance(runnable, RunnableBindingBase) else runnable.first
    return runnable


def _carried(runnable: Any) -> frozenset[str]:
    """The keywords that a developer bound to the retriever: with `bind`, or as a vector store's search_kwargs."""
    names: set[str] = set()
    while isinstance(runnable, RunnableBindingBase | RunnableSequence):
        if isinstance(runnable, RunnableBindingBase):
            names.update(runnable.kwargs)
            runnable = runnable.bound
        else:
            runnable = runnable.first
    if isinstance(runnable, VectorStoreRetriever):
        names.update(runnable.search_kwargs)
    elif isinstance(runnable, BaseRetriever):
        names.update(*(_carried(part) for part in _parts(runnable)))
    return frozenset(names)


def _methods(retriever: BaseRetriever) -> tuple[Callable[..., Any], ...]:
    """The method that searches, and its asynchronous twin where there is one."""
    # What a retriever takes is said by the methods that LangChain calls, and nowhere else.
    methods: list[Callable[..., Any]] = [retriever._get_relevant_documents]  # noqa: SLF001
    if _overrides_async(retriever):
        methods.append(retriever._aget_relevant_documents)  # noqa: SLF001
    return tuple(methods)


def _overrides_async(retriever: BaseRetriever) -> bool:
    """False where the asynchronous side is one of LangChain's two bridges, both made in its own module."""
    twin = type(retriever)._aget_relevant_documents  # noqa: SLF001
    return twin.__module__ != BaseRetriever.__module__


def _inherits_invoke(retriever: BaseRetriever) -> bool:
    """True where LangChain's own `invoke` and `ainvoke` pass the keywords on."""
    kind = type(retriever)
    return kind.invoke is BaseRetriever.invoke and kind.ainvoke is BaseRetriever.ainvoke


def _parts(retriever: BaseRetriever) -> Iterator[Runnable[Any, Any]]:
    """What a retriever made of retrievers searches with; models and prompts among its fields search nothing."""
    for _, value in retriever:
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, Runnable) and not isinstance(_first(part), BaseLanguageModel | BasePromptTemplate):
                yield part
