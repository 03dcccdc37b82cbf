"""How names are spelt: the form in which two spellings are equal, countries under one name, and slips of the pen."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import DamerauLevenshtein

from rewriteguard.errors import InputError
from rewriteguard.language import lexicon

_PLACES = lexicon.words("entity", "places")
_TYPO_LENGTH = 5
_SIMILAR = 80  # of 100; people's corrections of misspelt words reach it (MTRAG, CAsT 2021)
# Letters with a mark that Unicode does not take apart: "Płock" and "Plock".
_UNMARKED = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "Æ": "AE"})


@lru_cache(maxsize=65_536)
def canonical(text: str) -> str:
    """The form in which two spellings of one name are equal."""
    plain = unicodedata.normalize("NFKD", text).translate(_UNMARKED)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold().replace("\u2019", "'")
    parts = [part.removesuffix("'s").rstrip("'") for part in plain.split()]
    if parts and parts[0] == "the" and len(parts) > 1:
        parts = parts[1:]
    name = " ".join(map(_undotted, parts))
    return _COUNTRIES.get(name, name)


def country(word: str) -> str | None:
    """The one name of a country or body for any of its forms ("U.S.", "American"); None for other words."""
    return _COUNTRIES.get(_undotted(word.casefold()))


def _undotted(part: str) -> str:
    return part.replace(".", "") if part.count(".") > 1 else part


_COUNTRIES: dict[str, str] = {
    _undotted(form): group.split("|")[0]
    for group in lexicon.section("entity")["countries"]
    for form in group.split("|")
}


def is_typo(ours: str, theirs: str) -> bool:
    """True where one edit turns one spelling into the other: five letters or more, one script, no digits."""
    return _may_be_slip(ours, theirs) and DamerauLevenshtein.distance(ours, theirs, score_cutoff=1) <= 1


def resembles(ours: str, theirs: str) -> bool:
    """True for spellings that slips of the pen may explain."""
    return _may_be_slip(ours, theirs) and fuzz.ratio(ours, theirs) >= _SIMILAR


def _may_be_slip(ours: str, theirs: str) -> bool:
    if min(len(ours), len(theirs)) < _TYPO_LENGTH or ours.isascii() != theirs.isascii() or are_places(ours, theirs):
        return False
    return not any(c.isdigit() for c in ours + theirs)


def is_transposed(ours: str, theirs: str) -> bool:
    """True where two letters changed places."""
    same = len(ours) == len(theirs) and sorted(ours) == sorted(theirs) and not any(c.isdigit() for c in ours)
    return same and DamerauLevenshtein.distance(ours, theirs) == 1


def are_places(ours: str, theirs: str) -> bool:
    """True for the names of two countries or states."""
    one, other = ({part for part in name.split() if part in _PLACES} for name in (ours, theirs))
    return bool(one and other) and one != other


def equivalents_of(aliases: Mapping[str, Iterable[str]]) -> Mapping[str, frozenset[str]]:
    """For each name, every other name of the same thing, in canonical form.

    Raises:
        InputError: The names of a thing are no list.
    """
    table: dict[str, frozenset[str]] = {}
    for name, others in aliases.items():
        if isinstance(others, str) or not isinstance(others, Iterable):
            raise InputError(f"aliases[{name!r}]: expected a list of names, got {type(others).__name__}")
        group = frozenset(canonical(form) for form in (name, *others))
        for form in group:
            table[form] = table.get(form, frozenset()) | (group - {form})
    return table
