"""One checked rewrite as the page shows it: plain JSON values, made where the rewrite was checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rewriteguard.audit.moment import moment_of
from rewriteguard.model.assessment import Severity, Verdict
from rewriteguard.model.tokens import Kind
from rewriteguard.report.audit.marks import (
    CUT,
    Mark,
    Piece,
    hidden,
    marks_of_message,
    marks_of_rewrite,
    marks_of_turn,
    pieces,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rewriteguard.audit.log import Line, Triple
    from rewriteguard.model.assessment import Assessment, Violation
    from rewriteguard.model.conversation import Message

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
    apart = [_hidden(of_turn, turn, assessment.turn), _hidden(of_rewrite, rewrite, assessment.rewrite)]
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


def _hidden(marks: Sequence[Mark], shown: Sequence[Piece], text: str) -> list[list[str]]:
    return [[_shortened(words), *rest] for words, *rest in hidden(marks, shown, text)]


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
