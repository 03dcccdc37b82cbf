"""Arrow record batches in, Arrow record batches out, for logs that outgrow one machine (extra `arrow`)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rewriteguard.errors import InputError
from rewriteguard.guard.batch import BATCH_SIZE, check_each
from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Assessment

try:
    import pyarrow as pa
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "rewriteguard.audit.arrow needs pyarrow; run: pip install 'rewriteguard[arrow]'", name=error.name
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RESULT_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("dependent", pa.bool_()),
        pa.field("faults", pa.list_(pa.string())),
        pa.field("kinds", pa.list_(pa.string())),
        pa.field("violations", pa.string()),
        pa.field("error", pa.string()),
    ]
)
"""The columns of a result. `faults` and `kinds` are without repetition and sorted, `violations` is a JSON list of
`Violation.to_dict()`. A row that could not be read has only `id` and `error`."""

_COLUMNS = ("id", "original", "turn", "rewrite", "history", "reference_date")


def check_record_batches(batches: Iterable[pa.RecordBatch], guard: Guard | None = None) -> Iterator[pa.RecordBatch]:
    """The findings about the rows of `batches`, one row for each, in order, in batches of `RESULT_SCHEMA`.

    Spark's `DataFrame.mapInArrow` takes this function as it is. The findings are those of `Guard.check`, and a row
    that cannot be read gives its error, so that one bad line stops no job.

    Args:
        batches: Record batches with the columns `original` (or `turn`) and `rewrite`, and where known `history` (a list
            of structs with `role` and `text` or `content`, or its JSON), `reference_date` (a date or YYYY-MM-DD) and
            `id` (of any type that has a text). Other columns are not read.
        guard: Checks the rows; None is one `Guard()` of the process.

    Raises:
        InputError: A batch lacks a column; the message names those that it has.
    """
    guard = guard or _guard()
    for batch in batches:
        table = _known_columns(batch)
        # A batch of Spark has 10,000 rows; as Python objects with their histories they are held in small parts.
        for start in range(0, table.num_rows, BATCH_SIZE):
            yield _checked(table.slice(start, BATCH_SIZE).to_pylist(), guard)


def check_table(table: pa.Table) -> pa.Table:
    """As `check_record_batches`, for one table: Ray Data's `map_batches(check_table, batch_format="pyarrow")`."""
    return pa.Table.from_batches(check_record_batches(table.to_batches()), RESULT_SCHEMA)


@lru_cache(maxsize=1)
def _guard() -> Guard:
    return Guard()


def _known_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    names = batch.schema.names
    if "rewrite" not in names or not {"original", "turn"} & set(names):
        raise InputError(f"expected the columns 'original' (or 'turn') and 'rewrite', got {', '.join(names) or 'none'}")
    return batch.select([name for name in _COLUMNS if name in names])


def _checked(rows: list[dict[str, Any]], guard: Guard) -> pa.RecordBatch:
    asked = [{**row, "history": _history(row.get("history"))} for row in rows]
    found = check_each(guard, asked)
    return pa.RecordBatch.from_pylist(
        [_result(row.get("id"), item) for row, item in zip(rows, found, strict=True)], RESULT_SCHEMA
    )


def _history(value: Any) -> Any:
    """The messages in a form that the guard reads."""
    if isinstance(value, str) and value.strip():
        try:
            return json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            return value  # one string: the guard says that it expected messages
    if isinstance(value, list):
        return [_message(item) if isinstance(item, dict) else item for item in value]
    return value


def _message(fields: dict[str, Any]) -> dict[str, Any]:
    """A message without an empty `content` beside `text`: a table has every field in every row."""
    if fields.get("content") is None and "text" in fields:
        return {name: value for name, value in fields.items() if name != "content"}
    return fields


def _result(identifier: Any, found: Assessment | Exception) -> dict[str, Any]:
    row = {"id": None if identifier is None else str(identifier)}
    if not isinstance(found, Assessment):
        return {**row, "error": str(found)}
    violations = found.violations
    return {
        **row,
        "verdict": found.verdict.value,
        "dependent": found.dependent,
        "faults": sorted({violation.fault.value for violation in violations}),
        "kinds": sorted({violation.kind.value for violation in violations if violation.kind}),
        "violations": json.dumps([violation.to_dict() for violation in violations]),
    }
