"""What a rewrite kept of a turn, dropped, altered and invented, and what it carried over from the history."""

from __future__ import annotations

from collections.abc import Sequence

from rewriteguard.check.exchanges import pair_asked, pair_exchanged, pair_openers
from rewriteguard.check.pairing import Pairing, is_free
from rewriteguard.check.says import is_twin, rewrite_says, turn_says
from rewriteguard.check.sources import source_beside, source_of
from rewriteguard.extract import answer_type, entity, same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.filters.beside import NO_FILTER, Filtered, is_excluded
from rewriteguard.language.words import Word
from rewriteguard.model.comparison import Comparison, Pair
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.units import UnitKind
from rewriteguard.reading.vocabulary import is_content

# Small words that the history holds anyway: only together with the word beside them are they carried over.
_CLOSED = frozenset({Kind.QUANTIFIER, Kind.MODALITY, Kind.NEGATION, Kind.COMPARISON})


def compare(
    turn: Reading,
    rewrite: Reading,
    past: Past,
    facts: Facts,
    *,
    edited: bool = False,
    consumed: Sequence[tuple[int, int]] = (),
    filtered: Filtered = NO_FILTER,
) -> Comparison:
    """The comparison of a turn and its rewrite.

    Args:
        turn: The user's turn.
        rewrite: The cleaned rewrite.
        past: The messages before the turn.
        facts: Reference date and equivalents.
        edited: Whether the rewrite is the turn with a few words changed: then a small word that came or changed says
            something, which in a sentence of the rewriter's own it does not.
        consumed: Spans of the turn (offsets) that only point ("the first one"); what they hold may go.
        filtered: What a structured filter beside the rewrite carries; it counts as kept.
    """
    ours = [t for t in turn.tokens if counts(turn, t) and not any(a < t.end and t.start < b for a, b in consumed)]
    theirs = [t for t in rewrite.tokens if _is_said(rewrite, t)]
    state = Pairing(turn, rewrite, past, facts, ours, theirs, edited=edited)
    _pair(state, Match.SAME, state.kept)
    _pair_narrowed(state)
    _keep_worded(state, filtered)
    _pair_misspelt(state)
    _pair(state, Match.UNKNOWN, state.unsure)
    pair_exchanged(state)
    pair_openers(state)
    pair_asked(state)
    carried, invented = _sources(state)
    return Comparison(
        kept=_ordered(state.kept),
        dropped=tuple(t for t in state.ours if not is_free(t)),
        altered=_ordered(state.altered),
        unsure=_ordered(state.unsure),
        invented=tuple(invented),
        carried=tuple(carried),
    )


def counts(turn: Reading, token: ProtectedToken) -> bool:
    """True where the token stands in what is asked, or in a remark that sets the scene, and its loss says something."""
    if token.kind is Kind.ANSWER_TYPE and token.value not in answer_type.STRONG:
        return False
    words = turn.words_of(token)
    if any(turn.regions.is_withdrawn(w.i) for w in words):
        return False
    return any(turn.regions.protects(w.i) or turn.regions.sets_scene(w.i) for w in words)


def _is_said(rewrite: Reading, token: ProtectedToken) -> bool:
    units = [unit for unit in rewrite.regions.units if unit.kind is not UnitKind.FILLER]
    return any(unit.holds(w.i) for w in rewrite.words_of(token) for unit in units)


def _pair(state: Pairing, match: Match, into: list[Pair]) -> None:
    for ours in list(state.ours):
        theirs = _counterpart(state, ours, match)
        if theirs is not None:
            state.settle(into, ours, theirs)


def _counterpart(state: Pairing, ours: ProtectedToken, match: Match) -> ProtectedToken | None:
    same = same_for(ours.kind)
    pool = (t for t in (*state.theirs, *state.said) if t.kind is ours.kind)
    return next((t for t in pool if same(ours, t, state.facts) is match), None)


def _pair_narrowed(state: Pairing) -> None:
    """Pairs what the rewrite made more definite: kept where the conversation says what was added, else altered."""
    for ours in list(state.ours):
        theirs = _counterpart(state, ours, Match.NARROWER)
        if theirs is not None:
            added = [w for w in state.rewrite.words_of(theirs) if not state.turn.vocabulary.supports(w)]
            grounded = all(state.past.vocabulary.supports(w) for w in added if is_content(w))
            state.settle(state.kept if grounded else state.altered, ours, theirs)


def _keep_worded(state: Pairing, filtered: Filtered) -> None:
    """Keeps what the rewrite says in other words, as a token of another kind, or through the filter."""
    for ours in list(state.ours):
        if rewrite_says(ours, state.turn, state.rewrite, state.facts) or _is_filtered(state, ours, filtered):
            state.settle(state.kept, ours, None)
            continue
        twin = next((t for t in state.theirs if is_twin(ours, t)), None)
        if twin is not None:
            state.settle(state.kept, ours, twin)


def _pair_misspelt(state: Pairing) -> None:
    """Pairs a name that the conversation does not know with one spelt nearly so, which it knows: likely a slip.

    On the first turn it knows none, and any such name will do.
    """
    known, first = state.past.vocabulary, not state.past.messages
    names = [t for t in state.rewrite.tokens if t.kind is Kind.ENTITY]
    names = [t for t in names if first or all(map(known.supports_name, _words(state, t)))]
    for ours in [t for t in state.ours if t.kind is Kind.ENTITY]:
        if all(map(known.supports_name, state.turn.words_of(ours))):
            continue
        swapped = next((t for t in names if entity.is_transposed(ours.value, t.value)), None)
        near = next((t for t in names if entity.resembles(ours.value, t.value)), None)
        if swapped is not None and not first:
            state.settle(state.kept, ours, swapped)
        elif near is not None:
            state.settle(state.altered, ours, near)


def _words(state: Pairing, theirs: ProtectedToken) -> list[Word]:
    return [w for w in state.rewrite.words_of(theirs) if is_content(w)]


def _is_filtered(state: Pairing, ours: ProtectedToken, filtered: Filtered) -> bool:
    if ours in filtered.tokens:
        return True
    if ours.kind is Kind.NEGATION:
        return bool(ours.value) and filtered.excluded.holds_stem(ours.value)
    words = [w for w in state.turn.words_of(ours) if is_content(w)]
    worded = ours.kind in (Kind.ENTITY, Kind.TOPIC, Kind.QUALIFIER, Kind.IDENTIFIER)
    if not worded or not words:
        return False
    return all(map(filtered.vocabulary.supports, words)) or is_excluded(words, state.turn, filtered)


def _sources(state: Pairing) -> tuple[list[ProtectedToken], list[ProtectedToken]]:
    """What is left of the rewrite: carried over from a history item, or invented."""
    carried, invented = [], []
    for theirs in state.theirs:
        if turn_says(theirs, state.turn, state.rewrite, state.facts, edited=state.edited):
            continue
        find = source_beside if state.edited and theirs.kind in _CLOSED else source_of
        source = find(theirs, state.rewrite, state.past, state.facts)
        if source is None:
            invented.append(theirs)
        else:
            carried.append(theirs.at(source))
    return carried, invented


def _ordered(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (pair.ours.start, pair.ours.kind)))
