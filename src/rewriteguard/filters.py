"""A structured filter beside a rewrite, read as protected tokens: what it carries need not stand in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.bounds import JOINT, NO_FACTS, RELATIONS, days_of, numbers_of, same_days
from rewriteguard.extract.base import Facts
from rewriteguard.extract.time_value import period
from rewriteguard.filter_tree import Branch, Leaf, Node, read_tree
from rewriteguard.reading import Reading
from rewriteguard.support import Vocabulary
from rewriteguard.tokens import Kind, ProtectedToken
from rewriteguard.words import Word


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter carries.

    Attributes:
        tokens: The tokens of its values, each with the relation of its comparator.
        vocabulary: The words of its values.
        excluded: The words of the values that it excludes.
    """

    tokens: tuple[ProtectedToken, ...] = ()
    vocabulary: Vocabulary = Vocabulary(())  # noqa: RUF009 (immutable)
    excluded: Vocabulary = Vocabulary(())  # noqa: RUF009 (immutable)


NO_FILTER = Filtered()
"""A filter that carries nothing."""


def read_filter(structured: Any, read: Callable[[str, bool], Reading]) -> Filtered:
    """What a filter carries, each token with the relation of its comparator.

    Only what must hold counts: alternatives, and one of several values, carry nothing.

    Args:
        structured: A mapping (`{"year": {"$gte": 2020}}`, `{"status": "approved"}`) or a structured query or
            comparison with `attribute`, `comparator`, `value` or with `operator` and `arguments`.
        read: Gives the reading of a text.

    Raises:
        InputError: It is something else, or too deep or too large.
    """
    tokens: list[tuple[str, ProtectedToken]] = []
    words: list[Word] = []
    excluded: list[Word] = []
    for leaf in _binding(piece.node for piece in read_tree(structured)):
        if leaf.comparator not in RELATIONS or len(leaf.values) != 1:  # one of several is not what was asked for
            continue
        reading = read(str(leaf.values[0]), True)
        if leaf.negated:
            excluded += reading.words
            continue
        tokens += [(leaf.attribute, related(token, leaf.comparator)) for token in reading.tokens]
        words += reading.words
    carried = (*(token for _, token in tokens), *_ranges(tokens))
    return Filtered(carried, Vocabulary(words), Vocabulary(excluded))


def related(token: ProtectedToken, comparator: str) -> ProtectedToken:
    """A value's token with the relation that the comparator gives it."""
    return replace(token, relation=RELATIONS[comparator].get(token.kind, token.relation))


def joined(one: ProtectedToken, other: ProtectedToken) -> ProtectedToken | None:
    """The period or the range between a lower and an upper bound of one field; None where they are something else."""
    if one.kind is not other.kind:
        return None
    both = replace(one, text=f"{one.text}{JOINT}{other.text}", relation="")
    if one.kind is Kind.QUANTITY and (one.relation, other.relation) == (">=", "<="):
        return replace(both, value=f"{one.value.split()[0]}{JOINT}{other.value}")
    if one.kind is not Kind.TIME or one.relation not in ("since", "after") or other.relation not in ("before", "until"):
        return None
    lower, upper = days_of(one, NO_FACTS), days_of(other, NO_FACTS)
    if len(lower) != 1 or len(upper) != 1:
        return None
    first, behind = lower[0][0], upper[0][1]
    if first is None or behind is None or behind <= first:
        return None
    return replace(both, value=period(first, behind))


def is_filtered(ours: ProtectedToken, filtered: Filtered, facts: Facts) -> bool:
    """True where a filter says a time or an amount of the turn."""
    theirs = [token for token in filtered.tokens if token.kind is ours.kind]
    if ours.kind is Kind.TIME:
        return any(same_days(ours, token, facts) for token in theirs)
    if ours.kind is Kind.QUANTITY:  # the field says the unit: {"amount": {"$gt": 500}}
        return any(t.relation == ours.relation and t.value in numbers_of(ours) for t in theirs)
    return False


def is_excluded(words: Sequence[Word], turn: Reading, filtered: Filtered) -> bool:
    """True where a filter excludes what the turn negates: "without drafts" and {"status": {"$ne": "draft"}}."""
    negated = {t.value for t in turn.tokens if t.kind is Kind.NEGATION}
    return any(w.stem in negated for w in words) and all(map(filtered.excluded.supports, words))


def _ranges(tokens: Sequence[tuple[str, ProtectedToken]]) -> Iterator[ProtectedToken]:
    for field, lower in tokens:
        for other, upper in tokens:
            both = joined(lower, upper) if field == other else None
            if both is not None:
                yield both


def _binding(nodes: Iterable[Node]) -> Iterator[Leaf]:
    """The comparisons that must hold, in order."""
    for node in nodes:
        if isinstance(node, Branch):
            yield from _binding(node.parts) if node.operator == "and" else ()
        else:
            yield node
