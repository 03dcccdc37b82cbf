"""What a rewrite kept of a turn, dropped, altered and invented, and what it carried over from the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rewriteguard.extract import answer_type, comparison, negation, qualifier, same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.grounding import source_of
from rewriteguard.language import lexicon
from rewriteguard.language.stem import stem
from rewriteguard.reading import Past, Reading
from rewriteguard.regions import UnitKind
from rewriteguard.support import is_content
from rewriteguard.tokens import Kind, ProtectedToken


@dataclass(frozen=True, slots=True)
class Pair:
    """A token of the turn and what stands for it in the rewrite; None where other words of the rewrite say it."""

    ours: ProtectedToken
    theirs: ProtectedToken | None

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain JSON values."""
        return {"turn": self.ours.to_dict(), "rewrite": self.theirs.to_dict() if self.theirs else None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tokens of a turn and of its rewrite, side by side, in reading order.

    Attributes:
        kept: Tokens of the turn that the rewrite says too.
        dropped: Tokens of the turn that the rewrite does not say.
        altered: Tokens of the turn in whose place the rewrite says something else.
        unsure: Pairs that cannot be compared, such as "last year" and a date without a reference date.
        invented: Tokens of the rewrite that neither the turn nor the history says.
        carried: Tokens of the rewrite that come from the history; `turn` is the index of the source.
    """

    kept: tuple[Pair, ...] = ()
    dropped: tuple[ProtectedToken, ...] = ()
    altered: tuple[Pair, ...] = ()
    unsure: tuple[Pair, ...] = ()
    invented: tuple[ProtectedToken, ...] = ()
    carried: tuple[ProtectedToken, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values."""
        return {
            "kept": [pair.to_dict() for pair in self.kept],
            "dropped": [token.to_dict() for token in self.dropped],
            "altered": [pair.to_dict() for pair in self.altered],
            "unsure": [pair.to_dict() for pair in self.unsure],
            "invented": [token.to_dict() for token in self.invented],
            "carried": [token.to_dict() for token in self.carried],
        }


_WORDED = frozenset({Kind.ENTITY, Kind.TOPIC, Kind.IDENTIFIER, Kind.QUALIFIER})
_NUMBERED = frozenset({Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER})
# Kinds in which one token can take the place of another; elsewhere a lost and a new token are two findings.
_EXCHANGED = frozenset({Kind.TIME, Kind.QUANTITY, Kind.VERSION, Kind.IDENTIFIER, Kind.MODALITY, Kind.NEGATION})
_ABSORBED = {
    stem(word): frozenset(stem(part) for part in forms.split())
    for word, forms in lexicon.section("negation")["absorbed"].items()
}
_OTHERS = frozenset({"other", "others", "another", "else", "besides", "additional", "more", "any", "anything"})
_PREFIXES = tuple(sorted(lexicon.words("negation", "prefixes")))
_SUFFIXES = tuple(sorted(lexicon.words("negation", "suffixes")))


# People drop these freely: "can" in "how can I", "now", "currently".
_FREE = frozenset({(Kind.MODALITY, "ability"), (Kind.TIME, "present")})


@dataclass
class _State:
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

    def settle(self, into: list[Pair], ours: ProtectedToken, theirs: ProtectedToken | None) -> None:
        """Takes a pair out of what is open. Said twice and kept once is kept, but two negations need two."""
        into.append(Pair(ours, theirs))
        self.ours.remove(ours)
        if theirs is not None and theirs in self.theirs:
            self.theirs.remove(theirs)
            if theirs.kind is not Kind.NEGATION:
                self.said.append(theirs)


def compare(
    turn: Reading,
    rewrite: Reading,
    past: Past,
    facts: Facts,
    *,
    consumed: Sequence[tuple[int, int]] = (),
    filtered: Sequence[ProtectedToken] = (),
) -> Comparison:
    """The comparison of a turn and its rewrite.

    Args:
        turn: The user's turn.
        rewrite: The cleaned rewrite.
        past: The messages before the turn.
        facts: Reference date and equivalents.
        consumed: Spans of the turn (offsets) that only point ("the first one"); what they hold may go.
        filtered: Tokens that a structured filter beside the rewrite carries; they count as kept.
    """
    ours = [t for t in turn.tokens if _counts(turn, t) and not any(a < t.end and t.start < b for a, b in consumed)]
    theirs = [t for t in rewrite.tokens if _is_said(rewrite, t)]
    state = _State(turn, rewrite, past, facts, ours, theirs)
    _pair(state, Match.SAME, state.kept)
    _pair_narrowed(state)
    _keep_worded(state, filtered)
    _pair(state, Match.UNKNOWN, state.unsure)
    _pair_exchanged(state)
    carried, invented = _sources(state)
    return Comparison(
        kept=_ordered(state.kept),
        dropped=tuple(state.ours),
        altered=_ordered(state.altered),
        unsure=_ordered(state.unsure),
        invented=tuple(invented),
        carried=tuple(carried),
    )


def _counts(turn: Reading, token: ProtectedToken) -> bool:
    """True where the token stands in what is asked, or in a remark that sets the scene, and its loss says something."""
    if (token.kind, token.value) in _FREE or (token.kind is Kind.ANSWER_TYPE and token.value not in answer_type.STRONG):
        return False
    return any(turn.regions.protects(w.i) or turn.regions.sets_scene(w.i) for w in turn.words_of(token))


def _is_said(rewrite: Reading, token: ProtectedToken) -> bool:
    units = [unit for unit in rewrite.regions.units if unit.kind is not UnitKind.FILLER]
    return any(unit.holds(w.i) for w in rewrite.words_of(token) for unit in units)


def _pair(state: _State, match: Match, into: list[Pair]) -> None:
    for ours in list(state.ours):
        theirs = _counterpart(state, ours, match)
        if theirs is not None:
            state.settle(into, ours, theirs)


def _counterpart(state: _State, ours: ProtectedToken, match: Match) -> ProtectedToken | None:
    same = same_for(ours.kind)
    pool = (t for t in (*state.theirs, *state.said) if t.kind is ours.kind)
    return next((t for t in pool if same(ours, t, state.facts) is match), None)


def _pair_narrowed(state: _State) -> None:
    """Pairs what the rewrite made more definite: kept where the conversation says what was added, else altered."""
    for ours in list(state.ours):
        theirs = _counterpart(state, ours, Match.NARROWER)
        if theirs is not None:
            added = [w for w in state.rewrite.words_of(theirs) if not state.turn.vocabulary.supports(w)]
            grounded = all(state.past.vocabulary.supports(w) for w in added if is_content(w))
            state.settle(state.kept if grounded else state.altered, ours, theirs)


def _keep_worded(state: _State, filtered: Sequence[ProtectedToken]) -> None:
    """Keeps what the rewrite says in other words, as a token of another kind, or through the filter."""
    for ours in list(state.ours):
        if _is_said_otherwise(state, ours) or _is_filtered(ours, filtered, state.facts):
            state.settle(state.kept, ours, None)
            continue
        twin = next((t for t in state.theirs if _is_twin(ours, t)), None)
        if twin is not None:
            state.settle(state.kept, ours, twin)


def _is_twin(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True for one literal that the two texts made two kinds of: "3.10" as a version here and a number there."""
    literal = ours.text.casefold() == theirs.text.casefold() or ours.value == theirs.value
    return {ours.kind, theirs.kind} <= _NUMBERED and literal and ours.relation == theirs.relation


def _is_filtered(ours: ProtectedToken, filtered: Sequence[ProtectedToken], facts: Facts) -> bool:
    same = same_for(ours.kind)
    return any(t.kind is ours.kind and same(ours, t, facts) is Match.SAME for t in filtered)


def _is_said_otherwise(state: _State, ours: ProtectedToken) -> bool:
    if ours.kind in _WORDED:
        return _has_words(state, ours) or _has_alias(state, ours)
    if ours.kind is Kind.COMPARISON:
        prefix, _, value = ours.value.partition(":")
        return prefix == "direction" and state.rewrite.vocabulary.holds_stem(value)
    if ours.kind is Kind.ANSWER_TYPE:
        return _is_paraphrased(state.rewrite, ours.value)
    if ours.kind is Kind.NEGATION:
        return _is_absorbed(state.rewrite, ours.value)
    if ours.kind is Kind.QUANTIFIER and ours.value == "only":
        return any(t.kind is Kind.NEGATION and t.relation == negation.EXCLUSION for t in state.rewrite.tokens)
    return False


def _has_words(state: _State, ours: ProtectedToken) -> bool:
    words = [w for w in state.turn.words_of(ours) if any(c.isalnum() for c in w.text)]
    vocabulary = state.rewrite.vocabulary
    return bool(words) and (all(vocabulary.supports(w) for w in words) or vocabulary.expands(words))


def _has_alias(state: _State, ours: ProtectedToken) -> bool:
    text = f" {' '.join(w.lower for w in state.rewrite.words)} "
    return any(f" {alias} " in text for alias in state.facts.equivalents.get(ours.value, ()))


def _is_paraphrased(rewrite: Reading, value: str) -> bool:
    lowers = [w.lower for w in rewrite.words]
    return any(_runs(lowers, phrase) for phrase in answer_type.paraphrases(value))


def _runs(lowers: Sequence[str], phrase: Sequence[str]) -> bool:
    n = len(phrase)
    return any(tuple(lowers[i : i + n]) == tuple(phrase) for i in range(len(lowers) - n + 1))


def _is_absorbed(reading: Reading, scope: str) -> bool:
    """True where a word holds the negation in itself: "prohibited" for "not allowed", "unsafe" for "not safe"."""
    if not scope:
        return False
    forms = _ABSORBED.get(scope, frozenset())
    for word in reading.words:
        prefixed = any(word.stem == prefix + scope for prefix in _PREFIXES)
        suffixed = any(word.lower == scope + end or word.lower.startswith(scope + end) for end in _SUFFIXES)
        if word.stem in forms or prefixed or suffixed:
            return True
    return False


def _pair_exchanged(state: _State) -> None:
    """Pairs what was lost with what stands in its place."""
    for ours in list(state.ours):
        theirs = next((t for t in state.theirs if _replaces(state, ours, t)), None)
        if theirs is None:
            continue
        renamed = ours.kind is Kind.NEGATION and not state.rewrite.vocabulary.holds_stem(ours.value)
        state.settle(state.kept if renamed else state.altered, ours, theirs)


def _replaces(state: _State, ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    if theirs.kind is not ours.kind:
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
        return not _is_grounded_in_turn(state, theirs)
    return ours.kind is Kind.QUANTIFIER


def _is_grounded_in_turn(state: _State, theirs: ProtectedToken) -> bool:
    words = [w for w in state.rewrite.words_of(theirs) if any(c.isalnum() for c in w.text)]
    return all(state.turn.vocabulary.supports(w) for w in words) or state.turn.vocabulary.expands(words)


def _sources(state: _State) -> tuple[list[ProtectedToken], list[ProtectedToken]]:
    """What is left of the rewrite: carried over from a history item, or invented."""
    carried, invented = [], []
    for theirs in state.theirs:
        if _is_said_by_turn(state, theirs):
            continue
        source = source_of(theirs, state.rewrite, state.past, state.facts)
        if source is None:
            invented.append(theirs)
        else:
            carried.append(theirs.at(source))
    return carried, invented


def _is_said_by_turn(state: _State, theirs: ProtectedToken) -> bool:
    same = same_for(theirs.kind)
    if any(t.kind is theirs.kind and same(t, theirs, state.facts) is Match.SAME for t in state.turn.tokens):
        return True
    if theirs.kind in _WORDED:
        return _is_grounded_in_turn(state, theirs)
    if theirs.kind is Kind.ANSWER_TYPE:
        return theirs.value not in answer_type.STRONG or _is_paraphrased(state.turn, theirs.value)
    if theirs.kind is Kind.NEGATION:
        if theirs.relation == negation.CONTRAST:
            return True
        exclusive = theirs.relation == negation.EXCLUSION and _speaks_of_others(state.turn)
        return exclusive or _is_absorbed(state.turn, theirs.value)
    if theirs.kind is Kind.QUANTIFIER:
        return theirs.value != "only"
    if theirs.kind is Kind.MODALITY:
        return theirs.value != "obligation"
    if theirs.kind is Kind.TIME:
        return theirs.value == "present" or any(_is_twin(t, theirs) for t in state.turn.tokens)
    if theirs.kind is Kind.COMPARISON and not theirs.value.endswith("superlative"):
        return True
    if theirs.kind is Kind.COMPARISON:
        value = theirs.value.partition(":")[2] or theirs.value
        return state.turn.vocabulary.holds_stem(value)
    if theirs.kind is Kind.QUALIFIER:
        return all(state.turn.vocabulary.supports(w) for w in state.rewrite.words_of(theirs))
    return any(_is_twin(t, theirs) for t in state.turn.tokens)


def _speaks_of_others(turn: Reading) -> bool:
    return any(w.lower in _OTHERS for w in turn.words)


def _ordered(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (pair.ours.start, pair.ours.kind)))
