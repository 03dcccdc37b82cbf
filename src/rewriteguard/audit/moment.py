"""Reads the timestamps of a log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

_LATEST = 1e11  # seconds since 1970, in the year 5138: larger numbers are milliseconds
_YEARS = range(1971, 2200)  # in which a row can have been asked; 1970 is a clock that was never set


def moment_of(text: str | None) -> datetime | None:
    """The moment in UTC of a date and time as ISO 8601 writes them, or of seconds or milliseconds since 1970.

    None for what is no moment: no finding needs it, so that the row is read all the same. Without a zone it is in UTC.
    """
    if text is None:
        return None
    # Numbers come first: ISO 8601 also has forms of digits alone, and reads a date of long ago or of the far future in
    # some milliseconds. Its forms of the years that count are no numbers of these years.
    return _within_years(_of_number, text) or _within_years(_of_iso, text)


def _within_years(read: Callable[[str], datetime], text: str) -> datetime | None:
    try:
        moment = read(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year in _YEARS else None


def _of_number(text: str) -> datetime:
    number = float(text)
    return datetime.fromtimestamp(number / 1000 if number > _LATEST else number, UTC)


def _of_iso(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
