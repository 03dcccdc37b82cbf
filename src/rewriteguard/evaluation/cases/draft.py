"""Contracts for annotators to correct, and the hash that fixes what they decided before any rewrite is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rewriteguard.audit.log import LineError, read_object
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.rows import row_of
from rewriteguard.evaluation.errors import CaseError, ConditionsError
from rewriteguard.model.rules import Fault, Rule, Severity

if TYPE_CHECKING:
    import os

    from rewriteguard.guard.guard import Guard
    from rewriteguard.model.assessment import Assessment
    from rewriteguard.model.tokens import ProtectedToken


_FORMAT = 1  # of the lock file, and of the text that is hashed
_NAMED = 20  # ids in a message


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
            critical = Rule.of(Fault.DROPPED, token.kind).severity is Severity.CRITICAL
            yield Constraint(token.kind, token.text, critical)


def _unresolved(found: Assessment) -> str:
    """The first words with several readings, else the first that are open where the turn is its own rewrite."""
    fault = Fault.AMBIGUOUS if found.candidates or found.rewrite != found.turn else Fault.UNRESOLVED
    for violation in found.violations:
        if violation.fault is fault:
            return violation.evidence[0].text
    return ""


@dataclass(frozen=True, slots=True)
class Lock:
    """Cases as they were when they were frozen.

    Attributes:
        hashes: The SHA-256 of each case by its id, in the order of the ids.
    """

    hashes: dict[str, str]

    @classmethod
    def of(cls, cases: Iterable[Case]) -> Self:
        """The lock of the cases, whatever their order.

        Raises:
            CaseError: Two cases have one id, so that one of them would hide the other.
        """
        hashes: dict[str, str] = {}
        for case in cases:
            if case.id in hashes:
                raise CaseError(f"id: {case.id!r} is the id of two cases")
            hashes[case.id] = _hash_of(case)
        return cls(dict(sorted(hashes.items())))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The lock in a file.

        Raises:
            ConditionsError: The file holds none, or one that was edited.
            OSError: The file cannot be read.
        """
        try:
            held = read_object(Path(path).read_bytes())
            lock = cls({str(name): str(value) for name, value in held["cases"].items()})
        except (LineError, KeyError, AttributeError):
            raise ConditionsError(f"{path}: expected what `rewriteguard cases freeze` wrote") from None
        if (held.get("format"), held.get("hash")) != (_FORMAT, lock.hash):
            raise ConditionsError(f"{path}: it was edited, or written by another version; freeze the cases again")
        return lock

    @property
    def hash(self) -> str:
        """One hash over all cases."""
        return _digest([_FORMAT, self.hashes])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the lock, as JSON."""
        held = {"format": _FORMAT, "hash": self.hash, "cases": self.hashes}
        Path(path).write_text(json.dumps(held, indent=1) + "\n", "utf-8")


def freeze(cases: Iterable[Case]) -> str:
    """One hash over all that was decided about the cases, the same in every order.

    Recorded rewrites are left out, so that they may come later; everything else counts: texts, contracts, the
    documents that answer, families and slices.

    Raises:
        CaseError: Two cases have one id.
    """
    return Lock.of(cases).hash


def check_frozen(cases: Iterable[Case], lock: Lock | str | os.PathLike[str]) -> None:
    """Nothing where the cases are those that were frozen.

    Args:
        cases: The cases of the run, all of them.
        lock: The lock, or its file.

    Raises:
        ConditionsError: A case was changed, added or left out; the message names the ids.
        CaseError: Two cases have one id.
        OSError: The file cannot be read.
    """
    frozen = (lock if isinstance(lock, Lock) else Lock.read(lock)).hashes
    now = Lock.of(cases).hashes
    found = {
        "changed": [name for name in now if name in frozen and now[name] != frozen[name]],
        "added": [name for name in now if name not in frozen],
        "left out": [name for name in frozen if name not in now],
    }
    if any(found.values()):
        where = "" if isinstance(lock, Lock) else f"{lock}: "
        told = "; ".join(f"{what}: {_listed(names)}" for what, names in found.items() if names)
        raise ConditionsError(f"{where}the cases are not those that were frozen; {told}")


def _hash_of(case: Case) -> str:
    return _digest({name: value for name, value in row_of(case).items() if name != "rewrites"})


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))  # ASCII, so that half a surrogate pair has a form
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
