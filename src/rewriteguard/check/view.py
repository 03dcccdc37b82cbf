"""What every rule looks at: turn, rewrite and history side by side, compared, and how far the one is an edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rewriteguard.check.compare import compare
from rewriteguard.extract.base import Facts
from rewriteguard.filters.beside import Filtered
from rewriteguard.language.detect import LATIN, is_foreign, language_of
from rewriteguard.language.lexicon import stem
from rewriteguard.language.words import Word, is_word
from rewriteguard.model.assessment import Comparison
from rewriteguard.model.conversation import Role
from rewriteguard.model.rules import Fault
from rewriteguard.model.tokens import Evidence
from rewriteguard.reading.references import Pointer, Reference, open_references
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.units import Unit

# A rewrite that loses no more of a turn than this, in its order, is an edit of its words and not a paraphrase; fillers
# and withdrawn words are left out of the count. Of 327 minimal edits of people's questions (CAsT 2021) 274 stay within
# it; the others cut a whole clause out.
_EDIT_SHARE = 0.25
_EDIT_WORDS = 4
_TOO_SHORT = 2  # content words


@dataclass(frozen=True, slots=True)
class Change:
    """A place where the two differ: words of the turn, and what stands there in the rewrite; one side may be empty."""

    lost: tuple[Word, ...]
    new: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two texts side by side.

    Attributes:
        kept: How many of the words that the turn asks for stand in the rewrite, in their order.
        ours: How many words the turn asks for.
        taken: How many words of the rewrite stand in the turn, in their order.
        theirs: How many words the rewrite has.
        changes: Where the two differ, in reading order.
    """

    kept: int
    ours: int
    taken: int
    theirs: int
    changes: tuple[Change, ...]

    @property
    def only_adds(self) -> bool:
        """True where every word that the turn asks for stands in the rewrite, in its order."""
        return bool(self.ours) and self.kept == self.ours

    @property
    def only_cuts(self) -> bool:
        """True where every word of the rewrite stands in the turn, in its order."""
        return bool(self.theirs) and self.taken == self.theirs

    @property
    def is_edit(self) -> bool:
        """True where the rewrite is the turn with a few words put in, left out or exchanged."""
        lost = self.ours - self.kept
        return self.kept > 0 and lost <= min(_EDIT_WORDS, _EDIT_SHARE * self.ours)


def align(turn: Reading, rewrite: Reading, skipped: frozenset[int] = frozenset()) -> Alignment:
    """The alignment of a rewrite with its turn.

    Words of the turn beside what it asks, and those at the positions `skipped`, are not looked for.
    """
    ours, theirs = ([w for w in reading.words if is_word(w)] for reading in (turn, rewrite))
    asked = [turn.regions.protects(w.i) and w.i not in skipped for w in ours]
    matcher = SequenceMatcher(None, [stem(w.lemma) for w in ours], [stem(w.lemma) for w in theirs], autojunk=False)
    kept = taken = 0
    changes = []
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "equal":
            kept += sum(asked[a:b])
            taken += d - c
            continue
        lost = tuple(w for w, wanted in zip(ours[a:b], asked[a:b], strict=True) if wanted)
        if lost or c < d:
            changes.append(Change(lost, tuple(theirs[c:d])))
    return Alignment(kept, sum(asked), taken, len(theirs), tuple(changes))


@dataclass(frozen=True, slots=True)
class Licence:
    """What a kind of rewriter may do beyond the turn's own words.

    Attributes:
        carry: Whether it may take anything over from the history; one that only shortens may not.
        add: Whether it may add what nobody said; then only what turns words of the turn round is found.
        terse: Whether it writes key words, of which "should" is none.
        widen: Whether it may leave out what narrows; "2024" for "May 2024" is a loss there and no other period.
        name: Whether it may name what the question is about in a word of its own; a name or a number restricts.
        faults: What is none of its faults.
        answers: What it may do to the question word: key words and documents have none.
    """

    carry: bool = True
    add: bool = False
    terse: bool = False
    widen: bool = False
    name: bool = False
    faults: frozenset[Fault] = frozenset()
    answers: frozenset[Fault] = frozenset()


@dataclass(frozen=True, slots=True)
class View:
    """A turn, its rewrite and what stands before them.

    Attributes:
        references: The words of the turn that point outside it.
        comparison: The tokens of turn and rewrite, side by side.
        alignment: The words of turn and rewrite, side by side.
        dependent: Whether anything of the turn points to what was said before it.
        new: The content words of the rewrite that the turn does not support.
        facts: Reference date and equivalents.
        beside: What a structured filter beside the rewrite carries.
        licence: What the rewriter may do.
    """

    turn: Reading
    rewrite: Reading
    past: Past
    references: tuple[Reference, ...]
    comparison: Comparison
    alignment: Alignment
    dependent: bool
    new: tuple[Word, ...]
    facts: Facts
    beside: Filtered
    licence: Licence

    @property
    def is_grounded(self) -> bool:
        """True where the history supports a word that the rewrite adds."""
        return any(map(self.past.vocabulary.supports, self.new))


def view_of(turn: Reading, rewrite: Reading, past: Past, facts: Facts, beside: Filtered, licence: Licence) -> View:
    """Turn, rewrite and history side by side."""
    references = open_references(turn, past)
    pointing = [part_evidence("turn", turn, r) for r in references if r.last > r.first and not _is_relational(r)]
    spans = [(each.start, each.end) for each in pointing]
    alignment = align(turn, rewrite, _words_at(turn, spans))
    comparison = compare(turn, rewrite, past, facts, edited=alignment.is_edit, consumed=spans, filtered=beside)
    dependent, new = bool(past.messages and references), new_words(rewrite, turn)
    return View(turn, rewrite, past, references, comparison, alignment, dependent, new, facts, beside, licence)


def _is_relational(reference: Reference) -> bool:
    return reference.pointer is Pointer.RELATIONAL


def _words_at(reading: Reading, spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    """The positions of the words that stand in any of the spans (offsets)."""
    return frozenset(w.i for w in reading.words if any(a < w.end and w.start < b for a, b in spans))


def language_of_turn(turn: Reading, past: Past) -> str:
    """The language of a turn; of one too short to tell, with the user's message before it."""
    own = language_of(turn.text)
    before = past.last(Role.USER)
    told_by_script = is_foreign(own) and own not in LATIN
    if before is None or told_by_script or (own and len(turn.content) > _TOO_SHORT):
        return own
    return language_of(f"{turn.text} {before.text}") or own


def new_words(rewrite: Reading, turn: Reading) -> tuple[Word, ...]:
    """The content words of a rewrite that its turn does not support."""
    return tuple(w for w in rewrite.content if not turn.vocabulary.supports(w))


def phrases_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Runs of words that stand side by side, one function word between them allowed."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and word.i - runs[-1][-1].i <= 2:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [tuple(run) for run in runs]


def run_evidence(where: str, reading: Reading, words: Sequence[Word]) -> Evidence:
    """The text from the first to the last of `words`."""
    return Evidence(where, reading.text[words[0].start : words[-1].end], words[0].start, words[-1].end)


def part_evidence(where: str, reading: Reading, part: Unit | Reference) -> Evidence:
    """The text of a unit or a reference, which has words."""
    return run_evidence(where, reading, reading.words[part.first : part.last])


def whole_evidence(where: str, text: str) -> Evidence:
    """A whole text."""
    return Evidence(where, text, 0, len(text))


def lower_of(reading: Reading, reference: Reference) -> str:
    """The words of a reference in lower case."""
    return " ".join(w.lower for w in reading.words[reference.first : reference.last])
