import asyncio
import contextvars
import logging
import re
import threading
import time
from datetime import UTC, date, datetime

import pytest

from fakes import HISTORY, FakeGuard, probe
from rewriteguard.errors import InputError, PipelineNotFoundError, ScopeError
from rewriteguard.model.decision import Action
from rewriteguard.model.rules import Verdict
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import _runners as threads
from rewriteguard.retrieve.rewrite import asafe_rewrite, safe_rewrite
from rewriteguard.retrieve.search import GuardedSearch, Hit, Status
from rewriteguard.telemetry import _contain as contain

TURN = "And how long does it take?"
GOOD = "How long does it take to renew a parking permit?"
CARRIED = TURN + " renew permit parking town"
LISTS = {TURN: ["a", "b"], GOOD: ["r", "b", "a"], CARRIED: ["c", "b"]}


class Index:
    """Remembers each search: query and keywords."""

    def __init__(self, lists=LISTS, **behaviour):
        self.lists = lists
        self.behaviour = behaviour
        self.calls = []

    def search(self, query, **keywords):
        self.calls.append((query, keywords))
        act = self.behaviour.get(self.name(query))
        if act is not None:
            act()
        return list(self.lists.get(query, []))

    async def asearch(self, query, **keywords):
        self.calls.append((query, keywords))
        await asyncio.sleep(0)
        act = self.behaviour.get(self.name(query))
        if act is not None:
            act()
        return list(self.lists.get(query, []))

    @staticmethod
    def name(query):
        return {TURN: "original", GOOD: "rewrite"}.get(query, "carried")

    @property
    def queries(self):
        return sorted(query for query, _ in self.calls)


def fail(error):
    def act():
        raise error

    return act


def rewrite_well(turn, history):
    return GOOD


WAYS = ["sync", "async of sync", "async", "sync of async"]


@pytest.fixture(params=WAYS)
def run(request):
    """Runs one guarded search in one of the four ways; all tests that use it must hold for each."""

    def go(index, rewriter=rewrite_well, turn=TURN, history=HISTORY, *, keywords=None, day=None, **settings):
        settings.setdefault("guard", FakeGuard())
        of_async = request.param in ("async", "sync of async")

        def way(index):
            return index.asearch if of_async else index.search

        several = isinstance(index, dict)
        search = {name: way(each) for name, each in index.items()} if several else way(index)
        guarded = GuardedSearch(search, rewriter, **settings)
        if request.param.startswith("sync"):
            return guarded.run(turn, history, reference_date=day, **(keywords or {}))
        return asyncio.run(guarded.arun(turn, history, reference_date=day, **(keywords or {})))

    return go


def outcomes(result):
    return {arm.origin.value: arm.status.value for arm in result.arms}


def test_three_arms_are_fused_with_the_policy_s_weights(run):
    index = Index()
    result = run(index)
    assert index.queries == sorted(LISTS)
    # r 4/3; b 1/4 + 4/4 + 2/4; a 1/3 + 4/5; c 2/3
    assert result.items == ["b", "r", "a"]
    assert outcomes(result) == {"original": "ok", "rewrite": "ok", "carried": "ok"}
    assert not result.partial
    assert len(result.id) == 32


def test_a_changed_rewrite_is_not_searched(run):
    index = Index()
    result = run(index, guard=FakeGuard({GOOD: Verdict.CHANGED}))
    assert index.queries == sorted([TURN, CARRIED])
    assert result.decision.action is Action.FALL_BACK
    assert result.items == ["b", "c"]


def test_the_original_is_searched_while_the_rewriter_is_still_at_work(run):
    searched = threading.Event()
    index = Index(original=searched.set)
    result = run(index, rewriter=lambda turn, history: GOOD if searched.wait(5) else fail(AssertionError)())
    assert result.decision.reason == "ok"


def test_the_arms_run_side_by_side():
    meeting = threading.Barrier(2, timeout=5)
    index = Index(original=meeting.wait, carried=meeting.wait)
    result = GuardedSearch(index.search, lambda turn: GOOD, guard=FakeGuard()).run(TURN, HISTORY)
    assert not result.partial


