from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rewriteguard import Guard

# What chat texts are made of, and what shifts offsets when it is counted in bytes or UTF-16 units or normalised.
FRAGMENTS = [
    "Which hotels in Zürich", "not", "don't", "don’t", "without a visa", "except", "only", "the 2nd", "cheaper than",
    "since 2019", "Q3 2023", "last year", "5 km", "$3bn", "46%", "1,200", "v3.11.4", "Python 3.12", "E1042", "BK-77-A",
    "a@example.org", "https://example.org/a?b=c", "C:\\temp\\x.txt", "\u201cquoted words\u201d", "‘so’", '"', "U.S.",
    "São Paulo", "annual", "in French", "how many", "must", "who", "Can I", "No, I mean", "both of them", "it",
    "kettle", "😀", "👩‍👩‍👧", "🇨🇭", "e\u0301", "a\u0308", "\u200b", "\u200d", "\ufeff", "\u202e", "\u00ad", "\u00a0",
    "\u2009", "東京", "最寄り", "２０２３年", "５ km", "１２３",
    "ﬁ", "Ⅷ", "½", "…", "—", "-", ".", ",", "?", "!", "\n", "\n\n", "\t", "  ", "",
]  # fmt: skip

GUARD = Guard()
PROPERTY = settings(max_examples=60, deadline=None, derandomize=True, database=None)

assembled = st.lists(
    st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from([" ", " ", " ", "", "\u00a0", "\u200b"])), max_size=14
).map(lambda parts: "".join(fragment + glue for fragment, glue in parts))


def check(text: str) -> None:
    tokens = GUARD.extract(text)
    for token in tokens:
        assert 0 <= token.start < token.end <= len(text), token
        assert text[token.start : token.end] == token.text, token
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)


@PROPERTY
@given(st.text(max_size=120))
def test_any_text(text: str) -> None:
    check(text)


@PROPERTY
@given(assembled)
def test_texts_made_of_fragments(text: str) -> None:
    check(text)


@PROPERTY
@given(st.text(alphabet="aA1 .,-'’\"$%:/@()\u0301\u200b\u00a0１５年\n", max_size=60))
def test_texts_of_few_characters(text: str) -> None:
    check(text)


@PROPERTY
@given(assembled)
def test_reading_is_deterministic(text: str) -> None:
    assert Guard().extract(text) == GUARD.extract(text)


def test_offsets_count_code_points_of_the_text_as_written() -> None:
    text = "😀\u200b Is the e\u0301clair in São Paulo not vegan since 2019?"
    tokens = {token.text: token for token in GUARD.extract(text)}
    assert {"São Paulo", "not", "since 2019"} <= set(tokens)
    assert tokens["since 2019"].start == text.index("since 2019")
    assert tokens["not"].end == text.index("not") + 3
