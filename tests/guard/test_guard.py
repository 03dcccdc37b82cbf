from __future__ import annotations

import json
import logging
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from rewriteguard.errors import HistoryError, InputError
from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Profile
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.decision import Action, Reason
from rewriteguard.model.rules import Fault, Verdict
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.policy.carry import carried_query
from rewriteguard.policy.policy import Policy

LAMPS = [("user", "What does the Skagen lamp cost?"), ("assistant", "It costs 240 euros at the harbour shop.")]


def test_extract_gives_tokens_in_reading_order(guard: Guard) -> None:
    text = "Which passengers of the Bornholm line did not pay before 3 March 2022?"
    tokens = guard.extract(text)
    assert [t.start for t in tokens] == sorted(t.start for t in tokens)
    assert all(text[t.start : t.end] == t.text for t in tokens)
    assert {Kind.ENTITY, Kind.NEGATION, Kind.TIME, Kind.TOPIC} <= {t.kind for t in tokens}


def test_kept_carried_and_invented_with_their_source(guard: Guard) -> None:
    found = guard.check(
        "is it sold in sets of 3?", "Is the Skagen lamp for 240 euros sold in sets of 3 in Odense?", LAMPS
    )
    kept = {pair.ours.text for pair in found.comparison.kept}
    carried = {(token.text, token.turn) for token in found.comparison.carried}
    assert "3" in kept
    assert ("240 euros", 1) in carried
    assert [token.text for token in found.comparison.invented if token.kind is Kind.ENTITY] == ["Odense"]
    assert found.verdict is Verdict.CHANGED


def test_multisets_of_negations(guard: Guard) -> None:
    turn = "Which rooms do not allow pets and do not have a balcony?"
    assert guard.check(turn, turn).verdict is Verdict.PRESERVED
    one_lost = guard.check(turn, "Which rooms do not allow pets and have a balcony?")
    assert [t.kind for t in one_lost.comparison.dropped] == [Kind.NEGATION]
    assert one_lost.verdict is Verdict.CHANGED
    same_verb = "Which rooms do not allow pets and which halls do not allow pets?"
    assert guard.check(same_verb, "rooms and halls that do not allow pets, which?").verdict is Verdict.CHANGED


def test_a_number_inside_a_bound_is_not_the_bare_number(guard: Guard) -> None:
    history = [("user", "Do 6 people fit?"), ("assistant", "Yes, 6 people fit.")]
    found = guard.check("Which tents in Ribe sleep 6 people?", "Which tents in Ribe sleep at most 6 people?", history)
    assert found.verdict is Verdict.CHANGED
    assert [pair.theirs and pair.theirs.text for pair in found.comparison.altered] == ["at most 6"]


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"reference_date": "2026-01-01"}, "reference_date: expected a date"),
        ({"profile": "guess"}, "profile: expected"),
    ],
)
def test_settings_of_a_call_are_named(guard: Guard, keywords: dict[str, object], words: str) -> None:
    for call in (guard.check, guard.decide):
        with pytest.raises(InputError, match=words):
            call("a", "b", **keywords)  # type: ignore[operator]


def test_a_lost_correction_is_named(guard: Guard) -> None:
    history = [("user", "When does the bus to Ribe leave?"), ("assistant", "At nine.")]
    found = guard.check("No, I meant the night ferry.", "When does the coach to Ribe leave?", history)
    assert Fault.CORRECTION_LOST in {v.fault for v in found.violations}
    assert found.verdict is Verdict.CHANGED


def test_one_thing_in_the_place_of_several_is_ambiguous(guard: Guard) -> None:
    history = [("user", "Do you rent out kayaks?"), ("assistant", "Yes, kayaks, and rafts in summer.")]
    found = guard.check("can both of them be booked online?", "Can a kayak be booked online?", history)
    assert "ambiguous.set" in {v.rule for v in found.violations}


def test_every_violation_has_evidence_where_it_says(guard: Guard) -> None:
    turn, rewrite = "Which trams never run after 22:00 in Gdynia?", "trams that run after 21:00 in Sopot for tourists"
    found = guard.check(turn, rewrite)
    assert found.violations
    for violation in found.violations:
        assert violation.evidence
        for item in violation.evidence:
            source = {"turn": turn, "rewrite": rewrite}[item.where]
            assert source[item.start : item.end] == item.text


