"""What breaks beside or inside a guarded search stays where it is, and every outcome has a reason of its own."""

from __future__ import annotations

import asyncio
import gc
import logging
import sqlite3
import sys
import threading
import time
from decimal import Decimal
from unittest.mock import Mock

import pytest
from langchain_classic.chains import create_history_aware_retriever
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

from fakes import FakeGuard, probe
from rewriteguard.errors import InputError, ScopeError
from rewriteguard.guard import guard as guard_module
from rewriteguard.guard.guard import Guard
from rewriteguard.integrations.langchain import guard_history_aware_retriever
from rewriteguard.model.decision import Action
from rewriteguard.model.rules import Verdict
from rewriteguard.policy.carry import carried_query
from rewriteguard.policy.policy import Policy
from rewriteguard.policy.weights import Weights
from rewriteguard.retrieve import _runners as threads
from rewriteguard.retrieve._runners import Budget
from rewriteguard.retrieve.rewrite import safe_rewrite
from rewriteguard.retrieve.search import GuardedSearch, Hit

TURN = "And how much is it for two weeks?"
GOOD = "How much is a bicycle box for two weeks?"
HISTORY = [("user", "Can I rent a bicycle box?"), ("assistant", "Yes, a bicycle box stands at each station.")]


def rewrite(turn, history):
    return GOOD


def origin_of(query):
    return {TURN: "original", GOOD: "rewrite"}.get(query, "carried")


def sync(guarded, turn=TURN, history=HISTORY, **keywords):
    return guarded.run(turn, history, **keywords)


def in_asyncio(guarded, turn=TURN, history=HISTORY, **keywords):
    return asyncio.run(guarded.arun(turn, history, **keywords))


@pytest.fixture(params=[sync, in_asyncio], ids=["sync", "async"])
def go(request):
    """Runs one guarded search in a plain thread or in asyncio."""

    def run(search, rewriter=rewrite, **settings):
        keywords = settings.pop("keywords", {})
        return request.param(GuardedSearch(search, rewriter, **{"guard": FakeGuard(), "k": 9} | settings), **keywords)

    return run


def found(query, **_):
    return ["shared", origin_of(query)]


def statuses(result):
    return {arm.origin.value: arm.status.value for arm in result.arms}


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


# the rewriter

BROKEN = {
    "raises": (raising(ConnectionError("down")), "rewriter_error"),
    "raises for want of an item": (lambda turn, history: next(iter(())), "rewriter_error"),
    "cancels itself": (raising(asyncio.CancelledError()), "rewriter_error"),
    "none": (lambda turn, history: None, "rewriter_error"),
    "bytes": (lambda turn, history: GOOD.encode(), "rewriter_error"),
    "mapping": (lambda turn, history: {"text": GOOD}, "rewriter_error"),
    "number": (lambda turn, history: 7, "rewriter_error"),
    "class": (lambda turn, history: str, "rewriter_error"),
}


