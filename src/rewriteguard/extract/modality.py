"""Modality by strength: obligation, recommendation, permission, ability."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import Facts, Match, Phrases, text_of, token, words_of
from rewriteguard.language import lexicon
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
    text = text_of(doc)
    taken = -1
    for word in words_of(doc):
        if word.i <= taken:
            continue
        length, value = _read(doc, word)
        if value:
            last = doc[word.i + length - 1]
            taken = last.i
            yield token(Kind.MODALITY, text, word.idx, last.idx + len(last), value)


def same(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME for one strength; permission and ability are asked for with the same words."""
    equal = ours.value == theirs.value or {ours.value, theirs.value} <= _OPEN
    return Match.SAME if equal else Match.DIFFERENT


def _read(doc: Doc, word: Token) -> tuple[int, str]:
    phrase = _PHRASES.at(doc, word)
    if phrase is not None:
        return phrase
    if word.lower_ == "ca":
        return 1, "ability"
    name = _CLASSES.get(word.lower_, "")
    # As an attribute ("the required form") it names a thing and no obligation of the user; "May", a can, a must.
    # In the past tense it tells what somebody did: "the agent recommended it".
    if word.dep_ == "amod" or word.tag_ == "VBD" or (word.lower_ in _NOUNS_TOO and word.tag_ not in {"MD", ""}):
        return 1, ""
    return 1, name
