"""Contracts for annotators to correct: what the guard itself finds in the turn and in a person's rewrite of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rewriteguard.check.rules.table import RULES
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.model.assessment import Fault, Severity

if TYPE_CHECKING:
    from rewriteguard.guard.guard import Guard
    from rewriteguard.model.assessment import Assessment
    from rewriteguard.model.tokens import ProtectedToken


def draft(case: Case, guard: Guard) -> Case:
    """The case with a contract to correct; unchanged where it has one.

    The constraints are the words of the turn that the guard protects, and, where a person rewrote the turn, the words
    that this rewrite took from the conversation. A kind is critical where the guard calls its loss critical. Unresolved
    are the words for which that rewrite chose one of several readings; where nobody rewrote the turn, those that point
    outside it. The rewrites of a rewriter are never looked at.

    Raises:
        HistoryError: The history of the case has a role that nobody knows.
    """
    if case.contract is not None:
        return case
    asked = guard.check(case.original, case.original, case.history, reference_date=case.reference_date)
    told = asked
    if case.human is not None:
        told = guard.check(case.original, case.human, case.history, reference_date=case.reference_date)
    contract = Contract(
        constraints=tuple(_constraints((*asked.checked.tokens, *told.comparison.carried))),
        unresolved=_unresolved(told),
        readings=told.candidates,
        reference_date=case.reference_date,
    )
    return replace(case, contract=contract)


def _constraints(tokens: Iterable[ProtectedToken]) -> Iterator[Constraint]:
    seen = set()
    for token in tokens:
        key = token.kind, token.text.casefold()
        if key not in seen:
            seen.add(key)
            critical = RULES[f"{Fault.DROPPED}.{token.kind}"].severity is Severity.CRITICAL
            yield Constraint(token.kind, token.text, critical)


def _unresolved(found: Assessment) -> str:
    """The first words with several readings, else the first that are open where the turn is its own rewrite."""
    fault = Fault.AMBIGUOUS if found.candidates or found.rewrite != found.turn else Fault.UNRESOLVED
    for violation in found.violations:
        if violation.fault is fault:
            return violation.evidence[0].text
    return ""
