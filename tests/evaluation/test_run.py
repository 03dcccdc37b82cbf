"""The run: every arm under one budget, interleaved, resumable, with failures as outcomes."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

from rewriteguard import Guard, GuardedSearch, Hit, Policy, Predicate, Profile, Release, RequestClass, Telemetry
from rewriteguard.errors import InputError, ScopeError
from rewriteguard.evaluation.cases.case import Case, Contract
from rewriteguard.evaluation.errors import ConditionsError
from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
from rewriteguard.evaluation.run.rewriters import Rewriter
from rewriteguard.evaluation.run.run import outcomes
from rewriteguard.evaluation.run.search import Corpus, Passage, Searching
from rewriteguard.evaluation.run.setup import Setup

DAY = date(2024, 5, 6)
TOPICS = ("tram", "ferry", "museum", "library", "market", "garden", "harbour", "theatre")
YEARS = (2021, 2022, 2023, 2024)
CORPUS = Corpus(
    [
        Passage(f"{topic}-{year}", f"The {topic} opened {year} visitors counted in {year}.")
        for topic in TOPICS
        for year in YEARS
    ]
)
CASES = [
    Case(
        id=topic,
        original="And how many visitors were counted in 2022?",
        history=(("user", f"Tell me about the {topic}."), ("assistant", f"The {topic} is in the old town.")),
        human=f"How many visitors were counted at the {topic} in 2022?",
        rewrites={
            "good": (f"How many visitors were counted at the {topic} in 2022?",),
            "bad": (f"visitors of the {topic}",),
        },
        relevant=(f"{topic}-2022",),
        turn=2,
    )
    for topic in TOPICS
]
FIRST = Case("first", "How many visitors were counted at the tram in 2023?", relevant=("tram-2023",))


def go(guard: Guard, cases: Any = CASES, search: Any = CORPUS, rewriters: Any = None, **more: Any) -> list[Outcome]:
    rewriters = {"good": "recorded", "bad": "recorded"} if rewriters is None else rewriters
    kept = {name: more.pop(name, None) for name in ("journal", "progress")}
    return outcomes(Setup(cases, search, rewriters, guard=guard, **{"reference_date": DAY, **more}), **kept)


def of(found: list[Outcome], arm: ArmName, label: str = "") -> dict[str, Outcome]:
    return {each.case: each for each in found if each.arm is arm and each.rewriter == label}


def topic_of(history: list[Mapping[str, str]]) -> str:
    return history[0]["content"].removeprefix("Tell me about the ").rstrip(".")


def rewrite(turn: str, history: list[Mapping[str, str]]) -> str:
    return f"How many visitors were counted at the {topic_of(history)} in 2022?"


def test_every_arm_runs_for_every_case_in_a_fixed_order(guard: Guard) -> None:
    found = go(guard)
    pairs = [(arm, "") for arm in (ArmName.ORIGINAL, ArmName.HUMAN)]
    pairs += [(arm, label) for arm in (ArmName.REWRITE, ArmName.BOTH, ArmName.GUARDED) for label in ("good", "bad")]
    assert [(each.case, each.arm, each.rewriter) for each in found] == [
        (case.id, *pair) for case in CASES for pair in [*pairs, (ArmName.WITHOUT, "")]
    ]
    assert {each.status for each in found} == {Ended.OK}
    assert all(len(each.results) == 10 for each in found)


def test_what_the_arms_search(guard: Guard) -> None:
    found = go(guard, CASES[:1])
    case, good = CASES[0], CASES[0].rewrites["good"][0]
    assert of(found, ArmName.ORIGINAL)["tram"].queries == (case.original,)
    assert of(found, ArmName.HUMAN)["tram"].queries == (case.human,)
    assert of(found, ArmName.REWRITE, "good")["tram"].queries == (good,)
    assert of(found, ArmName.BOTH, "good")["tram"].queries == (case.original, good)
    carried = guard.carried(case.original, case.history).text
    assert of(found, ArmName.GUARDED, "good")["tram"].queries == (case.original, good, carried)
    assert of(found, ArmName.WITHOUT)["tram"].queries == (case.original, carried)
    bad = of(found, ArmName.GUARDED, "bad")["tram"]
    assert (bad.verdict, bad.action, bad.queries) == ("changed", "fall_back", (case.original, carried))
    assert "dropped.time" in bad.reasons


def test_the_guarded_arm_is_the_products_own_search(guard: Guard) -> None:
    """With its 20 documents an arm it gives the same as outside the evaluation."""
    for case in CASES:
        good = case.rewrites["good"][0]
        search = GuardedSearch(
            lambda query, k=10: CORPUS(query, k),
            good,
            guard=guard,
            k=10,
            key=lambda passage: passage.id,
            telemetry=Telemetry(capture="off"),
        )
        expected = search.run(case.original, case.history, reference_date=DAY)
        ours = of(go(guard, [case]), ArmName.GUARDED, "good")[case.id]
        assert ours.results == tuple(passage.id for passage in expected.items)
        assert ours.action == expected.decision.action


@pytest.mark.parametrize("budget", [12, 60])
def test_every_arm_may_fetch_the_same(guard: Guard, budget: int) -> None:
    """32 passages, all of which hold "visitors" and "counted"; each search asks for its share of the budget."""
    asked: list[int] = []

    def search(query: str, k: int = 10) -> list[Hit[Any]]:
        asked.append(k)
        return [Hit(f"{query[:3]}{place}", 1 / (place + 1)) for place in range(k)]

    found = go(guard, search=search, budget=budget)
    searches = {each.case + each.arm + each.rewriter: len(each.queries) for each in found}
    assert set(searches.values()) == {1, 2, 3}
    assert {each.fetched for each in found} == {budget}
    assert set(asked) == {budget, budget // 2, budget // 3}


def test_arms_take_turns_at_being_first(guard: Guard) -> None:
    first: list[str] = []
    order: list[str] = []
    search = Recording(order)
    go(
        guard,
        search=search,
        rewriters={"good": "recorded"},
        progress=lambda *_: first.append(order.pop(0)) or order.clear(),
    )
    assert len(set(first)) > 2


class Recording:
    """A search that writes down its queries; the probe's are taken off."""

    def __init__(self, order: list[str]) -> None:
        self._order = order
        self._seen = 0

    def __call__(self, query: str, k: int = 10) -> list[Hit[Passage]]:
        self._seen += 1
        if self._seen > len(CASES):
            self._order.append(next((q for q in ("How", "And") if query.startswith(q)), query)[:3] + str(k))
        return CORPUS(query, k)


