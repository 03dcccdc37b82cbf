"""Tells the class of each case, by the same predicates and the same reading of the turn as a policy does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.evaluation.score.results import Group
from rewriteguard.guard.guard import Guard
from rewriteguard.policy.classes import REST, first_class


def class_of(case: Case, rules: Rules, guard: Guard) -> str:
    """The name of the class of the rules that a case belongs to; `everything else` where it belongs to none.

    The guard has to be the one that production uses: its extractors and its history window decide too.
    """
    found = first_class(rules.classes, guard.traits(case.original, case.history))
    return REST if found is None else found.name


def groups_of(cases: Iterable[Case], rules: Rules, guard: Guard) -> tuple[Group, ...]:
    """The classes in the order of the rules, then the requests of no class, then the slices by name.

    A class without a case is there too, with no cases.
    """
    known = tuple(cases)
    classes = {each.id: class_of(each, rules, guard) for each in known}
    names = [each.name for each in rules.classes] + [REST]
    grouped = [_group(name, [each for each in known if classes[each.id] == name], enforced=True) for name in names]
    slices = sorted({name for each in known for name in each.slices})
    return (
        *grouped,
        *(_group(name, [each for each in known if name in each.slices], enforced=False) for name in slices),
    )


def _group(name: str, cases: Sequence[Case], *, enforced: bool) -> Group:
    return Group(name, tuple(each.id for each in cases), enforced)
