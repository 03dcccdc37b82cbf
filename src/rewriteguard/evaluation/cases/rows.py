"""A case as a row of plain JSON values: the published form, that of retrieval sets, and the lines of a triple log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Annotated, Any, Required

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    with_config,
)
from pydantic_core import ErrorDetails, PydanticCustomError
from typing_extensions import TypedDict  # pydantic reads that of `typing` from Python 3.12 on

from rewriteguard.audit.log import json_type
from rewriteguard.errors import HistoryError
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.errors import CaseError
from rewriteguard.evaluation.figure import plain
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.tokens import Kind
from rewriteguard.policy.file import nearest

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHOWN = 60  # characters of a wrong value
_ATTRIBUTE = re.compile(r"^ {8}(?P<name>\w+): (?P<said>.+(?:\n {12}.+)*)", re.MULTILINE)  # of a docstring


# Pydantic's own limits of a text refuse half a surrogate pair, which JSON can say.
def _must(holds: Callable[[Any], Any], said: str) -> AfterValidator:
    def checked(value: Any) -> Any:
        if not holds(value):
            raise PydanticCustomError("unfit", "{said}", {"said": said})
        return value

    return AfterValidator(checked)


def _day(value: Any) -> date:
    try:
        if isinstance(value, str) and _DAY.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:  # no month has it
        pass
    raise PydanticCustomError("day", "no day")


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


_STRING: dict[str, Any] = {"type": "string"}
_Words = Annotated[str, _must(str.strip, "expected text, got none"), Field(json_schema_extra={"pattern": r"\S"})]
_Text = Annotated[str, AfterValidator(lambda text: text if text.strip() else None)]  # a blank one is absent
_Name = Annotated[str, _must(bool, "expected a name, got an empty one"), Field(json_schema_extra={"minLength": 1})]
_Ids = Annotated[tuple[_Words, ...], Field(json_schema_extra={"uniqueItems": True})]
_Place = Annotated[int, Field(strict=True, ge=1), BeforeValidator(_whole)]
_Truth = Annotated[bool, Field(strict=True)]
_Day = Annotated[
    date, BeforeValidator(_day), WithJsonSchema(_STRING | {"format": "date", "pattern": f"^{_DAY.pattern}$"})
]
_Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(_listed),
    _must(bool, "expected at least 1 item, got 0"),
    WithJsonSchema({"anyOf": [_STRING, {"type": "array", "items": _STRING, "minItems": 1}]}),
]
_ROLE = {
    "enum": ["user", "human", "assistant", "ai", "bot", "model", "chatbot", "tool", "function", "system", "developer"]
}
_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "anyOf": [{"required": ["text"]}, {"required": ["content"]}],
    "properties": {"role": _ROLE, "text": _STRING, "content": _STRING},
}
_PAIR = {"type": "array", "prefixItems": [_ROLE, _STRING], "minItems": 2, "maxItems": 2}
_History = Annotated[Any, WithJsonSchema({"type": ["array", "null"], "items": {"anyOf": [_MESSAGE, _PAIR]}})]


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row holds; a null is an absent value."""
    return {name: value for name, value in row.items() if value is not None}


@with_config(ConfigDict(extra="forbid"))
class ConstraintFields(TypedDict, total=False):
    """A `Constraint` in a file."""

    kind: Required[Kind]
    text: Required[_Words]
    critical: _Truth | None
    forms: tuple[_Words, ...] | None


_AMBIGUOUS: dict[str, Any] = {"required": ["readings"], "properties": {"readings": {"type": "array", "minItems": 1}}}
_SAYS_WHAT: dict[str, Any] = {"required": ["unresolved"], "properties": {"unresolved": _STRING | {"pattern": r"\S"}}}


@with_config(ConfigDict(extra="forbid", json_schema_extra={"if": _AMBIGUOUS, "then": _SAYS_WHAT}))
class ContractFields(TypedDict, total=False):
    """A `Contract` in a file."""

    constraints: tuple[Annotated[ConstraintFields, AfterValidator(lambda row: Constraint(**_said(row)))], ...] | None
    must_preserve: tuple[_Words, ...] | None
    allowed_expansion: tuple[_Words, ...] | None
    forbidden_assumptions: tuple[_Words, ...] | None
    unresolved: _Text | None
    readings: tuple[_Words, ...] | None
    reference_date: _Day | None


class _Turn(TypedDict, total=False):
    id: Required[_Words]
    original: Required[_Words]
    history: _History  # read beside the turn


@with_config(ConfigDict(extra="forbid"))
class CaseFields(_Turn, total=False):
    """A `Case` in a file: one line of JSONL, or a row of a table, whose cells hold texts as they are and else JSON.

    A null is an absent value. Beyond what stands here, the ids of a file have to differ, and a relevant document may be
    neither a near miss nor forbidden.
    """

    context: dict[_Name, str | None] | None
    contract: Annotated[ContractFields, AfterValidator(lambda row: Contract(**_said(row)))] | None
    human: _Text | None
    rewrites: dict[_Name, _Texts | None] | None
    relevant: _Ids | None
    near_misses: _Ids | None
    forbidden: _Ids | None
    unauthorised: _Ids | None
    answer: _Text | None
    conversation: str | None
    turn: _Place | None
    family: str | None
    slices: _Ids | None
    asked: _Day | None
    domain: Annotated[str | None, Field(description="One more slice, under the name that retrieval sets give it.")]


class _Logged(_Turn, total=False):
    """What a case takes of a line of a triple log; what was answered there is no answer that anyone approved."""

    session_id: str | None
    reference_date: _Day | None
    rewriter: _Words | None
    rewrite: _Texts | None


