"""Reads the timestamps of a log."""

from __future__ import annotations

from datetime import UTC, datetime

_LATEST = 1e11  # seconds since 1970, in the year 5138: larger numbers are milliseconds
_YEARS = range(1971, 2200)  # in which a row can have been asked; 1970 is a clock that was never set


def moment_of(text: str | None) -> datetime | None:
    """The moment in UTC of a date and time as ISO 8601 writes them, or of seconds or milliseconds since 1970.

    None for what is no moment: no finding needs it, so that the row is read all the same. Without a zone it is in UTC.
    """
    try:
        moment = None if text is None else _read(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment is not None and moment.year in _YEARS else None


def _read(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        number = float(text)
        return datetime.fromtimestamp(number / 1000 if number > _LATEST else number, UTC)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
