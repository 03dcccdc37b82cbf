from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriteguard.language.normal import normalise

NORMAL = [
    ("plain", "plain"),
    ("it’s “5 km”", 'it\'s "5 km"'),
    ("2019–2021", "2019-2021"),
    ("ﬁve", "five"),
    ("a\u00a0b", "a b"),
    ("2\u200b500", "2500"),
    ("cafe\u0301", "café"),
    ("５ ｋｍ", "5 km"),
    ("\u202eabc", "abc"),
    ("a\ud800b", "a\ufffdb"),
    ("\u041erbex", "\u041erbex"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "normal"), NORMAL)
def test_normalise(text: str, normal: str) -> None:
    assert normalise(text).text == normal


def test_spans_map_back_to_the_original() -> None:
    text = "fee of 2\u200b500 \u20ac since 2019–2021, ﬁve caf\u0065\u0301s"
    normal = normalise(text)
    for word, original in [
        ("2500", "2\u200b500"),
        ("2019-2021", "2019–2021"),
        ("five", "ﬁve"),
        ("cafés", "cafe\u0301s"),
    ]:
        start = normal.text.index(word)
        begin, end = normal.span(start, start + len(word))
        assert text[begin:end] == original


_TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("ﬁ½\u0301\u200b\u202e“’–\u00a0´ a1.")), max_size=60
)


@given(_TEXTS, st.data())
def test_a_span_of_the_normal_form_is_the_normal_form_of_its_span(text: str, data: st.DataObject) -> None:
    normal = normalise(text)
    assert len(normal.starts) == len(normal.text) + 1
    assert list(normal.starts) == sorted(normal.starts)
    assert normal.starts[-1] == len(text)
    start = data.draw(st.integers(0, len(normal.text)))
    end = data.draw(st.integers(start, len(normal.text)))
    begin, stop = normal.span(start, end)
    assert 0 <= begin <= stop <= len(text)
    assert normal.text[start:end] in normalise(text[begin:stop]).text
