"""The release rules of a rewriter, written before it is run: bounds for each class of requests and for each slice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

import pydantic.dataclasses
from pydantic import Field, TypeAdapter

from rewriteguard.evaluation.errors import RulesError
from rewriteguard.evaluation.figure import plain
from rewriteguard.policy.classes import REST, Predicate, Release, RequestClass
from rewriteguard.policy.file import FILE, read_toml, valid
from rewriteguard.policy.policy import Policy

if TYPE_CHECKING:
    import os


class Measure(StrEnum):
    """What a bound is about.

    CONSTRAINT_PRESERVATION is the share of the contracts' constraints that the queries keep, CRITICAL_COMPLETENESS the
    share of requests whose queries keep every critical one, EVIDENCE_RECALL the lower end of the interval of the mean
    difference of Recall@k to the original, REGRESSION the share of the requests that the original answered and the arm
    did not (held against the rewrite that is searched alone), NET_LOSS the requests that the arm lost against the
    original minus those that it gained, of all with evidence (held against the guarded arm), SUPPORTED_ANSWERS the
    share of answers that are right and supported, CLARIFICATION the share of requests whose user was asked where
    several readings are admissible, and not otherwise, FAILED the share of requests that ended in an error; FORBIDDEN
    and UNAUTHORISED are numbers of requests to which such a document came back.
    """

    CONSTRAINT_PRESERVATION = "constraint_preservation"
    CRITICAL_COMPLETENESS = "critical_completeness"
    EVIDENCE_RECALL = "evidence_recall"
    REGRESSION = "regression"
    NET_LOSS = "net_loss"
    SUPPORTED_ANSWERS = "supported_answers"
    CLARIFICATION = "clarification"
    FAILED = "failed"
    FORBIDDEN = "forbidden"
    UNAUTHORISED = "unauthorised"


Share = Annotated[int, Field(ge=0, le=1)] | Annotated[float, Field(ge=0, le=1)]  # as it was written
Count = Annotated[int, Field(ge=1)]
Limit = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Floors:
    """The least that each measure has to be that has to be high; None where a file does not say."""

    constraint_preservation: Share | None = None
    critical_completeness: Share | None = None
    supported_answers: Share | None = None
    clarification: Share | None = None


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The most that each measure may be that has to be low; None where a file does not say."""

    regression: Share | None = None
    net_loss: Share | None = None
    failed: Share | None = None
    forbidden: Limit | None = None
    unauthorised: Limit | None = None

    def __post_init__(self) -> None:
        if self.unauthorised:
            reason = "a document that the user may not see is never outweighed"
            raise RulesError(f"unauthorised: {reason}; expected 0, got {self.unauthorised}")


