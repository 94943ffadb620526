"""The log of an explorer: one JSON object per line on stderr, if `MIRAGE_LOG` is `json`.

A line has `time` (UTC), `event` and what belongs to it: numbers and names of our own. Texts of an arena, addresses with
their parameters, names of people and keys are never given to it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime

LOG = "MIRAGE_LOG"
"""Environment variable: `json` for a log, else none."""
_logger = logging.getLogger("mirage.explorer")


class JsonLines(logging.Formatter):
    """A record as a line of JSON. Records of other libraries have only logger and level, without the text."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = getattr(record, "fields", None)
        if fields is None:
            kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
            fields = {"event": "library", "logger": record.name, "kind": kind}
        return json.dumps({"time": time, "level": record.levelname.lower(), "process": os.getpid(), **fields})


def begin() -> None:
    """Start this process's log if the environment enables it; libraries' records are included."""
    if os.environ.get(LOG) != "json":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    for name in ("streamlit", "uvicorn", "uvicorn.error"):
        library = logging.getLogger(name)
        library.handlers[:] = []
        library.propagate = True
    _logger.setLevel(logging.INFO)


def event(name: str, **fields: str | float | bool | None) -> None:
    """Write a line.

    Args:
        name: the event, in one word.
        fields: numbers and trusted names; no untrusted text.
    """
    if _logger.isEnabledFor(logging.INFO):
        _logger.info(name, extra={"fields": {"event": name, **fields}})