def test_equal_queries_are_searched_once(run):
    index = Index()
    result = run(index, rewriter=lambda turn, history: TURN)
    assert index.queries == sorted([TURN, CARRIED])
    assert [arm.weight for arm in result.arms] == [5, 2]


def test_first_turn_does_not_ask_the_rewriter(run):
    index = Index()
    result = run(index, rewriter=fail(AssertionError("asked")), history=[])
    assert (result.decision.action, result.decision.reason) == (Action.USE_ORIGINAL, "first_turn")
    assert index.calls == [(TURN, {})]
    assert result.items == ["a", "b"]


def test_a_complete_turn_can_spare_the_rewriter(run):
    index = Index()
    guard = FakeGuard(needs_history=False)
    result = run(index, rewriter=fail(AssertionError("asked")), guard=guard, rewrite_when="dependent")
    assert (result.decision.action, result.decision.reason) == (Action.USE_ORIGINAL, "skipped")
    assert index.queries == [TURN]
    assert run(Index(), guard=FakeGuard(needs_history=True), rewrite_when="dependent").decision.reason == "ok"


@pytest.mark.parametrize(("verdict", "query"), [(Verdict.PRESERVED, GOOD), (Verdict.CHANGED, TURN)])
def test_single_is_exactly_one_search(run, verdict, query):
    index = Index()
    result = run(index, guard=FakeGuard({GOOD: verdict}), policy=Policy.single())
    assert index.calls == [(query, {})]
    assert result.items == LISTS[query]


def test_rewriter_failures_fall_back(run):
    result = run(Index(), rewriter=fail_rewriter)
    assert (result.decision.action, result.decision.reason) == (Action.FALL_BACK, "rewriter_error")
    assert result.items == ["b", "a"]
    release = threading.Event()
    result = run(Index(), rewriter=lambda turn, history: release.wait(5), rewriter_timeout=0.05)
    release.set()
    assert result.decision.reason == "rewriter_timeout"


def fail_rewriter(turn, history):
    raise ConnectionError("model is down")


def test_a_guard_that_fails_searches_the_original_only(run):
    result = run(Index(), guard=FakeGuard(broken=True))
    assert (result.decision.action, result.decision.reason) == (Action.FALL_BACK, "guard_error")
    assert result.items == ["a", "b"]
    assert [arm.origin for arm in result.arms] == ["original"]


def test_a_guard_that_fails_late_drops_what_was_started(run):
    guard = FakeGuard()
    guard.decide = lambda *_, **__: 1 / 0
    result = run(Index(), guard=guard)
    assert result.items == ["a", "b"]
    assert outcomes(result) == {"original": "ok", "carried": "skipped"}
    assert not result.partial


@pytest.mark.parametrize("failing", ["original", "rewrite", "carried"])
def test_one_failing_arm_leaves_the_others(run, failing):
    result = run(Index(**{failing: fail(OSError("index is down"))}))
    assert result.partial
    assert outcomes(result)[failing] == "error"
    assert [arm.error for arm in result.arms if arm.status is Status.ERROR] == ["OSError"]
    assert result.items


def test_all_failing_raises_the_original_s_error(run):
    index = Index(original=fail(OSError("first")), rewrite=fail(KeyError("second")), carried=fail(KeyError("third")))
    with pytest.raises(OSError, match="first"):
        run(index)


def test_a_spent_budget_gives_what_is_there():
    release = threading.Event()
    index = Index(rewrite=lambda: release.wait(5))
    started = time.monotonic()
    result = GuardedSearch(index.search, lambda turn: GOOD, guard=FakeGuard(), timeout=0.2).run(TURN, HISTORY)
    assert time.monotonic() - started < 2
    release.set()
    assert outcomes(result) == {"original": "ok", "rewrite": "timeout", "carried": "ok"}
    assert result.partial
    assert result.items == ["b", "c"]


def test_a_spent_budget_with_nothing_there_is_a_timeout():
    release = threading.Event()
    index = Index(original=lambda: release.wait(5), rewrite=lambda: release.wait(5), carried=lambda: release.wait(5))
    guarded = GuardedSearch(index.search, lambda turn: GOOD, guard=FakeGuard(), timeout=0.1)
    with pytest.raises(TimeoutError):
        guarded.run(TURN, HISTORY)
    with pytest.raises(TimeoutError):
        asyncio.run(guarded.arun(TURN, HISTORY))
    release.set()