def test_explain_reads_as_sentences(guard: Guard) -> None:
    text = guard.check("Which permits expired before 2020?", "Which permits expired?").explain()
    assert text.splitlines()[0] == "The rewrite changes what the user asked."
    assert 'The user\'s date or period "before 2020" is missing from the rewrite.' in text


def test_reference_date_decides_relative_periods(guard: Guard) -> None:
    turn, rewrite = "How many boats sank last year?", "How many boats sank in 2024?"
    unsure = guard.check(turn, rewrite)
    assert unsure.verdict is Verdict.UNCERTAIN
    assert "reference_date" in unsure.checked.gaps
    assert guard.check(turn, rewrite, reference_date=date(2025, 5, 1)).verdict is Verdict.PRESERVED
    assert guard.check(turn, rewrite, reference_date=date(2023, 5, 1)).verdict is Verdict.CHANGED


def test_a_filter_keeps_what_left_the_text(guard: Guard) -> None:
    turn, rewrite = "approved budgets for bridges since 2021", "budgets for bridges"
    assert guard.check(turn, rewrite).verdict is Verdict.CHANGED
    kept = guard.check(turn, rewrite, filter={"year": {"$gte": 2021}, "status": "approved"})
    assert kept.verdict is Verdict.PRESERVED, kept.explain()
    wrong_side = guard.check(turn, rewrite, filter={"year": {"$lt": 2021}, "status": "approved"})
    assert wrong_side.verdict is Verdict.CHANGED


@pytest.mark.parametrize(
    "beside",
    [
        {"$or": [{"year": {"$gte": 2021}}, {"status": "approved"}]},
        {"$not": {"year": {"$gte": 2021}, "status": "approved"}},
        {"year": {"$ne": 2021}, "status": {"$in": ["approved", "draft"]}},
    ],
)
def test_what_need_not_hold_in_a_filter_keeps_nothing(guard: Guard, beside: dict[str, object]) -> None:
    found = guard.check("approved budgets for bridges since 2021", "budgets for bridges", filter=beside)
    assert {token.kind for token in found.comparison.dropped} >= {Kind.TIME, Kind.QUALIFIER}
    assert found.verdict is Verdict.CHANGED


def test_aliases_are_names_of_one_thing() -> None:
    turn, rewrite = "When did Northwind Traders move to Aarhus?", "When did the blue line move to Aarhus?"
    assert Guard().check(turn, rewrite).verdict is Verdict.CHANGED
    assert Guard(aliases={"Northwind Traders": ["blue line"]}).check(turn, rewrite).verdict is Verdict.PRESERVED
    with pytest.raises(InputError, match="Northwind"):
        Guard(aliases={"Northwind": "blue line"})


def test_your_own_extractor_finds_further_tokens() -> None:
    def product_codes(doc):  # type: ignore[no-untyped-def]
        start = doc.text.find("zeta nine")
        if start >= 0:
            yield ProtectedToken(Kind.IDENTIFIER, "zeta nine", start, start + 9, "zeta-9")

    own = Guard(extractors=(product_codes,))
    assert [t.value for t in own.extract("manual for zeta nine")] == ["zeta-9"]


def test_history_window_caps_what_counts_as_said(guard: Guard) -> None:
    history = [("user", "I live in Ribe."), ("assistant", "Nice."), ("user", "I like cakes."), ("assistant", "Good.")]
    turn, rewrite = "where can I buy them?", "Where can I buy cakes in Ribe?"
    assert guard.check(turn, rewrite, history).comparison.invented == ()
    capped = Guard(history_window=2).check(turn, rewrite, history)
    assert [t.text for t in capped.comparison.invented] == ["Ribe"]


