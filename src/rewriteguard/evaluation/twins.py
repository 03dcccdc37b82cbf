"""Paired fixtures: a rewrite with one decisive word turned round, beside one that differs and means the same.

A guard that rejects all, and one that passes all, fail every pair. The edits are those of `mutants`, made without any
knowledge of how the guard reads a text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from rewriteguard.evaluation.cases.case import Case, Contract
from rewriteguard.evaluation.figure import Figure
from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind, holds
from rewriteguard.evaluation.mutants.mutants import controls_of, mutants_of
from rewriteguard.evaluation.mutants.question import WORDS, pointers
from rewriteguard.model.rules import Verdict

if TYPE_CHECKING:
    from rewriteguard.guard.guard import Guard

UNCHANGED = "unchanged"
EXPANSION = "expansion"
REFERENT = "referent"
UNRESOLVED = "unresolved"
_NAMED = {MutantKind.DATE: "date", MutantKind.NAME: "name", MutantKind.COMPARISON: "direction"}
_AGGREGATION, _STATUS = frozenset(WORDS["twins"]["aggregation"]), frozenset(WORDS["twins"]["status"])
_DECISIVE = ("date", "name", "direction", "status", "aggregation", REFERENT, UNRESOLVED, EXPANSION)
_SPELT = (MutantKind.ACRONYM, MutantKind.SYNONYM, MutantKind.UNIT_FORMAT, MutantKind.DATE_FORMAT)


@dataclass(frozen=True, slots=True)
class Variant:
    """A rewrite of a question, and what a guard has to make of it.

    Attributes:
        rewrite: The rewrite.
        edit: What was done to the stand-alone question: `drop`, `alter`, `invent`; or the kind of a harmless edit.
        must_pass: True where the guard may not call it CHANGED, False where it may not call it PRESERVED.
    """

    rewrite: str
    edit: str
    must_pass: bool


@dataclass(frozen=True, slots=True)
class Family:
    """A twin and its control, which pass only together.

    Attributes:
        id: Unique among the families of a set of cases.
        case: The id of the case.
        kind: What the twin turns round: `date`, `name` (organisations among them), `direction`, `status`,
            `aggregation`, `referent` (another name than the one that the turn means), `unresolved` (the turn as it is),
            `expansion` (an addition that narrows), or kind and edit of another mutant, such as `negation.drop`.
        turn: What the user asked.
        twin: The variant that a guard must reject.
        control: The variant that it must pass.
        history: The messages before the turn.
        reference_date: The day that "today" means.
        planted: True where the decisive words were added to the question for the sake of the pair.
    """

    id: str
    case: str
    kind: str
    turn: str
    twin: Variant
    control: Variant
    history: tuple[tuple[str, str], ...] = ()
    reference_date: date | None = None
    planted: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """What a guard made of a family."""

    family: Family
    twin: Verdict
    control: Verdict

    @property
    def passed(self) -> bool:
        """True where the twin was not taken for PRESERVED, and the control not for CHANGED."""
        return self.twin is not Verdict.PRESERVED and self.control is not Verdict.CHANGED

    def to_dict(self) -> dict[str, Any]:
        """The family and the verdicts as plain JSON values."""
        family = asdict(self.family)
        for name in ("history", "reference_date"):  # they stand in the case
            del family[name]
        return {**family, "verdicts": {"twin": self.twin, "control": self.control}, "passed": self.passed}


def twins_of(case: Case, *, seed: int = 0) -> tuple[Family, ...]:
    """The families of a case, in the order of their kinds; none where nobody rewrote the turn.

    The turn is the user's own where it holds the words that are turned round, or where they were to be taken from the
    conversation; else the stand-alone question stands for it, as it does where words were planted. They are planted
    for dates, names, directions, states and aggregations where the question has none to turn round.

    Args:
        case: A case with a person's stand-alone rewrite.
        seed: Chooses between equally good values.
    """
    if case.human is None:
        return ()
    context = "\n".join(said for _, said in case.history)
    made = mutants_of(case.human, context=context, seed=seed)
    kept = controls_of(case.human, context=context, seed=seed)
    found = [*_written(case, made, kept), *_unresolved(case, case.human), *_expanded(case, case.human, made, kept)]
    missing = [kind for kind in _DECISIVE if kind not in {pair[0] for pair in found}]
    found += _planted(missing, made, context, seed)
    found.sort(key=lambda pair: _place(pair[0]))
    number: dict[str, int] = defaultdict(int)
    families = []
    for kind, turn, twin, control, planted in found:
        number[kind] += 1
        name = f"{case.id}/{kind}/{number[kind]}"
        families.append(
            Family(name, case.id, kind, turn, twin, control, case.history, case.reference_date, planted=planted)
        )
    return tuple(families)


def judge_pair(guard: Guard, family: Family) -> Judged:
    """What the guard makes of both variants of a family."""

    def verdict(variant: Variant) -> Verdict:
        return guard.check(family.turn, variant.rewrite, family.history, reference_date=family.reference_date).verdict

    return Judged(family, verdict(family.twin), verdict(family.control))


def judge_pairs(guard: Guard, families: Iterable[Family]) -> dict[str, Figure]:
    """By kind: the share of the pairs that passed as a unit."""
    return shares(judge_pair(guard, family) for family in families)


def shares(judged: Iterable[Judged]) -> dict[str, Figure]:
    """By kind: the share of the pairs that passed as a unit; the decisive kinds first."""
    passed: dict[str, list[bool]] = defaultdict(list)
    for each in judged:
        passed[each.family.kind].append(each.passed)
    return {
        kind: Figure(sum(passed[kind]) / len(passed[kind]), len(passed[kind]), count=sum(passed[kind]))
        for kind in sorted(passed, key=_place)
    }


_Pair = tuple[str, str, Variant, Variant, bool]  # kind, turn, twin, control, planted


def _written(case: Case, made: Sequence[Mutant], kept: Sequence[Mutant]) -> Iterator[_Pair]:
    """The mutants of the question as a person wrote it."""
    written = [mutant for mutant in made if not mutant.seeded]
    for place, mutant in enumerate(written):
        kind, turn, words = _kind(mutant), mutant.base, mutant.before.strip(" ,.?")
        if not words or holds(case.original, words):
            turn = case.original
        elif kind == "name" and case.history:
            kind, turn = REFERENT, case.original
        yield kind, turn, _twin(mutant), _control(mutant.base, kept, place), False


def _planted(kinds: Sequence[str], made: Sequence[Mutant], context: str, seed: int) -> Iterator[_Pair]:
    """For each of the kinds one mutant of words that were added to the question."""
    for place, kind in enumerate(kinds):
        for mutant in made:
            if mutant.seeded and mutant.edit is Edit.ALTER and _kind(mutant) == kind:
                kept = controls_of(mutant.base, context=context, seed=seed)
                yield kind, mutant.base, _twin(mutant), _control(mutant.base, kept, place), True
                break


def _unresolved(case: Case, human: str) -> Iterator[_Pair]:
    """The turn itself in place of a rewrite, where a person put other words for those that point to the history."""
    if case.history and pointers(case.original) - pointers(human):
        twin = Variant(case.original, Edit.DROP.value, must_pass=False)
        yield UNRESOLVED, case.original, twin, Variant(human, UNCHANGED, must_pass=True), False


def _expanded(case: Case, human: str, made: Sequence[Mutant], kept: Sequence[Mutant]) -> Iterator[_Pair]:
    """Each addition that narrows nothing, beside one that does."""
    contract = case.contract or Contract()
    narrowed = [f"{human} {words}" for words in contract.forbidden_assumptions]
    narrowed += [mutant.text for mutant in made if mutant.edit is Edit.INVENT and _narrows(mutant, human)]
    allowed = [f"{human} {words}" for words in contract.allowed_expansion]
    allowed += [_beside(control) for control in kept if _is_another_form(control)]
    for place, text in enumerate(allowed or [human + WORDS["twins"]["expansion"]]):
        if narrowed:
            twin = Variant(narrowed[place % len(narrowed)], Edit.INVENT.value, must_pass=False)
            yield EXPANSION, case.original, twin, Variant(text, EXPANSION, must_pass=True), False


def _narrows(mutant: Mutant, human: str) -> bool:
    return mutant.base == human and mutant.kind is not MutantKind.QUESTION


def _is_another_form(control: Mutant) -> bool:
    """Whether whole words stand in another form."""
    whole = control.before == control.before.strip() and control.after == control.after.strip()
    return whole and control.kind in _SPELT and not control.seeded and "'" not in control.before + control.after


def _control(question: str, kept: Sequence[Mutant], place: int) -> Variant:
    """The question itself or a form of it that means the same, each in its turn."""
    variants = [Variant(control.text, control.kind.value, must_pass=True) for control in kept if not control.seeded]
    variants.insert(0, Variant(question, UNCHANGED, must_pass=True))
    return variants[place % len(variants)]


def _twin(mutant: Mutant) -> Variant:
    return Variant(mutant.text, mutant.edit.value, must_pass=False)


def _kind(mutant: Mutant) -> str:
    if mutant.edit is Edit.ALTER:
        if mutant.kind in _NAMED:
            return _NAMED[mutant.kind]
        if mutant.kind is MutantKind.QUALIFIER and mutant.trigger in _AGGREGATION:
            return "aggregation"
        if mutant.kind is MutantKind.QUALIFIER and mutant.trigger in _STATUS:
            return "status"
    return f"{mutant.kind}.{mutant.edit}"


def _beside(control: Mutant) -> str:
    """The question with the other form of the words in brackets behind them."""
    return f"{control.base[: control.end]} ({control.after}){control.base[control.end :]}"


def _place(kind: str) -> tuple[int, str]:
    return (_DECISIVE.index(kind) if kind in _DECISIVE else len(_DECISIVE)), kind
