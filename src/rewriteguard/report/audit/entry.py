"""One checked rewrite as the page shows it: plain JSON values, its texts cut into pieces with what became of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rewriteguard.audit.log import moment_of
from rewriteguard.language.words import find_words
from rewriteguard.model.rules import Severity, Verdict
from rewriteguard.model.tokens import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from rewriteguard.audit.log import Line, Triple
    from rewriteguard.model.assessment import Assessment, Pair, Violation
    from rewriteguard.model.conversation import Message
    from rewriteguard.model.tokens import ProtectedToken

Piece = str | list[str]
"""Words without a mark, or `[words, status, kind, note]`, the last two may be empty; of a mark that others interrupt,
a fifth item says whether `more` of it follows or this is the `last` of it."""
KEPT, DROPPED, ALTERED, INVENTED = "kept", "dropped", "altered", "invented"
CARRIED, UNSURE, CUT = "carried", "unsure", "cut"
_LONGEST = 1_200  # characters of a turn, a rewrite or an explanation that are shown
_SNIPPET = 320  # characters of a message that are shown
_BEFORE = 80  # of them before the first marked words
_LAST = 2  # messages that are shown whether they hold evidence or not
_MOST = 6  # messages that are shown at all
_VERDICTS = {Verdict.PRESERVED: 0, Verdict.UNCERTAIN: 1, Verdict.CHANGED: 2}
_REVERSING = frozenset({Kind.NEGATION, Kind.COMPARISON, Kind.QUANTIFIER, Kind.MODALITY, Kind.ANSWER_TYPE})


@dataclass(frozen=True, slots=True)
class Entry:
    """What the page counts and shows of one rewrite.

    Attributes:
        file: The place of its log among those that are read.
        line: Number of its line there, from 1.
        verdict: The finding.
        faults: The faults found, each once, sorted.
        kinds: The kinds of token they are about, each once, sorted.
        system: What wrote the rewrite; None where it is not known.
        dependent: Whether the turn needs the conversation to be understood.
        timestamp: When it was asked, in UTC; None where it is not known.
        turn: The user's turn.
        rewrite: The cleaned rewrite.
        shown: The row of the page as JSON values.
    """

    file: int
    line: int
    verdict: Verdict
    faults: tuple[str, ...]
    kinds: tuple[str, ...]
    system: str | None
    dependent: bool
    timestamp: datetime | None
    turn: str
    rewrite: str
    shown: dict[str, Any]


def entry_of(line: Line, triple: Triple, assessment: Assessment) -> Entry:
    """The entry of one finding."""
    violations = assessment.violations
    moment = moment_of(triple.timestamp)
    return Entry(
        file=line.file,
        line=line.number,
        verdict=assessment.verdict,
        faults=tuple(sorted({violation.fault.value for violation in violations})),
        kinds=tuple(sorted({violation.kind.value for violation in violations if violation.kind})),
        system=triple.system,
        dependent=assessment.dependent,
        timestamp=moment,
        turn=assessment.turn,
        rewrite=assessment.rewrite,
        shown=_shown(line, triple, moment, assessment),
    )


def rank(assessment: Assessment) -> int:
    """How early a row is worth reading, the highest first.

    The verdict decides; then how many critical findings there are, then how many of those are about words whose loss
    reverses a question (negation, comparison, quantifier, modality, kind of answer), then how many minor ones.
    """
    critical = [v for v in assessment.violations if v.severity is Severity.CRITICAL]
    parts = (
        _VERDICTS[assessment.verdict],
        len(critical),
        sum(v.kind in _REVERSING for v in critical),
        len(assessment.violations) - len(critical),
    )
    number = 0
    for part in parts:
        number = number * 100 + min(part, 99)
    return number


def _shown(line: Line, triple: Triple, moment: datetime | None, assessment: Assessment) -> dict[str, Any]:
    history = triple.conversation.history
    of_turn, of_rewrite = marks_of_turn(assessment), marks_of_rewrite(assessment)
    turn, rewrite = _cut(assessment.turn, of_turn), _cut(assessment.rewrite, of_rewrite)
    row: dict[str, Any] = {
        "file": line.file,
        "line": line.number,
        "rank": rank(assessment),
        "verdict": assessment.verdict.value,
        "dependent": assessment.dependent,
        "codes": _codes(assessment.violations),
        "turn": turn,
        "rewrite": rewrite,
        "history": _snippets(history, assessment),
        "messages": len(history),
        "why": _shortened(assessment.explain().partition("\n")[2]),
    }
    apart = [hidden(of_turn, turn, assessment.turn), hidden(of_rewrite, rewrite, assessment.rewrite)]
    if any(apart):
        row["hidden"] = apart
    if triple.id is not None:
        row["id"] = _shortened(triple.id)
    if triple.system is not None:
        row["system"] = triple.system
    if moment is not None:
        row["time"] = moment.strftime("%Y-%m-%d %H:%M")
    if triple.logged is not None:
        row["logged"] = triple.logged.value
    if triple.is_cut:
        row["cut"] = True
    if assessment.raw_rewrite != assessment.rewrite:
        row["raw"] = _shortened(assessment.raw_rewrite)
    return row


def _codes(violations: Sequence[Violation]) -> list[list[str]]:
    """`[code, severity]` of each code once, with its gravest severity, which comes first."""
    gravest: dict[str, str] = {}
    for violation in sorted(violations, key=lambda v: v.severity is Severity.MINOR):
        gravest.setdefault(violation.code, violation.severity.value)
    return [[code, severity] for code, severity in gravest.items()]


def _cut(text: str, marks: Sequence[Mark]) -> list[Piece]:
    shown = pieces(text, marks, 0, _LONGEST)
    if len(text) > _LONGEST:
        shown.append([f"… {len(text) - _LONGEST:,} more characters", CUT, "", ""])
    return shown


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _snippets(history: Sequence[Message], assessment: Assessment) -> list[list[Any]]:
    """`[number, role, pieces]` of the last messages and of those that the rewrite took words from, oldest first."""
    marked = [(message, marks_of_message(assessment, message.index, message.text)) for message in history]
    last = len(marked) - _LAST
    chosen = [item for place, item in enumerate(marked) if item[1] or place >= last][-_MOST:]
    return [[message.index + 1, message.role.value, _snippet(message.text, marks)] for message, marks in chosen]


def _snippet(text: str, marks: Sequence[Mark]) -> list[Piece]:
    first = min((mark.start for mark in marks), default=0)
    start = first - _BEFORE if first > _SNIPPET - _BEFORE else 0
    end = start + _SNIPPET
    before: list[Piece] = [["… ", CUT, "", ""]] if start else []
    after: list[Piece] = [[" …", CUT, "", ""]] if end < len(text) else []
    return before + pieces(text, marks, start, end) + after


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
    told = dict.fromkeys((text[m.start : m.end], m.status, m.kind, m.note) for m in in_order)
    return [[_shortened(words), *rest] for words, *rest in told if (words, *rest) not in whole]


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
