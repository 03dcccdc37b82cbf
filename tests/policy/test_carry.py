import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriteguard.model.conversation import Conversation
from rewriteguard.policy.carry import carried_query

SHOP = [
    ("user", "Which winter tyres fit a cargo bicycle?"),
    ("assistant", "Studded tyres fit most cargo bicycles. Tyres of 50 mm width are common."),
    ("user", "Are they loud on asphalt?"),
    ("assistant", "Studs hum on dry asphalt."),
]


def terms(turn, history):
    return carried_query(turn, Conversation.read(turn, history).history).terms


def test_four_terms_the_latest_and_the_users_first():
    query = carried_query("And in the rain?", Conversation.read("And in the rain?", SHOP).history)
    # asphalt 1 + .5; tyres .7 * (1 + (1 + ln 2) / 2); fit and cargo .7 * 1.5, before loud with 1
    assert query.terms == ("asphalt", "tyres", "fit", "cargo")
    assert query.text == "And in the rain? asphalt tyres fit cargo"


def test_words_of_the_turn_are_left_out_whatever_their_form():
    assert "tyres" not in terms("Is one tyre enough?", SHOP)


def test_without_history_the_query_is_the_turn():
    query = carried_query("How tall is it?", ())
    assert (query.text, query.terms) == ("How tall is it?", ())


def test_repetition_counts_for_the_assistant_only_and_at_most_double():
    history = [("user", "a plain question"), ("assistant", "valve " * 40 + "pump")]
    # question and plain: 1 each; valve: min(2, 1 + ln 40) / 2 = 1; pump: 1/2. Latest first among equals.
    assert terms("x?", history) == ("valve", "plain", "question", "pump")


def test_age_counts_exchanges():
    history = [("user", "alpha"), ("assistant", "beta"), ("user", "gamma"), ("assistant", "delta")]
    # gamma 1, alpha .7, delta .5, beta .35
    assert terms("x?", history) == ("gamma", "alpha", "delta", "beta")


def test_tool_and_system_messages_are_never_read():
    history = [("user", "boiler"), ("tool", "secret manual"), ("system", "obey orders")]
    assert terms("x?", history) == ("boiler",)


LEFT_OUT = [
    "https://evil.example/path?x=1",
    "root@evil.example",
    "AB-1234",
    "INV00321",
    "1234567",
    "title:passwords",
    "snake_case",
    "/etc/passwd",
    "foo*bar",
    "fuzzy~2",
    "x&&y",
    "v3.2",
    "+31-20-5550199",
]


@pytest.mark.parametrize("token", LEFT_OUT)
def test_what_only_the_assistant_said_carries_no_identifier_and_no_syntax(token):
    assert terms("x?", [("user", "hm"), ("assistant", f"see {token} there")]) in [("hm",), ("hm", "see")]
    said = terms("x?", [("user", f"I have {token} here"), ("assistant", f"see {token} there")])
    assert any(token.strip("+*/") in term or term in token for term in said)


CODES = [
    ("Your ticket number is 4821 for the repair.", {"4821"}),
    ("Ticket 1984 covers the repair.", {"1984"}),
    ("Flight LH 442 leaves before the repair.", {"lh", "442"}),
    ("The server said HTTP 404 after the repair.", {"http", "404"}),
    ("Booking QWKZJT covers the repair.", {"qwkzjt"}),
    ("See admin/passwords/dump before the repair.", {"admin", "passwords", "dump"}),
    ("Room 12 is free after the repair, at 3.50 an hour.", {"12", "50"}),
]


@pytest.mark.parametrize(("answer", "codes"), CODES, ids=[answer for answer, _ in CODES])
def test_codes_of_plain_words_and_numbers_are_carried_only_where_a_user_said_them(answer, codes):
    assert not codes & set(terms("How long?", [("user", "hm"), ("assistant", answer)]))
    said = " ".join(sorted(codes))
    assert codes & set(terms("How long?", [("user", said), ("assistant", answer)]))


def test_a_year_that_only_the_assistant_said_is_carried():
    assert "1907" in terms("How long?", [("user", "hm"), ("assistant", "The mill closed in 1907.")])


@pytest.mark.parametrize("attack", ["OR", "AND", "NOT", "-password", '"exact phrase"', "(group)", "wild*", "NEAR"])
def test_operators_do_not_get_in(attack):
    query = carried_query("x?", Conversation.read("x?", [("user", "hm"), ("assistant", f"{attack} ok")]).history)
    assert not any(sign in query.text for sign in '-"()*')
    assert not any(term.isupper() for term in query.terms)


def test_only_the_first_two_thousand_characters_are_read():
    assert terms("x?", [("user", "word " + " " * 2_000 + "late")]) == ("word",)


def test_contractions_and_compounds():
    found = terms("x?", [("user", "Don't the city's same-day couriers deliver?")])
    assert found == ("city", "day", "couriers", "deliver")


messages = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=60)), max_size=6)


@given(st.text(max_size=40), messages)
def test_any_text_gives_at_most_four_terms_twice_the_same(turn, history):
    read = Conversation.read(turn, history).history
    first = carried_query(turn, read)
    assert first == carried_query(turn, read)
    assert len(first.terms) <= 4
    assert first.text.startswith(turn)


def test_half_a_surrogate_pair_is_searched_as_it_came():
    assert carried_query("caf\ud800 hours?", Conversation.read("x", [("user", "harbour")]).history).terms == (
        "harbour",
    )
