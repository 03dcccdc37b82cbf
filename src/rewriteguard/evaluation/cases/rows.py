"""A case as a row of plain JSON values: the published form, that of retrieval sets, and the lines of a triple log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rewriteguard.errors import HistoryError
from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.cases.fields import (
    ObjectOf,
    day,
    list_of,
    mapping_of,
    one_of,
    position,
    text,
    text_or_empty,
    text_or_none,
    texts_or_text,
    truth,
    words,
)
from rewriteguard.evaluation.errors import CaseError
from rewriteguard.model.conversation import Conversation
from rewriteguard.model.tokens import Kind

_CONSTRAINT = ObjectOf(
    {"kind": one_of(Kind), "text": words, "critical": truth, "forms": list_of(words)}, required=("kind", "text")
)
_IDS = list_of(words, once=True)


def _constraint(value: Any, field: str) -> Constraint:
    return Constraint(**_CONSTRAINT(value, field))


_CONTRACT = ObjectOf(
    {
        "constraints": list_of(_constraint),
        "must_preserve": list_of(words),
        "allowed_expansion": list_of(words),
        "forbidden_assumptions": list_of(words),
        "unresolved": text_or_empty,
        "readings": list_of(words),
        "reference_date": day,
    }
)


def _contract(value: Any, field: str) -> Contract:
    contract = Contract(**_CONTRACT(value, field))
    if contract.readings and not contract.unresolved:
        raise CaseError(f"{field}.readings: readings of what? {field}.unresolved names no words")
    return contract


def _as_it_is(value: Any, _field: str) -> Any:
    return value


_CASE = ObjectOf(
    {
        "id": words,
        "original": words,
        "history": _as_it_is,  # read beside the turn
        "context": mapping_of(text),
        "contract": _contract,
        "human": text_or_none,
        "rewrites": mapping_of(texts_or_text),
        "relevant": _IDS,
        "near_misses": _IDS,
        "forbidden": _IDS,
        "unauthorised": _IDS,
        "answer": text_or_none,
        "conversation": text,
        "turn": position,
        "family": text,
        "slices": list_of(words, once=True),
        "asked": day,
        "domain": text,  # what retrieval sets call a slice
    },
    required=("id", "original"),
)
FIELDS = tuple(_CASE.readers)
"""The fields of a row, in the order in which they are written."""
PLAIN = frozenset({"id", "original", "human", "answer", "conversation", "family", "asked", "domain"})
"""The fields that hold a text, so that a cell of a table holds it as it is."""


def case_of(row: Mapping[str, Any]) -> Case:
    """The case of one row.

    Raises:
        CaseError: A field is missing, unknown or has another type; the message starts with its name.
    """
    values = _of_log(row) if is_logged(row) else _CASE(row, "")
    try:
        conversation = Conversation.read(values["original"], values.get("history"))
    except HistoryError as error:
        raise CaseError(str(error)) from None
    values["history"] = tuple((message.role.value, message.text) for message in conversation.history)
    values["context"] = tuple(values.get("context", {}).items())
    domain = values.pop("domain", "")
    if domain and domain not in values.get("slices", ()):
        values["slices"] = (*values.get("slices", ()), domain)
    case = Case(**values)
    for name in ("near_misses", "forbidden"):
        for place, document in enumerate(getattr(case, name)):
            if document in case.relevant:
                raise CaseError(f"{name}[{place}]: {document!r} is under relevant too")
    return case


def row_of(case: Case) -> dict[str, Any]:
    """The row of a case in the published form; what it does not hold is left out, a contract is written in full."""
    row: dict[str, Any] = {"id": case.id, "original": case.original}
    row["history"] = [{"role": role, "text": said} for role, said in case.history]
    row["context"] = dict(case.context)
    row["contract"] = case.contract and _contract_row(case.contract)
    row["rewrites"] = {
        label: texts[0] if len(texts) == 1 else list(texts) for label, texts in sorted(case.rewrites.items())
    }
    row["asked"] = case.asked and case.asked.isoformat()
    for name in FIELDS:
        if name not in row and name != "domain":
            value = getattr(case, name)
            row[name] = list(value) if isinstance(value, tuple) else value
    return {name: row[name] for name in FIELDS if row.get(name)}


def is_logged(row: Mapping[str, Any]) -> bool:
    """Whether a row is a decision of a triple log."""
    return "capture" in row and "verdict" in row


def _contract_row(contract: Contract) -> dict[str, Any]:
    row = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(contract).items()}
    row["constraints"] = [
        {"kind": each.kind.value, "text": each.text, "critical": each.critical}
        | ({"forms": list(each.forms)} if each.forms else {})
        for each in contract.constraints
    ]
    row["reference_date"] = contract.reference_date and contract.reference_date.isoformat()
    return row


_LOGGED = {
    "id": words,
    "original": words,
    "history": _as_it_is,
    "session_id": text,
    "reference_date": day,
    "rewriter": words,
    "rewrite": texts_or_text,
}


def _of_log(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a case in a line of a triple log; what was answered there is no answer that anyone approved."""
    if row["capture"] != "full":
        raise CaseError(f"capture: it was logged with {row['capture']!r}, so that there are no words to read")
    found = {name: reader(row[name], name) for name, reader in _LOGGED.items() if row.get(name) is not None}
    for name in ("id", "original"):
        if name not in found:
            raise CaseError(f"{name}: missing")
    if "rewrite" in found:
        found["rewrites"] = {found.get("rewriter", "default"): found.pop("rewrite")}
    found.pop("rewriter", None)
    renamed = {"session_id": "conversation", "reference_date": "asked"}
    return {renamed.get(name, name): value for name, value in found.items()}
