"""Several rewrites of one turn, judged together: what each profile allows, cleaning, errors, and what is searched."""

import json
from pathlib import Path

import pytest

from rewriteguard import Assessment, Guard, Kind, Policy, Profile, ProtectedToken, SetAssessment, Verdict
from rewriteguard.check.sets.together import together
from rewriteguard.errors import InputError
from rewriteguard.model.assessment import Checked, Comparison
from rewriteguard.reading.lists import listed_queries

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "rewrite_sets.jsonl").read_text("utf-8").splitlines()
]
TURN = "Which markets are not open on Sundays in 2024?"
FULL = "markets not open on Sundays in 2024"
TENTS = [("user", "I bought a red tent."), ("assistant", "A tent is a good choice.")]
PARKS = [
    ("user", "Tell me about the deer park and the rose garden."),
    ("assistant", "The deer park lies north of the river, the rose garden south of it."),
]


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


def found_in(guard: Guard, row: dict) -> str:
    history = [tuple(message) for message in row.get("history", ())]
    found = guard.check_all(row["turn"], row["rewrites"], history, profile=Profile(row["profile"]))
    for violation in found.violations:
        for words in violation.evidence:
            text = {"turn": found.turn, "rewrite": found.rewrite}.get(words.where)
            assert text is None or text[words.start : words.end] == words.text
    return "ambiguous" if found.reason == "ambiguous" else found.verdict.value


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['profile']}-{row['expect']}-{row['turn'][:30]}")
def test_sets(guard: Guard, row: dict) -> None:
    assert found_in(guard, row) == row.get("known", row["expect"])


def test_both_errors_are_few() -> None:
    """The sets with `known` are judged wrongly, as that says: hedged, but for one good set that is rejected."""
    good = [row for row in ROWS if row["expect"] == "preserved"]
    bad = [row for row in ROWS if row["expect"] != "preserved"]
    assert (len(good), len(bad)) == (78, 68)
    assert [row["known"] for row in good if "known" in row] == ["uncertain", "changed"]
    assert [row["known"] for row in bad if "known" in row] == ["uncertain"]


# ---- what one rewrite of the set says about the others


def test_a_loss_weighs_less_where_another_query_keeps_the_word(guard: Guard) -> None:
    found = guard.check_all(TURN, [FULL, "market opening hours"])
    assert [a.verdict for a in found.assessments] == ["preserved", "uncertain"]
    assert (found.verdict, found.violations) == ("preserved", ())
    alone = guard.check_all(TURN, ["market opening hours"])
    assert alone.verdict is Verdict.UNCERTAIN
    assert {"dropped.time", "dropped.negation"} <= {v.code for v in alone.violations}


def test_what_a_rejected_query_keeps_counts_for_nothing(guard: Guard) -> None:
    turn = "What is the fine for a dog off the lead in 2024?"
    found = guard.check_all(turn, ["fine for a dog off the lead in 2019", "fine for dogs"])
    assert [a.verdict for a in found.assessments] == ["changed", "uncertain"]
    assert {v.code for v in found.violations} >= {"altered.time", "dropped.time"}


def test_a_lost_not_rejects_only_where_the_negated_word_stays(guard: Guard) -> None:
    found = guard.check_all(TURN, ["markets open on Sundays in 2024", "markets in 2024"])
    assert [a.verdict for a in found.assessments] == ["changed", "uncertain"]


def test_a_wider_period_is_a_loss_and_another_one_a_contradiction(guard: Guard) -> None:
    turn = "Which concerts are there in May 2024?"
    found = guard.check_all(turn, ["concerts 2024", "concerts May 2024", "concerts June 2024"])
    assert [a.verdict for a in found.assessments] == ["uncertain", "preserved", "changed"]
    assert guard.check_all(turn, ["concerts"], profile=Profile.STEP_BACK).verdict is Verdict.PRESERVED


def test_stand_alone_rewrites_must_each_keep_all(guard: Guard) -> None:
    one, other = "Does the tent not leak?", "Does the tent leak?"
    assert guard.check_all("Does it not leak?", [one], TENTS, profile=Profile.CONDENSE).verdict is Verdict.PRESERVED
    assert guard.check_all("Does it not leak?", [one, other], TENTS, profile=Profile.CONDENSE).verdict == "changed"


