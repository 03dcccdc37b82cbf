"""Quantifiers whose loss reverses a question: only, all, both, first, last and the ordinals.

Left alone: words that only point ("the first one", "both of them", "all these"), and fixed phrases ("at all").
Source: people drop those freely once the reference is filled.
"""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import same_value, scan
from rewriteguard.language import lexicon
from rewriteguard.model.tokens import Kind, ProtectedToken

_GROUPS: dict[str, str] = {
    word: name for name, group in lexicon.section("quantifier")["groups"].items() for word in group.split()
}
_PROTECTED = lexicon.words("quantifier", "protected")
_ORDINALS: dict[str, str] = dict(lexicon.section("equivalents")["numbers"])
_POINTING = lexicon.words("quantifier", "pointing") | {"?", ".", ","}
WEAK = lexicon.words("quantifier", "weak")
"""Classes that come and go freely; only one in another's place says something."""
ONLY = frozenset(word for word, name in _GROUPS.items() if name == "only")
"""The words for "only"; "just" counts as one where it stands in its place."""
ENDS = frozenset({"1st", "first", "last"})
"""The ends of a row; "the second plan" points to a list more often than it restricts."""
_FIXED_BEFORE: dict[str, str] = dict(lexicon.section("quantifier")["fixed_before"])
_FIXED_AFTER: dict[str, str] = dict(lexicon.section("quantifier")["fixed_after"])
_JUST_BEFORE = lexicon.words("quantifier", "just_before")

_TELLING = frozenset(_GROUPS) | frozenset(_ORDINALS) | {"just", "merely", "only"}

same = same_value


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The quantifiers of `doc`; the value names their class."""
    return scan(doc, Kind.QUANTIFIER, _quantifier)


def _quantifier(doc: Doc, word: Token) -> tuple[int, str] | None:
    value = _class_of(doc, word)
    return (1, value) if value else None


def _class_of(doc: Doc, word: Token) -> str | None:
    lower = word.lower_
    if lower not in _TELLING and not lower[0].isdigit():
        return None
    before = doc[word.i - 1].lower_ if word.i else ""
    after = doc[word.i + 1].lower_ if word.i + 1 < len(doc) else ""
    if before in _FIXED_BEFORE.get(lower, "").split() or after in _FIXED_AFTER.get(lower, "").split():
        return None
    if lower in {"just", "merely"}:
        return "only" if after in _JUST_BEFORE else None
    if lower == "only":
        return None if before == "not" else "only"
    ordinal = _ORDINALS.get(lower, lower)
    if ordinal.endswith(("st", "nd", "rd", "th")) and ordinal[0].isdigit():
        return None if _points(doc, word) else ordinal
    group = _GROUPS.get(lower)
    if group in {"twice", "thrice"}:
        return group
    if group not in _PROTECTED | WEAK or _points(doc, word):
        return None
    if group == "both" and not _pairs(doc, word):
        return None
    return group


def _points(doc: Doc, word: Token) -> bool:
    """True for "all of them" and "the first one"; "all of the plans" and "every one of the plans" say how many."""
    rest = [part.lower_ for part in doc[word.i + 1 : word.i + 4]]
    if rest[:1] == ["one"] and "of" in rest:
        rest = rest[1:]
    if rest[:1] == ["of"]:
        return len(rest) < 2 or rest[1] in _POINTING
    return not rest or rest[0] in _POINTING


def _pairs(doc: Doc, word: Token) -> bool:
    """True for "both A and B" and "both parents"; elsewhere "both" only points."""
    rest = [part.lower_ for part in doc[word.i + 1 : word.i + 8]]
    return "and" in rest or rest[:1] == ["of"] or (word.i + 1 < len(doc) and doc[word.i + 1].pos_ in {"NOUN", "ADJ"})
