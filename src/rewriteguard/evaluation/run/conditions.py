"""The conditions of a run: everything that may change its outcomes. Only runs under equal conditions compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.errors import ConditionsError
from rewriteguard.evaluation.run.fingerprint import described, digest

_SHOWN = 80  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run was made with; digests where the thing itself would be long.

    Attributes:
        cases: Digest of all cases, their labels among it.
        contracts: Digest of their contracts alone.
        corpus: What the caller states about corpus and index, or the corpus' own fingerprint.
        probe: Digests of what the search gave for some of the turns: they change where the index does. One that the
            search failed for is empty, and compares with nothing.
        search: The search and its settings.
        rewriters: Each rewriter and its settings, by label.
        k: The number of documents that an arm returns.
        budget: The number of documents that an arm may fetch.
        scope: The keywords that limit the searches, and the digest of their values.
        reference_date: The day that "today" means where a contract does not say.
        seed: Orders the cases.
        policy: The guard's policy.
        guard: The guard.
        arms: The arms that run.
        answer: What answers from the documents; None where nothing does.
        judge: What judges the answers.
        version: The version of rewriteguard.
    """

    cases: str
    contracts: str
    corpus: str
    probe: tuple[str, ...]
    search: Any
    rewriters: Mapping[str, Any]
    k: int
    budget: int
    scope: Mapping[str, Any]
    reference_date: str
    seed: int
    policy: Any
    guard: Any
    arms: tuple[str, ...]
    answer: Any = None
    judge: Any = None
    version: str = field(default="")

    def differences(self, other: Conditions) -> list[str]:
        """What differs, each with this side's value and the other's; empty where the conditions are equal."""
        ours, theirs = (dict(_flat("", each.to_dict())) for each in (self, other))
        found: list[str] = []
        for name in dict.fromkeys((*ours, *theirs)):
            if name == "probe":
                found += _other_documents(ours[name], theirs[name])
            elif ours.get(name, ...) != theirs.get(name, ...):
                found.append(f"{name} was {_shown(ours.get(name))} and is {_shown(theirs.get(name))}")
        return found

    def require_same(self, other: Conditions, what: str = "the other run") -> None:
        """Raises where the other conditions are not these, which are those of `what`.

        Raises:
            ConditionsError: They differ; the message names each difference with both values.
        """
        found = self.differences(other)
        if found:
            raise ConditionsError(f"{what} was made under other conditions: {'; '.join(found)}")

    def to_dict(self) -> dict[str, Any]:
        """The conditions as plain JSON values."""
        return {**asdict(self), "probe": list(self.probe), "arms": list(self.arms)}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Conditions:
        """The conditions that `to_dict` gave.

        Raises:
            ConditionsError: A condition is absent, or one is unknown.
        """
        names = {each.name for each in fields(cls)}
        wrong = sorted(names.symmetric_difference(row))
        if wrong:
            raise ConditionsError(f"conditions: absent or unknown: {', '.join(wrong)}")
        return cls(**{**row, "probe": tuple(row["probe"]), "arms": tuple(row["arms"])})


def digest_of_cases(cases: Iterable[Case]) -> str:
    """The digest of cases in their order, with all that was written about them."""
    return digest([_plain(asdict(case)) for case in cases])


def digest_of_contracts(cases: Iterable[Case]) -> str:
    """The digest of the contracts alone, whatever the order of the cases."""
    return digest({case.id: _plain(asdict(case.contract)) if case.contract else None for case in cases})


def _other_documents(ours: list[str], theirs: list[str]) -> list[str]:
    """What the probes say; as many as the cases, so that those of other cases are no news."""
    if len(ours) != len(theirs):
        return []
    n = sum(one != other for one, other in zip(ours, theirs, strict=True) if one and other)
    return [f"probe: {n} of {len(ours)} queries give other documents"] if n else []


def _plain(value: Any) -> Any:
    """JSON values without any shortening: a digest of everything."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str) else described(value)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings under dotted names."""
    if isinstance(value, Mapping) and value:
        for each, inner in value.items():
            yield from _flat(f"{name}.{each}" if name else str(each), inner)
    else:
        yield name, value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
