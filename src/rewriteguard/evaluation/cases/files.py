"""Files of cases: JSONL and CSV are read and written; what cannot be read is told by file, line and field."""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO

from rewriteguard.audit.log import LineError, is_answer, read_object
from rewriteguard.audit.replacing import replacing
from rewriteguard.evaluation.cases.case import Case
from rewriteguard.evaluation.cases.rows import FIELDS, PLAIN, case_of, check_names, is_logged, row_of
from rewriteguard.evaluation.errors import CaseError

if TYPE_CHECKING:
    import os

_LIMIT = Lock()
_LONGEST = 2**31 - 1  # the most that csv takes on every platform

_log = logging.getLogger("rewriteguard")
_Rows = Iterator[tuple[int, dict[str, Any]]]


def read_cases(*paths: str | os.PathLike[str]) -> list[Case]:
    """The cases of the files, in their order.

    A name that ends in `.jsonl` holds a row on each line: a case as `schema` publishes it, or a decision of
    a triple log, whose rewrite goes under the label of its rewriter. Searches of one trace have one id there: the
    second becomes `id#2`. A line that its writer could not finish is left out of a log and told as a warning. A name
    that ends in `.csv` holds a case in each row, under a header of the same names: texts as they are, and JSON in the
    cells of all other fields.

    Raises:
        CaseError: A row cannot be read, an id stands there twice, or there is no case.
        OSError: A file cannot be read.
    """
    cases: dict[str, Case] = {}
    places: dict[str, str] = {}
    for path in map(Path, paths):
        for number, row in _rows(path):
            place = f"{path}, line {number}"
            try:
                case = case_of(_told_apart(row, cases))
                if case.id in cases:
                    raise CaseError(f"id: {case.id!r} is the id of {places[case.id]} too")
            except CaseError as error:
                raise CaseError(f"{place}: {error}") from None
            cases[case.id], places[case.id] = case, place
    if not cases:
        raise CaseError(f"{', '.join(map(str, paths))}: no case in it")
    return list(cases.values())


def write_cases(path: str | os.PathLike[str], cases: Iterable[Case]) -> None:
    """Writes the cases, as JSONL or CSV by the end of the name, so that `read_cases` reads the same.

    What goes wrong leaves an older file as it was.

    Raises:
        CaseError: The name ends in something else, or a text cannot be written.
        OSError: The file cannot be written.
    """
    path = Path(path)
    rows = [row_of(case) for case in cases]
    try:
        write = _write_csv if _suffix(path) == ".csv" else _write_jsonl
        with replacing(path) as file:
            write(file, rows)
    except UnicodeEncodeError as error:
        raise CaseError(f"{path}: {error.object[error.start : error.end]!r} is not text; write JSONL") from None


def _told_apart(row: dict[str, Any], cases: Mapping[str, Case]) -> dict[str, Any]:
    if not is_logged(row) or row.get("id") not in cases:
        return row
    number = 2
    while f"{row['id']}#{number}" in cases:
        number += 1
    return {**row, "id": f"{row['id']}#{number}"}


def _rows(path: Path) -> _Rows:
    return _csv_rows(path) if _suffix(path) == ".csv" else _jsonl_rows(path)


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".jsonl"):
        raise CaseError(f"{path}: expected a name that ends in .jsonl or .csv")
    return suffix


def _jsonl_rows(path: Path) -> _Rows:
    logged = False
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            if not raw.strip():
                continue
            try:
                row = read_object(raw, _each_name_once)
            except CaseError as error:
                raise CaseError(f"{path}, line {number}: {error}") from None
            except LineError as error:
                if not logged:
                    raise CaseError(f"{path}, line {number}: {error}") from None
                _log.warning("%s, line %d: %s", path, number, error)
                continue
            logged = is_logged(row) or (logged and is_answer(row))
            if not is_answer(row):
                yield number, row


def _each_name_once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The object of the names and values of JSON, which may repeat a name and so hide what stood under it.

    Raises:
        CaseError: A name is repeated; the message starts with it.
    """
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise CaseError(f"{name}: one object holds it twice")
        made[name] = value
    return made


def _csv_rows(path: Path) -> _Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        lines = _of_any_length(reader)
        header: list[str] = []
        before = 0
        try:
            for cells in lines:
                number, before = before + 1, reader.line_num
                if not header:
                    header = _header(cells, f"{path}, line {number}")
                elif any(cells):
                    yield number, _row(cells, header, f"{path}, line {number}")
        except csv.Error as error:
            raise CaseError(f"{path}, line {before + 1}: not CSV: {error}") from None
        except UnicodeDecodeError as error:
            raise CaseError(f"{path}, line {before + 1} or below: not UTF-8 (byte {error.start})") from None


def _of_any_length(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """What the reader gives, without a limit on the length of a cell, which the whole process shares."""
    cells: list[str] | None = []
    while cells is not None:
        with _LIMIT:
            before = csv.field_size_limit(_LONGEST)
            try:
                cells = next(reader, None)
            finally:
                csv.field_size_limit(before)
        if cells is not None:
            yield cells


def _header(cells: list[str], place: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    try:
        check_names(names)
    except CaseError as error:
        raise CaseError(f"{place}: {error}") from None
    for name in names:
        if names.count(name) > 1:
            raise CaseError(f"{place}: {name}: the header names it twice")
    return names


def _row(cells: list[str], header: list[str], place: str) -> dict[str, Any]:
    if len(cells) > len(header):
        raise CaseError(f"{place}: {len(cells)} cells under {len(header)} names")
    row = {name: cell for name, cell in zip(header, cells, strict=False) if cell}
    for name in row:
        try:
            if name not in PLAIN:
                row[name] = json.loads(row[name], object_pairs_hook=_each_name_once)
        except CaseError as error:
            raise CaseError(f"{place}: {name}: {error}") from None
        except (json.JSONDecodeError, RecursionError):
            raise CaseError(f"{place}: {name}: expected JSON, got {row[name][:60]!r}") from None
        except ValueError:  # Python reads no whole number of more than some thousand digits
            raise CaseError(f"{place}: {name}: a number has too many digits") from None
    return row


def _write_jsonl(file: TextIO, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        line = json.dumps(row, ensure_ascii=False)
        # Half a surrogate pair, which UTF-8 cannot hold, becomes its JSON escape.
        file.write(line.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def _write_csv(file: TextIO, rows: list[dict[str, Any]]) -> None:
    names = [name for name in FIELDS if any(name in row for row in rows)] or ["id", "original"]
    writer = csv.writer(file)
    writer.writerow(names)
    for row in rows:
        cells = [row.get(name, "") for name in names]
        writer.writerow(
            cell if name in PLAIN or cell == "" else json.dumps(cell, ensure_ascii=False)
            for name, cell in zip(names, cells, strict=True)
        )
