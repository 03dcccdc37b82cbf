"""What an edit is: `Mutant`, its kinds, and the text that is edited with everything an edit may look at."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

Span = tuple[int, int]
Match = re.Match[str]


class MutantKind(StrEnum):
    """What an edit touches; the last seven are the meaning-keeping ones."""

    DATE = "date"
    NUMBER = "number"
    BOUND = "bound"
    UNIT = "unit"
    NAME = "name"
    VERSION = "version"
    IDENTIFIER = "identifier"
    NEGATION = "negation"
    COMPARISON = "comparison"
    QUANTIFIER = "quantifier"
    MODALITY = "modality"
    ANSWER_WORD = "answer_word"
    QUALIFIER = "qualifier"
    QUESTION = "question"
    NUMBER_FORMAT = "number_format"
    DATE_FORMAT = "date_format"
    UNIT_FORMAT = "unit_format"
    ACRONYM = "acronym"
    SYNONYM = "synonym"
    FILLER = "filler"
    WORD_ORDER = "word_order"


class Edit(StrEnum):
    """What was done to the words: taken out, replaced, added, or said in another way."""

    DROP = "drop"
    ALTER = "alter"
    INVENT = "invent"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One question beside the question it was made from; `base[:start] + after + base[end:]` is `text`.

    Attributes:
        kind: What the edit touches.
        edit: What was done; `KEEP` for meaning-keeping edits.
        base: The question the mutant is compared with: the input, or the input with a constraint added to it.
        text: The edited question.
        before: The words taken out, with the space that goes with them; empty where words were only added.
        after: The words put in; empty where words were only taken out.
        start: Offset in `base` of the first code point of `before`.
        end: Offset in `base` behind the last code point of `before` (half-open).
        trigger: The class word that made the edit ("not", "at least", "only"); for values the value itself.
        seeded: True where the edit is about words that were added to the question for its sake.
    """

    kind: MutantKind
    edit: Edit
    base: str
    text: str
    before: str
    after: str
    start: int
    end: int
    trigger: str
    seeded: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question to edit, and what an edit may look at.

    Attributes:
        text: The question.
        context: The conversation before it; only looked at for values and names.
        seed: Chooses between equally good values.
        shielded: Spans in which no word is edited: quotations, names, and what the user wants left out of the answer.
        names: The spans of names, which name edits may touch.
        focus: The span of the last sentence, which asks; what is said before it is seldom part of the question.
    """

    text: str
    context: str
    seed: int
    shielded: tuple[Span, ...]
    names: tuple[Span, ...]
    focus: Span

    def free(self, start: int, end: int) -> bool:
        """True where no shielded span overlaps `start` to `end`."""
        return not any(start < b and a < end for a, b in self.shielded)

    def asked(self, start: int, end: int) -> bool:
        """True where `start` to `end` is free and belongs to the sentence that asks.

        A word with a capital inside the sentence is taken for a part of a title.
        """
        title = start != self.focus[0] and self.text[start : start + 1].isupper()
        return self.focus[0] <= start and end <= self.focus[1] and not title and self.free(start, end)

    def places(self, pattern: re.Pattern[str], group: str | int = "word", end: int | None = None) -> Iterator[Match]:
        """Where the pattern is found before `end`, and its group is free and belongs to the sentence that asks."""
        found = pattern.finditer(self.text, 0, len(self.text) if end is None else end)
        return (match for match in found if self.asked(*match.span(group)))

    def free_places(self, pattern: re.Pattern[str], group: str | int = 0) -> Iterator[Match]:
        """Where the pattern is found, in any sentence, and its group is free."""
        return (match for match in pattern.finditer(self.text) if self.free(*match.span(group)))

    def known(self, value: str) -> bool:
        """True where `value` stands in the question or in the conversation before it."""
        return holds(self.text, value) or holds(self.context, value)

    def pick(self, options: Sequence[str], salt: str = "") -> str | None:
        """One of the options that are neither in the question nor in its context; None where there is none."""
        fresh = [option for option in options if not self.known(option)]
        return fresh[self.draw(len(fresh), salt)] if fresh else None

    def draw(self, size: int, salt: str = "") -> int:
        """A number below `size`, the same for the same text, seed and salt."""
        digest = hashlib.sha256(f"{self.seed}\x1f{self.text}\x1f{salt}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % size

    def replace(self, kind: MutantKind, edit: Edit, span: Span, after: str, trigger: str) -> Mutant:
        """The mutant of the question that has `after` in place of `span`."""
        return replaced(self.text, kind, edit, span, after, trigger)

    def alter(self, kind: MutantKind, match: Match, after: str, trigger: str | None = None) -> Mutant:
        """The mutant with `after` in place of the `word` of the match, which triggers it, and with its capital."""
        word = match["word"]
        said = word.lower() if trigger is None else trigger
        return self.replace(kind, Edit.ALTER, match.span("word"), like(word, after), said)

    def swap(self, kind: MutantKind, span: Span, after: str | None, trigger: str) -> Iterator[Mutant]:
        """The mutant with another value in place of `span`; none where there is no other."""
        if after:
            yield self.replace(kind, Edit.ALTER, span, after, trigger)

    def keep(self, kind: MutantKind, span: Span, after: str, trigger: str) -> Mutant:
        """The mutant that says `span` in another way."""
        return self.replace(kind, Edit.KEEP, span, after, trigger)

    def insert(self, kind: MutantKind, at: int, words: str, trigger: str | None = None) -> Mutant:
        """The mutant with the words added, which trigger it if nothing else is named."""
        return self.replace(kind, Edit.INVENT, (at, at), words, words.strip() if trigger is None else trigger)

    def drop(self, kind: MutantKind, span: Span, trigger: str) -> Mutant:
        """The mutant without `span`; one space beside a whole word goes too, and a new first word gets its capital."""
        start, end = span
        text = self.text
        if start and text[start - 1].isalnum():
            return self.replace(kind, Edit.DROP, span, "", trigger)
        if start and text[start - 1] == " ":
            return self.replace(kind, Edit.DROP, (start - 1, end), "", trigger)
        while end < len(text) and text[end] in " ,":
            end += 1
        capital = text[end : end + 1].upper() if text[start : start + 1].isupper() else text[end : end + 1]
        return self.replace(kind, Edit.DROP, (start, end + 1), capital, trigger)


def replaced(
    base: str, kind: MutantKind, edit: Edit, span: Span, after: str, trigger: str, *, seeded: bool = False
) -> Mutant:
    """The mutant of `base` that has `after` in place of `span`."""
    start, end = span
    text = base[:start] + after + base[end:]
    return Mutant(kind, edit, base, text, base[start:end], after, start, end, trigger, seeded)


def holds(text: str, words: str) -> bool:
    """True where `words` stand in the text as whole words, whatever their case."""
    text, words = text.casefold(), words.casefold()
    at = text.find(words)
    while at >= 0:
        beside = text[at - 1 : at] if at else "", text[at + len(words) : at + len(words) + 1]
        if not any(c.isalnum() or c == "_" for c in beside if c):
            return True
        at = text.find(words, at + 1)
    return False


def like(model: str, word: str) -> str:
    """`word` with the capital of `model`."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
