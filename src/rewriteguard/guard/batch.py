"""Checks many rewrites one after another: any iterable goes in, findings come out in its order, memory stays flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from rewriteguard.errors import HistoryError, InputError
from rewriteguard.model.assessment import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewriteguard.model.assessment import Assessment

BATCH_SIZE = 64  # rows; one pass of the pipeline over more of them is hardly faster
_EXPECTED = (
    "expected (turn, rewrite), (turn, rewrite, history) or a mapping with 'original' (or 'turn'), 'rewrite' and, "
    "where known, 'history' and 'reference_date'"
)


class Checks(Protocol):
    """What checks a row: a guard."""

    @property
    def check(self) -> Callable[..., Assessment]:
        """As `Guard.check`."""

    @property
    def check_all(self) -> Callable[..., Assessment]:
        """As `Guard.check_all`."""

    @property
    def read_ahead(self) -> Callable[[list[Row]], None]:
        """As `Guard.read_ahead`."""


@dataclass(frozen=True, slots=True)
class Row:
    """What `Guard.check` is asked about one rewrite; the values are as the caller gave them.

    Where `together` is true, `rewrite` holds several of one turn, and `Guard.check_all` is asked.
    """

    turn: Any
    rewrite: Any
    history: Any = ()
    reference_date: date | None = None
    profile: Profile = Profile.CONDENSE
    together: bool = False


def check_batch(guard: Checks, rows: Iterable[Any], *, batch_size: int = BATCH_SIZE) -> Iterator[Assessment]:
    """As `Guard.check_batch`, by a guard that reads the rows of each batch ahead.

    No row is kept after its finding was taken, so that a stream without an end can be checked.
    """
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        raise InputError(f"rows: expected an iterable of rows, got {type(rows).__name__}")
    if not isinstance(batch_size, int) or batch_size < 1:
        raise InputError(f"batch_size: expected a number of rows of at least 1, got {batch_size!r}")
    return _raised(check_each(guard, rows, batch_size=batch_size))


def check_each(
    guard: Checks, rows: Iterable[Any], *, batch_size: int = BATCH_SIZE
) -> Iterator[Assessment | InputError | HistoryError]:
    """As `check_batch`, but a row that cannot be read gives its error, and the rows after it are checked."""
    remaining = iter(rows)
    error: Exception | None = None
    while error is None:
        values, error = _taken(remaining, batch_size)
        if not values and error is None:
            return
        batch = [_read(value) for value in values]
        guard.read_ahead([row for row in batch if isinstance(row, Row)])
        batch.reverse()
        while batch:  # each row is let go before its finding is given
            yield _found(guard, batch.pop())
    raise error


def _taken(remaining: Iterator[Any], size: int) -> tuple[list[Any], Exception | None]:
    """The next values of a stream, and what it raised; the values before that are checked first."""
    values: list[Any] = []
    try:
        values.extend(islice(remaining, size))
    except Exception as error:  # noqa: BLE001 - the caller's stream; raised again at its place
        return values, error
    return values, None


def _raised(found: Iterable[Assessment | InputError | HistoryError]) -> Iterator[Assessment]:
    for number, item in enumerate(found):
        if isinstance(item, InputError | HistoryError):
            raise type(item)(f"rows[{number}]: {item}") from None
        yield item


def _found(guard: Checks, row: Row | InputError) -> Assessment | InputError | HistoryError:
    if isinstance(row, InputError):
        return row
    check = guard.check_all if row.together else guard.check
    try:
        return check(row.turn, row.rewrite, row.history, profile=row.profile, reference_date=row.reference_date)
    except (InputError, HistoryError) as error:
        return error


def _read(value: Any) -> Row | InputError:
    if isinstance(value, Row):
        return value
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if isinstance(value, tuple | list) and len(value) in (2, 3):
        return Row(*value)
    size = f" of {len(value)} items" if isinstance(value, tuple | list) else ""
    return InputError(f"{_EXPECTED}, got a {type(value).__name__}{size}")


def _of_mapping(row: Mapping[str, Any]) -> Row | InputError:
    turn = row.get("turn") if row.get("original") is None else row["original"]
    if turn is None or row.get("rewrite") is None:
        missing = "'original' and 'turn'" if turn is None else "'rewrite'"
        return InputError(f"{_EXPECTED}, got a mapping without {missing}")
    try:
        return Row(turn, row["rewrite"], row.get("history"), _day(row.get("reference_date")))
    except ValueError:
        return InputError(f"reference_date: expected a date or YYYY-MM-DD, got {row['reference_date']!r}")


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    return date.fromisoformat(value) if isinstance(value, str) else value
