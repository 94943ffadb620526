"""Size limits from environment variables."""

from __future__ import annotations

import os

from mirage.errors import BadInput


def megabytes(name: str, default: int) -> int:
    """Return the bytes allowed by an environment variable.

    Args:
        name: the variable, a whole number of megabytes.
        default: megabytes if it is not set.

    Raises:
        BadInput: if it is not a positive number.
    """
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or not int(text):
        raise BadInput(f"{name} is {text!r}", do=f"set {name} to a whole number of megabytes, and restart")
    return int(text) * 1_000_000
