"""Finds self-corrections: "in Paris, no sorry, Lyon" takes Paris back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewriteguard.phrases import END_MARKS, SOFT_MARKS, match, table
from rewriteguard.words import Word

_REPAIRS = table("repairs")
_MARKED_REPAIRS = table("marked_repairs")


def withdrawn(words: Sequence[Word]) -> Iterable[tuple[int, int]]:
    """Runs of word positions (half-open) that a self-correction takes back, its marker included."""
    for i in range(1, len(words)):
        length = match(_REPAIRS, words, i, len(words)) or _marked_repair(words, i)
        if length and i + length < len(words) and words[i - 1].text not in END_MARKS:
            resumed = i + length
            while resumed < len(words) - 1 and words[resumed].text in SOFT_MARKS:
                resumed += 1
            yield _reparandum(words, i, words[resumed]), i + length


def _marked_repair(words: Sequence[Word], i: int) -> int:
    length = match(_MARKED_REPAIRS, words, i, len(words))
    after = words[i + length] if i + length < len(words) else None
    # "4, sorry 5": a number or a name may follow at once.
    closed = after is not None and (after.text in {",", "-", "--", "..."} or after.pos in {"NUM", "PROPN"})
    return length if length and closed and words[i - 1].text in {",", "-", "--", "..."} else 0


def _reparandum(words: Sequence[Word], marker: int, resumed: Word) -> int:
    """Where the words that a correction takes back start: at the same word, else at the last noun group."""
    end = marker
    while end > 0 and words[end - 1].text in SOFT_MARKS:
        end -= 1
    for i in range(end - 1, max(-1, end - 9), -1):
        if words[i].lower == resumed.lower:
            return i
    i = end
    while i > 0 and words[i - 1].pos in {"DET", "ADJ", "NOUN", "PROPN", "NUM", "PART"}:
        i -= 1
    return min(i, max(end - 1, 0))