def test_contradicting_fills_give_the_candidates(guard: Guard) -> None:
    both = ["When does the deer park open?", "When does the rose garden open?"]
    found = guard.check_all("When does it open?", both, PARKS, profile=Profile.CONDENSE)
    assert found.candidates == ("deer park", "rose garden")
    assert found.violations[0].rule == "ambiguous.fills"
    assert [a.verdict for a in found.assessments] == ["uncertain", "uncertain"]
    ask = guard.decide("When does it open?", both, PARKS, profile=Profile.CONDENSE, policy=Policy(clarify=True))
    assert (ask.action, ask.candidates) == ("clarify", ("deer park", "rose garden"))
    fused = guard.decide("When does it open?", both, PARKS, profile=Profile.CONDENSE)
    assert [q.weight for q in fused.queries] == [1, 1, 1, 2]


SHOP = [
    ("user", "Does the Silvia kettle whistle?"),
    ("assistant", "Yes, once the water boils, the Silvia kettle whistles."),
]
LID = "hello could you please tell me how I rinse a new lid before use"


@pytest.mark.parametrize(
    ("short", "verdict", "rules"),
    [
        ("how rinse new lid before use", "preserved", set()),
        ("how rinse new lid in water before use", "preserved", {"invented.word"}),
        ("how rinse new lid in boiling water before use", "uncertain", {"invented.words"}),
        ("Silvia how rinse new lid before use", "changed", {"invented.entity"}),
        ("silvia how rinse new lid before use", "changed", {"invented.entity"}),
        ("how rinse new Silvia lid before use", "changed", {"invented.entity"}),
    ],
)
def test_a_shortener_carries_nothing(guard: Guard, short: str, verdict: str, rules: set[str]) -> None:
    found = guard.check(LID, short, SHOP, profile=Profile.SHORTEN)
    assert (found.verdict, {v.rule for v in found.violations}) == (verdict, rules)


def test_a_capital_at_the_start_is_no_name(guard: Guard) -> None:
    history = [("user", "Which pans are there?"), ("assistant", "Rinsing helps. The large pans whistle.")]
    found = guard.check(LID, "Rinsing new lid before use how", history, profile=Profile.SHORTEN)
    assert found.verdict is Verdict.PRESERVED
    named = guard.check(LID, "Large new lid rinse before use how", history, profile=Profile.SHORTEN)
    assert {v.rule for v in named.violations} == {"invented.word"}


def test_a_name_that_only_opens_sentences_is_one(guard: Guard) -> None:
    history = [("user", "Yes. Netgear makes it."), ("assistant", "Then it can be reset.")]
    turn = "hi could you please tell me how to change the admin mail quickly"
    for short in ("Netgear change admin mail quickly", "change admin mail quickly netgear"):
        found = guard.check(turn, short, history, profile=Profile.SHORTEN)
        assert [v.rule for v in found.violations] == ["invented.entity"]


def test_a_shortener_may_leave_a_reference_open(guard: Guard) -> None:
    turn = "thanks a lot! and now tell me please how it changes the taste of tap water"
    short = "how it changes taste of tap water"
    assert guard.check(turn, short, SHOP, profile=Profile.SHORTEN).verdict is Verdict.PRESERVED
    assert guard.check(turn, short, SHOP).verdict is Verdict.UNCERTAIN


FINALS = [
    ("user", "Who played the finals of 1998 and 2010?"),
    ("assistant", "Ribe beat Varde in 1998. In 2010 Varde beat Ribe."),
]
ADVERBS = [
    (
        "How many swans live there?",
        ["How many swans live in the deer park?", "How many swans live in the rose garden?"],
        PARKS,
    ),
    ("How many fans live there?", ["How many fans live in Ribe?", "How many fans live in Varde?"], FINALS),
    ("Who trained the keeper then?", ["Who trained the keeper in 1998?", "Who trained the keeper in 2010?"], FINALS),
    ("Who was the keeper that year?", ["Who was the keeper in 1998?", "Who was the keeper in 2010?"], FINALS),
]


