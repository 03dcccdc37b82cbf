"""Texts cut into pieces, each with what the comparison says about it: kept, dropped, altered, invented, carried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rewriteguard.language.phrase_search import find_words

if TYPE_CHECKING:
    from rewriteguard.model.assessment import Assessment, Violation
    from rewriteguard.model.comparison import Pair
    from rewriteguard.model.tokens import ProtectedToken

Piece = str | list[str]
"""Words without a mark, or `[words, status, kind, note]`, the last two may be empty; of a mark that others interrupt,
a fifth item says whether `more` of it follows or this is the `last` of it."""

KEPT, DROPPED, ALTERED, INVENTED, CARRIED, UNSURE, CUT = (
    "kept", "dropped", "altered", "invented", "carried", "unsure", "cut",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said about the words from `start` to `end` (code points, half-open) of one text.

    Attributes:
        status: `kept`, `dropped`, `altered`, `unsure`, `invented`, `carried` or another fault.
        kind: The kind of token; empty where the words are no token.
        note: What else there is to say, such as what the words became.
    """

    start: int
    end: int
    status: str
    kind: str = ""
    note: str = ""


def marks_of_turn(assessment: Assessment) -> list[Mark]:
    """The marks of the user's turn, those that say most last."""
    found = assessment.comparison
    marks = [_mark(pair.ours, KEPT, _worded(pair)) for pair in found.kept]
    marks += [_mark(pair.ours, UNSURE, _became(pair)) for pair in found.unsure]
    marks += [_mark(token, DROPPED) for token in found.dropped]
    marks += [_mark(pair.ours, ALTERED, _became(pair)) for pair in found.altered]
    return marks + _of_violations(assessment.violations, "turn", marks)


def marks_of_rewrite(assessment: Assessment) -> list[Mark]:
    """The marks of the cleaned rewrite, those that say most last."""
    found = assessment.comparison
    marks = [_mark(pair.theirs, KEPT) for pair in found.kept if pair.theirs]
    marks += [_mark(token, CARRIED, _source(token)) for token in found.carried]
    marks += [_mark(pair.theirs, UNSURE, _was(pair)) for pair in found.unsure if pair.theirs]
    marks += [_mark(token, INVENTED) for token in found.invented]
    marks += [_mark(pair.theirs, ALTERED, _was(pair)) for pair in found.altered if pair.theirs]
    return marks + _of_violations(assessment.violations, "rewrite", marks)


def marks_of_message(assessment: Assessment, index: int, text: str) -> list[Mark]:
    """The marks of history message `index`: where it says what the rewrite carried over, and other evidence."""
    said = (_mark_said(token, text) for token in assessment.comparison.carried if token.turn == index)
    marks = [mark for mark in said if mark is not None]
    marks += [
        Mark(fill.start, fill.end, CARRIED, note=f'for "{fill.reference}"' if fill.reference else "")
        for fill in assessment.checked.fills
        if fill.turn == index and fill.start is not None and fill.end is not None
    ]
    return marks + _of_violations(assessment.violations, "history", marks, index)


def pieces(text: str, marks: Sequence[Mark], start: int = 0, end: int | None = None) -> list[Piece]:
    """The text from `start` to `end` in pieces; where marks overlap, the shorter one shows, and of equals the last."""
    stop = len(text) if end is None else min(end, len(text))
    shown: list[Mark | None] = [None] * (stop - start)
    for mark in sorted(marks, key=lambda mark: mark.start - mark.end):
        for place in range(max(mark.start, start), min(mark.end, stop)):
            shown[place - start] = mark
    return list(_runs(text, shown, start))


def hidden(marks: Sequence[Mark], shown: Sequence[Piece], text: str) -> list[list[str]]:
    """`[words, status, kind, note]` of the marks that no piece shows whole: others lie upon them, or they are cut."""
    whole = {tuple(piece) for piece in shown if not isinstance(piece, str)}
    in_order = sorted((m for m in marks if m.start < m.end), key=lambda m: (m.start, m.end))
    told = [(text[m.start : m.end], m.status, m.kind, m.note) for m in in_order]
    return [list(item) for item in dict.fromkeys(told) if item not in whole]


def _runs(text: str, shown: Sequence[Mark | None], start: int) -> Iterator[Piece]:
    runs = [(mark, len(list(run))) for mark, run in groupby(shown)]
    left = Counter(mark for mark, _ in runs)
    interrupted = {mark for mark, count in left.items() if count > 1}
    for mark, length in runs:
        words = text[start : start + length]
        start += length
        left[mark] -= 1
        if mark is None:
            yield words
            continue
        part = [("more" if left[mark] else "last")] if mark in interrupted else []
        yield [words, mark.status, mark.kind, mark.note, *part]


def _of_violations(
    violations: Iterable[Violation], where: str, known: Sequence[Mark], turn: int | None = None
) -> list[Mark]:
    """The evidence that the comparison does not show with the same words already."""
    shown = {(mark.start, mark.end, mark.status) for mark in known}
    return [
        Mark(item.start, item.end, violation.fault.value, violation.kind.value if violation.kind else "")
        for violation in violations
        for item in violation.evidence
        if item.where == where
        and item.turn == turn
        and item.start < item.end
        and (item.start, item.end, violation.fault.value) not in shown
    ]


def _mark(token: ProtectedToken, status: str, note: str = "") -> Mark:
    return Mark(token.start, token.end, status, token.kind.value, note)


def _mark_said(token: ProtectedToken, text: str) -> Mark | None:
    """Where a message says a carried token in the same words; None where it uses others."""
    found = find_words(token.text, text)
    return None if found is None else Mark(*found, CARRIED, token.kind.value)


def _source(token: ProtectedToken) -> str:
    return "" if token.turn is None else f"from message {token.turn + 1}"


def _worded(pair: Pair) -> str:
    if pair.theirs is None:
        return "in other words"
    return "" if pair.theirs.text.lower() == pair.ours.text.lower() else f'as "{pair.theirs.text}"'


def _became(pair: Pair) -> str:
    return f'became "{pair.theirs.text}"' if pair.theirs else ""


def _was(pair: Pair) -> str:
    return f'was "{pair.ours.text}"'
