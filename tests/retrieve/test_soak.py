"""Two thousand guarded calls with random faults, in 16 threads and in asyncio: nothing leaks, mixes or goes untold."""

from __future__ import annotations

import asyncio
import random
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from fakes import FakeGuard, probe
from rewriteguard.errors import ScopeError
from rewriteguard.guard.guard import Guard
from rewriteguard.policy.policy import Policy
from rewriteguard.retrieve import _runners as threads
from rewriteguard.retrieve.search import GuardedSearch, Hit

TURNS, TIMES = 200, 10  # a turn that comes again costs the guard nothing; a call does not know the others of its turn
AT_ONCE = 16
LIMIT = 4.0  # seconds, for the calls that something holds up; a busy machine must not make others late
HANGS = 20  # seconds, unless the run is over

CODE = re.compile(r"QX-\d{4}")
HISTORY = [("user", "Where do I see my repair tickets?"), ("assistant", "The workshop lists tickets on its board.")]
TENANTS = ("north", "south", "east")


@dataclass(frozen=True)
class Fault:
    """What is broken on purpose, and what has to be told about it."""

    rewriter: str = "works"
    guard: bool = False
    arms: tuple[str, ...] = ()
    hanging: tuple[str, ...] = ()
    scope: bool = True
    admit: bool = True
    history: bool = True
    reason: str | None = "ok"
    raises: type[Exception] | None = None
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """One turn with what breaks at it."""

    number: int
    fault: Fault

    @property
    def code(self):
        return f"QX-{self.number:04}"

    @property
    def turn(self):
        return f"Is ticket {self.code} still open?"

    @property
    def tenant(self):
        return TENANTS[self.number % len(TENANTS)]

    @property
    def history(self):
        return HISTORY if self.fault.history else []


SOUND = Fault()
FAULTS = [
    Fault("raises", reason="rewriter_error"),
    Fault("is silent", reason="rewriter_error"),
    Fault("is empty", reason="malformed"),
    Fault("repeats", reason="malformed"),
    Fault("forgets", reason="dropped"),
    Fault("works", guard=True, reason="guard_error"),
    Fault(arms=("original",), failed=("original:error",)),
    Fault(arms=("rewrite",), failed=("rewrite:error",)),
    Fault(arms=("carried",), failed=("carried:error",)),
    Fault(arms=("original", "carried"), failed=("original:error", "carried:error")),
    Fault("raises", arms=("original",), reason="rewriter_error", failed=("original:error",)),
    Fault(arms=("original", "rewrite", "carried"), raises=OSError),
    Fault(guard=True, arms=("original",), reason="guard_error", raises=OSError),
    Fault(scope=False, reason=None, raises=ScopeError),
    Fault(admit=False),
    Fault(history=False, reason="first_turn"),
]
SLOW = [
    Fault("hangs", reason="rewriter_timeout"),
    Fault(hanging=("rewrite",), failed=("rewrite:timeout",)),
    Fault(hanging=("original", "carried"), failed=("original:timeout", "carried:timeout")),
]


