"""An app whose guarded searches Prometheus watches: one round of them for each line that it reads, port first."""

from __future__ import annotations

import json
import sys
import time

from opentelemetry import metrics
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import start_http_server

from rewriteguard import Guard, GuardedSearch, Judge, Policy, Telemetry, Verdict

HISTORY = [
    ("user", "Which exhibitions does the lighthouse museum have?"),
    ("assistant", "The lighthouse museum shows ship models and sea charts."),
]
TURN = "How many visitors did it have in 2019?"
GOOD = "How many visitors did the lighthouse museum have in 2019?"
NO_YEAR = "How many visitors did the lighthouse museum have?"
OTHER_YEAR = "How many visitors did the lighthouse museum have in 2021?"
NEW_NAME = "How many visitors did the lighthouse museum in Rotterdam have in 2019?"


class BrokenGuard(Guard):
    """Fails at every check."""

    def decide(self, *_arguments, **_keywords):
        raise RecursionError("too deep")


def search(query):
    """A document of the query's own, and two that every query finds; one of these nobody may see."""
    return [f"about {query}", "opening hours", "secret plan"]


def no_carried(query):
    """Like `search`, but the carried query cannot be searched."""
    if query not in (TURN, GOOD):
        raise ConnectionError("no answer")
    return search(query)


def failing(_turn):
    """A model that is down."""
    raise ConnectionError("the model is down")


def late(_turn):
    """A model that takes too long."""
    time.sleep(0.4)
    return GOOD


def unheard(_decision):
    """A dashboard of the application's own that is down."""
    raise LookupError("nobody listens")


class Model:
    """A judge that sees no fault in a name from nowhere, and one in a question that is left open."""

    def invoke(self, messages, _config=None):
        query = json.loads(messages[1][1].removeprefix("<data>").removesuffix("</data>"))["query"]
        return "preserved" if query in (GOOD, NEW_NAME) else "changed"


def new_judge() -> Judge:
    """A judge of every verdict, calibrated on two rows."""
    judge = Judge(Model(), 1, only=None)
    rows = [(GOOD, Verdict.PRESERVED), (NO_YEAR, Verdict.CHANGED)]
    judge.calibrate({"turn": TURN, "rewrite": rewrite, "label": label} for rewrite, label in rows)
    return judge


def searches(judge: Judge) -> list[tuple[GuardedSearch, list]]:
    """The searches of one round, each with the history of its turn."""
    old, new = Telemetry(rewriter="condense-v1", judge=judge), Telemetry(rewriter="condense-v2", judge=judge)
    return [
        *[(GuardedSearch(search, GOOD, telemetry=old), HISTORY)] * 4,
        (GuardedSearch(search, TURN, telemetry=old, on_decision=unheard), HISTORY),
        (GuardedSearch(search, NO_YEAR, telemetry=old), HISTORY),
        (GuardedSearch(search, GOOD, telemetry=old), []),
        (GuardedSearch(search, late, telemetry=old, rewriter_timeout=0.05), HISTORY),
        (GuardedSearch(search, GOOD, telemetry=old, guard=BrokenGuard()), HISTORY),
        (GuardedSearch(search, OTHER_YEAR, telemetry=new), HISTORY),
        (GuardedSearch(search, NEW_NAME, telemetry=new), HISTORY),
        (GuardedSearch(search, NO_YEAR, telemetry=new, policy=Policy.observe()), HISTORY),
        (GuardedSearch(search, failing, telemetry=new), HISTORY),
        (GuardedSearch(search, GOOD, telemetry=new, admit=lambda item: item != "secret plan"), HISTORY),
        (GuardedSearch(no_carried, GOOD, telemetry=new), HISTORY),
    ]


def say(word: str) -> None:
    """Tells the test how far the app is."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main() -> None:
    metrics.set_meter_provider(MeterProvider([PrometheusMetricReader()]))
    start_http_server(int(sys.argv[1]), addr="127.0.0.1")
    say("ready")
    for _ in sys.stdin:
        with new_judge() as judge:  # left when it has answered
            for guarded, history in searches(judge):
                guarded.run(TURN, history)
        say("done")


if __name__ == "__main__":
    main()
