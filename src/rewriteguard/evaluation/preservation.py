"""What queries make of a contract. The contract is the judge: no verdict of the guard counts here.

| clause | holds where |
|---|---|
| constraint | a form of it stands in a query as words, or a query has the tokens of its kind that a form of it has |
| must_preserve | the words stand in a query as they are written, letter case included |
| forbidden_assumption | no query has the words, unless an allowed expansion or the turn itself has them |

Tokens are those that `Guard.extract` finds; they are equal where value and relation are, and times also where the
contract's reference date makes them so. Several queries are judged by their union: one of them has to keep a clause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rewriteguard.evaluation.case import Case, Constraint, Contract
from rewriteguard.evaluation.wording import folded, spaced, stands, without
from rewriteguard.extract import same_for
from rewriteguard.extract.base import Facts, Match
from rewriteguard.tokens import Kind, ProtectedToken

Extract = Callable[[str], Sequence[ProtectedToken]]
"""Finds the protected tokens of a text, as `Guard.extract` does."""


class Fate(StrEnum):
    """What queries made of a clause."""

    KEPT = "kept"
    ALTERED = "altered"  # the same kind with another value came instead
    DROPPED = "dropped"
    ABSENT = "absent"  # of a forbidden assumption: as it should be
    ADDED = "added"  # of a forbidden assumption


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a contract, and what queries made of it.

    Attributes:
        clause: `constraint`, `must_preserve` or `forbidden_assumption`.
        kind: The kind of the constraint; None for the other clauses.
        asked: What the contract says.
        critical: Whether a query that breaks it asks something else; so with every clause that is no constraint.
        fate: What the queries made of it.
        instead: The words that came instead, or that were added; empty otherwise.
        query: Place of the query that keeps, alters or adds it, from 0; None where there is none.
    """

    clause: str
    kind: Kind | None
    asked: str
    critical: bool
    fate: Fate
    instead: str = ""
    query: int | None = None

    @property
    def held(self) -> bool:
        """Whether the queries do what the clause says."""
        return self.fate in (Fate.KEPT, Fate.ABSENT)


def clauses(case: Case, queries: Sequence[str], extract: Extract) -> tuple[Clause, ...]:
    """What the union of the queries makes of each clause of the case's contract; empty without contract or queries."""
    contract = case.contract
    if contract is None or not queries:
        return ()
    return (
        *(_constraint(constraint, case, contract, queries, extract) for constraint in contract.constraints),
        *(_must_preserve(words, queries) for words in contract.must_preserve),
        *(_assumption(words, case, contract, queries) for words in contract.forbidden_assumptions),
    )


def _constraint(asked: Constraint, case: Case, contract: Contract, queries: Sequence[str], extract: Extract) -> Clause:
    told = ("constraint", asked.kind, asked.text, asked.critical)
    for place, query in enumerate(queries):
        if any(stands(folded(form), folded(query)) for form in _forms(asked)):
            return Clause(*told, Fate.KEPT, query=place)
    facts = Facts(contract.reference_date)
    meant = list(_meanings(asked, case, extract))
    for place, query in enumerate(queries):
        found = _of_kind(asked.kind, query, extract)
        if any(all(any(_equal(ours, theirs, facts) for theirs in found) for ours in tokens) for tokens in meant):
            return Clause(*told, Fate.KEPT, query=place)
    for place, query in enumerate(queries):
        other = _other(asked.kind, query, case, contract, extract)
        if other is not None:
            return Clause(*told, Fate.ALTERED, other.text, place)
    return Clause(*told, Fate.DROPPED)


def _must_preserve(words: str, queries: Sequence[str]) -> Clause:
    place = next((at for at, query in enumerate(queries) if stands(spaced(words), spaced(query))), None)
    return Clause("must_preserve", None, words, True, Fate.DROPPED if place is None else Fate.KEPT, query=place)


def _assumption(words: str, case: Case, contract: Contract, queries: Sequence[str]) -> Clause:
    form = folded(words)
    if not stands(form, folded(case.original)):
        for place, query in enumerate(queries):
            text = folded(query)
            for allowed in contract.allowed_expansion:
                text = without(folded(allowed), text)
            if stands(form, text):
                return Clause("forbidden_assumption", None, words, True, Fate.ADDED, words, place)
    return Clause("forbidden_assumption", None, words, True, Fate.ABSENT)


def _forms(constraint: Constraint) -> tuple[str, ...]:
    return (constraint.text, *constraint.forms)


def _meanings(constraint: Constraint, case: Case, extract: Extract) -> Iterator[Sequence[ProtectedToken]]:
    """For each form its tokens of the kind: as they stand in the turn, where a negation has its scope, or by itself."""
    turn = _of_kind(constraint.kind, case.original, extract)
    for form in _forms(constraint):
        there = [token for token in turn if folded(token.text) == folded(form)]
        if there:
            yield from ([token] for token in there)
        elif alone := _of_kind(constraint.kind, form, extract):
            yield alone


def _other(kind: Kind, query: str, case: Case, contract: Contract, extract: Extract) -> ProtectedToken | None:
    """A token of the kind that no constraint, no allowed expansion and not the turn itself says.

    Another topic word is no sign that it came instead of one: a stand-alone query has many.
    """
    if kind is Kind.TOPIC:
        return None
    of_kind = [constraint for constraint in contract.constraints if constraint.kind is kind]
    said = [token for each in of_kind for tokens in _meanings(each, case, extract) for token in tokens]
    said += _of_kind(kind, case.original, extract)
    texts = [case.original, *contract.allowed_expansion, *(form for each in of_kind for form in _forms(each))]
    facts = Facts(contract.reference_date)
    for token in _of_kind(kind, query, extract):
        known = any(_equal(each, token, facts) for each in said)
        if not known and not any(stands(folded(token.text), folded(text)) for text in texts):
            return token
    return None


def _of_kind(kind: Kind, text: str, extract: Extract) -> list[ProtectedToken]:
    return [token for token in extract(text) if token.kind is kind]


def _equal(ours: ProtectedToken, theirs: ProtectedToken, facts: Facts) -> bool:
    if ours.value == theirs.value and ours.relation == theirs.relation:
        return True
    dated = ours.kind is Kind.TIME and facts.reference_date is not None
    return dated and same_for(Kind.TIME)(ours, theirs, facts) is Match.SAME
