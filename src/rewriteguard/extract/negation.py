"""Negations, exclusions included: what they negate is their value, so that each must find its own counterpart.

Left alone: "No," as an answer, negative openers of a yes/no question ("Isn't it ...?"), tags ("..., isn't it?"),
"why not", "or not", "not only". Source: people drop those freely, and no other negation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import Facts, Match, scan
from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem
from rewriteguard.language.words import Phrases
from rewriteguard.model.tokens import Kind, ProtectedToken

_NOT = frozenset({"not", "n't", "n’t", "nt"})  # "dont" is cut into "do" and "nt"
_MEMBERS = lexicon.words("negation", "members") | _NOT
_AFTER_ANSWER = lexicon.words("negation", "after_answer")
_PHRASES = Phrases.of("negation", "phrases")
_EXCLUSIVE = lexicon.words("negation", "exclusive")
_FUNCTION = lexicon.words("words", "function")
_CONNECTIVES = lexicon.words("regions", "connectives")
_CONTRASTIVE = lexicon.words("negation", "contrastive")
EXCLUSION = "exclusion"
CONTRAST = "contrast"


def extract(doc: Doc) -> Iterable[ProtectedToken]:
    """The negations of `doc`; the value is the stem of what is negated, the relation marks exclusions."""
    for found in scan(doc, Kind.NEGATION, _negation):
        said = found.text.lower()
        yield replace(found, relation=EXCLUSION if said in _EXCLUSIVE else CONTRAST if said in _CONTRASTIVE else "")


def same(ours: ProtectedToken, theirs: ProtectedToken, _facts: Facts) -> Match:
    """SAME for any two members of the class that negate the same word."""
    return Match.SAME if ours.value == theirs.value else Match.DIFFERENT


def _negation(doc: Doc, word: Token) -> tuple[int, str] | None:
    if word.i + 2 < len(doc) and doc[word.i + 2].lower_ == "free" and doc[word.i + 1].text == "-":  # "egg-free"
        return 3, stem(word.text)
    phrase = _PHRASES.at(doc, word)
    length = phrase[0] if phrase else int(word.lower_ in _MEMBERS)
    if not length or _left_alone(doc, word):
        return None
    return length, _scope(doc, word, doc[word.i + length - 1])


def _left_alone(doc: Doc, word: Token) -> bool:
    before = doc[word.i - 1].lower_ if word.i else ""
    if word.lower_ == "never" and doc[word.i + 1 : word.i + 2].text.lower() == "mind":
        return True
    after = doc[word.i + 1] if word.i + 1 < len(doc) else None
    if word.lower_ == "no" and (after is None or after.is_punct or after.lower_ in _AFTER_ANSWER):
        return True
    if word.lower_ == "besides" and after is not None and after.text == ",":  # "Besides, it is late"
        return True
    if word.lower_ == "not" and _is_free_not(before, after):
        return True
    return word.lower_ in _NOT and (_opens_polar(doc, word) or _is_tag_question(doc, word))


def _is_free_not(before: str, after: Token | None) -> bool:
    """True for "or not", "why not try ...", "not only", "not sure"; a bare "why not?" negates what was said before."""
    goes_on = after is not None and not after.is_punct
    return (
        before in {"or", "if"}
        or (before == "why" and goes_on)
        or (after is not None and after.lower_ in {"only", "sure"})
    )


def _opens_polar(doc: Doc, word: Token) -> bool:
    """True for "Isn't ...?" and "So don't you ...?": the same question as without the negation."""
    if word.lower_ == "not" or doc[-1].text != "?" or word.i == 0:
        return False
    for before in reversed(doc[: word.i - 1]):
        if before.is_punct:
            return True
        if before.lower_ not in _CONNECTIVES:
            return False
    return True


def _is_tag_question(doc: Doc, word: Token) -> bool:
    rest = [part.text for part in doc[word.i + 1 : word.i + 3]]
    return len(rest) == 2 and rest[1] == "?" and doc[word.i + 1].pos_ in {"PRON", ""}


def _scope(doc: Doc, word: Token, last: Token) -> str:
    if word.i == last.i:
        if word.dep_ == "neg" or word.lower_ in _NOT | {"never"}:
            head = word.head if word.head.i != word.i else None
            if head is not None and head.lower_ not in _FUNCTION:
                return stem(head.lemma_)
        if word.dep_ == "det" and word.head.i > word.i:
            return stem(word.head.text)
    for follower in doc[last.i + 1 : last.i + 8]:
        if follower.is_alpha and follower.lower_ not in _FUNCTION:
            # The last noun of a group is its head: "without a safety briefing".
            if follower.dep_ in {"compound", "amod"} and follower.head.i > follower.i:
                return stem(follower.head.text)
            return stem(follower.text)
    return ""
