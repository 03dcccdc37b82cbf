"""Where two annotators of the same case said different things, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.model.tokens import Kind

_WORDS = ("must_preserve", "allowed_expansion", "forbidden_assumptions", "readings")
_NAMES = ("relevant", "near_misses", "forbidden", "unauthorised", "slices")  # every character of them counts
_VALUES = ("answer", "conversation", "turn", "family", "asked")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One thing about which the annotators said different things.

    Attributes:
        case: The id of the case.
        field: The field of the contract or the case; where both hold a constraint, `critical` if one calls it so, and
            `forms` if one gives another wording of it.
        kind: The kind of the constraint; None in other fields.
        text: What it is about: words, an id, or the words of a constraint and the other wording; empty where the field
            holds one value.
        first: What the first annotator said: whether it is there or critical, or the value, empty for none.
        second: What the second said.
    """

    case: str
    field: str
    kind: Kind | None
    text: str
    first: bool | str
    second: bool | str

    def to_dict(self) -> dict[str, Any]:
        """The disagreement as plain JSON values."""
        return {name: getattr(self, name) for name in ("case", "field", "kind", "text", "first", "second")}


def of_constraints(case: str, one: Constraint | None, other: Constraint | None) -> Iterator[Disagreement]:
    """What differs in one constraint, which both hold, or one alone."""
    if one is None or other is None:
        held = one or other
        if held is not None:
            yield Disagreement(case, "constraints", held.kind, held.text, one is not None, other is not None)
        return
    if one.critical != other.critical:
        yield Disagreement(case, "critical", one.kind, one.text, one.critical, other.critical)
    for text, *said in _alone(one.forms, other.forms, fold=True):
        yield Disagreement(case, "forms", one.kind, f"{one.text}: {text}", *said)


def of_contracts(case: str, one: Contract, other: Contract) -> Iterator[Disagreement]:
    """What differs in the fields of a contract beside its constraints."""
    if folded(one.unresolved) != folded(other.unresolved):
        yield Disagreement(case, "unresolved", None, "", one.unresolved, other.unresolved)
    yield from _lists(case, _WORDS, one, other, fold=True)
    yield from _values(case, ("reference_date",), one, other)


def of_cases(one: Case, other: Case) -> Iterator[Disagreement]:
    """What differs in the fields of a case beside its texts and contract; recorded rewrites are no annotation."""
    yield from _lists(one.id, _NAMES, one, other, fold=False)
    facts = ([f"{name}: {fact}" for name, fact in case.context] for case in (one, other))
    for text, *said in _alone(*facts, fold=False):
        yield Disagreement(one.id, "context", None, text, *said)
    yield from _values(one.id, _VALUES, one, other)


def folded(text: str) -> str:
    """The text without the differences that do not count: case and spacing."""
    return " ".join(text.split()).casefold()


def _lists(case: str, names: Iterable[str], one: object, other: object, *, fold: bool) -> Iterator[Disagreement]:
    for name in names:
        for text, *said in _alone(getattr(one, name), getattr(other, name), fold=fold):
            yield Disagreement(case, name, None, text, *said)


def _alone(one: Iterable[str], other: Iterable[str], *, fold: bool) -> Iterator[tuple[str, bool, bool]]:
    """The texts of one list alone, and whether they stand in each."""
    left, right = ({folded(text) if fold else text: text for text in texts} for texts in (one, other))
    for key, text in (left | right).items():
        if (key in left) != (key in right):
            yield text, key in left, key in right


def _values(case: str, names: Iterable[str], one: object, other: object) -> Iterator[Disagreement]:
    for name in names:
        first, second = ("" if value is None else str(value) for value in (getattr(one, name), getattr(other, name)))
        if folded(first) != folded(second):
            yield Disagreement(case, name, None, "", first, second)
