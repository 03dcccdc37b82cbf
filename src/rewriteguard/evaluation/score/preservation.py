"""What queries make of a contract. The contract is the judge: no verdict of the guard counts here.

| clause | holds where |
|---|---|
| constraint | a query says what it means in the conversation, as words or as tokens; see `keeping` |
| must_preserve | the words stand in a query as they are written, letter case included |
| forbidden_assumption | no query has the words, unless an allowed expansion or the turn itself has them |

Tokens are those that `Guard.extract` finds. They are equal where the guard takes them for the same: a relative period
and its dates by the contract's reference date. Several queries are judged by their union: one of them has to keep a
clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.score.contract import Extract, equal, keeps, meaning_of, of_kind
from rewriteguard.evaluation.score.wording import folded, spaced, stands, without
from rewriteguard.extract.base import Facts
from rewriteguard.model.tokens import Kind, ProtectedToken


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
    """What the union of the queries makes of each clause of the case's contract; no query keeps nothing."""
    contract = case.contract
    if contract is None:
        return ()
    return (
        *(_constraint(constraint, case, contract, queries, extract) for constraint in contract.constraints),
        *(_must_preserve(words, queries) for words in contract.must_preserve),
        *(_assumption(words, case, contract, queries) for words in contract.forbidden_assumptions),
    )


def _constraint(asked: Constraint, case: Case, contract: Contract, queries: Sequence[str], extract: Extract) -> Clause:
    told = ("constraint", asked.kind, asked.text, asked.critical)
    facts = Facts(contract.reference_date)
    meaning = meaning_of(asked, case, facts, extract)
    for place, query in enumerate(queries):
        if keeps(meaning, query, extract):
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


def _other(kind: Kind, query: str, case: Case, contract: Contract, extract: Extract) -> ProtectedToken | None:
    """A token of the kind that no constraint, no allowed expansion and not the turn itself says.

    Another topic word is no sign that it came instead of one: a stand-alone query has many.
    """
    if kind is Kind.TOPIC:
        return None
    facts = Facts(contract.reference_date)
    alike = [constraint for constraint in contract.constraints if constraint.kind is kind]
    said = [token for each in alike for token in meaning_of(each, case, facts, extract).tokens]
    said += of_kind(kind, case.original, extract)
    texts = [*contract.allowed_expansion, *(form for each in alike for form in (each.text, *each.forms))]
    for token in of_kind(kind, query, extract):
        known = any(equal(each, token, facts) for each in said)
        if not known and not any(stands(folded(token.text), folded(text)) for text in (case.original, *texts)):
            return token
    return None
