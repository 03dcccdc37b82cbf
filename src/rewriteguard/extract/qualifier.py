"""Qualifiers: status, aggregation, fiscal or calendar, audience, language, fare class, limits of the output.

Value: the canonical word of a dimension. Two members of one dimension exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import same_value, scan
from rewriteguard.language import lexicon
from rewriteguard.language.words import Phrases
from rewriteguard.model.tokens import Kind, ProtectedToken

_DIMENSIONS: dict[str, int] = {}
_FORMS: dict[tuple[str, ...], str] = {}
for _number, _dimension in enumerate(lexicon.section("qualifier")["dimensions"]):
    for _group in _dimension:
        _canonical = _group.split()[0]
        _DIMENSIONS[_canonical] = _number
        for _form in _group.split():
            _FORMS[tuple(_form.split("-"))] = _canonical
            _FORMS[(_form,)] = _canonical
_FIRSTS = frozenset(form[0] for form in _FORMS)
_LONGEST = max(len(form) for form in _FORMS)
_LANGUAGES = lexicon.words("qualifier", "languages")
_ATTRIBUTIVE = lexicon.words("qualifier", "attributive")
_EACH = frozenset({"a", "each", "every"})
_LIMITS = Phrases((phrase.split(), f"limit:{phrase}") for phrase in lexicon.phrases("qualifier", "limits"))
# Said of a person or a group only after "for": elsewhere they are the topic.
_AUDIENCES = frozenset({
    "adult", "children", "infants", "teenagers", "seniors", "beginner", "experts", "senior", "junior", "male",
    "female",
})  # fmt: skip

same = same_value


def clash(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True where the two exclude each other."""
    one, other = _DIMENSIONS.get(ours.value), _DIMENSIONS.get(theirs.value)
    return one is not None and one == other and ours.value != theirs.value


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The qualifiers of `doc`."""
    return scan(doc, Kind.QUALIFIER, _qualifier)


def _qualifier(doc: Doc, word: Token) -> tuple[int, str] | None:
    if word.lower_ == "in" and word.i + 1 < len(doc) and doc[word.i + 1].lower_ in _LANGUAGES:
        return 2, f"in {doc[word.i + 1].lower_}"
    if word.lower_ in _EACH and word.i and doc[word.i - 1].like_num and word.i + 1 < len(doc):  # "$15 a year"
        each = _FORMS.get(("per", doc[word.i + 1].lower_))
        if each:
            return 2, each
    limit = _LIMITS.at(doc, word)
    if limit is not None:
        return limit
    if word.lower_ not in _FIRSTS:  # a hyphen belongs to the word before it
        return None
    for length in range(min(_LONGEST * 2 - 1, len(doc) - word.i), 0, -1):
        parts = tuple(part.lower_ for part in doc[word.i : word.i + length] if part.text != "-")
        value = _FORMS.get(parts)
        if value and not _is_cut_off(doc, word.i + length):
            return (length, value) if _restricts(doc, word, length, value) else None
    return None


def _is_cut_off(doc: Doc, end: int) -> bool:
    """True where the words before `end` are only the front of a longer hyphenated word: "single-page"."""
    return doc[end - 1].text == "-" or (end < len(doc) and doc[end].text == "-")


def _restricts(doc: Doc, word: Token, length: int, value: str) -> bool:
    """True where the word narrows something, and is not the thing asked about itself."""
    if value in _AUDIENCES:
        before = [part.lower_ for part in doc[max(0, word.i - 3) : word.i]]
        describes = word.dep_ == "amod" and word.tag_ == "JJ"
        return describes or "for" in before or "among" in before
    follows = word.i > 0 and doc[word.i - 1].pos_ in {"PRON", "NOUN", "PROPN"}
    if value in _ATTRIBUTIVE and (word.dep_ not in {"amod", "compound"} or word.head.i < word.i):
        return False
    attribute = not follows and word.i + 1 < len(doc) and doc[word.i + 1].pos_ in {"NOUN", "PROPN"}
    states = word.i + 1 < len(doc) and doc[word.i + 1].lower_ == "that" and word.tag_ in {"VBD", "VBN"}
    past = states or (word.tag_ == "VBD" and word.dep_ not in {"amod", "acl"} and not attribute)
    verb = word.tag_ in {"VBZ", "VBP", "VB"} or past
    if verb and length == 1:
        return False
    if word.lower_ == "used" and word.dep_ != "amod":
        return False
    if word.lower_ == "total" and word.i and doc[word.i - 1].lower_ == "in":  # "how many in total"
        return False
    if word.lower_ == "free" and word.i and doc[word.i - 1].text == "-":  # "egg-free" is a negation
        return False
    last = doc[word.i + length - 1]
    after = doc[last.i + 1] if last.i + 1 < len(doc) else None
    # An attribute of a noun, or a predicate ("is it free", "the draft").
    return not (word.pos_ == "PROPN" and after is not None and after.pos_ == "PROPN")
