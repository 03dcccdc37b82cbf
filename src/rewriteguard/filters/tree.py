"""A structured filter in one plain form, whatever wrote it: parts that all must hold, each a tree of comparisons.

Read are LangChain's structured queries, operations and comparisons, by their attributes alone, and MongoDB-style
mappings. A "not" is carried down to the comparisons, so that what must hold stands in the tree itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewriteguard.errors import InputError

_DEEPEST = 20  # levels of a filter
_LARGEST = 200  # comparisons and operations of a filter; a model's filter has a handful
_OPERATORS = frozenset({"and", "or", "not", "nor"})
_OPPOSITES = {"gt": "lte", "lte": "gt", "lt": "gte", "gte": "lt"}
_NEGATIVE = {"ne": "eq", "nin": "in"}
_WRAPPED = ("date", "datetime")  # {"date": "2024-01-01", "type": "date"}
_BESIDE_DATE = frozenset({*_WRAPPED, "type", "timezone"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """One comparison.

    Attributes:
        attribute: The name of the field; those of nested mappings are joined by dots.
        comparator: `eq`, `gt`, `gte`, `lt`, `lte`, `in`, `contain`, `like`, or another name as it was given.
        value: What it is compared with.
        negated: Whether it must not hold; `ne` and `nin` are a negated `eq` and `in`.
    """

    attribute: str
    comparator: str
    value: Any
    negated: bool = False

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of a list, or the one value."""
        return tuple(self.value) if isinstance(self.value, list | tuple | set | frozenset) else (self.value,)


@dataclass(frozen=True, slots=True)
class Branch:
    """Several comparisons of which all (`and`) or one (`or`) must hold."""

    operator: str
    parts: tuple[Node, ...]


Node = Leaf | Branch


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the parts of a filter that all must hold: as it was given, and as a tree."""

    source: Any
    node: Node


def read_tree(structured: Any, name: str = "filter") -> tuple[Piece, ...]:
    """The parts of a filter that all must hold, in order; none where there is no filter.

    Args:
        structured: A structured query, an operation, a comparison, a mapping, or a list of those; None is no filter.
        name: What an error calls it.

    Raises:
        InputError: It is something else, or it is too deep or too large, as one that contains itself is.
    """
    return tuple(_Walk(name).pieces(structured, 0))


def leaves(node: Node) -> Iterator[Leaf]:
    """The comparisons of a tree, in order."""
    if isinstance(node, Leaf):
        yield node
    else:
        for part in node.parts:
            yield from leaves(part)


def fields_of(structured: Any, name: str = "developer_filter") -> frozenset[str]:
    """The fields that a filter names, in the form in which they are compared.

    Raises:
        InputError: The filter has a shape that cannot be read.
    """
    return frozenset(field_name(leaf.attribute) for piece in read_tree(structured, name) for leaf in leaves(piece.node))


def field_name(attribute: str) -> str:
    """A field's own name: `metadata.Tenant` is `tenant`."""
    return attribute.rpartition(".")[2].strip().casefold()


