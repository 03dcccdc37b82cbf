"""A text as plain words: what the pure middle reads, free of the pipeline's own objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from spacy.tokens import Doc

from rewriteguard.language.stem import stem

GRADED = frozenset({"JJR", "RBR", "JJS", "RBS"})
"""Penn tags of comparatives and superlatives."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word or mark of a text.

    Attributes:
        i: Position in the text.
        text: As written.
        lower: In lower case.
        stem: Snowball stem.
        lemma: Lower-cased lemma; the word itself where the text was only tokenised.
        tag: Penn tag; empty where the text was only tokenised.
        pos: Universal part of speech; empty where the text was only tokenised.
        dep: Dependency label; empty where the text was only tokenised.
        head: Position of the syntactic head; the word's own where there is none.
        start: Offset of its first code point.
        end: Offset behind its last code point.
    """

    i: int
    text: str
    lower: str
    stem: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    start: int
    end: int


def is_word(word: Word) -> bool:
    """False for marks."""
    return has_letters(word.text)


@lru_cache(maxsize=65_536)
def has_letters(text: str) -> bool:
    """True where a text holds a letter or digit."""
    return any(c.isalnum() for c in text)


def read_words(doc: Doc) -> tuple[Word, ...]:
    """The words and marks of `doc` in reading order, white space left out."""
    tokens = [token for token in doc if not token.is_space]
    place = {token.i: i for i, token in enumerate(tokens)}
    return tuple(
        Word(
            i=i,
            text=token.text,
            lower=token.lower_,
            stem=stem(token.text),
            lemma=(token.lemma_ or token.text).lower(),
            tag=token.tag_,
            pos=token.pos_,
            dep=token.dep_,
            head=place.get(token.head.i, i),
            start=token.idx,
            end=token.idx + len(token),
        )
        for i, token in enumerate(tokens)
    )
