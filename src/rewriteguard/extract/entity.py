"""Named entities: runs of capitalised words and proper nouns, and acronyms.

Value: lower case, no diacritics, no dots in acronyms, no leading article, no possessive; countries and a few bodies
under one name, nationality forms included. Equal although written differently: an acronym and its expansion where
the conversation holds both, user-given aliases, and a one-letter typo from five letters on.
Source: proper-noun tags and capitals found the names of chat text; the small model's NER added hardly any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy.tokens import Doc, Token

from rewriteguard.extract.base import Facts, Match, text_of, token, words_of
from rewriteguard.language import lexicon
from rewriteguard.language.names import canonical, is_typo
from rewriteguard.model.tokens import Kind, ProtectedToken

_JOINERS = frozenset({"of", "&", "de", "la", "von", "van", "du", "del", "'s"})
_FUNCTION = lexicon.words("words", "function")
_COMMON = lexicon.words("entity", "common")
_REQUESTS = lexicon.words("regions", "requests")
_PROPER = frozenset({"NNP", "NNPS"})
_HEADLINE_WORDS = 4  # fewer may all be names


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
