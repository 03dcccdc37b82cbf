"""Runs the recorded conversation three ways; prints what became of each question, and the spans of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_core.messages import AIMessage, HumanMessage
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from rewriteguard.demo.parts import CONDENSE_PROMPT, BM25Retriever, RecordedRewriter, conversation, documents
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations.langchain import guard_history_aware_retriever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage
    from opentelemetry.sdk.trace import ReadableSpan
    from rich.console import Console

    from rewriteguard.demo.parts import Turn
    from rewriteguard.model.decision import Decision

_DEPTH = 10
_SHOWN_TRACE = 2  # the third turn, whose rewrite loses "not" and the year
_STYLE = {"preserved": "green", "changed": "red", "uncertain": "yellow"}
_ATTRIBUTES = (
    "openinference.span.kind",
    "rewriteguard.verdict",
    "rewriteguard.action",
    "rewriteguard.reasons",
    "rewriteguard.arm",
    "rewriteguard.original_turn",
    "rewriteguard.rewritten_query",
    "rewriteguard.documents.count",
)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one turn.

    Attributes:
        turn: The turn.
        decision: What the guard decided.
        unguarded: Rank of the answering document in LangChain's own chain; None where it is not found.
        guarded: Its rank in the guarded chain.
        raw: Its rank for the turn as written.
        spans: The spans of the guarded call.
    """

    turn: Turn
    decision: Decision
    unguarded: int | None
    guarded: int | None
    raw: int | None
    spans: Sequence[ReadableSpan]


def outcomes() -> tuple[Replayed, ...]:
    """Every turn of the conversation, run three ways."""
    turns = conversation()
    retriever = BM25Retriever(documents(), k=_DEPTH)
    rewriter = RecordedRewriter(rewrites={turn.user: turn.rewrite for turn in turns if turn.rewrite is not None})
    chain = create_history_aware_retriever(rewriter, retriever, CONDENSE_PROMPT)
    guard = Guard()
    guard.warm_up()
    decisions: list[Decision] = []
    guarded = guard_history_aware_retriever(chain, guard=guard, on_decision=decisions.append)
    exporter = _record()
    history: list[BaseMessage] = []
    results = []
    for turn in turns:
        question = {"input": turn.user, "chat_history": list(history)}
        unguarded = rank(chain.invoke(question), turn.answer)
        exporter.clear()
        found = rank(guarded.invoke(question), turn.answer)
        spans = exporter.get_finished_spans()
        raw = rank(retriever.invoke(turn.user), turn.answer)
        results.append(Replayed(turn, decisions[-1], unguarded, found, raw, spans))
        history += [HumanMessage(turn.user), AIMessage(turn.assistant)]
    return tuple(results)


def rank(found: Sequence[Document], answer: str) -> int | None:
    """The rank of the document with that id, from 1; None where it was not found."""
    ids = [document.id for document in found]
    return ids.index(answer) + 1 if answer in ids else None


def run(console: Console) -> None:
    """Prints the conversation turn by turn, a table of ranks, and the spans of one turn."""
    results = outcomes()
    for number, outcome in enumerate(results, start=1):
        _print_turn(console, number, outcome)
    console.rule("Rank of the document that answers")
    console.print(_ranks(results))
    console.rule(f"Spans of turn {_SHOWN_TRACE + 1}")
    console.print(_tree(results[_SHOWN_TRACE].spans))


def _print_turn(console: Console, number: int, outcome: Replayed) -> None:
    turn, decision = outcome.turn, outcome.decision
    console.rule(f"Turn {number}", align="left")
    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column()
    lines.add_row("user", Text(turn.user, style="bold"))
    lines.add_row("rewrite", Text(turn.rewrite or "none was asked for: this is the first turn"))
    if turn.mistake:
        lines.add_row("mistake", Text(f"the rewriter {turn.mistake}"))
    if decision.assessment:
        verdict = decision.assessment.verdict.value
        lines.add_row("verdict", Text(verdict.upper(), style=f"bold {_STYLE[verdict]}"))
        lines.add_row("why", Text(decision.assessment.explain()))
    lines.add_row("action", Text(f"{decision.action.value} ({decision.reason})"))
    for query in decision.queries:
        lines.add_row("searched", Text(f"{query.text}   [{query.origin.value}, weight {query.weight:g}]"))
    lines.add_row("answer at", Text(_places(outcome)))
    console.print(lines)


def _places(outcome: Replayed) -> str:
    return (
        f"rank {_shown(outcome.unguarded)} LangChain, {_shown(outcome.guarded)} guarded, {_shown(outcome.raw)} raw turn"
    )


def _ranks(results: Sequence[Replayed]) -> Table:
    table = Table()
    table.add_column("")
    table.add_column("the rewriter")
    for column in ("verdict", "action"):
        table.add_column(column, no_wrap=True)
    for column in ("LangChain", "guarded", "raw"):
        table.add_column(column, justify="right", no_wrap=True)
    for number, outcome in enumerate(results, start=1):
        decision = outcome.decision
        verdict = decision.assessment.verdict.value if decision.assessment else "-"
        did = outcome.turn.mistake or ("does well" if outcome.turn.rewrite else "is not asked")
        ranks = (_shown(place) for place in (outcome.unguarded, outcome.guarded, outcome.raw))
        table.add_row(str(number), did, Text(verdict, style=_STYLE.get(verdict, "")), decision.action.value, *ranks)
    return table


def _shown(place: int | None) -> str:
    return "-" if place is None else str(place)


def _record() -> InMemorySpanExporter:
    """An exporter that from now on gets every span of this process."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


def _tree(spans: Sequence[ReadableSpan]) -> Tree:
    """The spans below one another as their parents say, each with the attributes that matter here."""
    ordered = sorted(spans, key=lambda span: span.start_time or 0)
    known = {span.context.span_id for span in ordered if span.context}
    root = Tree("spans")
    branches: dict[int, Tree] = {}
    for span in ordered:
        parent = branches[span.parent.span_id] if span.parent and span.parent.span_id in known else root
        branch = parent.add(_label(span))
        if span.context:
            branches[span.context.span_id] = branch
    return root


def _label(span: ReadableSpan) -> Text:
    label = Text(span.name, style="bold")
    label.append(f"  {((span.end_time or 0) - (span.start_time or 0)) / 1e6:.1f} ms", style="dim")
    for name in _ATTRIBUTES:
        if span.attributes and name in span.attributes:
            label.append(f"\n{name} = {_value(span.attributes[name])}", style="not bold")
    return label


def _value(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
