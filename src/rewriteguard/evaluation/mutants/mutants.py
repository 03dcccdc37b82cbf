"""Minimal edits of a stand-alone question: mutants, which other evidence answers, and controls, which the same does.

They are made without any knowledge of how the guard reads a text: the word lists are their own, and no module of the
guard is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rewriteguard.errors import InputError
from rewriteguard.evaluation.mutants import names, seeds
from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, Question
from rewriteguard.evaluation.mutants.question import is_vague, read
from rewriteguard.evaluation.mutants.questions import answer_edits, question_edits
from rewriteguard.evaluation.mutants.same_meaning import acronyms, fillers, formats, orders, synonyms
from rewriteguard.evaluation.mutants.small_words import (
    comparison_edits,
    modal_edits,
    negation_edits,
    qualifier_edits,
    quantifier_edits,
)
from rewriteguard.evaluation.mutants.values import code_edits, date_edits, number_edits

__all__ = ["Edit", "Mutant", "MutantKind", "controls_of", "mutants_of"]

_VALUES = (date_edits, number_edits, names.edits, code_edits)
_SMALL_WORDS = (negation_edits, comparison_edits, quantifier_edits, modal_edits)
_EDITS = (*_VALUES, *_SMALL_WORDS, answer_edits, qualifier_edits, question_edits, seeds.edits)
_CONTROLS = (formats, acronyms, synonyms, fillers, orders, seeds.controls, seeds.fronted)


def mutants_of(text: str, *, context: str = "", seed: int = 0) -> tuple[Mutant, ...]:
    """The edits of a question that change what evidence answers it, by kind and in the order of the text.

    A question that asks for anything at all, or that holds nothing to edit, has none. The same arguments always give
    the same mutants.

    Args:
        text: A question that can be understood alone.
        context: The conversation before it. An invented value never stands in it; besides, some alterations take
            another value of the same type from it.
        seed: Chooses between equally good values.

    Raises:
        InputError: `text` or `context` is no string.
    """
    question = _read(text, context, seed)
    return () if is_vague(text) else _made(_EDITS, question)


def controls_of(text: str, *, context: str = "", seed: int = 0) -> tuple[Mutant, ...]:
    """The edits of a question that keep its meaning, by kind and in the order of the text; all have `Edit.KEEP`.

    Args:
        text: A question that can be understood alone.
        context: The conversation before it; "Full Name (FN)" in it makes an acronym known.
        seed: Chooses between equally good forms.

    Raises:
        InputError: `text` or `context` is no string.
    """
    return _made(_CONTROLS, _read(text, context, seed))


def _read(text: str, context: str, seed: int) -> Question:
    for name, value in (("text", text), ("context", context)):
        if not isinstance(value, str):
            raise InputError(f"{name}: expected a string, got {type(value).__name__}")
    return read(text, context, seed)


def _made(edits: Iterable[Callable[[Question], Iterator[Mutant]]], question: Question) -> tuple[Mutant, ...]:
    made = (mutant for each in edits for mutant in each(question))
    return tuple(dict.fromkeys(mutant for mutant in made if mutant.text != mutant.base))
