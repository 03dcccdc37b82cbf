"""Finds the words and fixed phrases of a word list in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rewriteguard.language import lexicon
from rewriteguard.language.words import Word

Table = Mapping[str, tuple[tuple[str, ...], ...]]
"""Phrases by their first word, longest first."""
END_MARKS = frozenset({".", "?", "!", "...", "..", "…", ";"})
"""Marks that end a sentence."""
SOFT_MARKS = frozenset({",", ":", "-", "--", ".", "!", "?", "...", ";"})
"""Marks that stand between the parts of a sentence, or end it."""


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
