"""Takes a chain made by `create_history_aware_retriever` apart into its rewriter and its retriever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableBranch, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase

from rewriteguard.errors import UnsupportedChainError


@dataclass(frozen=True, slots=True)
class Parts:
    """A chain's parts.

    Attributes:
        rewriter: Gets the chain's input, gives the rewrite.
        retriever: Gets a query, gives documents.
        rebind: Puts what was bound to the chain (config, listeners, retries, arguments) around another runnable.
    """

    rewriter: Runnable[Any, Any]
    retriever: Runnable[Any, Any]
    rebind: Callable[[Runnable[Any, Any]], Runnable[Any, Any]]


def take_apart(chain: Any) -> Parts:
    """The parts of a chain that is a branch: no history, then the retriever; else rewriter and the same retriever.

    Raises:
        UnsupportedChainError: The chain has another shape; nothing is guessed.
    """
    if isinstance(chain, RunnableBindingBase):
        inner = take_apart(chain.bound)

        def rebind(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
            return chain.model_copy(update={"bound": inner.rebind(runnable)})

        return Parts(inner.rewriter, inner.retriever, rebind)
    if not isinstance(chain, RunnableBranch) or len(chain.branches) != 1:
        raise _unsupported(chain, "it is not a branch with one condition")
    direct, rewritten = chain.branches[0][1], chain.default
    if not isinstance(direct, RunnableSequence) or not isinstance(rewritten, RunnableSequence):
        raise _unsupported(chain, "its two sides are not sequences")
    tail = direct.steps[1:]
    head, end = rewritten.steps[: -len(tail)], rewritten.steps[-len(tail) :]
    if not head or not all(ours is theirs for ours, theirs in zip(tail, end, strict=True)):
        raise _unsupported(chain, "its two sides do not end in the same retriever")
    return Parts(_sequence(head), _sequence(tail), lambda runnable: runnable)


def _sequence(steps: Sequence[Runnable[Any, Any]]) -> Runnable[Any, Any]:
    return steps[0] if len(steps) == 1 else RunnableSequence(*steps)


def _unsupported(chain: Any, why: str) -> UnsupportedChainError:
    return UnsupportedChainError(
        f"cannot take the chain apart ({type(chain).__name__}): {why}. Pass its parts instead: "
        "create_guarded_history_aware_retriever(llm, retriever, prompt), or "
        "GuardedRetriever(retriever=..., rewriter=...)"
    )
