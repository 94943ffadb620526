"""Limits that the environment sets."""

from __future__ import annotations

import os

from mirage.errors import BadInput


def megabytes(name: str, default: int) -> int:
    """How many bytes a variable of the environment allows.

    Args:
        name: the variable, which holds a whole number of megabytes.
        default: megabytes without it.

    Raises:
        BadInput: if it is no positive number.
    """
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or not int(text):
        raise BadInput(f"{name} is {text!r}", do=f"set {name} to a whole number of megabytes, and start again")
    return int(text) * 1_000_000