def test_a_hanging_arm_holds_up_no_other_call():
    release = threading.Event()
    index = Index(carried=lambda: release.wait(10))
    guarded = GuardedSearch(index.search, lambda turn: GOOD, guard=FakeGuard(), timeout=0.1)

    async def many():
        return await asyncio.gather(*(guarded.arun(TURN, HISTORY) for _ in range(40)))

    started = time.monotonic()
    results = asyncio.run(many())
    assert time.monotonic() - started < 5
    release.set()
    assert all(outcomes(result)["rewrite"] == "ok" for result in results)


@pytest.fixture
def hanging():
    """Lets jobs hang until the test is over, and then waits until none is left."""
    none_left()
    release = threading.Event()
    yield lambda *_: release.wait(30)
    release.set()
    none_left()


def none_left():
    deadline = time.monotonic() + 5
    while threads._timed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not threads._timed


def late():
    return [each for each in threads._timed.values() if each.until < time.monotonic()]


def both(guarded, times):
    for _ in range(times):
        yield guarded.run(TURN, HISTORY)
        yield asyncio.run(guarded.arun(TURN, HISTORY))


def test_threads_left_behind_by_a_hanging_rewriter_are_bounded(hanging, monkeypatch, caplog):
    monkeypatch.setattr(threads, "MAX_LATE", 4)
    monkeypatch.setattr(contain, "_said", set())
    asked = []
    guarded = GuardedSearch(
        Index().asearch, lambda turn: asked.append(turn) or hanging(), guard=FakeGuard(), rewriter_timeout=0.02
    )
    results = list(both(guarded, 5))
    assert len(asked) == len(late()) == 4
    assert {result.decision.reason for result in results} == {"rewriter_timeout"}
    assert all(result.items == ["b", "a"] for result in results)
    assert caplog.text.count("4 late calls of one rewriter or search still run") == 1
    assert safe_rewrite(TURN, lambda turn: GOOD, HISTORY, guard=FakeGuard(), timeout=5).reason == "ok"  # another one


def test_above_the_limit_a_timed_call_waits_for_nothing(hanging, monkeypatch):
    monkeypatch.setattr(threads, "MAX_LATE", 1)
    list(both(GuardedSearch(Index().asearch, hanging, guard=FakeGuard(), rewriter_timeout=0.02), 1))
    started = time.monotonic()
    list(both(GuardedSearch(Index().asearch, hanging, guard=FakeGuard(), rewriter_timeout=20), 1))
    assert time.monotonic() - started < 5


def test_threads_left_behind_by_hanging_searches_are_bounded(hanging, monkeypatch):
    monkeypatch.setattr(threads, "MAX_LATE", 6)
    index = Index(carried=hanging)
    results = list(both(GuardedSearch(index.search, lambda turn: GOOD, guard=FakeGuard(), timeout=0.3), 3))
    assert len(late()) == 6
    assert all(outcomes(each) == {"original": "ok", "rewrite": "ok", "carried": "timeout"} for each in results)
    full = GuardedSearch(index.search, lambda turn: GOOD, guard=FakeGuard(), timeout=0.3)
    with pytest.raises(TimeoutError):
        full.run(TURN, HISTORY)
    with pytest.raises(TimeoutError):
        asyncio.run(full.arun(TURN, HISTORY))
    assert len(index.calls) == 18
    unlimited = GuardedSearch(Index().search, lambda turn: GOOD, guard=FakeGuard())
    assert all(not result.partial for result in both(unlimited, 1))


def test_abandoned_threads_are_counted_until_they_end():
    none_left()
    release = threading.Event()
    guarded = GuardedSearch(Index().asearch, lambda turn: release.wait(30), guard=FakeGuard(), rewriter_timeout=0.02)
    list(both(guarded, 2))
    assert len(late()) == 4
    release.set()
    none_left()