@pytest.mark.parametrize(("turn", "rewrites", "history"), ADVERBS)
def test_two_times_or_places_for_one_word_are_asked_about(
    guard: Guard, turn: str, rewrites: list[str], history: list[tuple[str, str]]
) -> None:
    fills = tuple(rewrite[:-1].rpartition(" in ")[2].removeprefix("the ") for rewrite in rewrites)
    decision = guard.decide(turn, rewrites, history, profile=Profile.CONDENSE, policy=Policy(clarify=True))
    assert (decision.verdict, decision.action, decision.candidates) == ("uncertain", "clarify", fills)
    same = guard.check_all(turn, [rewrites[0], rewrites[0]], history, profile=Profile.CONDENSE)
    assert "ambiguous.fills" not in {v.rule for v in same.violations}


@pytest.mark.parametrize("turn", ["Is there a lake?", "Then where is the lake?", "If so, then where is the lake?"])
def test_then_and_there_may_point_to_nothing(guard: Guard, turn: str) -> None:
    rewrites = ["Where is the lake in the deer park?", "Where is the lake in the rose garden?"]
    found = guard.check_all(turn, rewrites, PARKS, profile=Profile.CONDENSE)
    assert "ambiguous.fills" not in {v.rule for v in found.violations}


# ---- the set as a value


def test_one_rewrite_is_judged_as_by_check(guard: Guard) -> None:
    for rewrite in (FULL, "markets on Sundays", "markets not open on Sundays in 2023"):
        whole = guard.check_all(TURN, [rewrite], profile=Profile.CONDENSE)
        single = guard.check(TURN, rewrite)
        assert (whole.verdict, whole.violations, whole.comparison) == (
            single.verdict,
            single.violations,
            single.comparison,
        )
        assert whole.assessments == (single,)


def test_the_set_says_what_all_rewrites_together_kept(guard: Guard) -> None:
    turn = "Which is cheaper in July, the ferry or the train?"
    parts = ["How much is the ferry?", "How much is the train in July?"]
    found = guard.check_all(turn, parts, profile=Profile.DECOMPOSE)
    assert isinstance(found, SetAssessment)
    assert found.rewrite == "\n".join(parts)
    kept = {pair.ours.text: pair.theirs for pair in found.comparison.kept}
    july = next(theirs for text, theirs in kept.items() if "July" in text)
    assert "July" in found.rewrite[july.start : july.end]
    assert not any("July" in token.text for token in found.comparison.dropped)


def test_explain_and_to_dict(guard: Guard) -> None:
    found = guard.check_all(TURN, [FULL, "markets not open on Sundays in 2019"])
    lines = found.explain().splitlines()
    assert lines[0] == "The rewrites change what the user asked."
    assert lines[-2:] == [
        f'Rewrite 1, "{FULL}": preserved.',
        'Rewrite 2, "markets not open on Sundays in 2019": changed.',
    ]
    plain = json.loads(json.dumps(found.to_dict()))
    assert (plain["verdict"], plain["profile"], plain["reason"]) == ("changed", "expand", "altered")
    assert [each["verdict"] for each in plain["assessments"]] == ["preserved", "changed"]


# ---- what is searched


def test_the_weight_of_a_rewrite_is_shared_among_the_good_ones(guard: Guard) -> None:
    decision = guard.decide(TURN, [FULL, "markets not open on Sundays in 2019", "2. market hours", FULL])
    assert (decision.action, decision.reason, decision.query) == ("fuse", "altered", TURN)
    assert [(q.text, q.weight, q.origin) for q in decision.queries] == [
        (TURN, 2, "original"),
        (FULL, 2, "rewrite"),
        ("2. market hours", 1, "rewrite"),
    ]
    strict = guard.decide(TURN, [FULL, "market hours"], policy=Policy.strict())
    assert [(q.text, q.weight) for q in strict.queries] == [(TURN, 2), (FULL, 4)]


def test_rejected_sets_leave_the_turn_and_the_history(guard: Guard) -> None:
    decision = guard.decide("Is the tent open in May?", ["Is the tent closed in May?"], TENTS)
    assert (decision.action, decision.query) == ("fall_back", "Is the tent open in May?")
    assert [(q.weight, q.origin) for q in decision.queries] == [(1, "original"), (2, "carried")]


def test_one_search_is_the_turn_beside_which_the_queries_were_written(guard: Guard) -> None:
    beside = guard.decide(TURN, [FULL], policy=Policy.single())
    assert (beside.action, beside.query, len(beside.queries)) == ("use_original", TURN, 1)
    turn, good = "When does it open?", "When does the deer park open?"
    bad = "When does the deer park close?"
    alone = guard.decide(turn, [bad, good], PARKS[:1], profile=Profile.CONDENSE, policy=Policy.single())
    assert (alone.action, alone.query) == ("use_rewrite", good)


