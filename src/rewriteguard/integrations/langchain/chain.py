"""LangChain: a guarded history-aware retriever chain, made anew or of a chain that is taken apart.

What was a chain stays a chain: a dict with `input` and `chat_history` goes in, a list of documents comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from langchain_core.callbacks.manager import AsyncParentRunManager, ParentRunManager
from langchain_core.documents import Document
from langchain_core.language_models import LanguageModelLike
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableConfig,
    RunnableSequence,
    RunnableSerializable,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.utils import ConfigurableFieldSpec, get_unique_config_specs
from pydantic import ConfigDict, Field

from rewriteguard.errors import UnsupportedChainError
from rewriteguard.integrations.langchain._call import Call, GuardKeywords, payload_of, plan_from
from rewriteguard.retrieve.request import Plan

FAITHFUL_CONDENSE_PROMPT = ChatPromptTemplate.from_messages(
    [
        (
            "system",
            "You turn the user's last message into one search query that can be understood without the conversation.\n"
            "- If the message can be understood by itself, return it unchanged.\n"
            "- Otherwise replace only the words that point into the conversation, and complete only what is left out; "
            "use words of the conversation for that, and nothing else.\n"
            "- Copy exactly what limits the question: names, numbers, amounts, dates and periods, versions, codes, "
            "quotations; not, no, never, without, except; only, all, any, every, both, first, last; more, less, "
            "before, after, since, until; must, should, may, can; and the question word.\n"
            "- Add no detail that the user did not ask for, and take over nothing from an earlier topic that the "
            "message does not point to.\n"
            "- Keep every question where there are several, and keep corrections.\n"
            "- Do not answer, do not explain, do not ask back. Return the query alone, in the language of the message.",
        ),
        MessagesPlaceholder("chat_history"),
        ("human", "{input}"),
    ]
)
"""Asks a chat model for rewrites that the guard passes; gets `chat_history` and `input`."""


def guard_history_aware_retriever(
    chain: Runnable[Any, Any], **keywords: Unpack[GuardKeywords]
) -> Runnable[dict[str, Any], list[Document]]:
    """The same chain with the guard between its rewriter and its retriever.

    Args:
        chain: Made by `create_history_aware_retriever`, with whatever config, retries or listeners were put around it.
        **keywords: See `GuardKeywords`.

    Raises:
        UnsupportedChainError: The chain has another shape.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    parts = take_apart(chain)
    plan = plan_from(keywords)
    return parts.rebind(GuardedChain(rewriter=parts.rewriter, retriever=parts.retriever, settings=plan))


def create_guarded_history_aware_retriever(
    llm: LanguageModelLike,
    retriever: RetrieverLike,
    prompt: BasePromptTemplate[Any],
    **keywords: Unpack[GuardKeywords],
) -> Runnable[dict[str, Any], list[Document]]:
    """The guarded form of LangChain's `create_history_aware_retriever`, with the same three arguments.

    Args:
        llm: Rewrites the turn.
        retriever: Gets a query, gives documents.
        prompt: Has `input` among its variables, and usually `chat_history`.
        **keywords: See `GuardKeywords`.

    Raises:
        ValueError: The prompt has no variable `input`.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
    """
    if "input" not in prompt.input_variables:
        raise ValueError(f"prompt: expected a variable `input`, got {prompt.input_variables}")
    plan = plan_from(keywords)
    chain = GuardedChain(rewriter=prompt | llm | StrOutputParser(), retriever=retriever, settings=plan)
    return chain.with_config(run_name="chat_retriever_chain")


class GuardedChain(RunnableSerializable[dict[str, Any], list[Document]]):
    """A dict with `input` and `chat_history` in, documents out, and the guard between rewriter and retriever.

    Attributes:
        rewriter: Gets the whole input, gives the rewrite.
        retriever: Gets a query, gives documents.
        settings: What holds for every call.

    Raises (on every call):
        ClarificationNeeded: Under `Policy(clarify=True)`, where the turn has several readings.
        ScopeError: The scope could not be decided; nothing was searched.
        InputError: The input is no mapping with `input`.
        Exception: What the rewriter or the retriever raised, where there is nothing to fall back on.
    """

    rewriter: Runnable[Any, Any]
    retriever: Runnable[Any, Any]
    settings: Plan = Field(exclude=True, repr=False)

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The configurable fields of both parts."""
        return get_unique_config_specs([*self.rewriter.config_specs, *self.retriever.config_specs])

    def invoke(
        self,
        input: dict[str, Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The documents for `input`; `kwargs` go to the retriever with every query."""
        return self._call_with_config(self._retrieve, input, config, **kwargs)

    async def ainvoke(
        self,
        input: dict[str, Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """The same as `invoke`."""
        return await self._acall_with_config(self._aretrieve, input, config, **kwargs)

    def _retrieve(
        self, payload: dict[str, Any], run_manager: ParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> list[Document]:
        return self._call(config, run_manager, in_loop=False).documents(payload_of(payload), kwargs)

    async def _aretrieve(
        self, payload: dict[str, Any], run_manager: AsyncParentRunManager, config: RunnableConfig, **kwargs: Any
    ) -> list[Document]:
        return await self._call(config, run_manager, in_loop=True).adocuments(payload_of(payload), kwargs)

    def _call(self, config: RunnableConfig, run: Any, *, in_loop: bool) -> Call:
        return Call(self.settings, self.rewriter, self.retriever, config, run, in_loop)


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
