"""What a rewrite kept of a turn, dropped, altered and invented, and what it carried over from the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rewriteguard.check.says import is_twin, rewrite_says, source_beside, source_of, turn_says, words_said
from rewriteguard.extract import answer_type, comparison, qualifier, quantifier, same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.filters.beside import NO_FILTER, Filtered, is_excluded
from rewriteguard.language.names import is_transposed, resembles
from rewriteguard.model.assessment import Comparison, Pair
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Past, Reading
from rewriteguard.reading.units import AUXILIARIES, UnitKind
from rewriteguard.reading.vocabulary import is_content

# People drop these freely: "can" in "how can I", "now", "some". An edit of the turn's own words may not exchange them.
_FREE = frozenset({(Kind.MODALITY, "ability"), (Kind.TIME, "present")}) | {
    (Kind.QUANTIFIER, value) for value in quantifier.WEAK
}
# Kinds in which one token can take the place of another; elsewhere a lost and a new token are two findings.
_EXCHANGED = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER, Kind.MODALITY, Kind.NEGATION})
_LASTS = frozenset({"duration", "time"})
_ABILITY = frozenset({"can", "could"})  # "Can I make it?" is answered by how
_NEAR = 5  # words behind a negation that it can still negate: "didn't the court criminally charge"
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
    """The comparison of a turn and its rewrite; what a structured filter beside it carries (`filtered`) counts as kept.

    In the turn with a few words changed (`edited`) a small word that came or changed says something, in a sentence of
    the rewriter's own it does not. What the spans of the turn (offsets) hold that only point (`consumed`) may go.
    """
    ours = [t for t in turn.tokens if counts(turn, t) and not any(a < t.end and t.start < b for a, b in consumed)]
    theirs = [t for t in rewrite.tokens if _is_said(rewrite, t)]
    state = _Pairing(turn, rewrite, past, facts, ours, theirs, edited=edited)
    _pair(state, Match.SAME, state.kept)
    _pair_narrowed(state)
    _keep_worded(state, filtered)
    _pair_misspelt(state)
    _pair(state, Match.UNKNOWN, state.unsure)
    _pair_exchanged(state)
    _pair_openers(state)
    _pair_asked(state)
    carried, invented = _sources(state)
    return Comparison(
        kept=_ordered(state.kept),
        dropped=tuple(t for t in state.ours if not _is_free(t)),
        altered=_ordered(state.altered),
        unsure=_ordered(state.unsure),
        invented=tuple(invented),
        carried=tuple(carried),
    )


def counts(turn: Reading, token: ProtectedToken) -> bool:
    """True where the token stands in what is asked, or in a remark that sets the scene, and its loss says something."""
    if token.kind is Kind.ANSWER_TYPE and token.value not in answer_type.STRONG:
        return False
    regions, places = turn.regions, [w.i for w in turn.words_of(token)]
    if any(map(regions.is_withdrawn, places)):
        return False
    return any(regions.protects(i) or regions.sets_scene(i) for i in places)


@dataclass
class _Pairing:
    """The pairing under way: what of both sides still has no counterpart."""

    turn: Reading
    rewrite: Reading
    past: Past
    facts: Facts
    ours: list[ProtectedToken]
    theirs: list[ProtectedToken]
    kept: list[Pair] = field(default_factory=list)
    altered: list[Pair] = field(default_factory=list)
    unsure: list[Pair] = field(default_factory=list)
    said: list[ProtectedToken] = field(default_factory=list)
    edited: bool = False

    def settle(self, into: list[Pair], ours: ProtectedToken, theirs: ProtectedToken | None) -> None:
        """Takes a pair out of what is open. Said twice and kept once is kept, but two negations need two."""
        into.append(Pair(ours, theirs))
        self.ours.remove(ours)
        if theirs is not None and theirs in self.theirs:
            self.theirs.remove(theirs)
            if theirs.kind is not Kind.NEGATION:
                self.said.append(theirs)


def _is_free(token: ProtectedToken) -> bool:
    """True for a token that people drop and add freely."""
    return (token.kind, token.value) in _FREE


def _is_said(rewrite: Reading, token: ProtectedToken) -> bool:
    units = [unit for unit in rewrite.regions.units if unit.kind is not UnitKind.FILLER]
    return any(unit.holds(w.i) for w in rewrite.words_of(token) for unit in units)


def _pair(state: _Pairing, match: Match, into: list[Pair]) -> None:
    for ours in list(state.ours):
        theirs = _counterpart(state, ours, match)
        if theirs is not None:
            state.settle(into, ours, theirs)


def _counterpart(state: _Pairing, ours: ProtectedToken, match: Match) -> ProtectedToken | None:
    same = same_for(ours.kind)
    pool = (t for t in (*state.theirs, *state.said) if t.kind is ours.kind)
    return next((t for t in pool if same(ours, t, state.facts) is match), None)


def _pair_narrowed(state: _Pairing) -> None:
    """Pairs what the rewrite made more definite: kept where the conversation says what was added, else altered."""
    for ours in list(state.ours):
        theirs = _counterpart(state, ours, Match.NARROWER)
        if theirs is not None:
            added = [w for w in state.rewrite.words_of(theirs) if not state.turn.vocabulary.supports(w)]
            grounded = all(state.past.vocabulary.supports(w) for w in added if is_content(w))
            state.settle(state.kept if grounded else state.altered, ours, theirs)


def _keep_worded(state: _Pairing, filtered: Filtered) -> None:
    """Keeps what the rewrite says in other words, as a token of another kind, or through the filter."""
    for ours in list(state.ours):
        if rewrite_says(ours, state.turn, state.rewrite, state.facts) or _is_filtered(state, ours, filtered):
            state.settle(state.kept, ours, None)
            continue
        twin = next((t for t in state.theirs if is_twin(ours, t)), None)
        if twin is not None:
            state.settle(state.kept, ours, twin)


def _pair_misspelt(state: _Pairing) -> None:
    """Pairs a name that the conversation does not know with one spelt nearly so, which it knows: likely a slip.

    On the first turn it knows none, and any such name will do.
    """
    known, first = state.past.vocabulary, not state.past.messages
    names = [t for t in state.rewrite.tokens if t.kind is Kind.ENTITY]
    if not first:
        words = [[w for w in state.rewrite.words_of(t) if is_content(w)] for t in names]
        names = [t for t, own in zip(names, words, strict=True) if all(map(known.supports_name, own))]
    for ours in [t for t in state.ours if t.kind is Kind.ENTITY]:
        if all(map(known.supports_name, state.turn.words_of(ours))):
            continue
        swapped = next((t for t in names if is_transposed(ours.value, t.value)), None)
        near = next((t for t in names if resembles(ours.value, t.value)), None)
        if swapped is not None and not first:
            state.settle(state.kept, ours, swapped)
        elif near is not None:
            state.settle(state.altered, ours, near)


def _is_filtered(state: _Pairing, ours: ProtectedToken, filtered: Filtered) -> bool:
    if ours in filtered.tokens:
        return True
    if ours.kind is Kind.NEGATION:
        return bool(ours.value) and filtered.excluded.holds_stem(ours.value)
    words = [w for w in state.turn.words_of(ours) if is_content(w)]
    worded = ours.kind in (Kind.ENTITY, Kind.TOPIC, Kind.QUALIFIER, Kind.IDENTIFIER)
    if not worded or not words:
        return False
    return all(map(filtered.vocabulary.supports, words)) or is_excluded(words, state.turn, filtered)


def _pair_exchanged(state: _Pairing) -> None:
    """Pairs what was lost with what stands in its place."""
    for ours in list(state.ours):
        if _is_free(ours) and not state.edited:
            continue
        theirs = next((t for t in state.theirs if _replaces(state, ours, t)), None)
        if theirs is None:
            continue
        same = ours.kind is Kind.NEGATION and _negates_alike(state, ours, theirs)
        state.settle(state.kept if same else state.altered, ours, theirs)


def _negates_alike(state: _Pairing, ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True where what was negated is not said any more in its old words, or stands behind the rewrite's negation."""
    behind = [w for w in state.rewrite.words if w.start >= theirs.end][:_NEAR]
    return not state.rewrite.vocabulary.holds_stem(ours.value) or any(w.stem == ours.value for w in behind)


