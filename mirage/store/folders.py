"""The user's folder, and the folders of arenas."""

from __future__ import annotations

import os
from pathlib import Path

from mirage.errors import BadInput


def home_folder() -> Path:
    """Return the user's folder (`home.py`), whether it exists or not."""
    if path := os.environ.get("MIRAGE_HOME"):
        return Path(path).expanduser().absolute()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser().absolute() / "mirage"


def locate(text: str) -> Path:
    """Return the path of an arena.

    Raises:
        BadInput: if it is an address on object storage.
    """
    if "://" in text:
        scheme = text.partition("://")[0]  # the rest may hold a password
        raise BadInput(
            "an arena is a folder on this machine",
            where=f"{scheme}://",
            do=f"copy it first: mirage pull {scheme}://...",
        )
    return Path(text)
