"""User-supplied files next to an arena's tables."""

from pathlib import Path

from mirage.store.arena import Arena

MAKERS = "makers.csv"
"""Makers of the systems: UTF-8, with the header `system,maker`."""
BESIDE = (MAKERS,)


def file_beside(arena: Arena, name: str) -> Path | None:
    """Return the path of a file next to an arena's tables; None if there is none, or a link, which may lead out."""
    file = arena.path / name
    return file if file.is_file() and not file.is_symlink() else None
