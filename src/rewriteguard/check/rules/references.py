"""How a rewrite filled the references of its turn: from where, wrongly, with one of several things, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rewriteguard.check.says import source_of_words
from rewriteguard.check.view import View, lower_of, part_evidence, phrases_of, run_evidence, whole_evidence
from rewriteguard.language import lexicon
from rewriteguard.language.words import Word, find_words
from rewriteguard.model.assessment import Fill, Violation
from rewriteguard.model.conversation import Message, Role
from rewriteguard.model.rules import Rule
from rewriteguard.model.tokens import Evidence, Kind
from rewriteguard.reading.references import Pointer, Reference, open_references, ordinal_of
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.vocabulary import Vocabulary, is_content

OPEN = (Pointer.SINGULAR, Pointer.PLURAL, Pointer.SET, Pointer.PLACE, Pointer.ONE, Pointer.ORDINAL)
"""References that a phrase of the history takes the place of."""
_ITEM = re.compile(
    r"""(?:^|(?<=\s))(?P<number>\d{1,2})[.)]\s+      # "1." or "1)"
        (?P<item>\S[^\n]{0,200}?)                    # the item, up to
        (?=\s+\d{1,2}[.)]\s|\n|$)                   # the next number or the end of the line""",
    re.VERBOSE,
)
_ARTICLES = lexicon.words("words", "articles")
_BULLET = re.compile(r"^[ \t]{0,8}[-*\u2022][ \t]+(?P<item>\S[^\n]{0,200})$", re.MULTILINE)


def reference_violations(view: View) -> Iterable[Violation]:
    """References left open, filled with one of several things, or with the wrong item of a list."""
    yield from _unresolved(view)
    yield from _filled_from_nowhere(view)
    yield from _ambiguous_set(view)
    yield from _wrong_item(view)
    meanings = meanings_of(view)
    pointing = _singular(view)
    if meanings and pointing is not None:
        chosen = (re.search(re.escape(meaning), view.rewrite.text, re.IGNORECASE) for meaning in meanings)
        picked = tuple(Evidence("rewrite", m.group(), m.start(), m.end()) for m in chosen if m)
        yield Violation(Rule.AMBIGUOUS_CANDIDATES, None, (part_evidence("turn", view.turn, pointing), *picked))


def _singular(view: View) -> Reference | None:
    return next((r for r in view.references if r.pointer is Pointer.SINGULAR), None)


def fills_of(view: View) -> Iterable[Fill]:
    """What fills each reference, with the history item that said it; an ellipsis has no words of its own."""
    if not view.dependent:
        return
    references = [r for r in view.references if r.first < r.last] or list(view.references)
    for reference, phrase in zip(references, phrases_of(view.new), strict=False):
        words = run_evidence("rewrite", view.rewrite, phrase).text
        message = _speaker(words, view.past) or _supporter(phrase, view.past)
        if message is None:
            continue
        pointing = part_evidence("turn", view.turn, reference).text if reference.first < reference.last else ""
        start, end = find_words(words, message.text) or (None, None)
        yield Fill(pointing, words, message.index, message.role.value, start, end)


def meanings_of(view: View) -> tuple[str, ...]:
    """Two equal antecedents of a singular reference, of which the rewrite keeps one; empty otherwise."""
    pair = _pair(view, named=True) if _singular(view) is not None else ()
    named = [_names_item(view.rewrite.vocabulary, item, pair) for item in pair]
    return tuple(" ".join(w.text for w in item) for item in pair) if sum(named) == 1 else ()


def _pair(view: View, *, named: bool) -> tuple[tuple[Word, ...], ...]:
    """The two things that the last exchange put side by side, names only or any; empty where there are none."""
    last = (view.past.last(role) for role in (Role.USER, Role.ASSISTANT))
    return next((pair for pair in (_coordinated(reading, named) for reading in last if reading) if pair), ())


def _coordinated(reading: Reading, named: bool) -> tuple[tuple[Word, ...], ...]:
    """Two noun groups joined by "and" or "or" that name things of one sort; empty where there are none."""
    words = reading.words
    for word in words:
        if word.lower not in {"and", "or"} or not 0 < word.i < len(words) - 1:
            continue
        left, right = _group_before(words, word.i), _group_after(words, word.i + 1)
        if not left or not right or (named and not all(any(map(_is_named, group)) for group in (left, right))):
            continue
        shared_head = left[-1].stem == right[-1].stem or right[-1].tag == "NNS"
        if shared_head or (_is_named(left[-1]) and _is_named(right[-1])):
            return (left, right)
    return ()


def _is_named(word: Word) -> bool:
    return word.text[:1].isupper() or word.pos == "PROPN"


def _group_before(words: Sequence[Word], end: int) -> tuple[Word, ...]:
    start = end
    while start > 0 and _is_in_group(words[start - 1]):
        start -= 1
    while start < end and words[start].lower in _ARTICLES:
        start += 1
    return tuple(words[start:end])


def _group_after(words: Sequence[Word], start: int) -> tuple[Word, ...]:
    while start < len(words) and words[start].lower in _ARTICLES:
        start += 1
    end = start
    while end < len(words) and _is_in_group(words[end]):
        end += 1
    return tuple(words[start:end])


