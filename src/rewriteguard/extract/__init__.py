"""Text to protected tokens: one file a kind, and the pass that runs them in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from spacy.tokens import Doc

from rewriteguard.extract import (
    answer_type,
    comparison,
    entity,
    identifier,
    modality,
    negation,
    qualifier,
    quantifier,
    quantity,
    time,
    topic,
    version,
)
from rewriteguard.extract.base import Extractor, Same, same_value, text_of, unfolded
from rewriteguard.model.tokens import Kind, ProtectedToken

# In the order of their words' claims: where two tokens share words, the earlier kind's is kept.
_KINDS: Mapping[Kind, tuple[Extractor, Same]] = {
    Kind.IDENTIFIER: (identifier.extract, identifier.same),
    Kind.VERSION: (version.extract, version.same),
    Kind.TIME: (time.extract, time.same),
    Kind.QUANTITY: (quantity.extract, quantity.same),
    Kind.NEGATION: (negation.extract, negation.same),
    Kind.ANSWER_TYPE: (answer_type.extract, answer_type.same),
    Kind.COMPARISON: (comparison.extract, comparison.same),
    Kind.QUANTIFIER: (quantifier.extract, quantifier.same),
    Kind.MODALITY: (modality.extract, modality.same),
    Kind.QUALIFIER: (qualifier.extract, qualifier.same),
    Kind.ENTITY: (entity.extract, entity.same),
    Kind.TOPIC: (topic.extract, topic.same),
}
DEFAULT_EXTRACTORS: tuple[Extractor, ...] = tuple(extract for extract, _ in _KINDS.values())
"""The built-in extractors. Where two tokens share words, the earlier extractor's is kept."""


def same_for(kind: Kind) -> Same:
    """How two tokens of `kind` are compared."""
    return _KINDS[kind][1] if kind in _KINDS else same_value


def extract_tokens(doc: Doc, extractors: Sequence[Extractor] = DEFAULT_EXTRACTORS) -> tuple[ProtectedToken, ...]:
    """The protected tokens of `doc` in reading order; of two that share words the earlier extractor's is kept."""
    with unfolded(doc):
        return _extracted(doc, extractors)


def _extracted(doc: Doc, extractors: Sequence[Extractor]) -> tuple[ProtectedToken, ...]:
    taken = bytearray(len(text_of(doc)) + 1)
    kept: list[ProtectedToken] = []
    for extractor in extractors:
        for token in _in_order(extractor(doc)):
            if any(taken[token.start : token.end]):
                continue
            kept.append(token)
            # "Can I ...?" is a yes/no question and a modal at once.
            if token.kind is not Kind.ANSWER_TYPE:
                taken[token.start : token.end] = b"\x01" * (token.end - token.start)
    return tuple(_in_order(kept))


def _in_order(tokens: Iterable[ProtectedToken]) -> list[ProtectedToken]:
    return sorted(tokens, key=lambda token: (token.start, -token.end, token.kind))


def warm_up() -> None:
    """Loads what the kinds load on first use."""
    time.warm_up()
    quantity.warm_up()
