"""A case: one turn of a conversation, what its rewrite must keep, and which documents answer it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from rewriteguard.model.tokens import Kind


@dataclass(frozen=True, slots=True)
class Constraint:
    """Something that a query for the turn has to say.

    Attributes:
        kind: What kind of thing it is.
        text: How the conversation says it.
        critical: Whether a query without it asks something else; otherwise it asks somewhat wider.
        forms: Other wordings that say the same.
    """

    kind: Kind
    text: str
    critical: bool = True
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """What people agreed that a rewrite of the turn must and must not do; written before any rewrite was read.

    Attributes:
        constraints: What a query has to say.
        must_preserve: Words that have to stand in a query as they are.
        allowed_expansion: Words that a query may add.
        forbidden_assumptions: Words that a query may not add.
        unresolved: The words of the turn that have several readings; empty where it has one.
        readings: Those readings, all of them admissible: the system should ask which is meant.
        reference_date: The day that "today" means.
    """

    constraints: tuple[Constraint, ...] = ()
    must_preserve: tuple[str, ...] = ()
    allowed_expansion: tuple[str, ...] = ()
    forbidden_assumptions: tuple[str, ...] = ()
    unresolved: str = ""
    readings: tuple[str, ...] = ()
    reference_date: date | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One request of the evaluation.

    Attributes:
        id: Unique among the cases.
        original: The user's turn as written.
        history: The messages before it, as (role, text), oldest first.
        context: Trusted facts about the request that no text holds, such as the user's plan; given to the search where
            its scope reads them.
        contract: What a rewrite must keep; None where nobody wrote one.
        human: A person's stand-alone rewrite; None where there is none.
        rewrites: Recorded rewrites by the label of their rewriter; several queries of one turn are several texts.
        relevant: Ids of the documents that answer the turn; empty where nobody judged.
        near_misses: Ids of documents that answer a neighbouring question: another year, another product.
        forbidden: Ids that must not come back, since they would answer wrongly.
        unauthorised: Ids that this user may not see.
        answer: What a supported answer says; None where nobody wrote it.
        conversation: Names the conversation; cases of one conversation are not independent.
        turn: Its number among the user's turns, from 1; None where unknown.
        family: Names the cases that differ in one qualifier and pass only together; empty for none.
        slices: Names that annotators gave to what the case is about.
        asked: The day on which it was asked; None where unknown.
    """

    id: str
    original: str
    history: tuple[tuple[str, str], ...] = ()
    context: tuple[tuple[str, str], ...] = ()
    contract: Contract | None = None
    human: str | None = None
    rewrites: dict[str, tuple[str, ...]] = field(default_factory=dict)
    relevant: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    unauthorised: tuple[str, ...] = ()
    answer: str | None = None
    conversation: str = ""
    turn: int | None = None
    family: str = ""
    slices: tuple[str, ...] = ()
    asked: date | None = None

    @property
    def reference_date(self) -> date | None:
        """The day that "today" means: the contract's, else the day on which it was asked."""
        return (self.contract and self.contract.reference_date) or self.asked
