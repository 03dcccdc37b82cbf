"""The application's filter and a model's as LangChain and the store write them, the application's always above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.structured_query import (
    Comparator,
    Comparison,
    FilterDirective,
    Operation,
    Operator,
    StructuredQuery,
    Visitor,
)

from rewriteguard.errors import InputError
from rewriteguard.filters.tree import Branch, Node, read_tree

_NEGATED = {"eq": Comparator.NE, "in": Comparator.NIN}


class GuardedTranslator(Visitor):
    """A translator beside which the search keywords that the application set are never replaced.

    Args:
        translator: Writes structured queries for the store.
        carried: The search keywords of the application.
    """

    def __init__(self, translator: Visitor, carried: Mapping[str, Any]) -> None:
        self.allowed_comparators = translator.allowed_comparators
        self.allowed_operators = translator.allowed_operators
        self._translator = translator
        self._carried = carried

    def visit_operation(self, operation: Operation) -> Any:
        """What the translator makes of it."""
        return self._translator.visit_operation(operation)

    def visit_comparison(self, comparison: Comparison) -> Any:
        """What the translator makes of it."""
        return self._translator.visit_comparison(comparison)

    def visit_structured_query(self, structured_query: StructuredQuery) -> tuple[str, dict[str, Any]]:
        """The text, and the search keywords with the application's filter above the model's."""
        text, keywords = self._translator.visit_structured_query(structured_query)
        return text, {name: self._beneath(name, value) for name, value in keywords.items()}

    def _beneath(self, name: str, value: Any) -> Any:
        """Both filters where the two can be joined, else the application's alone."""
        carried = self._carried.get(name)
        if carried is None:
            return value
        if isinstance(carried, Mapping) and isinstance(value, Mapping) and _is_mongo(value):
            return {"$and": [dict(carried), dict(value)]}
        if callable(carried) and callable(value):
            return lambda document: bool(carried(document)) and bool(value(document))
        return carried


def directive_of(structured: Any) -> FilterDirective | None:
    """A filter as LangChain writes it; None where there is none.

    Raises:
        InputError: It cannot be read, or has a comparator that LangChain does not know.
    """
    if structured is None or isinstance(structured, FilterDirective):
        read_tree(structured, "developer_filter")
        return structured
    merged: FilterDirective | None = all_of(
        [_directive(piece.node) for piece in read_tree(structured, "developer_filter")]
    )
    return merged


def _directive(node: Node) -> FilterDirective:
    if isinstance(node, Branch):
        return Operation(operator=Operator(node.operator), arguments=[_directive(part) for part in node.parts])
    if node.negated and node.comparator in _NEGATED:
        return Comparison(_NEGATED[node.comparator], node.attribute, node.value)
    try:
        plain = Comparison(Comparator(node.comparator), node.attribute, node.value)
    except ValueError as error:
        known = ", ".join(Comparator)
        raise InputError(f"developer_filter: expected one of {known}, got {node.comparator!r}") from error
    return Operation(operator=Operator.NOT, arguments=[plain]) if node.negated else plain


def all_of(parts: Sequence[Any]) -> Any:
    """Filters that must all hold as one; None where there are none."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Operation(operator=Operator.AND, arguments=list(parts))


def _is_mongo(value: Any) -> bool:
    """True for a mapping whose comparisons and operations start with a dollar sign."""
    if isinstance(value, Mapping):
        return any(str(key).startswith("$") or _is_mongo(inner) for key, inner in value.items())
    return False
