"""What stands in a rewrite in the place of what was lost of the turn: another value, modal, or kind of answer."""

from __future__ import annotations

from rewriteguard.check.pairing import Pairing, is_free
from rewriteguard.check.says import turn_says, words_said
from rewriteguard.extract import answer_type, comparison, qualifier, same_for
from rewriteguard.extract.base import Match
from rewriteguard.model.comparison import Pair
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading
from rewriteguard.reading.units import AUXILIARIES

# Kinds in which one token can take the place of another; elsewhere a lost and a new token are two findings.
_EXCHANGED = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER, Kind.MODALITY, Kind.NEGATION})
_LASTS = frozenset({"duration", "time"})
_ABILITY = frozenset({"can", "could"})  # "Can I make it?" is answered by how
_NEAR = 5  # words behind a negation that it can still negate: "didn't the court criminally charge"


def pair_exchanged(state: Pairing) -> None:
    """Pairs what was lost with what stands in its place."""
    for ours in list(state.ours):
        if is_free(ours) and not state.edited:
            continue
        theirs = next((t for t in state.theirs if _replaces(state, ours, t)), None)
        if theirs is None:
            continue
        same = ours.kind is Kind.NEGATION and _negates_alike(state, ours, theirs)
        state.settle(state.kept if same else state.altered, ours, theirs)


def _negates_alike(state: Pairing, ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True where what was negated is not said any more in its old words, or stands behind the rewrite's negation."""
    behind = [w for w in state.rewrite.words if w.start >= theirs.end][:_NEAR]
    return not state.rewrite.vocabulary.holds_stem(ours.value) or any(w.stem == ours.value for w in behind)


def pair_openers(state: Pairing) -> None:
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


def pair_asked(state: Pairing) -> None:
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


def _asks_alike(state: Pairing, asked: ProtectedToken) -> bool:
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


def _replaces(state: Pairing, ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    if theirs.kind is not ours.kind or (
        is_free(ours) and is_free(theirs) and "majority" not in ours.value + theirs.value
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