def test_the_seed_orders_the_cases_and_changes_no_outcome(guard: Guard) -> None:
    orders = []
    for seed in (0, 0, 1):
        order: list[str] = []
        found = go(
            guard, rewriters={"x": lambda turn, history, order=order: order.append(topic_of(history)) or "x"}, seed=seed
        )
        orders.append((order, found))
    assert orders[0] == orders[1]
    assert orders[0][0] != orders[2][0]
    assert orders[0][0] != list(TOPICS)
    assert orders[0][1] == orders[2][1]


def test_a_rewriter_is_asked_once_for_all_its_arms(guard: Guard) -> None:
    asked: list[str] = []
    go(guard, rewriters={"x": lambda turn, history: asked.append(topic_of(history)) or rewrite(turn, history)})
    assert sorted(asked) == sorted(TOPICS)


def test_failures_are_outcomes(guard: Guard) -> None:
    def rewriter(turn: str, history: Any) -> str:
        if topic_of(history) == "ferry":
            raise TimeoutError("model")
        return "" if topic_of(history) == "museum" else rewrite(turn, history)

    def search(query: str, k: int = 10) -> list[Hit[Passage]]:
        if "library" in query:
            raise ConnectionError("index")
        return [] if "market" in query else CORPUS(query, k)

    found = go(guard, search=search, rewriters={"x": rewriter})
    told = {(each.case, each.arm): (each.status, each.stage, each.error) for each in found if each.stage or each.error}
    error, empty, ok = Ended.ERROR, Ended.EMPTY, Ended.OK
    assert told == {
        ("ferry", ArmName.REWRITE): (error, "rewrite", "TimeoutError"),
        ("ferry", ArmName.BOTH): (error, "rewrite", "TimeoutError"),
        ("ferry", ArmName.GUARDED): (ok, "rewrite", "TimeoutError"),
        ("museum", ArmName.REWRITE): (empty, "rewrite", ""),
        ("museum", ArmName.BOTH): (empty, "rewrite", ""),
        ("library", ArmName.HUMAN): (error, "retrieval", "ConnectionError"),
        ("library", ArmName.REWRITE): (error, "retrieval", "ConnectionError"),
        ("library", ArmName.BOTH): (error, "retrieval", "ConnectionError"),
        ("library", ArmName.GUARDED): (ok, "retrieval", "ConnectionError"),
        ("library", ArmName.WITHOUT): (ok, "retrieval", "ConnectionError"),
        ("market", ArmName.HUMAN): (empty, "retrieval", ""),
        ("market", ArmName.REWRITE): (empty, "retrieval", ""),
    }
    failed = of(found, ArmName.REWRITE, "x")["ferry"]
    assert (failed.results, failed.queries, failed.rewrite) == ((), (), None)
    assert of(found, ArmName.GUARDED, "x")["ferry"].reasons == ("rewriter_error",)


