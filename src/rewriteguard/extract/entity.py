"""Named entities: runs of capitalised words and proper nouns, and acronyms.

Value: lower case, no diacritics, no dots in acronyms, no leading article, no possessive; countries and a few bodies
under one name, nationality forms included. Equal although written differently: an acronym and its expansion where
the conversation holds both, user-given aliases, and a one-letter typo from five letters on.
Source: proper-noun tags and capitals found the names of chat text; the small model's NER added hardly any.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import DamerauLevenshtein
from spacy.tokens import Doc, Token

from rewriteguard.errors import InputError
from rewriteguard.extract.base import Facts, Match, text_of, token, words_of
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

_JOINERS = frozenset({"of", "&", "de", "la", "von", "van", "du", "del", "'s"})
_FUNCTION = lexicon.words("words", "function")
_PLACES = lexicon.words("entity", "places")
_COMMON = lexicon.words("entity", "common")
_REQUESTS = lexicon.words("regions", "requests")
_PROPER = frozenset({"NNP", "NNPS"})
_HEADLINE_WORDS = 4  # fewer may all be names
_TYPO_LENGTH = 5
# Letters with a mark that Unicode does not take apart: "Płock" and "Plock".
_UNMARKED = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "Æ": "AE"})
_SIMILAR = 80  # of 100; people's corrections of misspelt words reach it (MTRAG, CAsT 2021)


@lru_cache(maxsize=65_536)
def canonical(text: str) -> str:
    """The form in which two spellings of one name are equal."""
    plain = unicodedata.normalize("NFKD", text).translate(_UNMARKED)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold().replace("\u2019", "'")
    parts = [part.removesuffix("'s").rstrip("'") for part in plain.split()]
    if parts and parts[0] == "the" and len(parts) > 1:
        parts = parts[1:]
    name = " ".join(part.replace(".", "") if _is_dotted(part) else part for part in parts)
    return _COUNTRIES.get(name, name)


def _is_dotted(part: str) -> bool:
    return part.count(".") > 1


_COUNTRIES: dict[str, str] = {
    form.replace(".", "") if _is_dotted(form) else form: group.split("|")[0]
    for group in lexicon.section("entity")["countries"]
    for form in group.split("|")
}


def country(word: str) -> str | None:
    """The one name of a country or body for any of its forms ("U.S.", "American"); None for other words."""
    key = word.casefold()
    return _COUNTRIES.get(key.replace(".", "") if _is_dotted(key) else key)


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The names of `doc`; a run of capitalised words is one name."""
    tagged = doc.has_annotation("TAG")
    headline = _is_headline(doc)
    text = text_of(doc)
    run: list[Token] = []
    for word in words_of(doc):
        joins = bool(run) and word.lower_ in _JOINERS and _continues(doc, word, tagged, headline)
        if joins or _is_name(word, tagged, headline):
            run.append(word)
        else:
            yield from _close(text, run)
            run = []
    yield from _close(text, run)


def same(ours: ProtectedToken, theirs: ProtectedToken, facts: Facts) -> Match:
    """SAME for one name in two spellings, for equivalents of the conversation and for a one-letter typo."""
    if ours.value == theirs.value or theirs.value in facts.equivalents.get(ours.value, ()):
        return Match.SAME
    return Match.SAME if is_typo(ours.value, theirs.value) else Match.DIFFERENT


def is_typo(ours: str, theirs: str) -> bool:
    """True where one edit turns one spelling into the other: five letters or more, one script, no digits."""
    if min(len(ours), len(theirs)) < _TYPO_LENGTH or ours.isascii() != theirs.isascii() or are_places(ours, theirs):
        return False
    if any(c.isdigit() for c in ours + theirs):
        return False
    return DamerauLevenshtein.distance(ours, theirs, score_cutoff=1) <= 1


def are_places(ours: str, theirs: str) -> bool:
    """True for the names of two countries or states."""
    one, other = ({part for part in name.split() if part in _PLACES} for name in (ours, theirs))
    return bool(one and other) and one != other


def is_transposed(ours: str, theirs: str) -> bool:
    """True where two letters changed places."""
    same = len(ours) == len(theirs) and sorted(ours) == sorted(theirs) and not any(c.isdigit() for c in ours)
    return same and DamerauLevenshtein.distance(ours, theirs) == 1


def resembles(ours: str, theirs: str) -> bool:
    """True for spellings that slips of the pen may explain."""
    if any(c.isdigit() for c in ours + theirs) or ours.isascii() != theirs.isascii() or are_places(ours, theirs):
        return False
    return min(len(ours), len(theirs)) >= _TYPO_LENGTH and fuzz.ratio(ours, theirs) >= _SIMILAR


def _is_headline(doc: Doc) -> bool:
    """True where every longer word is capitalised, so that a capital says nothing."""
    longer = [word for word in doc[1:] if word.is_alpha and len(word) > 3]
    return len(longer) >= _HEADLINE_WORDS and all(word.is_title for word in longer)


def _is_name(word: Token, tagged: bool, headline: bool) -> bool:
    text, lower = word.text, word.lower_
    if not text[0].isalpha() or lower in _FUNCTION or lower in _COMMON:
        return lower in {"us"} and text == "US"
    if len(text) > 1 and text.isupper():
        return True
    opening = _opens_sentence(word)
    if opening and lower in _REQUESTS:  # "Compare Oslo and Bergen": the tagger takes the verb for a name
        return False
    proper = tagged and word.tag_ in _PROPER
    if not text[0].isupper():
        return proper and len(text) > 3
    inner = any(c.isupper() or c.isdigit() for c in text[1:])
    return inner or proper or not (headline or opening)


def _opens_sentence(word: Token) -> bool:
    if word.i == 0:
        return True
    before = word.nbor(-1)
    ends = before.is_punct and before.text not in {",", "-", "(", "/", "&"}
    return ends or before.is_space or before.is_quote


def _continues(doc: Doc, word: Token, tagged: bool, headline: bool) -> bool:
    return word.lower_ != "'s" and word.i + 1 < len(doc) and _is_name(doc[word.i + 1], tagged, headline)


def _close(text: str, run: Sequence[Token]) -> Iterable[ProtectedToken]:
    if run:
        start, end = run[0].idx, run[-1].idx + len(run[-1])
        yield token(Kind.ENTITY, text, start, end, canonical(text[start:end]))


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