class World:
    """Rewriter, guard, index and callbacks of all calls; which call it is they see from the code in the text."""

    def __init__(self, guard, calls):
        self.guard = FaultyGuard(guard, self)
        self.calls = {call.code: call for call in calls}
        self.over = threading.Event()

    def call(self, text):
        return self.calls[CODE.search(text).group()]

    def rewrite(self, turn, history):
        call = self.call(turn)
        match call.fault.rewriter:
            case "raises":
                raise ConnectionError(call.code)
            case "hangs":
                self.over.wait(HANGS)
            case "is silent":
                return None
            case "is empty":
                return " "
            case "repeats":
                return "ticket " * 60
            case "forgets":
                return "Is the ticket still open?"
        return f"Is the ticket {call.code} still open?"

    async def arewrite(self, turn, history):
        call = self.call(turn)
        if call.fault.rewriter == "hangs":
            await self._hang()
        await asyncio.sleep(0)
        return self.rewrite(turn, history)

    async def _hang(self):
        end = time.monotonic() + HANGS
        while not self.over.is_set() and time.monotonic() < end:
            await asyncio.sleep(0.05)

    def _arm(self, query):
        call = self.call(query)
        arm = "original" if query == call.turn else "carried" if query.startswith(call.turn) else "rewrite"
        if arm in call.fault.arms:
            raise OSError(call.code)
        return call, arm

    def search(self, query, *, tenant):
        call, arm = self._arm(query)
        if arm in call.fault.hanging:
            self.over.wait(HANGS)
        time.sleep(call.number % 5 / 2_000)
        return self._found(query, tenant)

    async def asearch(self, query, *, tenant):
        call, arm = self._arm(query)
        if arm in call.fault.hanging:
            await self._hang()
        await asyncio.sleep(call.number % 5 / 2_000)
        return self._found(query, tenant)

    @staticmethod
    def _found(query, tenant):
        code = CODE.search(query).group()
        return [Hit({"id": f"{tenant}/{code}/{place}", "query": query}, 9.0 - place) for place in range(4)]

    def scope(self, config):
        call = self.calls[config["code"]]
        return {"tenant": call.tenant, "code": None} if not call.fault.scope else {"tenant": call.tenant}

    def admit(self, item):
        return self.call(item["id"]).fault.admit or item["id"].endswith("/3")

    def guarded(self, *, asynchronous, limited):
        """All calls of a kind share one: synchronous or not inside, with a time limit or without."""
        limits = {"timeout": LIMIT, "rewriter_timeout": LIMIT / 2} if limited else {}
        common = {"guard": self.guard, "scope": self.scope, "admit": self.admit, "key": lambda item: item["id"]}
        search, rewriter = (self.asearch, self.arewrite) if asynchronous else (self.search, self.rewrite)

        def one(query, *, code, tenant):
            return search(query, tenant=tenant)

        async def aone(query, *, code, tenant):
            return await search(query, tenant=tenant)

        return GuardedSearch(aone if asynchronous else one, rewriter, **common, **limits)


class FaultyGuard(Guard):
    """The real guard, which raises for some turns."""

    def __init__(self, guard, world):
        self._guard = guard
        self._world = world

    def warm_up(self):
        self._guard.warm_up()

    def prepare(self, turn, history=()):
        self._guard.prepare(turn, history)

    def carried(self, turn, history=()):
        return self._guard.carried(turn, history)

    def decide(self, turn, rewrite, history=(), **keywords):
        if self._world.call(turn).fault.guard:
            raise ZeroDivisionError(turn)
        return self._guard.decide(turn, rewrite, history, **keywords)

    def without_rewrite(self, turn, reason, history=(), **keywords):
        return self._guard.without_rewrite(turn, reason, history, **keywords)


def drawn(seed):
    """Turns of which three in five are sound, and one for each fault that is slow; each many times, in any order."""
    dice = random.Random(seed)
    rest = dice.choices([SOUND, *FAULTS], [1.5 * len(FAULTS), *[1] * len(FAULTS)], k=TURNS - len(SLOW))
    calls = [Call(number, fault) for number, fault in enumerate([*rest, *SLOW])]
    assert {call.fault for call in calls} == {SOUND, *FAULTS, *SLOW}
    return calls, dice.sample(calls, TURNS * TIMES, counts=[TIMES] * TURNS)


def wrong(call, result):
    """What is wrong with the outcome of a call; empty where it is as it has to be."""
    fault = call.fault
    if isinstance(result, Exception) or fault.raises:
        return "" if type(result) is fault.raises else f"raised {result!r}"
    wanted = {f"{call.tenant}/{call.code}/{place}" for place in (range(4) if fault.admit else [3])}
    got = {item["id"] for item in result.items}
    failed = tuple(f"{a.origin.value}:{a.status.value}" for a in result.arms if a.status not in ("ok", "skipped"))
    if got != wanted:
        return f"found {sorted(got)}"
    if not {item["query"] for item in result.items} <= {query.text for query in result.decision.queries}:
        return "found by a query of another call"
    if (result.decision.reason, failed) != (fault.reason, fault.failed):
        return f"{result.decision.reason} {failed}"
    return ""