def test_a_first_turn_is_no_request_for_a_rewriter_unless_a_rewrite_of_it_is_recorded(guard: Guard) -> None:
    asked: list[str] = []
    found = go(guard, [FIRST], rewriters={"x": lambda turn: asked.append(turn) or "something else"})
    assert ([each.arm for each in found], asked) == ([ArmName.ORIGINAL, ArmName.WITHOUT], [])
    never = go(guard, [FIRST, CASES[0]], rewriters={"good": "recorded"})
    assert {each.arm for each in never if each.case == "first"} == {ArmName.ORIGINAL, ArmName.WITHOUT}
    recorded = go(guard, [replace(FIRST, rewrites={"good": ("tram visitors",)})], rewriters={"good": "recorded"})
    assert of(recorded, ArmName.REWRITE, "good")["first"].queries == ("tram visitors",)
    assert of(recorded, ArmName.GUARDED, "good")["first"].action == "use_original"


def test_classes_of_the_policy_do_not_decide_what_the_guarded_arm_does(guard: Guard) -> None:
    off = Policy(classes=(RequestClass("all", Predicate(min_words=1), Release.FALL_BACK),))
    assert go(guard, CASES[:2], policy=off) == go(guard, CASES[:2])


def test_a_case_that_a_recorded_rewriter_never_saw_is_not_measured(guard: Guard) -> None:
    other = replace(CASES[1], rewrites={})
    found = go(guard, [CASES[0], other], rewriters={"good": "recorded"})
    assert {each.arm for each in found if each.case == other.id} == {ArmName.ORIGINAL, ArmName.HUMAN, ArmName.WITHOUT}
    with pytest.raises(InputError, match=r"'gone'.*no case holds a rewrite of it; they hold those of bad, good"):
        go(guard, rewriters={"gone": "recorded"})


def test_a_list_of_queries_has_an_arm_of_its_own(guard: Guard) -> None:
    queries = ("How many visitors did the tram have in 2022?", "How many visitors were counted at the tram in 2022?")
    case = replace(CASES[0], rewrites={"x": queries})
    for rewriter in ("recorded", lambda turn, history: list(queries), Rewriter("recorded", Profile.EXPAND)):
        found = go(guard, [case], rewriters={"x": rewriter})
        assert of(found, ArmName.REWRITE, "x")["tram"].queries == queries
        assert of(found, ArmName.EXPANDED, "x")["tram"].queries == (case.original, *queries)
        guarded = of(found, ArmName.GUARDED, "x")["tram"]
        assert guarded.rewrite == "\n".join(queries)
        assert guarded.queries[:3] == (case.original, *queries)
        assert guarded.fetched <= 60
    single = go(guard, [CASES[0]], rewriters={"good": Rewriter("recorded", Profile.EXPAND)})
    assert of(single, ArmName.EXPANDED, "good")["tram"].results == of(single, ArmName.BOTH, "good")["tram"].results
    assert not of(go(guard), ArmName.EXPANDED, "good")


def test_several_rewrites_together_weigh_as_much_as_the_turn_only_in_one_arm(guard: Guard) -> None:
    case = replace(CASES[0], rewrites={"x": ("one", "two", "three")})
    found = go(guard, [case], lambda query: ["t"] if query == case.original else ["r"], {"x": "recorded"})
    assert of(found, ArmName.BOTH, "x")["tram"].results == ("t", "r")  # a tie goes to the turn
    assert of(found, ArmName.EXPANDED, "x")["tram"].results == ("r", "t")
    assert of(found, ArmName.REWRITE, "x")["tram"].results == ("r",)


