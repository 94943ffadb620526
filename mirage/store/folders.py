"""Folders of the user on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def home_folder() -> Path:
    """Return the user's folder (`home.py`), whether it exists or not."""
    return _folder("MIRAGE_HOME", "XDG_DATA_HOME", "~/.local/share")


def cache_folder() -> Path:
    """Return the cache folder (`cache.py`), whether it exists or not.

    MIRAGE_CACHE, else `mirage` in the user's cache folder (`XDG_CACHE_HOME`, by default `~/.cache`).
    """
    return _folder("MIRAGE_CACHE", "XDG_CACHE_HOME", "~/.cache")


def _folder(own: str, common: str, default: str) -> Path:
    if path := os.environ.get(own):
        return Path(path).expanduser().absolute()
    return Path(os.environ.get(common) or default).expanduser().absolute() / "mirage"