def told(spans):
    """For each turn what the span of its retrieval says."""
    rows = Counter()
    for span in spans:
        if span.name == "rewriteguard.retrieve":
            say = span.attributes.get
            failed = tuple(say("rewriteguard.failed_arms", ()))
            rows[(say("input.value"), say("rewriteguard.reason"), say("error.type"), failed)] += 1
    return rows


def expected(calls):
    return Counter(
        (call.turn, call.fault.reason, call.fault.raises.__name__ if call.fault.raises else None, call.fault.failed)
        for call in calls
    )


def run_in_threads(guarded, calls):
    def one(place, call):
        try:
            return guarded[place % 2, call.fault in SLOW].run(call.turn, call.history, code=call.code)
        except Exception as error:  # noqa: BLE001 - it is the outcome
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, range(len(calls)), calls))


def run_in_asyncio(guarded, calls):
    async def one(place, call, gate):
        async with gate:
            try:
                return await guarded[place % 2, call.fault in SLOW].arun(call.turn, call.history, code=call.code)
            except Exception as error:  # noqa: BLE001 - it is the outcome
                return error

    async def all_of_them():
        gate = asyncio.Semaphore(AT_ONCE)
        results = await asyncio.gather(*(one(place, call, gate) for place, call in enumerate(calls)))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return results

    return asyncio.run(all_of_them())


def none_left(before):
    """Waits until the threads that the calls started have ended."""
    deadline = time.monotonic() + 10
    while (threading.active_count() > before or threads._timed) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [thread for thread in threading.enumerate() if thread.name == "rewriteguard"]
    assert threading.active_count() <= before
    assert not threads._timed


@pytest.mark.parametrize("run", [run_in_threads, run_in_asyncio], ids=["threads", "asyncio"])
def test_soak(guard, monkeypatch, run):
    seen = probe(monkeypatch)
    turns, calls = drawn(seed=20_240_607)
    world = World(guard, turns)
    both = (False, True)
    guarded = {(a, b): world.guarded(asynchronous=a, limited=b) for a in both for b in both}
    before = threading.active_count()
    results = run(guarded, calls)
    world.over.set()
    faults = [(call.turn, call.fault, wrong(call, result)) for call, result in zip(calls, results, strict=True)]
    assert [each for each in faults if each[-1]] == []
    none_left(before)
    assert told(seen.spans) == expected(calls)
    assert len({span.context.trace_id for span in seen.spans}) == len(calls) == 2_000  # no span in another call's trace


class SlowToRead(FakeGuard):
    """Is still reading when all calls are over, as on a machine that has too much to do."""

    def __init__(self, over):
        super().__init__()
        self.over = over

    def prepare(self, turn, history=()):
        self.over.wait(HANGS)


@pytest.mark.parametrize("policy", [Policy(), Policy(carried=False)], ids=["carried", "original alone"])
@pytest.mark.parametrize("run", [run_in_threads, run_in_asyncio], ids=["threads", "asyncio"])
def test_a_rewriter_that_fails_at_once_in_a_hundred_threads_takes_no_search_with_it(monkeypatch, run, policy):
    monkeypatch.setitem(globals(), "AT_ONCE", 100)
    calls = [Call(number, Fault("raises", reason="rewriter_error")) for number in range(300)]
    over = threading.Event()

    def rewriter(turn, history):
        raise ConnectionError("503")

    guarded = GuardedSearch(
        lambda query, code: [code], rewriter, guard=SlowToRead(over), policy=policy, timeout=2 * HANGS
    )
    before = threading.active_count()
    try:
        results = run({(0, False): guarded, (1, False): guarded}, calls)
    finally:
        over.set()
    told = Counter(r.decision.reason.value if not isinstance(r, Exception) else repr(r) for r in results)
    assert told == {"rewriter_error": 300}
    assert [result.items for result in results] == [[call.code] for call in calls]
    assert not any(result.partial for result in results)
    none_left(before)