def test_shadow_mode_searches_the_items_as_they_came(guard: Guard) -> None:
    items = ["Here are two versions:", f"1. {FULL}", "2. markets open on Sundays in 2019"]
    decision = guard.decide(TURN, items, policy=Policy.observe())
    assert [q.text for q in decision.queries] == items
    assert (decision.verdict, decision.action, decision.proposed) == ("changed", "use_rewrite", "fuse")


@pytest.mark.parametrize("turn", ["opening hours rose garden", "Hello, where is the deer park?", "hi!"])
def test_a_turn_of_under_four_content_words_is_not_shortened(guard: Guard, turn: str) -> None:
    assert len(guard._read(turn).content) < 5
    decision = guard.decide(turn, "park", profile=Profile.SHORTEN)
    shortened = len(guard._read(turn).content) >= 4
    assert (decision.action == "use_original") is not shortened
    if not shortened:
        assert [q.text for q in decision.queries] == [turn]
        assert decision.reason == "skipped"
        assert guard.decide(turn, ["park"], profile=Profile.SHORTEN) == decision
        shadow = guard.decide(turn, "park", profile=Profile.SHORTEN, policy=Policy.observe())
        assert [q.text for q in shadow.queries] == ["park"]


def test_a_longer_turn_is_searched_shortened(guard: Guard) -> None:
    turn = "Hi, I was wondering whether the night bus still stops at the old harbour on Sundays"
    decision = guard.decide(turn, "night bus stop old harbour Sundays", profile=Profile.SHORTEN)
    assert decision.query != turn


# ---- cleaning

LISTS = [
    (["Here are three versions:", "", "1. How old is it?", "2) its age", "3. **When was it built?**"], 3),
    (["- a fast ferry", "- a cheap ferry", "* ferry tickets"], 3),
    (["Query 1: how old is the mill", "Query 2: mill age"], 2),
    (["Version 1 - how old is the mill", "Version 2 - mill age", "These versions use other words."], 2),
    (["Sure! Here are two alternative questions:\n\n1. How old is it?\n2. What is its age?\n"], 2),
    (['["how old is the mill", "mill age"]'], 2),
    (["```json", "[", '"how old is the mill",', '"mill age"', "]", "```"], 2),
    (["<think>", "the user wants the age", "</think>", "how old is the mill", "mill age"], 2),
    (["1. how old is the mill", "1. mill age", "1. mill year"], 3),
    (["1. how old is the mill", "2. mill age", "Each wording targets the year."], 2),
    (["(1) how old is the mill", "(2) mill age"], 2),
    (["Alternative questions:", "how old is the mill", "mill age", "I hope this helps!"], 2),
    (["where are the gates", "", "  ", "where are the gates"], 2),
    (["2023 sales", "2024 sales"], 2),
    (["3.5 mm plugs", "2.5 mm plugs"], 2),
]


@pytest.mark.parametrize(("items", "count"), LISTS)
def test_lists_are_cleaned(items: list[str], count: int) -> None:
    found = [each.text for each in listed_queries(items)]
    assert len(found) == count
    assert not any(text.startswith(("1.", "2)", "(1)", "- ", "Query", "Version", "Here", "[")) for text in found)


def test_numbers_that_are_no_marks_stay(guard: Guard) -> None:
    assert [each.text for each in listed_queries(["1. FC Ribe squad", "Ribe line-up"])] == [
        "1. FC Ribe squad",
        "Ribe line-up",
    ]
    assert [each.text for each in listed_queries(["3.5 mm plugs", "2.5 mm plugs"])] == ["3.5 mm plugs", "2.5 mm plugs"]
    noted = "How old is the mill?\n\nNotes on it:\n- it is clear\n- it is short"
    assert [a.rewrite for a in guard.check_all("How old is the mill?", [noted]).assessments] == ["How old is the mill?"]


