from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import rewriteguard
from rewriteguard.language import lexicon
from rewriteguard.language.detect import language_of
from rewriteguard.language.lexicon import stem

TABLES: dict[str, Any] = tomllib.loads(resources.files("rewriteguard.language").joinpath("en.toml").read_text("utf-8"))
LISTS_OF_WORDS = [
    ("words", "function"),
    ("words", "light"),
    ("reference", "singular"),
    ("reference", "plural"),
    ("reference", "relational"),
    ("negation", "members"),
    ("negation", "prefixes"),
    ("comparison", "plain"),
    ("qualifier", "languages"),
    ("entity", "common"),
    ("regions", "auxiliaries"),
    ("regions", "questions"),
]
# These tell capitals from small letters, or hold signs of units and products as people write them.
CASED = {"query", "quantity", "version", "identifier", "time"}


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string of the tables and every key that is an entry itself, with the place where it stands."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}.{key}", key
            yield from strings(item, f"{path}.{key}")


def repeated(words: list[str]) -> list[str]:
    return [word for word, count in Counter(words).items() if count > 1]


def test_no_entry_is_empty_or_padded() -> None:
    bad = [place for place, text in strings(TABLES) if not text.strip() or (text != text.strip() and "\n" not in text)]
    assert bad == []


def test_entries_are_in_lower_case() -> None:
    tables = {name: table for name, table in TABLES.items() if name not in CASED}
    assert [(place, text) for place, text in strings(tables) if text != text.lower()] == []


@pytest.mark.parametrize(("table", "key"), LISTS_OF_WORDS)
def test_no_word_stands_twice_in_a_list(table: str, key: str) -> None:
    assert repeated(lexicon.section(table)[key].split()) == []


def test_no_phrase_stands_twice_in_an_array() -> None:
    arrays = {
        f"{name}.{key}": entry
        for name, table in TABLES.items()
        for key, entry in table.items()
        if isinstance(entry, list) and all(isinstance(item, str) for item in entry)
    }
    assert {place: repeated(entry) for place, entry in arrays.items() if repeated(entry)} == {}


def test_no_qualifier_stands_in_two_places() -> None:
    dimensions = lexicon.section("qualifier")["dimensions"]
    assert repeated([word for dimension in dimensions for group in dimension for word in group.split()]) == []


@pytest.mark.parametrize("table", ["quantifier", "modality"])
def test_no_word_has_two_strengths(table: str) -> None:
    groups = lexicon.section(table)["groups"]
    assert repeated([word for group in groups.values() for word in group.split()]) == []


def test_no_scale_of_comparison_has_two_names() -> None:
    assert repeated([word for group in lexicon.section("comparison")["bases"] for word in group.split()]) == []


def test_no_country_has_two_names() -> None:
    assert repeated([form for group in lexicon.section("entity")["countries"] for form in group.split("|")]) == []


def test_opposites_are_pairs_of_two_words() -> None:
    pairs = lexicon.section("comparison")["opposites"]
    assert [pair for pair in pairs if len(pair) != 2 or pair[0] == pair[1]] == []
    assert repeated(["/".join(sorted(pair)) for pair in pairs]) == []


def test_no_word_is_its_own_opposite() -> None:
    table = lexicon.section("comparison")
    names = {stem(word): group.split()[0] for group in table["synonyms"] for word in group.split()}
    assert [
        (one, other) for one, other in table["opposites"] if names.get(stem(one), 1) == names.get(stem(other), 2)
    ] == []


def test_phrases_come_longest_first() -> None:
    phrases = lexicon.phrases("regions", "wrappers")
    assert list(phrases) == sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    assert lexicon.words("regions", "questions") >= {"who", "when", "why"}


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(KeyError):
        lexicon.section("no such table")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("how do I descale a kettle", "en"),
        ("Where is the nearest pharmacy?", "en"),
        ("Who was Friedrich von der Leyen?", "en"),
        ("a menu à la carte for the café", "en"),
        ("wo ist die nächste Apotheke und wann hat sie offen", "de"),
        ("où est la pharmacie la plus proche de chez nous", "fr"),
        ("dónde está la farmacia más cercana de aquí", "es"),
        ("waar is de dichtstbijzijnde apotheek en hoe laat sluit die", "nl"),
        ("最寄りの薬局はどこですか", "ja"),
        ("где ближайшая аптека", "cyrillic"),
        ("أين أقرب صيدلية", "arabic"),
        ("What does 薬局 mean?", "en"),
        ("kettle descaler", ""),
        ("E1042", ""),
        ("", ""),
        ("Welche Linien fahren im Winter 2023 nicht?", "de"),
        ("Wo kaufe ich im Hafen Karten?", "de"),
        ("Które linie kursują zimą?", "pl"),
        ("När går sista färjan till ön?", "sv"),
        ("die hard movies", ""),
        ("results of la liga in may", ""),
    ],
)
def test_language_of(text: str, language: str) -> None:
    assert language_of(text) in (language.split("|") if language else [""])


def test_every_list_is_read_by_the_code() -> None:
    source = "\n".join(path.read_text("utf-8") for path in Path(rewriteguard.__file__).parent.rglob("*.py"))
    read = {part for quote in "\"'" for part in source.split(quote)}
    assert [f"{name}.{key}" for name, table in TABLES.items() for key in table if key not in read] == []
