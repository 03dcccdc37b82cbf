"""Guarded retrieval beside LangChain's own chain, and many calls at once; rewriter and search are asleep meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from statistics import median
from typing import Any

from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import PrivateAttr

from latency_timing import Call, Figure, Figures, compared, quantile, seconds, side_by_side
from latency_workload import OTHER_TURN, Bench, Triple
from rewriteguard import Guard, GuardedSearch
from rewriteguard.integrations.langchain import FAITHFUL_CONDENSE_PROMPT, guard_history_aware_retriever

REWRITE = 0.3  # seconds that the rewriter takes
SEARCH = 0.05
_AT_ONCE = 32
_THREADS = 8
_DOCUMENTS = [Document(page_content=f"Boat {n} sailed from Lund.", id=str(n)) for n in range(10)]


class _Search(BaseRetriever):
    _queries: list[str] = PrivateAttr(default_factory=list)

    @property
    def queries(self) -> list[str]:
        return self._queries

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        self._queries.append(query)
        time.sleep(SEARCH)
        return _DOCUMENTS


def chain(bench: Bench) -> Figures:
    """The chain of `create_history_aware_retriever` as it is and guarded, in conversations as they go on."""
    answers = {triple.turn: triple.rewrite for triple in bench.rewritten}
    plain_search, guarded_search = _Search(), _Search()
    plain = _chain(answers, plain_search)
    guarded = guard_history_aware_retriever(_chain(answers, guarded_search), guard=Guard())

    def rounds() -> Iterator[Mapping[str, Call]]:
        for triple in bench.rewritten:
            payload = {"input": triple.turn, "chat_history": _messages(triple)}
            yield {name: lambda chain=chain, payload=payload: chain.invoke(payload) for name, chain in arms.items()}

    arms = {"guarded": guarded, "plain": plain}
    times = side_by_side(islice(rounds(), bench.some(40, 8)))
    n = len(times["plain"])
    p50, p99 = (quantile(times["guarded"], share) - quantile(times["plain"], share) for share in (0.5, 0.99))
    added = {"chain-added-p50": Figure(1e3 * p50, n, "ms"), "chain-added-p99": Figure(1e3 * p99, n, "ms")}
    searches = {"searches": Figure(len(guarded_search.queries) / n, n, "searches")}
    return compared("chain", times, "guarded", "plain") | added | searches


def at_once(bench: Bench) -> Figures:
    """32 guarded calls started together, in threads and in one event loop, beside one call alone."""
    guard, answers = Guard(), {triple.turn: triple.rewrite for triple in bench.rewritten}

    def rewriter(turn: str) -> str:
        time.sleep(REWRITE)
        return answers[turn]

    def search(_: str) -> list[Document]:
        time.sleep(SEARCH)
        return _DOCUMENTS

    async def arewriter(turn: str) -> str:
        await asyncio.sleep(REWRITE)
        return answers[turn]

    async def asearch(_: str) -> list[Document]:
        await asyncio.sleep(SEARCH)
        return _DOCUMENTS

    key = {"guard": guard, "key": lambda document: document.id}
    in_threads, in_loop = GuardedSearch(search, rewriter, **key), GuardedSearch(asearch, arewriter, **key)
    left = iter(bench.rewritten)

    def some(n: int) -> list[Triple]:
        chosen = list(islice(left, n))
        for triple in chosen:
            guard.check(*OTHER_TURN, triple.history)
        return chosen

    def threads(triples: Sequence[Triple]) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda triple: in_threads.run(triple.turn, triple.history), triples))

    async def gathered(triples: Sequence[Triple]) -> None:
        await asyncio.gather(*(in_loop.arun(triple.turn, triple.history) for triple in triples))

    alone = [some(1) for _ in range(10)]
    groups = [some(_AT_ONCE) for _ in range(bench.some(4, 2))]
    with asyncio.Runner() as loop:
        arms = {"threads": threads, "asyncio": lambda triples: loop.run(gathered(triples))}
        found: Figures = {}
        for number, (name, arm) in enumerate(arms.items()):
            one = median(seconds(lambda group=group, arm=arm: arm(group)) for group in alone[number::2])
            runs = [seconds(lambda group=group, arm=arm: arm(group)) for group in groups[number::2]]
            found[f"at-once-{name}-x"] = Figure(median(runs) / one, len(runs), "x")
            found[f"at-once-{name}"] = Figure(median(runs), len(runs), "s")
    return found


def threads(bench: Bench) -> Figures:
    """Checks a second of eight threads on one guard over those of one thread, and how many findings differ."""
    triples = bench.rewritten[: bench.some(160, 40)]
    one, shared = Guard(), Guard()
    for guard in (one, shared):
        for triple in triples:
            guard.check(*OTHER_TURN, triple.history)
    single, many = [], []
    times = {"one": 0.0, "many": 0.0}
    with ThreadPoolExecutor(_THREADS) as pool:
        for number, at in enumerate(range(0, len(triples), 20)):
            part = triples[at : at + 20]
            arms = {
                "one": lambda part=part: single.extend(_checked(one, triple) for triple in part),
                "many": lambda part=part: many.extend(pool.map(lambda triple: _checked(shared, triple), part)),
            }
            for name in sorted(arms, reverse=bool(number % 2)):
                times[name] += seconds(arms[name])
    differing = sum(ours != theirs for ours, theirs in zip(single, many, strict=True))
    return {
        "threads-x": Figure(times["one"] / times["many"], len(triples), "x"),
        "threads-differing": Figure(differing, len(triples), "findings"),
    }


def _checked(guard: Guard, triple: Triple) -> dict[str, Any]:
    return guard.check(triple.turn, triple.rewrite, triple.history).to_dict()


def _chain(answers: Mapping[str, str], search: BaseRetriever) -> Runnable[dict[str, Any], list[Document]]:
    def rewrite(prompt: Any) -> AIMessage:
        time.sleep(REWRITE)
        return AIMessage(answers[prompt.to_messages()[-1].content])

    return create_history_aware_retriever(RunnableLambda(rewrite), search, FAITHFUL_CONDENSE_PROMPT)


def _messages(triple: Triple) -> list[HumanMessage | AIMessage]:
    return [HumanMessage(text) if role == "user" else AIMessage(text) for role, text in triple.history]
