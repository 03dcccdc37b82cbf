"""Turn and rewrite in a language without word lists, side by side: the comparison, and what it finds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from cachetools import LRUCache, cached

from rewriteguard.check.foreign.literals import folded, literals_of
from rewriteguard.check.foreign.words import Segment, missing, new, units_of
from rewriteguard.extract.base import Facts
from rewriteguard.filters.beside import Filtered
from rewriteguard.language.names import is_typo
from rewriteguard.language.normal import normalise
from rewriteguard.model.assessment import Comparison, Pair, Violation
from rewriteguard.model.rules import Fault, Rule
from rewriteguard.model.tokens import Evidence, Kind, ProtectedToken, in_rewrite, in_turn
from rewriteguard.reading.text import Past, Reading

_NUMBERS = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION})
_SPELLED = 12  # numbers up to it are written as words as often as in digits, and pick items of a list
_CACHED_CHARACTERS = 200_000  # of texts whose units are kept, about 200 bytes each; three of the longest histories
_SHORT_WORDS, _SHORT_CHARACTERS = 8, 16  # a turn of so many lives on the conversation more often than not


@dataclass(frozen=True, slots=True)
class Foreign:
    """A text in its normal form, its literals and its units; offsets are those of the text as written."""

    text: str
    literals: tuple[ProtectedToken, ...]
    units: tuple[Segment, ...]


def review(
    turn: Reading,
    rewrite: Reading,
    past: Past,
    language: str,
    facts: Facts,
    filtered: Filtered,
    *,
    may_carry: bool,
) -> tuple[Comparison, tuple[Violation, ...], bool]:
    """What a rewrite kept of a turn, what is wrong with it, and whether the turn needs the conversation."""
    ours, theirs = read(turn.text, language), read(rewrite.text, language)
    said = [read(reading.text, language) for reading in past.readings]
    lost = missing(ours.units, theirs.units)
    added = new(theirs.units, [ours.units, *(item.units for item in said)])
    comparison = _compare(ours, theirs, past, said, facts, filtered)
    violations = [*_literal_violations(comparison, lost, added, may_carry)]
    if lost or added:
        violations.append(_unjudged(turn.text, rewrite.text, lost, added))
    return comparison, tuple(violations), bool(past.messages) and (bool(lost) or _is_few(ours))


def is_short(text: str, language: str) -> bool:
    """True for a turn that is short enough to live on the conversation."""
    return _is_few(read(text, language))


def literal_kinds(text: str, language: str) -> frozenset[Kind]:
    """The kinds of what needs no word list: dates, numbers, versions and identifiers."""
    return frozenset(token.kind for token in read(text, language).literals)


@cached(LRUCache(_CACHED_CHARACTERS, getsizeof=lambda item: len(item.text) + 1), lock=Lock())
def read(text: str, language: str) -> Foreign:
    """The text with its literals and units."""
    normal = normalise(text)
    literals = literals_of(normal.text, language)
    units = units_of(normal.text, literals, language)
    if normal.text != text:
        places = [normal.span(item.start, item.end) for item in literals]
        literals = tuple(replace(t, start=a, end=b, text=text[a:b]) for t, (a, b) in zip(literals, places, strict=True))
        spans = [normal.span(unit.start, unit.end) for unit in units]
        units = tuple(replace(u, start=a, end=b) for u, (a, b) in zip(units, spans, strict=True))
    return Foreign(normal.text, literals, units)


def _compare(
    ours: Foreign, theirs: Foreign, past: Past, said: Sequence[Foreign], facts: Facts, filtered: Filtered
) -> Comparison:
    beside = {value for t in filtered.tokens for found in literals_of(t.text, "") for value in _values(found)}
    history = {value for item in said for t in item.literals for value in _values(t)}
    kept, altered, dropped = [], [], []
    rest = list(theirs.literals)
    for token in ours.literals:
        other = next((t for t in theirs.literals if _is_same(token, t, history | _values_of(ours))), None)
        if other is not None:
            rest = [t for t in rest if t is not other]
        if other is not None or _is_written(token, theirs, facts.equivalents) or _values(token) & beside:
            kept.append(Pair(token, other))
        else:
            dropped.append(token)
    rest = [t for t in rest if not (_values(t) & _values_of(ours) or _is_written(t, ours, facts.equivalents))]
    for token in list(dropped):
        other = next((t for t in rest if t.kind is token.kind or {t.kind, token.kind} <= _NUMBERS), None)
        if other is not None:
            dropped.remove(token)
            rest.remove(other)
            altered.append(Pair(token, other))
    sources = [(t, _source(t, past, said, facts.equivalents)) for t in rest]
    return Comparison(
        kept=tuple(kept),
        dropped=tuple(dropped),
        altered=tuple(altered),
        invented=tuple(t for t, source in sources if source is None),
        carried=tuple(t.at(source) for t, source in sources if source is not None),
    )


def _values(token: ProtectedToken) -> frozenset[str]:
    return frozenset(token.value.split("|"))


def _values_of(text: Foreign) -> frozenset[str]:
    return frozenset(value for t in text.literals for value in _values(t))


def _is_same(ours: ProtectedToken, theirs: ProtectedToken, said: frozenset[str] | set[str]) -> bool:
    """True for one value, for a name with a slip in it, and for a day whose year the conversation gives."""
    if Kind.ENTITY in (ours.kind, theirs.kind):
        return ours.kind is theirs.kind and (ours.value == theirs.value or is_typo(ours.value, theirs.value))
    if _values(ours) & _values(theirs):
        return True
    year, _, day = theirs.value.partition("-")
    return ours.value == f"--{day}" and year in said


def _is_written(token: ProtectedToken, other: Foreign, equivalents: Mapping[str, frozenset[str]]) -> bool:
    """True where a name or code stands in another text in other spelling, or under an alias."""
    if token.kind in _NUMBERS:
        return False
    text, words = _squashed(other.text), {unit.plain for unit in other.units}
    aliases = (
        alias
        for name, others in equivalents.items()
        if token.value in folded(name).split() or token.value == _squashed(name)
        for alias in others
    )
    if any(_squashed(alias) in text for alias in aliases):
        return True
    if token.kind is Kind.ENTITY:
        return token.value in words or all(part in words for part in folded(token.text).split("-"))
    return re.search(rf"(?<!\d){re.escape(_squashed(token.value))}(?!\d)", text) is not None


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]", "", folded(text))


def _source(
    token: ProtectedToken, past: Past, said: Sequence[Foreign], equivalents: Mapping[str, frozenset[str]]
) -> int | None:
    """The index of the latest message that says the same; None where none does."""
    latest = zip(reversed(past.messages), reversed(said), strict=True)
    return next((message.index for message, item in latest if _says(item, token, equivalents)), None)


def _says(item: Foreign, token: ProtectedToken, equivalents: Mapping[str, frozenset[str]]) -> bool:
    return any(_is_same(t, token, frozenset()) for t in item.literals) or _is_written(token, item, equivalents)


def _literal_violations(
    comparison: Comparison, lost: Sequence[Segment], added: Sequence[Segment], may_carry: bool
) -> Iterable[Violation]:
    """Literals lost, altered or from nowhere; not those that words of the other text may spell out."""
    numbers = any(pair.ours.kind in _NUMBERS for pair in (*comparison.kept, *comparison.altered))
    gone = (*comparison.dropped, *(pair.ours for pair in comparison.altered))
    come = (*comparison.invented, *(pair.theirs for pair in comparison.altered if pair.theirs))
    acronym = any(_begins(t, added) for t in gone) or any(_begins(t, lost) for t in come)
    for token in comparison.dropped:
        if not ((added and _is_small(token)) or (acronym and token.kind is Kind.ENTITY)):
            yield Violation(Rule.of(Fault.DROPPED, token.kind), token.kind, (in_turn(token),))
    for pair in comparison.altered:
        if pair.theirs is not None and not (acronym and pair.ours.kind is Kind.ENTITY):
            evidence = (in_turn(pair.ours), in_rewrite(pair.theirs))
            yield Violation(Rule.of(Fault.ALTERED, pair.ours.kind), pair.ours.kind, evidence)
    for token in (*comparison.invented, *(() if may_carry else comparison.carried)):
        number = token.kind is Kind.QUANTITY and bool(lost) and not numbers
        if not (number or (acronym and token.kind is Kind.ENTITY)):
            yield Violation(Rule.of(Fault.INVENTED, token.kind), token.kind, (in_rewrite(token),))


def _begins(token: ProtectedToken, words: Sequence[Segment]) -> bool:
    """True for an acronym whose letters begin these words: TVA, "taxe sur la valeur ajoutée"; EE, "Estados"."""
    initials = iter([unit.plain[0] for unit in words if unit.plain])
    letters = re.sub(r"(.)\1", r"\1", token.text.casefold())
    return token.kind is Kind.ENTITY and token.text.isupper() and all(letter in initials for letter in letters)


def _is_small(token: ProtectedToken) -> bool:
    return token.kind is Kind.QUANTITY and token.value.isdecimal() and int(token.value) <= _SPELLED


def _unjudged(turn: str, rewrite: str, lost: Sequence[Segment], added: Sequence[Segment]) -> Violation:
    """The words that went and the words from nowhere, of which nobody can tell here what they say."""
    sides = (("turn", turn, lost), ("rewrite", rewrite, added))
    evidence = tuple(
        Evidence(where, text[start:end], start, end)
        for where, text, units in sides
        for start, end in _runs(units, text)
    )
    return Violation(Rule.NOT_CHECKED_LANGUAGE, None, evidence)


def _runs(units: Sequence[Segment], text: str) -> list[tuple[int, int]]:
    """Spans of units that stand side by side."""
    spans: list[tuple[int, int]] = []
    for unit in units:
        if spans and not text[spans[-1][1] : unit.start].strip():
            spans[-1] = (spans[-1][0], unit.end)
        else:
            spans.append((unit.start, unit.end))
    return spans


def _is_few(text: Foreign) -> bool:
    characters = any(unit.is_character for unit in text.units)
    return len(text.units) <= (_SHORT_CHARACTERS if characters else _SHORT_WORDS)