def test_threads_end_with_their_searches(run):
    run(Index())
    deadline = time.monotonic() + 2
    while any(thread.name == "rewriteguard" for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [thread for thread in threading.enumerate() if thread.name == "rewriteguard"]


async def test_cancelling_the_caller_cancels_rewriter_and_arms():
    closed = []

    async def search(query):
        try:
            await asyncio.sleep(5)
        finally:
            closed.append(Index.name(query))

    async def rewriter(turn, history):
        try:
            await asyncio.sleep(5)
        finally:
            closed.append("rewriter")

    task = asyncio.create_task(GuardedSearch(search, rewriter, guard=FakeGuard()).arun(TURN, HISTORY))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(closed) == ["carried", "original", "rewriter"]
    assert [each for each in asyncio.all_tasks() if each is not asyncio.current_task()] == []


async def test_async_arms_that_are_not_needed_are_cancelled():
    closed = []

    async def search(query):
        if query == CARRIED:
            try:
                await asyncio.sleep(5)
            finally:
                closed.append(query)
        return ["a"]

    guard = FakeGuard()
    guard.decide = lambda *_, **__: 1 / 0
    result = await GuardedSearch(search, lambda turn: GOOD, guard=guard).arun(TURN, HISTORY)
    assert (result.items, closed) == (["a"], [CARRIED])


async def test_the_guard_works_beside_the_event_loop(monkeypatch):
    """Every method of the guard runs in another thread, and its span stays in the retrieval's trace."""
    probed, at_work = probe(monkeypatch), set()

    class Watched(FakeGuard):
        def _called(self, name, argument):
            at_work.add((name, threading.current_thread() is threading.main_thread()))
            super()._called(name, argument)

    search = Index().asearch
    failing = GuardedSearch(search, lambda turn: 1 / 0, guard=Watched())
    await failing.arun(TURN, HISTORY)
    result = await GuardedSearch(search, lambda turn: GOOD, guard=Watched(), rewrite_when="dependent").arun(
        TURN, HISTORY
    )
    await asafe_rewrite(TURN, GOOD, HISTORY, guard=Watched())
    assert at_work == {(name, False) for name in ("decide", "without_rewrite", "dependent", "carried")}
    (check,) = [
        span
        for span in probed.spans
        if span.name == "rewriteguard.check" and f"{span.context.trace_id:032x}" == result.id
    ]
    assert check.attributes["rewriteguard.verdict"] == "preserved"


def test_a_synchronous_caller_s_guard_works_in_its_own_thread():
    at_work = set()

    class Watched(FakeGuard):
        def _called(self, name, argument):
            at_work.add((name, threading.current_thread() is threading.main_thread()))
            super()._called(name, argument)

    GuardedSearch(Index().search, lambda turn: GOOD, guard=Watched(), rewrite_when="dependent").run(TURN, HISTORY)
    beside = ("carried", False)  # the rewriter, which has the caller's thread meanwhile
    assert at_work == {("dependent", True), ("decide", True), ("carried", True), beside}


# shadow mode


def test_observe_is_exactly_one_search_with_the_raw_rewrite(run):
    raw = f' "{GOOD}"\n'
    index = Index({raw: ["x", "x", "y"]})
    guard = FakeGuard({raw: Verdict.CHANGED})
    result = run(index, rewriter=lambda turn, history: raw, guard=guard, policy=Policy.observe(), k=1)
    assert index.calls == [(raw, {})]
    assert result.items == ["x", "x", "y"]
    assert (result.decision.action, result.decision.proposed) == (Action.USE_REWRITE, Action.FALL_BACK)


def test_observe_lets_the_rewriter_s_error_through_and_searches_nothing(run):
    index = Index()
    with pytest.raises(ConnectionError):
        run(index, rewriter=fail_rewriter, policy=Policy.observe())
    assert index.calls == []


def test_observe_on_a_first_turn_and_with_a_broken_guard(run):
    index = Index()
    assert run(index, history=None, policy=Policy.observe()).items == ["a", "b"]
    assert index.calls == [(TURN, {})]
    index = Index()
    assert run(index, guard=FakeGuard(broken=True), policy=Policy.observe()).items == LISTS[GOOD]
    assert index.calls == [(GOOD, {})]


# scores, counts, identity


def test_margins_multiply_the_weights_where_all_arms_have_scores(run):
    flat, peaked = [Hit("f", 5.0), Hit("g", 5.0)], [Hit("p", 8.0), Hit("q", 2.0)]
    result = run(Index({TURN: peaked, GOOD: flat, CARRIED: peaked}))
    assert [arm.margin for arm in result.arms] == [0.75, 0.02, 0.75]
    assert result.items == ["p", "q"]
    without = run(Index({TURN: ["p", "q"], GOOD: flat, CARRIED: peaked}))
    assert [arm.margin for arm in without.arms] == [1, 1, 1]
    assert without.items == ["f", "p"]


def test_several_searches_get_every_query_and_all_lists_are_fused(run):
    words, vectors = Index(), Index({TURN: ["v"], GOOD: ["b", "v"], CARRIED: ["v", "c"]})
    result = run({"words": words, "vectors": vectors})
    assert words.queries == vectors.queries == sorted([TURN, GOOD, CARRIED])
    assert [(arm.origin, arm.source) for arm in result.arms] == [
        (origin, source) for origin in ("original", "rewrite", "carried") for source in ("words", "vectors")
    ]
    assert "v" in result.items
    assert result.items[0] == "b"


def test_one_of_several_searches_may_fail(run):
    down = fail(OSError("down"))
    result = run({"words": Index(), "vectors": Index(original=down, rewrite=down, carried=down)})
    assert result.items == run(Index()).items
    assert result.partial
    assert {(arm.source, str(arm.status)) for arm in result.arms} == {("words", "ok"), ("vectors", "error")}


def test_several_searches_are_fused_on_a_first_turn_too(run):
    result = run({"words": Index({TURN: ["a", "b"]}), "vectors": Index({TURN: ["b", "c"]})}, history=())
    assert result.items == ["b", "a"]
    assert [arm.source for arm in result.arms] == ["words", "vectors"]


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({}, "search: expected at least one search, got an empty mapping"),
        ({"words": 7}, r"search\['words'\]: expected a callable, got int"),
        ({7: Index().search}, "search: expected names that are strings, got 7"),
        (7, "search: expected a callable or a mapping of names to them, got int"),
    ],
)
def test_searches_that_cannot_be_used_are_named(search, message):
    with pytest.raises(InputError, match=message):
        GuardedSearch(search, GOOD, guard=FakeGuard())