@pytest.mark.parametrize(("rewriter", "reason"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("limit", [None, 5])
def test_a_rewriter_without_an_answer_leaves_the_arms_that_need_none(go, monkeypatch, rewriter, reason, limit):
    seen = probe(monkeypatch)
    result = go(found, rewriter, rewriter_timeout=limit)
    assert (result.decision.action, result.decision.reason) == (Action.FALL_BACK, reason)
    assert statuses(result) == {"original": "ok", "carried": "ok"}
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.reason"] == reason
    assert seen.span("rewriteguard.rewrite").attributes["error.type"]


UNFIT = {
    "nothing": ("", "malformed"),
    "white space": (" \n\t ", "malformed"),
    "nothing that can be seen": ("\u200b\u2060\ufeff", "malformed"),
    "one word again and again": ("box " * 50, "malformed"),
    "a growing repetition": (" ".join(" ".join(GOOD.split()[:place]) for place in range(1, 11)), "malformed"),
    "the query over and over": (GOOD * 300, "malformed"),
    "two hundred thousand letters": ("q" * 200_000, "malformed"),
    "an answer": ("A bicycle box costs 14 euros for two weeks.", "not_a_query"),
    "an essay": (
        "Bicycle boxes are a convenient way to keep a bicycle dry. They are offered at every larger station. "
        "Commuters choose them because racks are often full in the morning. Prices depend on the town, and on how "
        "long the contract runs. Many towns grant a discount to holders of a yearly ticket.",
        "not_a_query",
    ),
    "a question to the user": ("Could you please clarify which box you mean?", "not_a_query"),
}


@pytest.mark.parametrize(("text", "reason"), UNFIT.values(), ids=UNFIT)
def test_an_answer_that_is_no_query_is_not_searched(guard, go, monkeypatch, text, reason):
    seen, asked = probe(monkeypatch), []
    result = go(lambda query: asked.append(query) or [query], lambda turn, history: text, guard=guard)
    assert (result.decision.action, result.decision.reason) == (Action.FALL_BACK, reason)
    assert {origin_of(query) for query in asked} == {"original", "carried"}
    assert all(query.startswith(TURN) and len(query) < 200 for query in asked)
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.reason"] == reason


@pytest.mark.parametrize("settings", [{}, {"rewriter_timeout": 20}, {"timeout": 20}], ids=str)
@pytest.mark.parametrize("way", [sync, in_asyncio])
def test_a_rewriter_that_calls_the_guarded_search_comes_to_an_end(settings, way):
    asked = []

    def again(turn, history):
        asked.append(turn)
        return str(guarded.run(turn, history).items[0])

    async def again_in_asyncio(turn, history):
        asked.append(turn)
        return str((await guarded.arun(turn, history)).items[0])

    rewriter = again if way is sync else again_in_asyncio
    guarded = GuardedSearch(found, rewriter, guard=FakeGuard(), **settings)
    assert way(guarded).items
    assert len(asked) == 16
    assert way(guarded).items  # the count is the call's own
    assert len(asked) == 32


def test_a_rewriter_may_search_through_the_guard(go):
    inner = GuardedSearch(found, rewrite, guard=FakeGuard())
    result = go(found, lambda turn, history: inner.run(turn, history).decision.query)
    assert result.decision.query == GOOD


def test_a_rewriter_that_changes_the_history_changes_nothing_of_the_guard_s(go):
    history = list(HISTORY)

    def rewriter(turn, given):
        given.clear()
        return GOOD

    result = go(found, rewriter, keywords={"history": history})
    assert result.decision.carried_terms
    assert statuses(result)["carried"] == "ok"


# the guard


class Hanging(FakeGuard):
    """Waits in one of its methods."""

    def __init__(self, where, release):
        super().__init__()
        self.where, self.release = where, release

    def _called(self, name, argument):
        super()._called(name, argument)
        if name == self.where:
            self.release.wait(20)

    def prepare(self, turn, history=()):
        if self.where == "prepare":
            self.release.wait(20)


@pytest.fixture
def release():
    """Lets go what hangs at the end of a test."""
    event = threading.Event()
    yield event
    event.set()
    deadline = time.monotonic() + 5
    while threads._timed and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("where", "reason"),
    [("decide", "guard_error"), ("prepare", "ok"), ("dependent", "rewriter_timeout"), ("carried", "guard_error")],
)
def test_a_guard_that_hangs_holds_up_no_answer(go, monkeypatch, release, where, reason):
    seen = probe(monkeypatch)
    started = time.monotonic()
    slow = lambda turn, history: release.wait(0.05 if where != "dependent" else 5) or GOOD  # noqa: E731
    result = go(found, slow, guard=Hanging(where, release), timeout=0.3, rewrite_when="dependent")
    assert time.monotonic() - started < 5
    assert result.decision.reason == reason
    assert "original" in result.items
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.reason"] == reason


def test_a_guard_that_hangs_where_the_rewriter_fails_leaves_the_user_s_words(go, release):
    started = time.monotonic()
    result = go(found, raising(ConnectionError("down")), guard=Hanging("carried", release), timeout=0.3)
    assert time.monotonic() - started < 5
    assert (result.decision.reason, result.items) == ("guard_error", ["shared", "original"])


class Slow(FakeGuard):
    """Finds the first carried query only when `ready` is set, and notes what it is asked for."""

    def __init__(self, ready):
        super().__init__()
        self.ready, self.done = ready, []

    def carried(self, turn, history=()):
        first = ("carried", None) not in self.calls
        query = super().carried(turn, history)
        if first:
            self.done.append(self.ready.wait(20))
        return query

    def prepare(self, turn, history=()):
        self.done.append("prepared")


def test_the_rewriter_is_asked_before_the_carried_query_is_known(go):
    asked = threading.Event()
    guard = Slow(asked)
    result = go(found, lambda turn, history: asked.set() or GOOD, guard=guard)
    assert guard.done == [True, "prepared"]
    assert statuses(result) == {"original": "ok", "rewrite": "ok", "carried": "ok"}


def test_where_no_rewrite_came_nothing_is_read_for_its_check(go, monkeypatch):
    answered, known, left = [], threading.Event(), Budget.left

    def next_left(self, limit=None):
        if answered:  # what is left is asked for again when it is known that there is no rewrite
            known.set()
        return left(self, limit)

    monkeypatch.setattr(Budget, "left", next_left)
    guard = Slow(known)
    result = go(found, lambda turn, history: answered.append(turn), guard=guard)
    ended()
    assert (result.decision.reason, guard.done) == ("rewriter_error", [True])


def ended():
    """Waits until the threads of the searches are over, and those that they started."""
    while running := [thread for thread in threading.enumerate() if thread.name == "rewriteguard"]:
        running[0].join(5)
        assert not running[0].is_alive()


def test_a_carried_query_that_comes_too_late_is_not_searched_any_more(go, release):
    queries = []
    guard = Slow(release)
    go(lambda query: queries.append(query) or found(query), guard=guard, timeout=0.3)
    release.set()
    ended()
    assert guard.done == [True]
    assert sorted(map(origin_of, queries)) == ["carried", "original", "rewrite"]


@pytest.mark.parametrize("rewriter", [rewrite, raising(ConnectionError("down"))], ids=["answers", "fails"])
@pytest.mark.parametrize("size", [1, 60])
def test_the_carried_query_of_a_call_is_found_once(go, monkeypatch, rewriter, size):
    asked = []
    monkeypatch.setattr(guard_module, "carried_query", lambda *given: asked.append(given) or carried_query(*given))
    history = [
        *HISTORY,
        *[("user", "Are there more boxes? " * 30), ("assistant", "There are boxes everywhere. " * 30)] * size,
    ]
    result = go(found, rewriter, guard=Guard(), keywords={"history": history})
    assert statuses(result)["carried"] == "ok"
    assert len(asked) == 1


def test_a_rewrite_that_comes_at_the_last_moment_is_still_judged(go, monkeypatch):
    def last_moment(turn, history):
        monkeypatch.setattr(Budget, "left", lambda self, limit=None: 0.0)
        return GOOD

    assert go(found, last_moment, timeout=20).decision.reason == "ok"


def test_a_guard_that_raises_says_so_on_the_span(go, monkeypatch):
    seen = probe(monkeypatch)
    result = go(found, guard=FakeGuard(broken=True))
    assert result.items == ["shared", "original"]
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.reason"] == "guard_error"
    assert {attributes["stage"] for attributes, _ in seen.points("rewriteguard.errors")} == {"guard"}


# the searches

STOPS = {
    "raises": raising(OSError("index is down")),
    "raises for want of an item": lambda: next(iter(())),
    "cancels itself": raising(asyncio.CancelledError()),
    "a string": lambda: "shared",
    "nothing": lambda: None,
    "a mapping": lambda: {"shared": 1},
}


@pytest.mark.parametrize("arm", ["original", "rewrite", "carried"])
@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
def test_an_arm_that_fails_is_told_and_the_others_answer(go, monkeypatch, stop, arm):
    seen = probe(monkeypatch)
    result = go(lambda query: stop() if origin_of(query) == arm else found(query))
    assert (result.partial, statuses(result)[arm]) == (True, "error")
    assert set(result.items) == {"shared", "original", "rewrite", "carried"} - {arm}
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.failed_arms"] == (f"{arm}:error",)
    assert seen.span("rewriteguard.search", rewriteguard__arm=arm).attributes["error.type"]


def test_an_asynchronous_arm_that_cancels_itself():
    async def search(query):
        await asyncio.sleep(0)
        if origin_of(query) == "rewrite":
            raise asyncio.CancelledError
        return found(query)

    for way in (sync, in_asyncio):
        result = way(GuardedSearch(search, rewrite, guard=FakeGuard()))
        assert statuses(result) == {"original": "ok", "rewrite": "error", "carried": "ok"}


def test_a_generator_that_fails_halfway_fails_its_arm_alone(go):
    def search(query):
        yield "shared"
        if origin_of(query) == "original":
            raise OSError("the connection is gone")
        yield origin_of(query)

    result = go(search)
    assert statuses(result) == {"original": "error", "rewrite": "ok", "carried": "ok"}
    assert result.items == ["shared", "rewrite", "carried"]


def test_where_every_arm_fails_the_first_error_is_raised_and_is_on_the_span(go, monkeypatch):
    seen = probe(monkeypatch)
    errors = {"original": OSError("first"), "rewrite": KeyError("second"), "carried": ValueError("third")}

    def search(query):
        if origin_of(query) == "original":
            time.sleep(0.05)  # the first of the decision's order, not of time
        raise errors[origin_of(query)]

    with pytest.raises(OSError, match="first"):
        go(search)
    root = seen.span("rewriteguard.retrieve")
    assert (root.attributes["error.type"], root.attributes["rewriteguard.reason"]) == ("OSError", "ok")
    found_errors = {s.attributes["error.type"] for s in seen.spans if s.name == "rewriteguard.search"}
    assert found_errors == {"OSError", "KeyError", "ValueError"}


@pytest.mark.parametrize("history", [HISTORY, ()], ids=["later turn", "first turn"])
@pytest.mark.parametrize("inside", [False, True], ids=["plain", "inside a loop"])
@pytest.mark.parametrize("settings", [{}, {"timeout": 20}, {"policy": Policy.single()}], ids=str)
def test_a_search_that_is_bound_to_its_thread_answers_as_unguarded(settings, inside, history):
    rows = sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE boxes (text)")
    rows.execute("INSERT INTO boxes VALUES ('shared')")

    def search(query):
        return [text for (text,) in rows.execute("SELECT text FROM boxes")]

    guarded = GuardedSearch(search, raising(ConnectionError("down")), guard=FakeGuard(), **settings)

    async def in_a_loop():
        return sync(guarded, history=history)

    result = asyncio.run(in_a_loop()) if inside else sync(guarded, history=history)
    assert (result.items, statuses(result)["original"]) == (["shared"], "ok")


def test_a_search_that_failed_in_the_caller_s_thread_is_not_repeated(go):
    asked = []

    def search(query):
        asked.append((origin_of(query), threading.current_thread() is threading.main_thread()))
        raise OSError(len(asked))

    with pytest.raises(OSError, match="1"):
        go(search, keywords={"history": ()})
    assert len(asked) == 1


def test_a_search_that_fails_everywhere_is_repeated_once_and_only_by_synchronous_callers():
    for way, more in ((sync, [("original", True)]), (in_asyncio, [])):
        asked = []

        def search(query, asked=asked):
            asked.append((origin_of(query), threading.current_thread() is threading.main_thread()))
            raise OSError("index is down")

        with pytest.raises(OSError, match="index is down"):
            way(GuardedSearch(search, raising(ConnectionError("down")), guard=FakeGuard()))
        assert sorted(asked) == sorted([("original", False), ("carried", False), *more])


def test_a_search_that_hangs_is_not_repeated(monkeypatch, release):
    asked = []
    monkeypatch.setattr(Budget, "left", lambda self, limit=None: 0.1)
    with pytest.raises(TimeoutError):
        sync(
            GuardedSearch(lambda query: asked.append(query) or release.wait(2), rewrite, guard=FakeGuard()), history=()
        )
    assert asked == [TURN]


def test_a_search_is_not_repeated_when_the_time_is_over(monkeypatch):
    asked = []

    def search(query):
        asked.append(query)
        monkeypatch.setattr(Budget, "left", lambda self, limit=None: 0.0)
        raise OSError("index is down")

    with pytest.raises((OSError, TimeoutError)):
        sync(GuardedSearch(search, rewrite, guard=FakeGuard(), timeout=20), history=())
    assert asked == [TURN]


def test_an_arm_that_hangs_is_told_as_late(go, monkeypatch, release):
    seen = probe(monkeypatch)
    result = go(lambda query: release.wait(20) if origin_of(query) == "carried" else found(query), timeout=0.3)
    assert statuses(result) == {"original": "ok", "rewrite": "ok", "carried": "timeout"}
    assert seen.span("rewriteguard.retrieve").attributes["rewriteguard.failed_arms"] == ("carried:timeout",)


def test_a_rewriter_that_hangs_takes_no_other_call_with_it(go, monkeypatch, release):
    monkeypatch.setattr(threads, "MAX_LATE", 3)
    asked = []

    def rewriter_of(model):
        return lambda turn, history: asked.append(model) or (release.wait(20) if model == "down" else GOOD)

    down, up = rewriter_of("down"), rewriter_of("up")
    results = [go(found, down, rewriter_timeout=0.05, timeout=20) for _ in range(6)]
    assert {result.decision.reason for result in results} == {"rewriter_timeout"}
    assert all(result.items == ["shared", "original", "carried"] and not result.partial for result in results)
    assert asked == ["down"] * 3
    other = go(found, up, timeout=20)
    assert (other.decision.reason, other.partial) == ("ok", False)
    assert go(found, down, timeout=20, keywords={"history": ()}).items == ["shared", "original"]


def test_a_search_that_hangs_takes_no_other_search_with_it(go, monkeypatch, release):
    monkeypatch.setattr(threads, "MAX_LATE", 3)

    class Store:
        def __init__(self, *hanging):
            self.hanging, self.asked = hanging, []

        def search(self, query):
            self.asked.append(query)
            return release.wait(20) if origin_of(query) in self.hanging else found(query)

    down, up = Store("original", "carried", "rewrite"), Store()
    for _ in range(3):
        assert statuses(go({"down": down.search, "up": up.search}, timeout=0.3))
    assert len(down.asked) == 3
    result = go({"down": down.search, "up": up.search}, timeout=20)
    assert {arm.source: arm.status.value for arm in result.arms} == {"down": "timeout", "up": "ok"}
    assert not go(up.search, timeout=20).partial


def test_functions_made_anew_for_each_call_are_known_by_their_code(monkeypatch, release):
    monkeypatch.setattr(threads, "_MAX_ALIKE", 3)
    asked = []
    for number in range(6):
        hanging = lambda turn, history, number=number: asked.append(number) or release.wait(20)  # noqa: E731
        assert safe_rewrite(TURN, hanging, HISTORY, guard=FakeGuard(), timeout=0.05).reason == "rewriter_timeout"
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("limit", [None, 20])
async def test_calls_that_were_cancelled_in_time_take_no_other_call_with_them(monkeypatch, release, limit):
    monkeypatch.setattr(threads, "MAX_LATE", 1)
    quick = threading.Event()

    def search(query):
        return found(query) if quick.is_set() else release.wait(20)

    cut_off = GuardedSearch(search, rewrite, guard=FakeGuard(), timeout=limit)
    tasks = [asyncio.create_task(cut_off.arun(TURN, HISTORY)) for _ in range(3)]
    await asyncio.sleep(0.3)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    quick.set()
    assert not (await GuardedSearch(search, rewrite, guard=FakeGuard(), timeout=20).arun(TURN, HISTORY)).partial


def test_no_more_threads_to_be_had(go, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    result = go(found)
    assert statuses(result) == {"original": "ok", "rewrite": "ok", "carried": "ok"}
    assert go(found, raising(ConnectionError("down"))).decision.reason == "rewriter_error"


# what is found


class Unequal:
    __hash__ = None

    def __eq__(self, other):
        raise ValueError("not to be compared")


class Hashless:
    def __hash__(self):
        raise ValueError("not to be hashed")


class Undecided(list):
    """Compares as an array does: the result is neither true nor false."""

    __hash__ = None

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise ValueError("ambiguous")


@pytest.mark.parametrize("kind", [Unequal, Hashless, Undecided])
def test_items_that_cannot_be_told_apart_are_the_same_only_as_themselves(go, kind):
    one, other = kind(), kind()
    items = {"original": [one], "rewrite": [other, one], "carried": []}
    result = go(lambda query: items[origin_of(query)])
    assert not result.partial
    # 1/3 + 4/4 and 4/3 tie, so the original's list goes first
    assert [item is one for item in result.items] == [True, False]


def test_a_key_that_raises_leaves_the_items_as_they_are(go, caplog):
    def key(item):
        return item["id"]

    lists = {"original": [{"id": 1}, {"title": "secret"}], "rewrite": [{"title": "secret"}], "carried": [{"id": 1}]}
    with caplog.at_level(logging.INFO, "rewriteguard"):
        result = go(lambda query: lists[origin_of(query)], key=key)
    # 1/4 + 4/3 against 1/3 + 2/3
    assert result.items == [{"title": "secret"}, {"id": 1}]  # and no third: it is one item under both keys
    assert "key failed: KeyError" in caplog.text
    assert "secret" not in caplog.text


SCORES = {
    "not a number": [float("nan"), 2.0],
    "missing": [None, 2.0],
    "without end": [float("inf"), 2.0],
    "text": ["high", "low"],
    "complex": [1j, 2j],
    "too large": [10**400, 1],
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
def test_scores_that_cannot_be_compared_leave_the_margins_out(go, scores):
    result = go(lambda query: [Hit("x", scores[0]), Hit("y", scores[1])])
    assert [arm.margin for arm in result.arms] == [1, 1, 1]
    assert result.items == ["x", "y"]


def test_decimal_scores_are_numbers(go):
    halves = Policy(weights=dict.fromkeys(Verdict, Weights(0.5, 0.5, 0.5)))
    result = go(lambda query: [Hit("x", Decimal("0.8")), Hit("y", Decimal("0.2"))], policy=halves)
    assert [arm.margin for arm in result.arms] == [pytest.approx(0.75)] * 3


def test_unhashable_metadata_and_documents_without_ids(go):
    def search(query):
        return [{"text": "one", "metadata": {"tags": ["a", {"b": set()}]}}, {"text": origin_of(query), "metadata": []}]

    assert [item["text"] for item in go(search).items] == ["one", "rewrite", "carried", "original"]


# what a search changes


def test_a_search_that_changes_its_filter_changes_no_other_arm_s_and_no_later_call_s(go):
    limits = {"filter": {"all": [{"tenant": "north"}]}}
    given, seen = {"lang": ["en"]}, []

    def search(query, *, filter, options):  # noqa: A002
        seen.append((str(filter), str(options)))
        filter.pop("all").clear()
        options["lang"].append("fr")
        return found(query)

    for _ in range(2):
        go(search, scope=lambda config: limits, keywords={"options": given})
    assert set(seen) == {("{'all': [{'tenant': 'north'}]}", "{'lang': ['en']}")}
    assert len(seen) == 6


def test_objects_among_the_keywords_are_passed_as_they_are(go):
    client, seen = object(), []
    go(lambda query, **given: seen.append(given["client"]) or found(query), keywords={"client": client})
    assert seen == [client] * 3


def test_a_search_that_goes_on_changing_the_list_it_returned(go):
    lists, early = [], threading.Semaphore(0)

    def search(query):
        for earlier in lists if query == GOOD else ():
            earlier.clear()
        lists.append(found(query))
        early.release()
        return lists[-1]

    def rewriter(turn, history):
        assert early.acquire(timeout=5)
        assert early.acquire(timeout=5)
        time.sleep(0.05)
        return GOOD

    assert set(go(search, rewriter).items) == {"shared", "original", "rewrite", "carried"}


# callbacks of the application


def test_a_veto_that_cannot_decide_at_once_is_refused(go):
    async def later(item):
        return False

    with pytest.raises(InputError, match="admit: expected a synchronous callable"):
        go(found, admit=later)
    with pytest.raises(InputError, match="scope: expected a synchronous callable"):
        go(found, scope=later)
    with pytest.raises(InputError, match="on_decision: expected a synchronous callable"):
        go(found, on_decision=later)


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_veto_that_gives_an_awaitable_admits_nothing(go):
    async def later(item):
        return False

    result = go(found, admit=lambda item: later(item))
    assert result.items == []
    assert {arm.vetoed for arm in result.arms} == {2}


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_callback_that_gives_an_awaitable_is_told(go, monkeypatch):
    seen = probe(monkeypatch)

    async def later(decision):
        raise AssertionError

    assert go(found, on_decision=lambda decision: later(decision)).decision.reason == "ok"
    told = [(each["stage"], each["error.type"]) for each, _ in seen.points("rewriteguard.errors")]
    assert told == [("on_decision", "InputError")]


class Everything:
    """Has every attribute, as mocks and lazy proxies do."""

    def __init__(self, function):
        self.function = function

    def __getattr__(self, name):
        return type(self)(self.function)

    def __call__(self, *given, **keywords):
        return self.function(*given, **keywords)


def test_functions_that_have_every_attribute(go):
    stands_for = {"search": found, "admit": lambda item: item != "carried", "key": str, "on_decision": print}
    for kind in (Everything, lambda function: Mock(side_effect=function)):
        result = go(**{name: kind(function) for name, function in stands_for.items()})
        assert set(result.items) == {"shared", "original", "rewrite"}


def test_a_scope_that_leaves_a_keyword_open_stops_everything(go):
    asked = []
    with pytest.raises(ScopeError, match=r"scope: .*'tenant'.*nothing was searched"):
        go(lambda query, **_: asked.append(query), scope=lambda config: {"tenant": config.get("tenant"), "limit": 3})
    assert asked == []


def test_callbacks_that_raise_are_told_by_their_type(go, monkeypatch):
    seen = probe(monkeypatch)
    result = go(found, admit=raising(KeyError("a")), on_decision=raising(ValueError("b")), key=raising(IndexError("c")))
    assert (result.items, result.decision.reason) == ([], "ok")
    told = {(each["stage"], each["error.type"]) for each, _ in seen.points("rewriteguard.errors")}
    assert told == {("admit", "KeyError"), ("on_decision", "ValueError")}  # no item was left to be told apart


# time, loops and threads


def test_a_passed_deadline_is_on_the_span(go, monkeypatch, release):
    seen = probe(monkeypatch)
    with pytest.raises(TimeoutError):
        go(lambda query: release.wait(20), timeout=0.1)
    root = seen.span("rewriteguard.retrieve")
    assert (root.attributes["error.type"], root.attributes["rewriteguard.reason"]) == ("TimeoutError", "ok")


def test_a_deadline_that_the_rewriter_used_up(go, release):
    result = go(found, lambda turn, history: release.wait(20), timeout=0.2)
    assert (result.decision.reason, statuses(result)) == ("rewriter_timeout", {"original": "ok", "carried": "ok"})


async def test_a_cancelled_call_is_told_as_cancelled(monkeypatch):
    seen = probe(monkeypatch)

    async def search(query):
        await asyncio.sleep(20)

    task = asyncio.create_task(GuardedSearch(search, rewrite, guard=FakeGuard()).arun(TURN, HISTORY))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    root = seen.span("rewriteguard.retrieve")
    assert root.attributes["rewriteguard.cancelled"] is True
    cancelled = [s for s in seen.spans if s.name == "rewriteguard.search"]
    assert [s.attributes["rewriteguard.cancelled"] for s in cancelled] == [True] * 3


async def test_wait_for_leaves_no_task_behind():
    async def search(query):
        await asyncio.sleep(20)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(GuardedSearch(search, rewrite, guard=FakeGuard()).arun(TURN, HISTORY), 0.1)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("stage", ["rewriter", "arm"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_loop_that_is_closed_under_a_call(caplog, monkeypatch, release, kind, stage):
    """asyncio itself says that a pending task was destroyed; nothing else may be heard."""
    seen, unheard = probe(monkeypatch), []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: unheard.append(told.exc_value))

    async def asearch(query):
        await asyncio.sleep(20)

    slow = (lambda turn, history: release.wait(20) and GOOD) if stage == "rewriter" else rewrite
    guarded = GuardedSearch(
        (lambda query: release.wait(20) and []) if kind == "sync" else asearch, slow, guard=FakeGuard()
    )
    loop = asyncio.new_event_loop()
    task = loop.create_task(guarded.arun(TURN, HISTORY))
    loop.run_until_complete(asyncio.sleep(0.1))
    with caplog.at_level(logging.WARNING):
        loop.close()
        release.set()
        time.sleep(0.1)
        del task
        gc.collect()
    assert unheard == []
    assert "rewriteguard.retrieve" in {span.name for span in seen.spans}
    assert {record.getMessage().split("\n")[0] for record in caplog.records} <= {
        "Task was destroyed but it is pending!"
    }
    assert in_asyncio(GuardedSearch(found, rewrite, guard=FakeGuard())).items


def test_one_guarded_search_serves_many_loops_and_threads():
    guarded = GuardedSearch(found, rewrite, guard=FakeGuard())
    expected = sync(guarded).items
    assert [in_asyncio(guarded).items for _ in range(3)] == [expected] * 3

    async def both_inside():
        return [guarded.run(TURN, HISTORY).items, (await guarded.arun(TURN, HISTORY)).items]

    assert asyncio.run(both_inside()) == [expected] * 2
    seen = []
    workers = [threading.Thread(target=lambda: seen.append(sync(guarded).items)) for _ in range(2)]
    workers.append(threading.Thread(target=lambda: seen.append(in_asyncio(guarded).items)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == [expected] * 3


def test_shadow_mode_fails_as_without_the_guard(go):
    with pytest.raises(OSError, match="index is down"):
        go(raising(OSError("index is down")), policy=Policy.observe())
    with pytest.raises(ConnectionError):
        go(found, raising(ConnectionError("down")), policy=Policy.observe())


def test_safe_rewrite_outlives_a_rewriter_that_cancels_itself():
    for limit in (None, 5):
        decision = safe_rewrite(TURN, raising(asyncio.CancelledError()), HISTORY, guard=FakeGuard(), timeout=limit)
        assert decision.reason == "rewriter_error"


# through LangChain

PROMPT = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
PAYLOAD = {"input": TURN, "chat_history": HISTORY}


class Shelf(BaseRetriever):
    """Gives the same documents to every query, changes them and its list, and may fail for one query."""

    documents: list
    failing: str = ""

    def _get_relevant_documents(self, query, *, run_manager):
        if origin_of(query) == self.failing:
            raise OSError("index is down")
        for document in self.documents:
            document.metadata["rank"] = query
        self.documents.reverse()
        self.documents.reverse()
        return self.documents


def documents():
    return [
        Document("A box costs 14 euros.", metadata={"tags": [["price"], {"a": 1}]}),
        Document("A box costs 14 euros.", metadata={"tags": {"set"}}),
        Document("Boxes stand at stations.", id=""),
        Document("Boxes are dry.", id=""),
    ]


def chain(retriever, answer=lambda _: GOOD, **keywords):
    made = create_history_aware_retriever(RunnableLambda(answer), retriever, PROMPT)
    return guard_history_aware_retriever(made, **{"guard": FakeGuard()} | keywords)


async def both(runnable, payload=PAYLOAD):
    ours, theirs = runnable.invoke(payload), await runnable.ainvoke(payload)
    assert [each.page_content for each in ours] == [each.page_content for each in theirs]
    return [each.page_content for each in ours]


TEXTS = ["A box costs 14 euros.", "Boxes stand at stations.", "Boxes are dry."]


async def test_langchain_documents_that_are_changed_have_no_ids_and_cannot_be_hashed():
    assert await both(chain(Shelf(documents=documents()))) == TEXTS


@pytest.mark.parametrize("answer", [raising(ConnectionError("down")), lambda _: 7, lambda _: None, lambda _: ""])
async def test_langchain_rewriters_without_an_answer(guard, answer):
    seen = []
    assert await both(chain(Shelf(documents=documents()), answer, guard=guard, on_decision=seen.append)) == TEXTS
    assert {decision.action for decision in seen} == {Action.FALL_BACK}
    assert {decision.reason.value for decision in seen} <= {"rewriter_error", "malformed"}


@pytest.mark.parametrize("arm", ["original", "rewrite", "carried"])
async def test_a_langchain_arm_that_fails(arm):
    assert await both(chain(Shelf(documents=documents(), failing=arm))) == TEXTS


@pytest.mark.parametrize(
    "score", [raising(KeyError("score")), lambda document: document.metadata["rank"], lambda _: 1j]
)
async def test_a_langchain_score_that_cannot_be_read_loses_no_document(score):
    assert await both(chain(Shelf(documents=documents()), score=score)) == TEXTS


def test_a_langchain_retriever_of_other_things():
    class Odd:
        def __repr__(self):
            raise ValueError("no name")

    things = [Odd(), Odd()]
    assert chain(RunnableLambda(lambda query: list(things))).invoke(PAYLOAD) == things
    assert chain(RunnableLambda(lambda query: list(things)), score_key="score").invoke(PAYLOAD) == things