@dataclass
class _Walk:
    """One way through a filter; it counts the parts, so that none is walked without end."""

    name: str
    count: int = 0

    def pieces(self, node: Any, depth: int) -> Iterator[Piece]:
        """The parts below `node` that all must hold."""
        self._enter(depth)
        if node is None:
            return
        parts = self._conjuncts(node)
        if parts is None:
            yield Piece(node, self._node(node, depth, negated=False))
            return
        for part in parts:
            yield from self.pieces(part, depth + 1)

    def _conjuncts(self, node: Any) -> list[Any] | None:
        """What a filter is taken apart into; None where it is one part."""
        if _is_query(node):
            return [node.filter]
        if isinstance(node, list | tuple):
            return list(node)
        operator, arguments = _operation(node)
        if operator == "and":
            return arguments
        if operator or not isinstance(node, Mapping):
            return None
        entries = [entry for key, value in node.items() for entry in _entries(str(key), value)]
        return entries if len(entries) != 1 else None

    def _node(self, node: Any, depth: int, *, negated: bool) -> Node:
        self._enter(depth)
        operator, arguments = _operation(node)
        if operator:
            negated ^= operator in ("not", "nor")
            joined = "or" if operator in ("or", "nor") else "and"
            parts = [self._node(part, depth + 1, negated=negated) for part in arguments]
            return _branch(joined, parts, negated=negated)
        if isinstance(node, Mapping):
            fields = [self._field(str(key), value, depth + 1, negated=negated) for key, value in node.items()]
            return _branch("and", fields, negated=negated)
        if hasattr(node, "comparator") and hasattr(node, "attribute"):
            return _leaf(str(node.attribute), _plain(node.comparator), getattr(node, "value", None), negated=negated)
        raise InputError(
            f"{self.name}: expected a structured query, an operation, a comparison or a mapping, "
            f"got {type(node).__name__}"
        )

    def _field(self, key: str, value: Any, depth: int, *, negated: bool) -> Node:
        """One entry of a mapping: an operation, or the name of a field and what it is compared with."""
        self._enter(depth)
        if _is_operator(key):
            return self._node({key: value}, depth + 1, negated=negated)
        if key.lower() in _OPERATORS and isinstance(value, list | tuple) and any(isinstance(v, Mapping) for v in value):
            raise InputError(f"{self.name}: expected ${key.lower()} for an operation, got {key}")
        if not isinstance(value, Mapping) or (_wrapping(value) and value.get("type") in _WRAPPED):
            return _leaf(key, "eq", value, negated=negated)
        parts: list[Node] = []
        for name, inner in value.items():
            if _is_operator(name) and _plain(name) == "not":
                parts.append(self._field(key, inner, depth + 1, negated=not negated))
            elif str(name).startswith("$"):
                parts.append(_leaf(key, _plain(name), inner, negated=negated))
            else:
                parts.append(self._field(f"{key}.{name}", inner, depth + 1, negated=negated))
        return _branch("and", parts, negated=negated)

    def _enter(self, depth: int) -> None:
        self.count += 1
        if depth > _DEEPEST:
            raise InputError(f"{self.name}: nested more than {_DEEPEST} levels deep; it may contain itself")
        if self.count > _LARGEST:
            raise InputError(f"{self.name}: more than {_LARGEST} parts; it may contain itself")


def _is_query(node: Any) -> bool:
    return hasattr(node, "filter") and not isinstance(node, Mapping) and not hasattr(node, "comparator")


def _operation(node: Any) -> tuple[str, list[Any]]:
    """The operator and the arguments of an operation; an empty operator for everything else."""
    if isinstance(node, Mapping):
        entries = list(node.items())
        key, arguments = entries[0] if len(entries) == 1 else ("", None)
        name = _plain(key) if _is_operator(key) else ""
    elif hasattr(node, "operator") and hasattr(node, "arguments"):
        name, arguments = _plain(node.operator), node.arguments
    else:
        return "", []
    if name not in _OPERATORS:
        return "", []
    return name, list(arguments) if isinstance(arguments, list | tuple) else [arguments]


def _entries(key: str, value: Any) -> list[dict[str, Any]]:
    """One entry of a mapping as mappings of one comparison each."""
    operators = isinstance(value, Mapping) and len(value) > 1 and all(str(name).startswith("$") for name in value)
    return [{key: {name: inner}} for name, inner in value.items()] if operators else [{key: value}]


def _leaf(attribute: str, comparator: str, value: Any, *, negated: bool) -> Leaf:
    if comparator in _NEGATIVE:
        comparator, negated = _NEGATIVE[comparator], not negated
    if negated and comparator in _OPPOSITES:
        comparator, negated = _OPPOSITES[comparator], False
    wrapping = _wrapping(value)
    return Leaf(attribute, comparator, value[wrapping] if wrapping else value, negated)


def _branch(operator: str, parts: Sequence[Node], *, negated: bool) -> Node:
    """The branch of parts that were negated already: of "not (a and b)" one must hold, not both."""
    if len(parts) == 1:
        return parts[0]
    return Branch({"and": "or", "or": "and"}[operator] if negated else operator, tuple(parts))


def _wrapping(value: Any) -> str:
    """What a date is called as a model writes it; empty for all else: a mapping of fields with a `date` holds more."""
    held = [name for name in _WRAPPED if name in value] if isinstance(value, Mapping) else []
    plain = len(held) == 1 and _BESIDE_DATE.issuperset(value) and not isinstance(value[held[0]], Mapping | list | tuple)
    return held[0] if plain else ""


def _is_operator(key: Any) -> bool:
    """True for `$and` and its kin; a field may be called `and`."""
    return str(key).startswith("$") and _plain(key) in _OPERATORS


def _plain(name: Any) -> str:
    return str(getattr(name, "value", name)).lower().removeprefix("$")