FLOORS = tuple(Measure(each.name) for each in fields(Floors))
"""The measures that have to be high."""
CEILINGS = tuple(Measure(each.name) for each in fields(Ceilings))
"""The measures that have to be low."""
VETOES = (Measure.FORBIDDEN, Measure.UNAUTHORISED)
"""The measures for which no other makes up."""
_HELD = {Measure.FORBIDDEN: 0.0, Measure.UNAUTHORISED: 0.0, Measure.FAILED: 0.05}
"""The ceilings that hold where the rules do not name them: nothing can be said of requests that were not answered."""
_DEFAULT_FILE = "rules.toml"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an arm has to reach on a group of requests.

    Attributes:
        minimum: The fewest requests on which a rewriter may be released alone, in all and of each required measure.
        recall_margin: How far below the original the lower end of the interval of recall may be.
        floors: The least that each measure has to be.
        ceilings: The most that each measure may be.
        required: The measures without which a rewriter is not released alone; the others hold where they were measured.
    """

    minimum: int
    recall_margin: float
    floors: Mapping[Measure, float] = field(default_factory=dict)
    ceilings: Mapping[Measure, float] = field(default_factory=dict)
    required: tuple[Measure, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassRule:
    """A class of requests, and what an arm has to reach on it."""

    name: str
    when: Predicate
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class SliceRule:
    """A slice that annotators named, and what an arm has to reach on it."""

    name: str
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Rules:
    """The release rules.

    Attributes:
        accept: The releases of enforced classes with which the evaluation passes.
        default: The bounds of classes and slices that the rules do not name.
        classes: The classes, in the order in which a request looks for its own.
        rest: The bounds of the requests of no class.
        slices: The slices with bounds of their own.
    """

    accept: tuple[Release, ...]
    default: Bounds
    classes: tuple[ClassRule, ...]
    rest: Bounds
    slices: tuple[SliceRule, ...] = ()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Rules:
        """The rules that a TOML file says.

        Raises:
            OSError: The file cannot be read.
            RulesError: It is no TOML, or a key or value is none that rules have; the message names table and key.
        """
        return valid(_FILE, read_toml(path, RulesError), path, RulesError).rules()

    @classmethod
    def shipped(cls) -> Rules:
        """The rules of the package, for a start; the file says the reason of each bound."""
        with resources.as_file(shipped_rules()) as path:
            return cls.load(path)

    @property
    def hash(self) -> str:
        """SHA-256 of what the rules say, in hex digits; comments and the order of keys do not change it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @property
    def policy(self) -> Policy:
        """A policy with the classes of the rules, by which a guard tells the class of a turn."""
        return _policy_of(self.classes)

    def bounds_of(self, name: str, *, enforced: bool) -> Bounds:
        """The bounds of a class, or of a slice where they are not enforced."""
        if enforced and name == REST:
            return self.rest
        named: tuple[ClassRule | SliceRule, ...] = self.classes if enforced else self.slices
        return next((each.bounds for each in named if each.name == name), self.default)

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain JSON values."""
        told: dict[str, Any] = plain(self)
        return told


def shipped_rules() -> Any:
    """The rules file of the package, to copy and change."""
    return resources.files("rewriteguard.evaluation.release").joinpath(_DEFAULT_FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table of bounds; what it leaves out is as in the table `default`."""

    minimum: Count | None = None
    recall_margin: Share | None = None
    floors: Floors = Floors()
    ceilings: Ceilings = Ceilings()
    required: tuple[Measure, ...] | None = None

    def __post_init__(self) -> None:
        if set(self.required or ()) & set(VETOES):
            raise RulesError(f"required: {', '.join(VETOES)} hold always; expected other measures")

    def over(self, base: Bounds) -> Bounds:
        """The bounds, which are those of `base` where the table says none."""
        return Bounds(
            base.minimum if self.minimum is None else self.minimum,
            base.recall_margin if self.recall_margin is None else self.recall_margin,
            {**base.floors, **_said(self.floors)},
            {**base.ceilings, **_said(self.ceilings)},
            base.required if self.required is None else self.required,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Default(_Table):
    minimum: Count
    recall_margin: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slice(_Table):
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Class(_Slice):
    when: Predicate = field(default_factory=Predicate)

    def __post_init__(self) -> None:
        _Slice.__post_init__(self)
        if self.name == REST:
            raise RulesError(f"name: {REST!r} is the name of the requests of no class; bound them in [everything_else]")
        if self.when.holds_always:
            raise RulesError("when: expected a condition; bound the requests of no class in [everything_else]")


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=FILE)
class _RulesFile:
    accept: tuple[Release, ...] = ()
    default: _Default
    classes: tuple[_Class, ...] = ()
    everything_else: _Table = _Table()
    slices: tuple[_Slice, ...] = ()

    def __post_init__(self) -> None:
        if not self.accept:
            raise RulesError(f"accept: expected at least one of {', '.join(Release)}")
        names = [each.name for each in self.slices]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise RulesError(f"slice {name!r}: expected a name of its own, but another slice has it")
        _policy_of(self.classes)  # it finds names that stand twice, and classes that are never reached

    def rules(self) -> Rules:
        """What the file says, with the bounds of each table in full."""
        default = self.default.over(Bounds(0, 0, {}, _HELD))
        return Rules(
            self.accept,
            default,
            tuple(ClassRule(each.name, each.when, each.over(default)) for each in self.classes),
            self.everything_else.over(default),
            tuple(SliceRule(each.name, each.over(default)) for each in self.slices),
        )


def _policy_of(classes: Iterable[ClassRule | _Class]) -> Policy:
    return Policy(classes=tuple(RequestClass(each.name, each.when) for each in classes))


def _said(bounds: Floors | Ceilings) -> dict[Measure, float]:
    return {Measure(name): value for name, value in asdict(bounds).items() if value is not None}


_FILE = TypeAdapter(_RulesFile)