KEPT_WHOLE = [
    ("Which towns lost residents in Q2?", ["Q2: towns losing residents"]),
    ("What is new in release 14?", ["Version 14: news", "Version 14 - release notes"]),
    ("Does option 1 come with lunch, or option 2?", ["Option 1: lunch", "Option 2: lunch included"]),
    ("How did the first two quarters of 2022 compare?", ["Q1: harvest in 2022", "Q2: 2022 harvest"]),
    ("How did the harvest of 2022 develop?", ["Version 1: 2022 harvest", "Version 2: 2022 harvest"]),
    ("How many points is question 4 worth?", ["Question 4: points"]),
    ("Who coached 1. FC Ribe?", ["1. FC Ribe coach", "2. Division coaches"]),
    ("Who coached the club from Ribe?", ["1. FC Ribe coach", "2. Division coaches", "Who trained Ribe?"]),
    ("Who sings on OK Harbour?", ["OK Harbour singers.", "singers on OK Harbour"]),
    ("Which versions of the game run on a tablet?", ["These versions of the game run on a tablet.", "tablet game"]),
    ("Who wrote I hope you stay?", ["I hope you stay author", "let me know author of the song"]),
    ("Which query versions exist?", ["What are the query versions:", "Which query versions are there"]),
    ("How cold is -5 C?", ["- 5 degrees in fahrenheit", "-5 C in F"]),
    ("Which plugs fit?", ["- plugs that fit", "fitting plugs"]),
]


@pytest.mark.parametrize(("turn", "items"), KEPT_WHOLE)
def test_words_that_look_like_marks_are_kept(turn: str, items: list[str]) -> None:
    assert [each.text for each in listed_queries(items, turn)] == items


def test_notes_beside_the_items_of_a_list_are_left_out() -> None:
    lines = ["## Queries", "1. mill age", "   - asks for the age", "2. mill year", "Would you like me to add one?"]
    assert [each.text for each in listed_queries(lines, "How old is the mill?")] == ["mill age", "mill year"]
    restarted = ["1. mill age\n2. mill year", "1. dam age\n2. dam year"]
    assert [each.text for each in listed_queries(restarted)] == ["mill age", "mill year", "dam age", "dam year"]


def test_items_that_are_no_list_are_taken_as_they_are(guard: Guard) -> None:
    turn = "What do the first two options cost?"
    items = ["Query 1: cost", "  ", "Query 2: price", '["cost of option 2"]']
    found = guard.check_all(turn, items, profile=Profile.DECOMPOSE, listed=False)
    assert [a.raw_rewrite for a in found.assessments] == [items[0], items[2], items[3]]
    assert [a.rewrite for a in found.assessments][:2] == [items[0], items[2]]
    with pytest.raises(InputError, match="expected at least one query, got none"):
        guard.check_all(turn, [" "], listed=False)


def test_a_part_may_name_the_other_side_in_the_place_of_this_one(guard: Guard) -> None:
    turn = "How does the render time of Blender 4.1 differ from that of 4.2?"
    parts = ["Blender 4.1 render time", "Blender 4.2 render time"]
    assert guard.check_all(turn, parts, profile=Profile.DECOMPOSE).verdict is Verdict.PRESERVED
    other = [parts[0], "Blender 4.3 render time"]
    assert guard.check_all(turn, other, profile=Profile.DECOMPOSE).verdict is Verdict.CHANGED
    one = guard.check_all(turn, parts[:1], profile=Profile.DECOMPOSE)
    assert one.verdict is Verdict.CHANGED


def test_what_tells_the_measure_is_not_from_nowhere(guard: Guard) -> None:
    turn = "Which is bigger, Vejle or Kolding?"
    parts = ["How many people live in Vejle?", "How many people live in Kolding?"]
    assert guard.check_all(turn, parts, profile=Profile.DECOMPOSE).verdict is Verdict.PRESERVED
    more = ["How many young people live in Vejle?", "How many young people live in Kolding?"]
    found = guard.check_all(turn, more, profile=Profile.DECOMPOSE)
    assert {v.rule for v in found.violations} == {"invented.words"}


def test_a_scale_may_be_read_as_an_adverb(guard: Guard) -> None:
    turn = "Is Lake Garda deeper than Lake Como?"
    for asked, verdict in (("depth of", "preserved"), ("inns at", "changed")):
        parts = [f"{asked} Lake Garda", f"{asked} Lake Como"]
        assert guard.check_all(turn, parts, profile=Profile.DECOMPOSE).verdict == verdict


