"""The tables of the latency report, from the results and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from expectations import is_met
from latency_check import LENGTHS
from latency_judge import eased, wanted
from latency_worst import PLACES, texts
from report import table

Results = Mapping[str, Any]
Found = Mapping[str, Mapping[str, Any]]

CHECKS = {
    "warm": "all messages seen before, turn and rewrite new",
    "identical": "the same, the rewrite is the turn as it was",
    "running": "a conversation as it goes on: the last answer is new too",
    "cold": "a new conversation of 8 messages",
    "long-warm": "an answer of 2,000 words, seen before",
    "long-cold": "an answer of 2,000 words, new",
    "repeated": "the very same call again",
}
PEERS = {
    "floor": "two calls of the spaCy pipeline",
    "minilm": "MiniLM cosine",
    "presidio": "presidio-analyzer, both texts",
    "cross-encoder": "cross-encoder of DeBERTa-v3-small size, one pair",
}
LABELS = {
    "warm-p50-x": "messages seen before, p50, over the two calls",
    "warm-p99-x": "messages seen before, p99, over the two calls",
    "identical-p50-x": "rewrite identical to the turn, p50, over the two calls",
    "repeated-p50": "the same call again, p50",
    "seen-50-to-5-x": "50 seen messages over 5, p50",
    "cold-p50-x": "new conversation of 8 messages, p50, over the two calls",
    "chain-p50-x": "guarded chain over LangChain's own, p50",
    "minilm-p50-x": "check over MiniLM cosine, p50",
    "presidio-p50-x": "check over presidio-analyzer, p50",
    "cross-encoder-p50-x": "check over cross-encoder, p50",
    "audit-2-x": "audit, two processes over one",
    "audit-1": "audit, one process",
    "fused-none": "telemetry of a fused call, no SDK",
    "fused-sdk": "telemetry of a fused call, SDK and batch export",
    "threads-x": "eight threads on one guard over one thread, checks a second",
    "threads-differing": "findings of eight threads that differ from one thread's",
    "worst": "longest check of the texts below",
}
AROUND = {
    "warm-own-p50-x": "`check`, messages seen before, over two calls of the guard's own smaller pipeline, p50",
    "chain-p50": "guarded chain, p50",
    "chain-floor-p50": "LangChain's own chain, p50",
    "chain-added-p50": "added by the guard at p50",
    "chain-added-p99": "added by the guard at p99",
    "chain-p99-x": "guarded chain over LangChain's own, p99",
    "searches": "searches a turn, guarded (unguarded: 1)",
    "at-once-threads": "32 guarded calls at once, threads",
    "at-once-threads-x": "32 guarded calls at once over one call, threads",
    "at-once-asyncio": "32 guarded calls at once, asyncio",
    "at-once-asyncio-x": "32 guarded calls at once over one call, asyncio",
    "threads-x": "eight threads on one guard over one thread, checks a second",
    "decide-none": "telemetry of one decision, no SDK",
    "decide-sdk": "telemetry of one decision, SDK and batch export",
    "fused-none": "telemetry of a fused call of three searches, no SDK",
    "fused-sdk": "telemetry of a fused call of three searches, SDK and batch export",
    "audit-1": "`audit`, one process",
    "audit-1-begun": "`audit`, one process, once it has started",
    "audit-2": "`audit`, two processes",
    "import": "import",
    "import-floor": "import of spaCy alone",
    "warm-up": "`Guard.warm_up`",
    "warm-up-floor": "loading the full spaCy pipeline alone",
    "memory": "resident after warm-up",
    "memory-floor": "resident with the full spaCy pipeline alone",
}


def tables(results: Results) -> dict[str, str]:
    """The tables by name."""
    found: Found = {key: f for part in results["parts"].values() for key, f in part.get("figures", {}).items()}
    return {
        "required": _required(results, found),
        "check": _checks(found),
        "seen": table(
            ("messages", *map(str, LENGTHS)), [("p50", *(shown(found.get(f"seen-{n}-p50")) for n in LENGTHS))]
        ),
        "worst": _worst(found),
        "around": table(
            ("figure", "measured", "n"),
            [(label, shown(found.get(key)), _n(found.get(key))) for key, label in AROUND.items()],
        ),
        "peers": table(
            ("reads turn and rewrite with", "p50", "p99", "`check` over it, p50", "n"),
            [
                (label, *(shown(found.get(f"peer-{key}-{what}")) for what in ("p50", "p99")), *_over(found, key))
                for key, label in PEERS.items()
            ],
        ),
        "conditions": _conditions(results),
    }


def shown(figure: Mapping[str, Any] | None) -> str:
    """A figure with its unit, and its 95 % interval where it has one; `-` where nothing was measured."""
    if figure is None:
        return "-"
    value = f"{_number(figure['value'])}{figure['unit'] if figure['unit'] == 'x' else ' ' + figure['unit']}"
    if "low" not in figure:
        return value
    return f"{value} ({_number(figure['low'])} to {_number(figure['high'])})"


def _number(value: float) -> str:
    if value and abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _n(figure: Mapping[str, Any] | None) -> str:
    return "-" if figure is None else f"{figure['n']:,}"


def _over(found: Found, peer: str) -> tuple[str, str]:
    figure = found.get(f"{peer}-p50-x")
    return shown(figure), _n(figure)


def _required(results: Results, found: Found) -> str:
    rows = []
    for key, bound in results["required"].items():
        figure, reason = found.get(key), results["short"].get(key)
        if figure is None:
            rows.append((LABELS[key], "-", wanted(bound), "not measured"))
            continue
        close = is_met(figure["value"], eased(bound, bound["tolerance"]))
        missed = f"**not met**: {reason}" if reason else "**not met**, within the tolerance" if close else "**not met**"
        met = is_met(figure["value"], bound)
        rows.append((LABELS[key], shown(figure), wanted(bound), "met" if met else missed))
    return table(("figure", "measured", "required", ""), rows)


def _checks(found: Found) -> str:
    columns = ("p50", "p99", "floor-p50", "floor-p99", "p50-x", "p99-x")
    rows = [
        (label, *(shown(found.get(f"{key}-{column}")) for column in columns), _n(found.get(f"{key}-p50")))
        for key, label in CHECKS.items()
    ]
    return table(("`check`", "p50", "p99", "two calls, p50", "two calls, p99", "ratio, p50", "ratio, p99", "n"), rows)


def _worst(found: Found) -> str:
    places = (*PLACES, "turn-cut", "rewrite-cut", "both-cut")
    rows = [
        (name.replace("-", " "), *(shown(found.get(f"worst-{name}-{place}")) for place in places)) for name in texts()
    ]
    heads = (
        "as the turn",
        "as the rewrite",
        "in the history",
        "cut, as the turn",
        "cut, as the rewrite",
        "cut, as both",
    )
    return table(("text", *heads), rows)


def _conditions(results: Results) -> str:
    rows = []
    for name, part in results["parts"].items():
        if "figures" not in part:
            rows.append((name, part.get("error", part.get("skipped", "")), "", "", ""))
            continue
        machine, packages = part["machine"], part["packages"]
        rows.append(
            (
                name,
                f"{part['seconds']:.0f}",
                f"{machine['cores']} cores, Python {machine['python']}, {machine['platform']}",
                ", ".join(f"{package} {version}" for package, version in packages.items()),
                f"`{part['sources'][:12]}`",
            )
        )
    return table(("part", "seconds", "machine", "packages", "sources"), rows)
