"""A structured filter beside a rewrite, read as protected tokens: what it carries need not stand in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewriteguard.extract.base import Facts
from rewriteguard.filters.backing import covered
from rewriteguard.filters.claims import Claim, Read, claims_of, fault_of_form, with_ranges
from rewriteguard.filters.tree import Branch, Node, leaves, read_tree
from rewriteguard.language.words import Word
from rewriteguard.model.tokens import Kind, ProtectedToken
from rewriteguard.reading.text import Reading
from rewriteguard.reading.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter carries.

    Attributes:
        tokens: The times, amounts and versions of the turn that it says.
        vocabulary: The words of its values.
        excluded: The words of the values that it excludes.
    """

    tokens: tuple[ProtectedToken, ...] = ()
    vocabulary: Vocabulary = Vocabulary(())  # noqa: RUF009 (immutable)
    excluded: Vocabulary = Vocabulary(())  # noqa: RUF009 (immutable)


NO_FILTER = Filtered()
"""A filter that carries nothing."""


def read_filter(structured: Any, read: Read, turn: Reading, facts: Facts) -> Filtered:
    """What a filter carries of the turn, as `Guard.check_filter` reads the filter.

    Only what must hold counts, and of alternatives only those of one field of which the turn says each.

    It is a mapping (`{"year": {"$gte": 2020}}`, `{"status": "approved"}`) or a structured query or comparison with
    `attribute`, `comparator`, `value` or with `operator` and `arguments`.

    Raises:
        InputError: It is something else, or too deep or too large.
    """
    nodes = list(_binding(piece.node for piece in read_tree(structured)))
    tokens: list[ProtectedToken] = []
    words: dict[bool, list[Word]] = {False: [], True: []}
    for claims in _claims(nodes, read):
        found = [covered(claim, turn, facts) for claim in claims]
        if all(each is not None for each in found):
            tokens += [token for each in found for token in each or ()]
            for claim in claims:
                words[claim.excluded] += claim.words
    return Filtered(tuple(tokens), Vocabulary(words[False]), Vocabulary(words[True]))


def is_excluded(words: Sequence[Word], turn: Reading, filtered: Filtered) -> bool:
    """True where a filter excludes what the turn negates: "without drafts" and {"status": {"$ne": "draft"}}."""
    negated = {t.value for t in turn.tokens if t.kind is Kind.NEGATION}
    return any(w.stem in negated for w in words) and all(map(filtered.excluded.supports, words))


def _claims(nodes: Sequence[Node], read: Read) -> list[list[Claim]]:
    """The claims of each part that can be compared."""
    groups: list[tuple[Node, list[Claim]]] = []
    for node in nodes:
        found = list(leaves(node))
        if len({leaf.attribute for leaf in found}) == 1 and not any(map(fault_of_form, found)):
            groups.append((node, [claim for leaf in found for claim in claims_of(leaf, read)]))
    return with_ranges(groups)


def _binding(nodes: Iterable[Node]) -> Iterator[Node]:
    """The parts that must hold, in order."""
    for node in nodes:
        if isinstance(node, Branch) and node.operator == "and":
            yield from _binding(node.parts)
        else:
            yield node
