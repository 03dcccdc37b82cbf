"""How far two annotators agree about the contracts of the same cases, by kind of constraint, and where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.draft import draft
from rewriteguard.evaluation.errors import CaseError
from rewriteguard.evaluation.figure import Figure
from rewriteguard.model.tokens import Kind
from rewriteguard.telemetry.calibration import interval_of, kappa_of

if TYPE_CHECKING:
    from rewriteguard.guard.guard import Guard


_WORDS = ("must_preserve", "allowed_expansion", "forbidden_assumptions", "readings")
_NAMES = ("relevant", "near_misses", "forbidden", "unauthorised", "slices")  # every character of them counts
_VALUES = ("answer", "conversation", "turn", "family", "asked")
ALL = "all"
_Key = tuple[Kind, str]


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


@dataclass(slots=True)
class Choices:
    """Units to which both annotators said yes or no, counted by what each said.

    Attributes:
        both: Both said yes.
        first: The first alone did.
        second: The second alone did.
        neither: Both said no.
    """

    both: int = 0
    first: int = 0
    second: int = 0
    neither: int = 0

    def add(self, first: bool, second: bool) -> None:
        """Counts one unit."""
        name = "both" if first and second else "first" if first else "second" if second else "neither"
        setattr(self, name, getattr(self, name) + 1)

    @property
    def n(self) -> int:
        """The number of units."""
        return self.both + self.first + self.second + self.neither

    @property
    def agreement(self) -> Figure:
        """The share of the units about which both said the same."""
        same = self.both + self.neither
        return Figure(same / self.n if self.n else None, self.n, count=same)

    @property
    def kappa(self) -> Figure:
        """Cohen's kappa, with its 95 % interval for large samples; None where both gave one and the same throughout."""
        table = ((self.both, self.first), (self.second, self.neither))
        low, high = interval_of(table) or (None, None)
        return Figure(kappa_of(table), self.n, low, high)

    def to_dict(self) -> dict[str, Any]:
        """Counts and figures as plain JSON values."""
        counts = {name: getattr(self, name) for name in ("both", "first", "second", "neither")}
        return {**counts, "agreement": self.agreement.to_dict(), "kappa": self.kappa.to_dict()}


@dataclass(frozen=True, slots=True)
class Agreement:
    """What two annotators said about the contracts of the same cases.

    Attributes:
        presence: By kind and for `all` of them: whether a candidate is a constraint. A unit is one candidate of one
            case: a kind and words, whatever their case and spacing, that the guard drafts for the case or that an
            annotator wrote. Both say no to what they took out of the draft. `after 2021` and `2021` are two units.
        criticality: Likewise, whether a constraint is critical. A unit is a constraint of one case that both hold.
        unresolved: Whether words of the turn have several readings. A unit is a case.
        disagreements: All of them, in the order of the cases; those about its documents and other fields too.
    """

    presence: dict[str, Choices] = field(default_factory=dict)
    criticality: dict[str, Choices] = field(default_factory=dict)
    unresolved: Choices = field(default_factory=Choices)
    disagreements: list[Disagreement] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Counts, figures and disagreements as plain JSON values."""
        return {
            "presence": {kind: choices.to_dict() for kind, choices in self.presence.items()},
            "criticality": {kind: choices.to_dict() for kind, choices in self.criticality.items()},
            "unresolved": self.unresolved.to_dict(),
            "disagreements": [each.to_dict() for each in self.disagreements],
        }


def agreement(first: Sequence[Case], second: Sequence[Case], guard: Guard) -> Agreement:
    """How far two annotators agree about the contracts of the same cases.

    Args:
        first: The cases with the contracts of one annotator.
        second: The same cases with those of the other, in any order.
        guard: Drafts the candidates, as it did for the annotators.

    Raises:
        CaseError: They are not the same cases, one has no contract, or a contract has one constraint twice.
    """
    found = Agreement()
    for one, other in _pairs(first, second):
        drafted = draft(replace(one, contract=None), guard).contract
        said = _contract(one, "first"), _contract(other, "second")
        _compare(found, one.id, said, drafted or Contract())
        found.disagreements.extend(of_cases(one, other))
    kinds = [kind.value for kind in Kind if kind.value in found.presence]
    ordered = [ALL, *kinds] if kinds else []
    return replace(
        found,
        presence={name: found.presence[name] for name in ordered},
        criticality={name: found.criticality[name] for name in ordered if name in found.criticality},
    )


def _compare(found: Agreement, case: str, said: tuple[Contract, Contract], drafted: Contract) -> None:
    left, right = (_by_key(case, contract.constraints) for contract in said)
    candidates = dict.fromkeys([*map(_key, drafted.constraints), *left, *right])
    for key in candidates:
        one, other = left.get(key), right.get(key)
        _count(found.presence, key[0], one is not None, other is not None)
        if one and other:
            _count(found.criticality, key[0], one.critical, other.critical)
        found.disagreements.extend(of_constraints(case, one, other))
    found.unresolved.add(*(bool(contract.unresolved) for contract in said))
    found.disagreements.extend(of_contracts(case, *said))


def _count(counted: dict[str, Choices], kind: Kind, first: bool, second: bool) -> None:
    for name in (ALL, kind.value):
        counted.setdefault(name, Choices()).add(first, second)


def _pairs(first: Sequence[Case], second: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    for case_id, times in (Counter(case.id for case in first) | Counter(case.id for case in second)).items():
        if times > 1:
            raise CaseError(f"id: {case_id!r} is the id of two cases of one annotator")
    others = {case.id: case for case in second}
    ids = {case.id for case in first}
    alone = [case.id for case in first if case.id not in others] + [id_ for id_ in others if id_ not in ids]
    if alone:
        raise CaseError(f"expected the same cases of both annotators; of one alone: {', '.join(alone)}")
    for case in first:
        other = others[case.id]
        for name in ("original", "history", "human"):
            if getattr(case, name) != getattr(other, name):
                raise CaseError(f"case {case.id}: {name}: expected the same of both annotators")
        yield case, other


def _contract(case: Case, whose: str) -> Contract:
    if case.contract is None:
        raise CaseError(f"case {case.id}: contract: missing in the cases of the {whose} annotator")
    return case.contract


def _by_key(case: str, constraints: Iterable[Constraint]) -> dict[_Key, Constraint]:
    found: dict[_Key, Constraint] = {}
    for place, each in enumerate(constraints):
        if _key(each) in found:
            raise CaseError(
                f"case {case}: contract.constraints[{place}]: {each.kind.value} {each.text!r} stands there twice"
            )
        found[_key(each)] = each
    return found


def _key(constraint: Constraint) -> _Key:
    return constraint.kind, folded(constraint.text)