@pytest.mark.parametrize("policy", [Policy(), Policy.single(), Policy.strict(), Policy.observe(), Policy(clarify=True)])
def test_the_verdict_is_the_same_under_every_policy(guard: Guard, policy: Policy) -> None:
    cases = [
        ("Which ferries do not take bikes?", "Which ferries take bikes?", ()),
        ("what about it?", "what about it?", LAMPS),
        ("is it dimmable?", "Is the Skagen lamp dimmable?", LAMPS),
    ]
    for turn, rewrite, history in cases:
        assert guard.decide(turn, rewrite, history, policy=policy).assessment == guard.check(turn, rewrite, history)


def test_decide_emits_nothing(guard: Guard, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        guard.decide("Which ferries do not take bikes?", "Which ferries take bikes?")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("turn", "rewrite", "history", "error", "words"),
    [
        (None, "x", (), InputError, "turn"),
        (b"bytes", "x", (), InputError, "turn: expected a string"),
        (7, "x", (), InputError, "turn"),
        ("x", None, (), InputError, "rewrite"),
        ("x", b"bytes", (), InputError, "rewrite: expected a string"),
        ("x", "y", ["a", "b"], HistoryError, "from_user_turns"),
        ("x", "y", [("user", "hi"), 3], HistoryError, r"history\[1\]"),
        ("x", "y", [{"role": "wizard", "content": "hi"}], HistoryError, r"history\[0\].*wizard"),
        ("x", "y", "a transcript", HistoryError, "list of messages"),
    ],
)
def test_bad_input_is_named(
    guard: Guard, turn: object, rewrite: object, history: object, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        guard.check(turn, rewrite, history)


def test_overlong_texts_end_quickly_and_are_never_accepted(guard: Guard) -> None:
    guard.warm_up()
    started = time.perf_counter()
    turn = guard.check("lost keys " * 20_000, "lost keys")
    rewrite = guard.check("lost keys", "lost keys " * 20_000)
    assert time.perf_counter() - started < 2
    assert (turn.verdict, turn.checked.gaps) == (Verdict.UNCERTAIN, ("size",))
    assert [v.fault for v in turn.violations] == [Fault.NOT_CHECKED]
    assert (rewrite.verdict, [v.fault for v in rewrite.violations]) == (Verdict.CHANGED, [Fault.MALFORMED])


@pytest.mark.parametrize("rewrite", ["", "   ", "\u200b", "```\n```", '""', "<think>hm</think>"])
def test_nothing_left_is_malformed(guard: Guard, rewrite: str) -> None:
    found = guard.check("opening hours of the mill", rewrite)
    assert (found.verdict, found.violations[0].fault) == (Verdict.CHANGED, Fault.MALFORMED)
    assert guard.decide("opening hours of the mill", rewrite).query == "opening hours of the mill"


def test_other_languages_are_checked_as_far_as_possible_and_it_is_said(guard: Guard) -> None:
    turn = "Welche Züge nach Flensburg fahren nach 18:30 Uhr?"
    same = guard.check(turn, "Züge nach Flensburg, die nach 18:30 Uhr fahren")
    assert same.verdict is Verdict.UNCERTAIN
    assert "language" in same.checked.gaps
    assert guard.check(turn, "Züge nach Flensburg nach 19:30 Uhr").verdict is Verdict.CHANGED


def test_the_current_turn_as_last_history_item_grounds_nothing(guard: Guard) -> None:
    turn = "Does the tower open in May?"
    found = guard.check(turn, "Does the tower open?", [*LAMPS, ("user", turn)])
    assert found.verdict is Verdict.CHANGED


def test_a_conversation_object_is_a_history(guard: Guard) -> None:
    history = Conversation.from_alternating(["What does the Skagen lamp cost?", "240 euros."])
    assert guard.check("is it dimmable?", "Is the Skagen lamp dimmable?", history).verdict is Verdict.PRESERVED


def test_profiles_allow_what_their_rewriter_does(guard: Guard) -> None:
    turn, wider = "grants above 5000 euros for choirs in Ribe", "grants for choirs"
    assert guard.check(turn, wider).verdict is Verdict.CHANGED
    assert guard.check(turn, wider, profile=Profile.STEP_BACK).verdict is Verdict.PRESERVED
    more = turn + " and the best five sponsors"
    assert guard.check(turn, more).verdict is Verdict.CHANGED
    assert guard.check(turn, more, profile=Profile.EXPAND).verdict is Verdict.PRESERVED
    turned = guard.check("is the pool heated in May", "is the pool not heated in May", profile=Profile.EXPAND)
    assert turned.verdict is Verdict.CHANGED
    carried = "is it dimmable", "Is the Skagen lamp for 240 euros dimmable?", LAMPS
    assert guard.check(*carried).verdict is Verdict.PRESERVED
    assert guard.check(*carried, profile=Profile.SHORTEN).verdict is Verdict.CHANGED


def test_decisions_without_a_rewrite(guard: Guard) -> None:
    first = guard.without_rewrite("is it dimmable?", Reason.FIRST_TURN)
    assert (first.action, first.reason, first.query) == (Action.USE_ORIGINAL, "first_turn", "is it dimmable?")
    failed = guard.without_rewrite("is it dimmable?", Reason.REWRITER_ERROR, LAMPS)
    assert failed.action is Action.FALL_BACK
    assert [(q.origin, q.weight) for q in failed.queries] == [("original", 1), ("carried", 1)]
    broken = guard.without_rewrite("is it dimmable?", Reason.GUARD_ERROR, LAMPS)
    assert [q.origin for q in broken.queries] == ["original"]


def test_threads_share_a_guard_without_torn_results() -> None:
    shared = Guard()
    turns = [
        (f"Which permit of {year} covers stall {n}?", f"permit {year} stall {n}")
        for year in range(2001, 2011)
        for n in (3, 4)
    ]
    changed = [(turn, rewrite.replace("20", "19", 1)) for turn, rewrite in turns]
    expected = [Guard().check(*pair).to_dict() for pair in (*turns, *changed)]
    jobs = list(enumerate((*turns, *changed))) * 3
    random.Random(7).shuffle(jobs)
    barrier = threading.Barrier(8)

    def work(part: list[tuple[int, tuple[str, str]]]) -> list[tuple[int, dict[str, object]]]:
        barrier.wait()
        return [(i, shared.check(*pair).to_dict()) for i, pair in part]

    with ThreadPoolExecutor(8) as pool:
        results = [item for part in pool.map(work, [jobs[k::8] for k in range(8)]) for item in part]
    assert all(found == expected[i] for i, found in results)


def test_results_are_plain_json_values(guard: Guard) -> None:
    decision = guard.decide("is it sold in sets of 3?", "Is the Skagen lamp sold in sets of 3?", LAMPS)
    assert json.loads(json.dumps(decision.to_dict()))["assessment"]["verdict"] == "preserved"


def exchanges(first, more, answer="It is what it is."):
    """A conversation whose first exchange says `first`, with `more` that say nothing and tools between them."""
    return [
        ("user", f"Where is the {first}?"),
        ("assistant", answer),
        *[("tool", "zinc"), ("user", "And so on?")] * more,
    ]


def test_the_carried_query_reads_twenty_exchanges(guard: Guard) -> None:
    assert guard.carried("How tall?", exchanges("lighthouse", 19)).terms == ("lighthouse",)
    assert guard.carried("How tall?", exchanges("lighthouse", 20)).terms == ()


def test_the_carried_query_reads_two_hundred_messages_of_user_and_assistant(guard: Guard) -> None:
    said = [("user", "Where is the lighthouse?"), *[("assistant", "It is what it is."), ("tool", "zinc")] * 199]
    assert guard.carried("How tall?", said).terms == ("lighthouse",)
    assert guard.carried("How tall?", [*said, ("assistant", "It is.")]).terms == ()


def test_carried_queries_that_are_remembered_are_those_of_their_conversation(guard: Guard) -> None:
    one = guard.carried("How tall?", [("user", "lighthouse"), ("user", "harbour")])
    for other in ([("user", "lighthouse"), ("assistant", "harbour")], [("user", "lighthouse\n\nharbour, dunes")]):
        for turn in ("How tall?", "How tall is the harbour?"):
            assert guard.carried(turn, other) == carried_query(turn, Conversation.read(turn, other).history)
    assert guard.carried("How tall?", [("user", "lighthouse"), ("user", "harbour")]) == one
