"""The release rules of a rewriter, written before it is run: bounds for each class of requests and for each slice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources
from typing import TYPE_CHECKING, Any

from rewriteguard.errors import PolicyError, RulesError
from rewriteguard.evaluation.figure import plain
from rewriteguard.policy.classes import REST, Predicate, Release, check_classes, check_name
from rewriteguard.policy.file import predicate_from
from rewriteguard.policy.toml_table import Table, read_table

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


FLOORS = (
    Measure.CONSTRAINT_PRESERVATION,
    Measure.CRITICAL_COMPLETENESS,
    Measure.SUPPORTED_ANSWERS,
    Measure.CLARIFICATION,
)
"""The measures that have to be high."""
CEILINGS = (Measure.REGRESSION, Measure.NET_LOSS, Measure.FAILED, Measure.FORBIDDEN, Measure.UNAUTHORISED)
"""The measures that have to be low."""
VETOES = (Measure.FORBIDDEN, Measure.UNAUTHORISED)
"""The measures for which no other makes up."""
_HELD = {Measure.FORBIDDEN: 0.0, Measure.UNAUTHORISED: 0.0, Measure.FAILED: 0.05}
"""The ceilings that hold where the rules do not name them: nothing can be said of requests that were not answered."""
_DEFAULT_FILE = "rules.toml"
_BOUNDS = ("minimum", "recall_margin", "required", "floors", "ceilings")


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
        return _rules(read_table(path, RulesError))

    @classmethod
    def shipped(cls) -> Rules:
        """The rules of the package, for a start; the file says the reason of each bound."""
        with resources.as_file(shipped_rules()) as path:
            return cls.load(path)

    @property
    def hash(self) -> str:
        """SHA-256 of what the rules say, in hex digits; comments and the order of keys do not change it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

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


def _rules(table: Table) -> Rules:
    table.only(("accept", "default", "class", "everything_else", "slice"))
    accept = table.choices("accept", Release)
    if not accept:
        raise table.fault("accept", f"expected at least one of {', '.join(Release)}")
    default = _bounds(table.table("default").only(_BOUNDS), None)
    classes = tuple(_class(each, default) for each in table.tables("class"))
    slices = tuple(
        SliceRule(each.only(("name", *_BOUNDS)).text("name"), _bounds(each, default)) for each in table.tables("slice")
    )
    names = [each.name for each in slices]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise table.fault(f"slice {twice!r}", "expected a name of its own, but another slice has it")
    try:
        check_classes(classes)
    except PolicyError as error:
        raise table.fault("", str(error)) from None
    rest = _bounds(table.table("everything_else").only(_BOUNDS), default)
    return Rules(accept, default, classes, rest, slices)


def _class(table: Table, default: Bounds) -> ClassRule:
    table.only(("name", "when", *_BOUNDS))
    name, when = table.text("name"), predicate_from(table.table("when"))
    if name == REST:
        raise table.fault("name", f"{REST!r} is the name of the requests of no class; bound them in [everything_else]")
    if when.holds_always:
        raise table.fault("when", "expected a condition; bound the requests of no class in [everything_else]")
    try:
        check_name(name)
    except PolicyError as error:
        raise table.fault("", str(error)) from None
    return ClassRule(name, when, _bounds(table, default))


def _bounds(table: Table, base: Bounds | None) -> Bounds:
    """The bounds of a table over those of `base`; without a base the minimum and the margin have to be there."""
    floors, ceilings = table.table("floors"), table.table("ceilings")
    least = {each: floors.number(each, most=1) for each in FLOORS if each in floors.only(FLOORS)}
    most = {each: _ceiling(ceilings, each) for each in CEILINGS if each in ceilings.only(CEILINGS)}
    required = table.choices("required", Measure)
    if set(required) & set(VETOES):
        raise table.fault("required", f"{', '.join(VETOES)} hold always; expected other measures")
    if base is None:
        minimum, margin = table.count("minimum", least=1), table.number("recall_margin", most=1)
        return Bounds(minimum, margin, least, _HELD | most, required)
    return Bounds(
        table.count("minimum", base.minimum, least=1),
        table.number("recall_margin", base.recall_margin, most=1),
        {**base.floors, **least},
        {**base.ceilings, **most},
        required if "required" in table else base.required,
    )


def _ceiling(table: Table, measure: Measure) -> float:
    if measure not in VETOES:
        return table.number(measure, most=1)
    number = table.count(measure)
    if measure is Measure.UNAUTHORISED and number:
        raise table.fault(
            measure, f"a document that the user may not see is never outweighed; expected 0, got {number}"
        )
    return number