_ROWS: TypeAdapter[Any] = TypeAdapter(CaseFields)
_LOG: TypeAdapter[Any] = TypeAdapter(_Logged)
FIELDS = tuple(CaseFields.__annotations__)
"""The fields of a row, in the order in which they are written."""
PLAIN = frozenset({"id", "original", "human", "answer", "conversation", "family", "asked", "domain"})
"""The fields that hold a text, so that a cell of a table holds it as it is."""


def case_of(row: Mapping[str, Any]) -> Case:
    """The case of one row.

    Raises:
        CaseError: A field is missing, unknown or has another type; the message starts with its name.
    """
    try:
        values = _of_log(row) if is_logged(row) else _said(_ROWS.validate_python(row))
        conversation = Conversation.read(values["original"], values.get("history"))
    except ValidationError as error:
        raise CaseError(_told(error.errors(include_url=False))) from None
    except HistoryError as error:
        raise CaseError(str(error)) from None
    values["history"] = tuple((message.role.value, message.text) for message in conversation.history)
    values["context"] = tuple(_said(values.get("context", {})).items())
    values["rewrites"] = _said(values.get("rewrites", {}))
    domain, slices = values.pop("domain", ""), values.get("slices", ())
    if domain and domain not in slices:
        values["slices"] = (*slices, domain)
    case = Case(**values)
    for wrong in _contradictions(case):
        raise CaseError(wrong)
    return case


def row_of(case: Case) -> dict[str, Any]:
    """The row of a case in the published form; what it does not hold is left out, a contract is written in full."""
    row: dict[str, Any] = plain(case)
    row["history"] = [{"role": role, "text": said} for role, said in case.history]
    row["context"] = dict(case.context)
    row["rewrites"] = {
        label: texts[0] if len(texts) == 1 else list(texts) for label, texts in sorted(case.rewrites.items())
    }
    for constraint in row["contract"]["constraints"] if case.contract else ():
        if not constraint["forms"]:
            del constraint["forms"]
    return {name: row[name] for name in FIELDS if row.get(name)}


def is_logged(row: Mapping[str, Any]) -> bool:
    """Whether a row is a decision of a triple log."""
    return "capture" in row and "verdict" in row


def schema() -> dict[str, Any]:
    """The JSON Schema of a row; what its fields mean is said as the values say it of their attributes."""
    made = _ROWS.json_schema()
    parts = {Case: made, Contract: made["$defs"]["ContractFields"], Constraint: made["$defs"]["ConstraintFields"]}
    for value, part in parts.items():
        for found in _ATTRIBUTE.finditer(value.__doc__ or ""):
            part["properties"][found["name"]]["description"] = " ".join(found["said"].split())
    title = "A case of an evaluation with rewriteguard"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": title}


def check_names(names: Iterable[str]) -> None:
    """Nothing where all names are those of fields.

    Raises:
        CaseError: One is not; the message has the nearest that is.
    """
    for name in names:
        if name not in FIELDS:
            raise CaseError(f"{name}: unknown field; {nearest(name, FIELDS)}")


def _of_log(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a case in a line of a triple log."""
    if row["capture"] != "full":
        raise CaseError(f"capture: it was logged with {row['capture']!r}, so that there are no words to read")
    found = _said(_LOG.validate_python(row))
    label = found.pop("rewriter", "default")
    if "rewrite" in found:
        found["rewrites"] = {label: found.pop("rewrite")}
    renamed = {"session_id": "conversation", "reference_date": "asked"}
    return {renamed.get(name, name): value for name, value in found.items()}


def _contradictions(case: Case) -> Iterator[str]:
    """What is wrong in a case whose fields are right one by one."""
    if case.contract and case.contract.readings and not case.contract.unresolved:
        yield "contract.readings: readings of what? contract.unresolved names no words"
    for name in ("relevant", "near_misses", "forbidden", "unauthorised", "slices"):
        items = getattr(case, name)
        for place, item in enumerate(items):
            if item in items[:place]:
                yield f"{name}[{place}]: {item!r} stands in the list before"
            if name in ("near_misses", "forbidden") and item in case.relevant:
                yield f"{name}[{place}]: {item!r} is under relevant too"


_WHOLE = "a whole number from 1"
_OF_TYPE = {"string_type": "text", "tuple_type": "a list", "dict_type": "an object"}
_OF_VALUE = {
    "bool_type": "true or false",
    "day": "YYYY-MM-DD",
    "enum": f"one of {', '.join(Kind)}",
    "greater_than_equal": _WHOLE,
    "int_type": _WHOLE,
}


def _told(errors: list[ErrorDetails]) -> str:
    """The first error in our words, behind the name of its field; a name that nobody knows may be what others miss."""
    error = min(errors, key=lambda each: each["type"] != "extra_forbidden")
    kind, place, given = error["type"], error["loc"], error["input"]
    field = _field(place[:-2] if place[-1] == "[key]" else place)
    if kind == "extra_forbidden":
        known = {1: CaseFields, 2: ContractFields}.get(len(place), ConstraintFields)
        return f"{field}: unknown field; {nearest(str(place[-1]), known.__annotations__)}"
    if kind == "missing" or (given is None and isinstance(place[-1], str)):
        return f"{field}: missing"
    if kind in _OF_TYPE:
        return f"{field}: expected {_OF_TYPE[kind]}, got {json_type(given)}"
    if kind in _OF_VALUE:
        return f"{field}: expected {_OF_VALUE[kind]}, got {_shown(given)}"
    return f"{field}: {error['msg']}"


def _field(place: Iterable[str | int]) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place).removeprefix(".")


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return json_type(value)
    shown = "null" if value is None else repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