@pytest.mark.parametrize(
    ("turn", "parts"),
    [
        (
            "How did guest numbers change between May and June 2021?",
            ["guest numbers May 2021", "guest numbers June 2021"],
        ),
        ("Compare the rainfall of Q3 and Q4 2021", ["Q3 2021 rainfall", "Q4 2021 rainfall"]),
        ("How do Ruby 3.2 and Ruby 3.3 differ in memory use?", ["Ruby 3.2 memory use", "Ruby 3.3 memory use"]),
    ],
)
def test_nobody_has_to_say_compare_who_asks_both_sides(guard: Guard, turn: str, parts: list[str]) -> None:
    assert guard.check_all(turn, parts, profile=Profile.DECOMPOSE).verdict is Verdict.PRESERVED
    assert guard.check_all(turn, parts[:1], profile=Profile.DECOMPOSE).verdict is Verdict.CHANGED


def test_the_items_are_judged_in_their_order_and_show_what_they_were(guard: Guard) -> None:
    items = ["Here are two versions:", f"1. {FULL}", "", '2. "market hours"', f"3. {FULL}"]
    found = guard.check_all(TURN, items)
    assert [a.rewrite for a in found.assessments] == [FULL, "market hours", FULL]
    assert [a.raw_rewrite for a in found.assessments] == [items[1], items[3], items[4]]


def test_a_passage_is_one_document(guard: Guard) -> None:
    passage = "Here is a passage:\n\nThe mill was built in 1780.\n\nIt is not open, and only guests may enter."
    [found] = guard.check_all("When was the mill built?", [passage]).assessments
    assert found.rewrite == "The mill was built in 1780. It is not open, and only guests may enter."
    assert found.verdict is Verdict.PRESERVED


# ---- errors


@pytest.mark.parametrize(
    ("rewrites", "message"),
    [
        ("markets", "rewrites: expected a list of strings or messages, got str"),
        (b"markets", "got bytes"),
        ({"query": "markets"}, "got dict"),
        (None, "got NoneType"),
        (7, "got int"),
        (["markets", 7], r"rewrites\[1\]: expected a string or a message with text, got int"),
        ([], "rewrites: expected at least one query, got none"),
        (["", "  ", "Here are three versions:"], "rewrites: expected at least one query, got none"),
    ],
)
def test_bad_sets_are_named(guard: Guard, rewrites: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        guard.check_all(TURN, rewrites)
    told = message if isinstance(rewrites, list) else "rewrite: expected a string or a message with text"
    if not isinstance(rewrites, str):
        with pytest.raises(InputError, match=told):
            guard.decide(TURN, rewrites)


def test_an_unknown_profile_is_named(guard: Guard) -> None:
    with pytest.raises(InputError, match="profile: expected one of"):
        guard.check_all(TURN, [FULL], profile="multi")  # type: ignore[arg-type]
    assert guard.check_all(TURN, iter([FULL]), profile="decompose").profile is Profile.DECOMPOSE  # type: ignore[arg-type]


def test_a_question_that_no_part_asks_rejects_them_all(guard: Guard) -> None:
    turn = "When was the mill built and who designed it?"
    parts = ["When was the mill built?", "Where is the mill?"]
    found = guard.check_all(turn, parts, profile=Profile.DECOMPOSE)
    assert [a.verdict for a in found.assessments] == ["changed", "changed"]
    assert [v.evidence[0].text for v in found.violations if v.fault == "question_lost"] == ["who designed it?"]
    assert guard.decide(turn, parts, profile=Profile.DECOMPOSE).action == "fall_back"
    half = guard.check_all("the hours and the fee of the mill", ["hours of the mill"], profile=Profile.DECOMPOSE)
    assert half.verdict is Verdict.UNCERTAIN


def test_tokens_of_one_place_and_kind_keep_the_order_in_which_the_rewrites_hold_them() -> None:
    tokens = [ProtectedToken(Kind.QUALIFIER, "annual", 4, 10, f"meaning {i}") for i in range(12)]
    comparison = Comparison()
    alone = [
        Assessment(Verdict.PRESERVED, (), comparison, False, Checked(tuple(part)), "the annual fee", text, text)
        for part, text in ((tokens[:8], "annual fee"), (tokens[4:], "yearly fee"))
    ]
    whole = together(alone, [], Verdict.PRESERVED, Profile.EXPAND)
    assert list(whole.checked.tokens) == tokens
