"""Topic: the other content nouns of a text. Value: the stem; derivation and typos are folded when compared."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import same_value, scan
from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem
from rewriteguard.model.tokens import Kind, ProtectedToken

_LEFT_OUT = lexicon.words("words", "function") | lexicon.words("words", "light")
_SHORTEST = 3

same = same_value


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The content nouns of `doc` that no other kind took."""
    return scan(doc, Kind.TOPIC, _noun)


def _noun(_doc: Doc, word: Token) -> tuple[int, str] | None:
    noun = word.pos_ in {"NOUN", "PROPN"} and word.lower_ not in _LEFT_OUT and len(word) >= _SHORTEST
    return (1, stem(word.text)) if noun and any(c.isalpha() for c in word.text) else None
