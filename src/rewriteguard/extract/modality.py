"""Modality by strength: obligation, recommendation, permission, ability."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import Facts, Match, scan
from rewriteguard.language import lexicon
from rewriteguard.language.words import Phrases
from rewriteguard.model.tokens import Kind, ProtectedToken

_CLASSES = {word: name for name, group in lexicon.section("modality")["groups"].items() for word in group.split()}
_PHRASES = Phrases(
    (phrase.split(), name)
    for phrase, name in sorted(lexicon.section("modality")["phrases"].items(), key=lambda item: -len(item[0]))
)
_NOUNS_TOO = frozenset({"may", "can", "must"})
# "Can I take the tram?" asks for a possibility and for a permission at once.
_OPEN = frozenset({"permission", "ability"})


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The modals of `doc`; the value names the strength."""
    return scan(doc, Kind.MODALITY, _modal)


def same(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME for one strength; permission and ability are asked for with the same words."""
    equal = ours.value == theirs.value or {ours.value, theirs.value} <= _OPEN
    return Match.SAME if equal else Match.DIFFERENT


def _modal(doc: Doc, word: Token) -> tuple[int, str] | None:
    phrase = _PHRASES.at(doc, word)
    if phrase is not None:
        return phrase
    if word.lower_ == "ca":
        return 1, "ability"
    name = _CLASSES.get(word.lower_)
    # As an attribute ("the required form") it names a thing and no obligation of the user; "May", a can, a must.
    # In the past tense it tells what somebody did: "the agent recommended it".
    thing = word.dep_ == "amod" or word.tag_ == "VBD" or (word.lower_ in _NOUNS_TOO and word.tag_ not in {"MD", ""})
    return None if name is None or thing else (1, name)