def test_returned_count(run):
    assert len(run(Index()).items) == 3
    assert run(Index(), k=1).items == ["b"]
    assert len(run(Index(), k=10).items) == 4


def test_key_says_which_items_are_the_same(run):
    lists = {TURN: [{"id": 1, "arm": "o"}], GOOD: [{"id": 2}, {"id": 1, "arm": "r"}], CARRIED: []}
    result = run(Index(lists), key=lambda item: item["id"])
    # 1/3 + 4/4 and 4/3 tie, so the original's list goes first, and its copy of the item is the one returned
    assert result.items == [{"id": 1, "arm": "o"}, {"id": 2}]


class Counted(Index):
    """A search that names `k`."""

    def search(self, query, k=2, **keywords):
        return super().search(query, k=k, **keywords)[:k]

    async def asearch(self, query, k=2, **keywords):
        return (await super().asearch(query, k=k, **keywords))[:k]


def asked_for(index):
    return sorted(keywords["k"] for _, keywords in index.calls)


def test_more_is_asked_for_where_lists_are_fused(run):
    long = {query: [f"{place}{n}" for n in range(40)] for place, query in zip("orc", LISTS, strict=True)}
    index = Counted(long)
    assert len(run(index, k=5).items) == 5
    assert len(run(index, keywords={"k": 7}, k=5).items) == 7
    assert asked_for(index) == [20] * 6
    index.calls.clear()
    assert len(run(index, k=30).items) == 30
    assert asked_for(index) == [30] * 3
    index.calls.clear()
    assert len(run(index, k=5, guard=FakeGuard({GOOD: Verdict.CHANGED}), policy=Policy(carried=False)).items) == 5
    assert asked_for(index) == [20]


def test_one_search_is_asked_for_what_is_wanted(run):
    long = {query: [f"{n}" for n in range(40)] for query in LISTS}
    for settings in ({"policy": Policy.single()}, {"history": []}):
        index = Counted(long)
        assert len(run(index, k=5, **settings).items) == 5
        assert asked_for(index) == [5]


