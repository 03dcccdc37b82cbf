"""LangChain's `ConversationalRetrievalChain`: the guard behind its question generator, and the user's own question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, Unpack

from langchain_core.messages import BaseMessage

from rewriteguard.errors import UnsupportedChainError
from rewriteguard.integrations._host import OneQueryKeywords, arewritten, one_query_plan, query_of, rewritten
from rewriteguard.integrations.langchain._call import host_of
from rewriteguard.retrieve import flow
from rewriteguard.retrieve.request import Plan
from rewriteguard.telemetry import below

Chain = TypeVar("Chain")

_ROLES = {"human": "Human: ", "ai": "Assistant: "}


def guard_conversational_retrieval_chain(chain: Chain, **keywords: Unpack[OneQueryKeywords]) -> Chain:
    """A copy of the chain that searches with guarded questions and answers the user's own.

    The retriever gets the rewrite, or the user's own words where it is CHANGED or the rewriter fails. The last prompt
    gets the user's question as it was asked (`rephrase_question=False`), so that a rewrite can change what is found but
    never what is answered. Everything else of the chain stays: its memory, its prompts, its callbacks.

    Args:
        chain: A `ConversationalRetrievalChain`, or a chain made after it.
        **keywords: See `OneQueryKeywords`.

    Raises:
        UnsupportedChainError: The chain is another one.
        InputError: A keyword is unknown, or has a value that cannot be used.
        PipelineNotFoundError: No guard is given and no English spaCy pipeline is installed.
        ClarificationNeeded: On a turn that has several readings, under `Policy(clarify=True)`.
    """
    parts: Any = chain
    if not all(hasattr(chain, name) for name in ("question_generator", "rephrase_question", "get_chat_history")):
        raise UnsupportedChainError(f"expected a ConversationalRetrievalChain, got {type(chain).__name__}")
    plan = one_query_plan(keywords)
    plan.decider.warm_up()
    changes = {
        "question_generator": _GuardedGenerator(parts.question_generator, plan),
        "get_chat_history": partial(_transcribed, parts.get_chat_history or _as_text),
        "rephrase_question": flow.is_unguarded(plan) and parts.rephrase_question,
    }
    guarded: Chain = parts.model_copy(update=changes)
    return guarded


class _Transcript(str):
    """A conversation as text, which still knows who said what."""

    __slots__ = ("history",)

    history: Any


@dataclass(frozen=True, slots=True)
class _GuardedGenerator:
    """Stands in the place of the chain's question generator, with the two methods that the chain calls."""

    generator: Any
    plan: Plan

    def run(self, *, question: Any, chat_history: Any, callbacks: Any = None) -> str:
        ask = partial(self.generator.run, question=question, chat_history=_plain(chat_history), callbacks=callbacks)
        with below(host_of(callbacks)):
            return query_of(rewritten(self.plan, question, _history(chat_history), ask))

    async def arun(self, *, question: Any, chat_history: Any, callbacks: Any = None) -> str:
        ask = partial(self.generator.arun, question=question, chat_history=_plain(chat_history), callbacks=callbacks)
        with below(host_of(callbacks)):
            return query_of(await arewritten(self.plan, question, _history(chat_history), ask))


def _transcribed(as_text: Callable[[Any], Any], history: Any) -> Any:
    """What the chain's own function makes of a history; where that is a text, the history goes with it."""
    text = as_text(history)
    if not isinstance(text, str):
        return text
    transcript = _Transcript(text)
    transcript.history = history
    return transcript


def _history(given: Any) -> Any:
    return given.history if isinstance(given, _Transcript) else given


def _plain(given: Any) -> Any:
    return str(given) if isinstance(given, str) else given


def _as_text(history: Iterable[Any]) -> str:
    """The text that the chain makes of a history where it is given no function for it.

    Source: `_get_chat_history` of langchain-classic 1.0, which is private.

    Raises:
        ValueError: An item is neither a message nor a pair of texts.
    """
    lines = []
    for item in history:
        if isinstance(item, BaseMessage):
            if item.content:
                lines.append(f"\n{_ROLES.get(item.type, f'{item.type}: ')}{item.content}")
        elif isinstance(item, tuple):
            lines.append(f"\nHuman: {item[0]}\nAssistant: {item[1]}")
        else:
            raise ValueError(f"chat_history: expected messages or pairs of texts, got {type(item).__name__}")
    return "".join(lines)
