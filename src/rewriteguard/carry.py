"""The carried query: the turn and the most salient terms of the history, without a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CarriedQuery:
    """The turn with history terms behind it.

    Attributes:
        text: The query: the turn, a space, the terms. Equal to the turn where there are no terms.
        terms: The history terms, most salient first.
    """

    text: str
    terms: tuple[str, ...]