def test_an_ambiguous_turn_is_asked_about(guard: Guard) -> None:
    case = Case(
        "lamps",
        "is it suitable for a nursery?",
        (
            ("user", "Compare the Falster lamp and the Lolland lamp."),
            ("assistant", "Both are made of oak and both can be dimmed."),
        ),
        rewrites={"x": ("Is the Falster lamp suitable for a nursery?",)},
    )
    asked = of(go(guard, [case], rewriters={"x": "recorded"}, policy=Policy(clarify=True)), ArmName.GUARDED, "x")[
        "lamps"
    ]
    assert (asked.status, asked.action, asked.results, asked.queries) == (Ended.CLARIFIED, "clarify", (), ())
    assert asked.candidates == ("Falster lamp", "Lolland lamp")
    hedged = of(go(guard, [case], CORPUS, {"x": "recorded"}), ArmName.GUARDED, "x")["lamps"]
    assert (hedged.action, hedged.candidates) == ("fuse", ())


def test_shadow_mode_searches_the_rewrite_alone(guard: Guard) -> None:
    found = go(guard, policy=Policy.observe())
    for label in ("good", "bad"):
        assert {c: o.results for c, o in of(found, ArmName.GUARDED, label).items()} == {
            c: o.results for c, o in of(found, ArmName.REWRITE, label).items()
        }
    assert of(found, ArmName.WITHOUT)["tram"].action == "fall_back"

    def fails(turn: str, history: Any) -> str:
        raise TimeoutError("model")

    failed = of(go(guard, CASES[:1], rewriters={"x": fails}, policy=Policy.observe()), ArmName.GUARDED, "x")["tram"]
    assert (failed.status, failed.stage, failed.error) == (Ended.ERROR, "rewrite", "TimeoutError")


def test_the_contract_says_what_today_is(guard: Guard) -> None:
    case = Case(
        "ago",
        "How many visitors did it have last year?",
        (("user", "Tell me about the tram."), ("assistant", "It is old.")),
        rewrites={"x": ("How many visitors did the tram have in 2022?",)},
    )
    contract = Contract(reference_date=date(2023, 3, 1))
    found = go(guard, [case, replace(case, id="here", contract=contract)], rewriters={"x": "recorded"})
    verdicts = {name: each.verdict for name, each in of(found, ArmName.GUARDED, "x").items()}
    assert verdicts == {"ago": "changed", "here": "preserved"}


def test_the_scope_limits_every_search_and_fails_closed(guard: Guard) -> None:
    limits: list[str] = []

    def search(query: str, k: int = 10, *, year: str) -> list[Hit[Passage]]:
        limits.append(year)
        return [hit for hit in CORPUS(query, 60) if hit.item.id.endswith(year)][:k]

    def scope(context: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"year": context["year"]}

    cases = [replace(CASES[0], context=(("year", "2021"),)), CASES[1]]
    found = go(guard, cases, search, scope=scope)
    assert set(limits) == {"2021"}
    assert all(
        each.results and all(name.endswith("2021") for name in each.results) for each in found if each.case == "tram"
    )
    assert {(each.status, each.stage, each.error) for each in found if each.case == "ferry"} == {
        (Ended.ERROR, "retrieval", "ScopeError")
    }
    with pytest.raises(ScopeError, match="searches with 'year'"):
        go(guard, cases[:1], Retriever(), scope=scope)


class Retriever(BaseRetriever):
    k: int = 4
    score: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int | None = None) -> list[Document]:
        return [
            Document(
                id=f"uuid-{hit.item.id}", page_content=hit.item.text, metadata={"name": hit.item.id, "s": hit.score}
            )
            for hit in CORPUS(query, k or self.k)
        ]


def test_a_langchain_retriever_gives_the_same_as_a_function(guard: Guard) -> None:
    rewriter = RunnableLambda(lambda given: rewrite(given["input"], given["chat_history"]))
    ours = go(guard, rewriters={"x": rewriter})
    theirs = go(guard, search=Retriever(), rewriters={"x": rewriter}, id_key="name", score_key="s")
    assert theirs == ours
    own = go(guard, search=Retriever(), rewriters={"x": rewriter})
    assert {name[:5] for each in own for name in each.results} == {"uuid-"}