def test_a_search_s_own_count_is_left_alone(run):
    index = Counted()
    run(index)
    assert asked_for(index) == [2] * 3
    index = Counted()
    run(index, k=1, keywords={"k": 3}, policy=Policy.observe())
    assert asked_for(index) == [3]
    index = Index()  # takes any keyword: `k` may mean something else
    assert len(run(index, keywords={"k": 1}).items) == 1
    assert asked_for(index) == [1] * 3


# scope and admission


def test_scope_is_asked_once_and_limits_every_arm(run):
    asked = []

    def scope(config):
        asked.append(dict(config))
        return {"tenant": "north", "limit": 5}

    index = Index()
    run(index, scope=scope, keywords={"limit": 50, "lang": "en"})
    assert asked == [{"limit": 50, "lang": "en"}]
    assert dict(index.calls) == {query: {"tenant": "north", "limit": 5, "lang": "en"} for query in LISTS}


def test_what_a_scope_holds_is_that_of_its_evaluation_for_every_arm(run):
    groups, region = ["staff"], {"any": [{"town"}]}

    def promote(turn, history):
        groups.append("board")
        region["any"][0].add("county")
        return GOOD

    index = Index()
    run(index, rewriter=promote, scope=lambda config: {"filter": {"groups": groups}}, keywords={"where": (region,)})
    limits = {"filter": {"groups": ["staff"]}, "where": ({"any": [{"town"}]},)}
    assert dict(index.calls) == dict.fromkeys(LISTS, limits)
    assert groups == ["staff", "board"]


@pytest.mark.parametrize(
    "scope",
    [lambda config: None, lambda config: config["tenant"], lambda config: ["north"]],
    ids=["none", "raises", "list"],
)
def test_a_scope_that_is_not_decided_stops_everything(run, scope):
    index, asked = Index(), []
    with pytest.raises(ScopeError):
        run(index, rewriter=lambda turn, history: asked.append(turn) or GOOD, scope=scope)
    assert (index.calls, asked) == ([], [])


def test_admit_is_a_veto_before_ranks_are_counted(run):
    def admit(item):
        if item == "a":
            raise LookupError("no such right")
        return item != "b"

    result = run(Index(), admit=admit)
    assert result.items == ["r", "c"]
    assert {arm.origin.value: arm.vetoed for arm in result.arms} == {"original": 2, "rewrite": 2, "carried": 1}


# the rest of the contract


def test_on_decision_gets_each_decision_and_its_errors_are_contained(run):
    seen = []

    def tell(decision):
        seen.append(decision.action)
        raise RuntimeError("dashboard is down")

    assert run(Index(), on_decision=tell).items
    assert seen == [Action.FUSE]


def test_clarify_returns_no_items(run):
    index = Index()
    guard = FakeGuard({GOOD: Verdict.UNCERTAIN}, candidates=("the permit", "the desk"))
    result = run(index, guard=guard, policy=Policy(clarify=True))
    assert (result.items, result.decision.action) == ([], Action.CLARIFY)
    assert result.decision.candidates == ("the permit", "the desk")
    assert GOOD not in index.queries


def test_reference_date_is_today_unless_given(run):
    guard = FakeGuard()
    run(Index(), guard=guard, day=date(2024, 2, 29))
    run(Index(), guard=guard)
    days = [argument for name, argument in guard.calls if name == "decide"]
    assert days[0] == date(2024, 2, 29)
    assert abs((days[1] - datetime.now(UTC).date()).days) <= 1


def test_context_variables_reach_every_search(run):
    variable = contextvars.ContextVar("tenant", default="none")
    seen = []
    token = variable.set("north")
    index = Index(**dict.fromkeys(["original", "rewrite", "carried"], lambda: seen.append(variable.get())))
    run(index)
    variable.reset(token)
    assert seen == ["north"] * 3