def _replaces(state: _Pairing, ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    if theirs.kind is not ours.kind or (
        _is_free(ours) and _is_free(theirs) and "majority" not in ours.value + theirs.value
    ):
        return False
    if ours.kind in _EXCHANGED:
        return True
    if ours.kind is Kind.QUALIFIER:
        return qualifier.clash(ours, theirs)
    if ours.kind is Kind.COMPARISON:
        graded = "direction" not in ours.value + theirs.value and "versus" not in (ours.value, theirs.value)
        return graded or comparison.opposed(ours, theirs)
    if ours.kind is Kind.ANSWER_TYPE:
        return bool({ours.value, theirs.value} & answer_type.STRONG)
    if ours.kind is Kind.ENTITY:
        return not words_said(theirs, state.rewrite, state.turn)
    return ours.kind is Kind.QUANTIFIER


def _pair_openers(state: _Pairing) -> None:
    """Finds "Can employees ...?" in the place of "Should employees ...?": elsewhere "can" and "should" may go."""
    ours, theirs = _opening_modal(state.turn), _opening_modal(state.rewrite)
    if ours is None or theirs is None or same_for(Kind.MODALITY)(ours, theirs, state.facts) is Match.SAME:
        return
    if ours not in state.ours and not any(ours is pair.ours for pair in (*state.kept, *state.altered)):
        state.altered.append(Pair(ours, theirs))
        if theirs in state.theirs:
            state.theirs.remove(theirs)


def _opening_modal(reading: Reading) -> ProtectedToken | None:
    firsts = {reading.words[unit.first].start for unit in reading.regions.asking if unit.first < len(reading.words)}
    return next((t for t in reading.tokens if t.kind is Kind.MODALITY and t.start in firsts), None)


def _pair_asked(state: _Pairing) -> None:
    """Finds "Where did she study?" in the place of "What did she study?", and "How did it win?" of "Did it win?"."""
    ours, theirs = _first_asked(state.turn), _first_asked(state.rewrite)
    if ours is None or theirs is None:
        return
    (asked, verb), (other, other_verb) = ours, theirs
    if verb != other_verb or not answer_type.exchanged(asked, other) or not _asks_alike(state, asked):
        return
    if any(asked is pair.ours for pair in state.altered):
        return
    if asked.value in _LASTS and other.value in _LASTS:
        if any(w.lower in answer_type.SINCE for reading in (state.turn, state.rewrite) for w in reading.words):
            return
        state.kept = [pair for pair in state.kept if pair.ours is not asked]
    elif "polar" in (asked.value, other.value):
        if verb in _ABILITY or "?" not in state.turn.text:  # "was he his real name" lacks its question word
            return
    elif turn_says(other, state.turn, state.rewrite, state.facts):
        return
    state.altered.append(Pair(asked, other))
    if other in state.theirs:
        state.theirs.remove(other)


def _asks_alike(state: _Pairing, asked: ProtectedToken) -> bool:
    """True where the rewrite keeps what the turn asks about, and adds only what the conversation holds."""
    content = [w for w in state.turn.content if state.turn.regions.protects(w.i) and w.start >= asked.end]
    added = [w for w in state.rewrite.content if not state.turn.vocabulary.supports(w)]
    kept = all(map(state.rewrite.vocabulary.supports, content))
    return bool(content) and kept and all(map(state.past.vocabulary.supports, added))


def _first_asked(reading: Reading) -> tuple[ProtectedToken, str] | None:
    """The question word that opens a text's first question, and the auxiliary behind it (of "Did it?" itself)."""
    starts = {reading.words[unit.first].start for unit in reading.regions.asking}
    token = next((t for t in reading.tokens if t.kind is Kind.ANSWER_TYPE and t.start in starts), None)
    if token is None:
        return None
    behind = [w for w in reading.words if w.start >= (token.start if token.value == "polar" else token.end)]
    return (token, behind[0].lower) if behind and behind[0].lower in AUXILIARIES else None


def _sources(state: _Pairing) -> tuple[list[ProtectedToken], list[ProtectedToken]]:
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
