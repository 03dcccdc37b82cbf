"""A text as plain words: what the pure middle reads, free of the pipeline's own objects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spacy.tokens import Doc

from rewriteguard.language import lexicon
from rewriteguard.language.stem import stem

GRADED = frozenset({"JJR", "RBR", "JJS", "RBS"})
"""Penn tags of comparatives and superlatives."""
Table = Mapping[str, tuple[tuple[str, ...], ...]]
"""Phrases by their first word, longest first."""
END_MARKS = frozenset({".", "?", "!", "...", "..", "…", ";"})
"""Marks that end a sentence."""
SOFT_MARKS = frozenset({",", ":", "-", "--", ".", "!", "?", "...", ";"})
"""Marks that stand between the parts of a sentence, or end it."""


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


def find_words(words: str, text: str) -> tuple[int, int] | None:
    """Start and end of the first place where `words` stand as they are, else in any case; never within longer ones."""
    if not words:
        return None
    # A border is asked for only where the words themselves begin or end with a letter or digit.
    before, after = (r"(?<!\w)" if words[:1].isalnum() else "", r"(?!\w)" if words[-1:].isalnum() else "")
    pattern = before + re.escape(words) + after
    found = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
    return None if found is None else found.span()


def table(name: str) -> Table:
    """The phrases of a list of the table `regions`, cut as the tokeniser cuts them."""
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for phrase in lexicon.phrases("regions", name):
        parts = tuple(part for word in phrase.split() for part in pieces(word))
        phrases.setdefault(parts[0], []).append(parts)
    return {first: tuple(sorted(group, key=len, reverse=True)) for first, group in phrases.items()}


def pieces(word: str) -> tuple[str, ...]:
    """A word as the tokeniser cuts it: "that's" is two tokens, "don't" too."""
    for tail in ("n't", "'s", "'re", "'ve", "'ll", "'m", "'d"):
        if word.endswith(tail) and len(word) > len(tail):
            return (word[: -len(tail)], tail)
    return (word,)


def match(phrases: Table, words: Sequence[Word], i: int, last: int) -> int:
    """How many words the longest phrase of `phrases` at `i` takes; 0 where none stands there."""
    if i >= last:
        return 0
    for phrase in phrases.get(words[i].lower, ()):
        end = i + len(phrase)
        if end <= last and all(words[i + k].lower == phrase[k] for k in range(len(phrase))):
            return len(phrase)
    return 0