def test_errors_that_name_what_is_wrong():
    with pytest.raises(InputError, match=r"search: .*str"):
        GuardedSearch("index", GOOD, guard=FakeGuard())
    with pytest.raises(InputError, match=r"rewriter: .*int"):
        GuardedSearch(Index().search, 7, guard=FakeGuard())
    with pytest.raises(InputError, match=r"rewrite_when: .*'never'"):
        GuardedSearch(Index().search, GOOD, guard=FakeGuard(), rewrite_when="never")
    for found, name in (("text", "str"), (None, "NoneType"), (7, "int"), ({"a": 1}, "dict")):
        with pytest.raises(InputError, match=f"search: expected a list of items, got {name}"):
            GuardedSearch(lambda query, found=found: found, GOOD, guard=FakeGuard()).run(TURN)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": "strict"}, "policy: expected a Policy, got str"),
        ({"policy": {}}, "policy: expected a Policy, got dict"),
        ({"guard": "english"}, "guard: expected a Guard, got str"),
        ({"k": 0}, "k: expected a whole number above 0 or None, got 0"),
        ({"k": True}, "k: expected a whole number above 0 or None, got True"),
        ({"k": "5"}, "k: expected a whole number above 0 or None, got '5'"),
        ({"timeout": 0}, "timeout: expected a number of seconds above 0 or None, got 0"),
        ({"timeout": float("nan")}, "timeout: expected a number of seconds above 0 or None, got nan"),
        ({"rewriter_timeout": True}, "rewriter_timeout: expected a number of seconds above 0 or None, got True"),
        ({"key": "id"}, "key: expected a callable or None, got str"),
        ({"admit": True}, "admit: expected a callable or None, got bool"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, message):
    with pytest.raises(InputError, match=re.escape(message)):
        GuardedSearch(Index().search, GOOD, **{"guard": FakeGuard()} | settings)


@pytest.mark.parametrize("wanted", [0, -1, "many"])
@pytest.mark.parametrize("index", [Index(), Counted()], ids=["any", "named"])
def test_a_count_of_a_call_that_cannot_be_used_is_named(run, index, wanted):
    with pytest.raises(InputError, match="k: expected a whole number above 0"):
        run(index, keywords={"k": wanted})


def test_an_extractor_that_fails_does_not_break_construction(run, caplog):
    class Failing(FakeGuard):
        def warm_up(self):
            raise ZeroDivisionError("secret words")

    class Missing(FakeGuard):
        def warm_up(self):
            raise PipelineNotFoundError("no pipeline")

    with caplog.at_level(logging.INFO, "rewriteguard"):
        assert run(Index(), guard=Failing()).items
    assert "guard failed: ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text
    with pytest.raises(PipelineNotFoundError):
        run(Index(), guard=Missing())


def test_search_keywords_may_have_any_name(run):
    index = Index()
    run(index, keywords={"origin": "web", "function": "f", "text": "t"})
    assert index.calls[0][1] == {"origin": "web", "function": "f", "text": "t"}


async def test_a_search_that_returns_its_coroutine_and_a_running_loop():
    index = Index()
    guarded = GuardedSearch(lambda query: index.asearch(query), lambda turn: GOOD, guard=FakeGuard())
    assert guarded.run(TURN, HISTORY).items == (await guarded.arun(TURN, HISTORY)).items == ["b", "r", "a"]


def test_single_search_stays_in_the_caller_s_thread():
    seen = []
    search = Index(rewrite=lambda: seen.append(threading.current_thread())).search
    GuardedSearch(search, lambda turn: GOOD, guard=FakeGuard(), policy=Policy.observe()).run(TURN, HISTORY)
    assert seen == [threading.current_thread()]


def test_to_dict_is_plain():
    told = GuardedSearch(Index().search, lambda turn: GOOD, guard=FakeGuard()).run(TURN, HISTORY).to_dict()
    assert told["arms"][0]["status"] == "ok"
    assert told["partial"] is False
    assert told["decision"]["action"] == "fuse"


def test_spans_make_one_tree(run, monkeypatch):
    seen = probe(monkeypatch)
    result = run(Index())
    root = seen.span("rewriteguard.retrieve")
    assert {span.parent.span_id for span in seen.spans if span is not root} == {root.context.span_id}
    assert sorted(span.name for span in seen.spans) == sorted(
        ["rewriteguard.retrieve", "rewriteguard.rewrite", "rewriteguard.check", "rewriteguard.fuse"]
        + ["rewriteguard.search"] * 3
    )
    assert result.id == f"{root.context.trace_id:032x}"
