"""A text as plain words: what the pure middle reads, free of the pipeline's own objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spacy.tokens import Doc, Token

from rewriteguard.language import lexicon
from rewriteguard.language.lexicon import stem

GRADED = frozenset({"JJR", "RBR", "JJS", "RBS"})
"""Penn tags of comparatives and superlatives."""
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
    return _has_letters(word.text)


@lru_cache(maxsize=65_536)
def _has_letters(text: str) -> bool:
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


class Phrases:
    """Word sequences in lower case and what each means, looked up where they stand; of two, the one listed first.

    Args:
        listed: The phrases, cut as the tokeniser cuts them, and their meanings.
    """

    def __init__(self, listed: Iterable[tuple[Sequence[str], str]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, meaning in listed:
            self._by_first.setdefault(phrase[0], []).append((tuple(phrase), meaning))

    @classmethod
    def of(cls, section: str, key: str) -> Phrases:
        """The phrases of a list of `en.toml`, longest first; each means itself."""
        return cls(
            ([part for word in phrase.split() for part in pieces(word)], phrase)
            for phrase in lexicon.phrases(section, key)
        )

    def at(self, doc: Doc, word: Token) -> tuple[int, str] | None:
        """The number of words and the meaning of the phrase that starts at `word`; None where none does."""
        for phrase, meaning in self._by_first.get(word.lower_, ()):
            if tuple(part.lower_ for part in doc[word.i : word.i + len(phrase)]) == phrase:
                return len(phrase), meaning
        return None

    def length(self, words: Sequence[Word], i: int, last: int) -> int:
        """How many words the phrase takes that starts at `i` and ends before `last`; 0 where none does."""
        if i >= last:
            return 0
        for phrase, _ in self._by_first.get(words[i].lower, ()):
            if i + len(phrase) <= last and all(words[i + k].lower == part for k, part in enumerate(phrase)):
                return len(phrase)
        return 0


def pieces(word: str) -> tuple[str, ...]:
    """A word as the tokeniser cuts it: "that's" is two tokens, "don't" too."""
    for tail in ("n't", "'s", "'re", "'ve", "'ll", "'m", "'d"):
        if word.endswith(tail) and len(word) > len(tail):
            return (word[: -len(tail)], tail)
    return (word,)
