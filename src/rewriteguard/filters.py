"""A structured filter beside a rewrite, read as protected tokens: what it carries need not stand in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rewriteguard.errors import InputError
from rewriteguard.reading import Reading
from rewriteguard.support import Vocabulary
from rewriteguard.tokens import Kind, ProtectedToken
from rewriteguard.words import Word


@dataclass(frozen=True, slots=True)
class Filtered:
    """The tokens and the words of a filter's values."""

    tokens: tuple[ProtectedToken, ...] = ()
    vocabulary: Vocabulary = Vocabulary(())  # noqa: RUF009 (immutable)


NO_FILTER = Filtered()
"""A filter that carries nothing."""

# Comparators of LangChain's structured queries and of MongoDB-style mappings, by kind of token.
_RELATIONS = {
    "eq": {}, "in": {}, "contain": {}, "like": {},
    "gt": {Kind.TIME: "after", Kind.QUANTITY: ">"},
    "gte": {Kind.TIME: "since", Kind.QUANTITY: ">="},
    "lt": {Kind.TIME: "before", Kind.QUANTITY: "<"},
    "lte": {Kind.TIME: "until", Kind.QUANTITY: "<="},
}  # fmt: skip


_LOOSE = frozenset({"not", "nor", "or"})  # what stands below them need not hold
_DEEPEST = 20  # levels of a filter; deeper ones refer to themselves


def read_filter(structured: Any, read: Callable[[str, bool], Reading]) -> Filtered:
    """What a filter carries, each token with the relation of its comparator.

    Only what must hold counts: parts below "not" and "or", and one of several values, carry nothing.

    Args:
        structured: A mapping (`{"year": {"$gte": 2020}}`, `{"status": "approved"}`) or a structured query or
            comparison with `attribute`, `comparator`, `value` or with `operator` and `arguments`.
        read: Gives the reading of a text.
    """
    tokens: list[ProtectedToken] = []
    words: list[Word] = []
    for comparator, value in _comparisons(structured):
        reading = read(str(value), True)
        relations = _RELATIONS[comparator]
        tokens += [replace(t, relation=relations.get(t.kind, t.relation)) for t in reading.tokens]
        words += reading.words
    return Filtered(tuple(tokens), Vocabulary(words))


def same_bound(ours: ProtectedToken, theirs: ProtectedToken) -> bool:
    """True where two periods bound a search on one side at one day: "since 2020" and a date from 2020-01-01 on."""
    one, other = (_bound(token) for token in (ours, theirs))
    return one is not None and one == other


def _bound(token: ProtectedToken) -> tuple[str, str] | None:
    """The side that is kept and the first day of it, or the first day behind it; None without a bound or a date."""
    first, _, behind = token.value.partition("/")
    sides = {"since": ("from", first), "after": ("from", behind), "before": ("to", first), "until": ("to", behind)}
    return sides.get(token.relation) if first[:1].isdigit() and behind else None


def _comparisons(node: Any, depth: int = 0) -> Iterable[tuple[str, Any]]:
    """Comparator and value of each plain comparison below `node`, in order."""
    if depth > _DEEPEST:
        raise InputError(f"filter: nested more than {_DEEPEST} levels deep")
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _from_entry(str(key), value, depth + 1)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from _comparisons(item, depth + 1)
    elif getattr(node, "filter", None) is not None:
        yield from _comparisons(node.filter, depth + 1)
    elif hasattr(node, "arguments"):
        if _name(getattr(node, "operator", "")) not in _LOOSE:
            yield from _comparisons(list(node.arguments), depth + 1)
    elif hasattr(node, "comparator"):
        yield from _values(_name(node.comparator), node.value)


def _from_entry(key: str, value: Any, depth: int) -> Iterable[tuple[str, Any]]:
    if key.removeprefix("$") in _LOOSE:
        return
    if isinstance(value, Mapping) or key.removeprefix("$") == "and":
        yield from _comparisons(value, depth)
    else:
        yield from _values(key.removeprefix("$") if key.startswith("$") else "eq", value)


def _values(comparator: str, value: Any) -> Iterable[tuple[str, Any]]:
    if comparator not in _RELATIONS:
        return
    if isinstance(value, Mapping):  # {"date": "2024-01-01", "type": "date"}
        value = value.get("date", "")
    if not isinstance(value, list | tuple):
        yield comparator, value
    elif len(value) == 1:  # one of several values is not the one that was asked for
        yield comparator, value[0]


def _name(comparator: Any) -> str:
    return str(getattr(comparator, "value", comparator)).lower()