def test_a_document_counts_once_at_its_best_rank_and_no_search_exceeds_its_share() -> None:
    chunks = [{"doc": 1, "text": "a"}, {"doc": 2, "text": "b"}, {"doc": 1, "text": "c"}, {"doc": 3, "text": "d"}]
    find = Searching(lambda query: [Hit(chunk, 9 - place) for place, chunk in enumerate(chunks)], id_key="doc")
    assert not find.counts
    assert [(hit.item.id, hit.item.item["text"], hit.score) for hit in find("q", {}, 2)] == [
        ("1", "a", 9),
        ("2", "b", 8),
    ]
    assert [hit.item.id for hit in find("q", {}, 10)] == ["1", "2", "3"]


def test_an_asynchronous_search_is_searched(guard: Guard) -> None:
    async def search(query: str, k: int = 10) -> list[Hit[Passage]]:
        await asyncio.sleep(0)
        return CORPUS(query, k)

    assert go(guard, search=search) == go(guard)


def test_documents_without_ids_are_refused_before_anything_is_asked(guard: Guard) -> None:
    def search(query: str) -> list[Document]:
        return [Document(page_content="text")]

    def never(turn: str) -> str:
        raise AssertionError

    with pytest.raises(InputError, match=r"expected documents with an id, got Document without.*id_key"):
        go(guard, search=search, rewriters={"x": never})


def test_answers_are_asked_for_and_judged(guard: Guard) -> None:
    def answer(turn: str, history: Any, documents: Any) -> str:
        if topic_of(history) == "ferry":
            raise TimeoutError("model")
        return str(documents[0].id)

    def judge(case: Case, answer: str, documents: Any) -> bool | None:
        if case.id == "market":
            raise ConnectionError("judge")
        return None if case.id == "museum" else answer in case.relevant

    found = of(go(guard, answer=answer, judge=judge), ArmName.HUMAN)
    told = {name: (each.answer, each.supported, each.stage, each.error) for name, each in found.items()}
    assert told["tram"] == ("tram-2022", True, "", "")
    assert told["ferry"] == (None, None, "generation", "TimeoutError")
    assert found["ferry"].results
    assert told["museum"] == ("museum-2022", None, "", "")
    assert told["market"] == ("market-2022", None, "", "judge: ConnectionError")


def test_arms_that_are_not_asked_for_do_not_run(guard: Guard) -> None:
    found = go(guard, arms=[ArmName.REWRITE, ArmName.ORIGINAL])
    assert [each.arm for each in found[:3]] == [ArmName.ORIGINAL, ArmName.REWRITE, ArmName.REWRITE]
    assert len(found) == 3 * len(CASES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cases": [*CASES, CASES[0]]}, "cases: expected each id once, got 'tram'"),
        ({"search": "index"}, "search: expected a retriever or a callable, got str"),
        ({"rewriters": {"x": "gpt"}}, r"rewriters\['x'\]: expected a callable, a runnable or 'recorded', got 'gpt'"),
        ({"rewriters": {"": rewrite}}, "labels"),
        ({"k": 0}, "k: expected a whole number above 0"),
        ({"k": 10, "budget": 9}, "budget: expected at least k = 10 documents, got 9"),
        ({"answer": "model"}, "answer: expected a callable or None"),
    ],
)
def test_what_cannot_be_used_is_said(guard: Guard, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        go(guard, **arguments)


def test_twice_identical(guard: Guard, tmp_path: Path) -> None:
    assert go(guard) == go(Guard(), journal=tmp_path / "journal") == go(guard)


def test_a_finished_journal_gives_the_outcomes_without_any_search(guard: Guard, tmp_path: Path) -> None:
    first = go(guard, journal=tmp_path / "journal")
    size = (tmp_path / "journal").stat().st_size
    asked: list[str] = []
    again = go(
        guard, search=CORPUS, journal=tmp_path / "journal", progress=lambda done, total: asked.append(f"{done}/{total}")
    )
    assert again == first
    assert asked[-1] == f"{len(CASES)}/{len(CASES)}"
    assert (tmp_path / "journal").stat().st_size == size


def test_a_changed_index_is_refused(guard: Guard, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    go(guard, journal=journal)
    more = Corpus([*CORPUS.passages, Passage("new", "Fares.")])
    with pytest.raises(
        ConditionsError, match="the journal journal was made under other conditions: corpus was 'sha256:"
    ):
        go(guard, search=more, journal=journal)


def test_a_changed_index_behind_the_same_name_is_found_by_what_it_gives(guard: Guard, tmp_path: Path) -> None:
    journal, index = tmp_path / "journal", [CORPUS]

    def search(query: str, k: int = 10) -> list[Hit[Passage]]:
        return index[0](query, k)

    go(guard, search=search, journal=journal)
    go(guard, search=search, journal=journal)
    index[0] = Corpus(CORPUS.passages[1:])
    with pytest.raises(ConditionsError, match="conditions: probe: 8 of 8 queries give other documents; search"):
        go(guard, search=search, journal=journal)
    with pytest.raises(ConditionsError, match="corpus was '' and is 'June'"):
        go(guard, search=search, journal=journal, fingerprint="June")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 5}, "k was 10 and is 5"),
        ({"budget": 30}, "budget was 60 and is 30"),
        ({"seed": 1}, "seed was 0 and is 1"),
        ({"policy": Policy.strict()}, "policy.name was 'default' and is 'strict'"),
        ({"arms": [ArmName.ORIGINAL]}, "arms was"),
        (
            {"rewriters": {"good": Rewriter("recorded", Profile.EXPAND), "bad": "recorded"}},
            "rewriters.good.profile was",
        ),
        ({"rewriters": {"good": "recorded"}}, "rewriters.bad.rewriter was 'recorded' and is None"),
        ({"cases": CASES[:4]}, "cases was 'sha256:"),
        ({"cases": [replace(CASES[0], contract=Contract(readings=("a",))), *CASES[1:]]}, "contracts was 'sha256:"),
        ({"reference_date": date(2020, 1, 1)}, "reference_date was '2024-05-06' and is '2020-01-01'"),
        ({"search": Retriever(), "id_key": "name"}, "search.search.class was"),
    ],
)
def test_other_conditions_are_refused(guard: Guard, tmp_path: Path, changed: Any, message: str) -> None:
    go(guard, journal=tmp_path / "journal", arms=[ArmName.ORIGINAL, ArmName.REWRITE])
    with pytest.raises(ConditionsError, match=message):
        go(guard, **{"journal": tmp_path / "journal", "arms": [ArmName.ORIGINAL, ArmName.REWRITE], **changed})


