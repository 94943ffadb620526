"""Dates: days in UTC."""

import re
from datetime import UTC, date, datetime
from typing import Any

from mirage.errors import BadInput

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE = re.compile(r"\d{4}(-\d{2}){0,2}", re.ASCII)
_FIRST_SECOND = 10**8
"""Smallest number read as seconds since 1970 (March 1973); a smaller one is more likely a year or an index."""


def today() -> str:
    """Return today's date in UTC, `2026-11-20`."""
    return datetime.now(UTC).date().isoformat()


def is_date(text: str) -> bool:
    """Return whether a text is a date, or its month or year: `2024-05-13`, `2024-05`, `2024`."""
    try:
        return bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text + "-01" * (2 - text.count("-"))))
    except ValueError:
        return False


def utc_day(value: Any, *, where: str = "") -> str:
    """Return the day in UTC of a date, a time, or a number of seconds since 1970.

    A time without a zone is taken as UTC.

    Args:
        value: `2026-11-20`, `2026-11-20T23:30:00-05:00`, or a number of seconds.
        where: location, for the error.

    Raises:
        BadInput: if it is none of these.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)  # as CSV has it
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= _FIRST_SECOND:
            return datetime.fromtimestamp(value, UTC).date().isoformat()
        text = value.strip() if isinstance(value, str) else ""
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if _DAY.match(text) and len(text) > len("2026-11-20"):
            moment = datetime.fromisoformat(text)
            return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)).date().isoformat()
    except (ValueError, OverflowError, OSError):
        pass
    raise BadInput(f"{value!r} is not a date", where=where, do="write year, month and day: 2026-11-20")