def _is_in_group(word: Word) -> bool:
    """A word of a noun group; in texts that were not tagged only a capital tells."""
    return word.pos in {"NOUN", "PROPN", "ADJ", "NUM"} or (not word.pos and word.text[:1].isupper())


def _names_item(vocabulary: Vocabulary, item: Sequence[Word], others: Sequence[Sequence[Word]]) -> bool:
    """True where the words that tell an item from the others are there."""
    shared = {w.stem for other in others if other is not item for w in other}
    own = [w for w in item if w.stem not in shared and is_content(w)]
    return bool(own) and all(vocabulary.supports(w) for w in own)


def _speaker(words: str, past: Past) -> Message | None:
    """The latest message that holds `words` as they are; one that holds them in longer words where there is none."""
    holding = [m for m in reversed(past.messages) if words.casefold() in m.text.casefold()]
    return next((m for m in holding if find_words(words, m.text)), next(iter(holding), None))


def _supporter(phrase: Sequence[Word], past: Past) -> Message | None:
    """The latest message that holds the words in other forms."""
    source = source_of_words(phrase, past)
    return next((m for m in past.messages if m.index == source), None)


def _unresolved(view: View) -> Iterable[Violation]:
    """References that the rewrite left as open as they were: nothing of the conversation was put in."""
    if not view.past.messages or view.is_grounded:
        return
    regions = view.turn.regions
    ours = {_pointing(view.turn, r) for r in view.references if r.pointer in OPEN and regions.protects(r.first)}
    for theirs in open_references(view.rewrite, view.past):
        if theirs.pointer in OPEN and _pointing(view.rewrite, theirs) in ours:
            yield Violation(Rule.UNRESOLVED, None, (part_evidence("rewrite", view.rewrite, theirs),))
            return
    named = any(t.kind is Kind.ENTITY for t in view.turn.tokens)
    if not named and any(r.pointer is Pointer.ELLIPSIS for r in view.references):
        yield Violation(Rule.UNRESOLVED, None, (whole_evidence("turn", view.turn.text),))


def _filled_from_nowhere(view: View) -> Iterable[Violation]:
    """A pointing word gone, and nouns in its place of which neither turn nor history says one."""
    pointing = [r for r in view.references if r.pointer in OPEN and view.turn.regions.protects(r.first)]
    gone = [r for r in pointing if r.last - r.first == 1 and not _still_points(view, r)]
    nouns = [w for w in view.new if w.pos in {"NOUN", "PROPN"}]
    if view.past.messages and gone and nouns and not view.is_grounded and view.alignment.is_edit:
        evidence = part_evidence("turn", view.turn, gone[0]), run_evidence("rewrite", view.rewrite, nouns[:1])
        yield Violation(Rule.INVENTED_FILL, Kind.TOPIC, evidence)


def _still_points(view: View, reference: Reference) -> bool:
    return any(w.lower == lower_of(view.turn, reference) for w in view.rewrite.words)


def _pointing(reading: Reading, reference: Reference) -> str:
    """What points: the word itself, whatever noun stands behind it ("that", "that procedure"), or the number."""
    if reference.pointer is Pointer.ORDINAL:
        return str(ordinal_of(reading, reference))
    return lower_of(reading, reference).split()[0]


def _ambiguous_set(view: View) -> Iterable[Violation]:
    """A reference to several things whose word is gone, and one singular thing in its place."""
    for reference in view.references:
        if reference.pointer is not Pointer.SET or lower_of(view.turn, reference) in view.rewrite.text.casefold():
            continue
        new = view.new
        joined = any(w.lower in {"and", "or", "both"} for w in view.rewrite.words) and len(new) > 1
        plural = any(w.tag == "NNS" for w in new)
        if new and not joined and not plural:
            fill = run_evidence("rewrite", view.rewrite, new)
            yield Violation(Rule.AMBIGUOUS_SET, None, (part_evidence("turn", view.turn, reference), fill))


def _wrong_item(view: View) -> Iterable[Violation]:
    """An ordinal ("the first one") filled with another item of the last list than the one it counts."""
    listed = view.past.last(Role.ASSISTANT)
    found = (pattern.finditer(listed.text) for pattern in (_ITEM, _BULLET)) if listed else ()
    items = next((group for group in ([m["item"].strip(" .;,*") for m in each] for each in found) if group), [])
    items = items or [" ".join(w.text for w in item) for item in _pair(view, named=False)]
    for reference in view.references:
        number = ordinal_of(view.turn, reference) if reference.pointer is Pointer.ORDINAL else 0
        if not number or not items or abs(number) > len(items):
            continue
        right = items[number - 1] if number > 0 else items[number]
        spans = {item: re.search(re.escape(item), view.rewrite.text, re.IGNORECASE) for item in items}
        other = next((m for item, m in spans.items() if m and item != right), None)
        if other is not None and not spans[right]:
            fill = Evidence("rewrite", other.group(), other.start(), other.end())
            yield Violation(Rule.ALTERED_ITEM, Kind.ENTITY, (part_evidence("turn", view.turn, reference), fill))