def test_conditions_hold_no_secrets_and_no_addresses(guard: Guard) -> None:
    class Keyed(Retriever):
        api_key: str = "sk-s3cr3t"
        endpoint_token: str = "s3cr3t"

    found = Setup(CASES, Keyed(k=7), {"x": rewrite}, guard=guard, id_key="name").conditions
    text = json.dumps(found.to_dict())
    assert "s3cr3t" not in text
    assert " at 0x" not in text
    assert found.search["search"]["k"] == 7
    assert found.rewriters["x"]["rewriter"]["function"].endswith("test_run.rewrite")


PROCESS = """
import os, signal, sys
from pathlib import Path
from evaluation import test_run as t
from rewriteguard import Guard
calls, journal = Path(sys.argv[1]), sys.argv[2]
searched = 0

def rewriter(turn, history):
    with calls.open("a") as file:
        file.write(t.topic_of(history) + "\\n")
    return t.rewrite(turn, history)

def search(query, k=10):
    global searched
    searched += 1
    if searched == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return t.CORPUS(query, k)

found = t.go(Guard(), search=search, rewriters={"x": rewriter, "good": "recorded"}, journal=journal)
print(repr(found))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_half_way_and_resumed_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What another process left is resumed in this one."""
    script = tmp_path / "process.py"
    script.write_text(PROCESS)

    def command(name: str, killed_at: int) -> list[str]:
        return [str(script), str(tmp_path / f"{name}.calls"), str(tmp_path / f"{name}.sqlite"), str(killed_at)]

    def run_here(name: str) -> str:
        monkeypatch.setattr(sys, "argv", command(name, -1))
        runpy.run_path(str(script), run_name="__main__")
        return capsys.readouterr().out

    whole = run_here("whole")
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    killed = subprocess.run([sys.executable, *command("killed", 60)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    so_far = (tmp_path / "killed.calls").read_text().splitlines()
    assert 0 < len(so_far) < len(TOPICS)
    assert run_here("killed") == whole
    assert "Outcome(" in whole
    calls = (tmp_path / "killed.calls").read_text().splitlines()
    assert calls[: len(so_far)] == so_far
    assert sorted(calls) == sorted(TOPICS)
