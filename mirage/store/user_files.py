"""User-supplied files next to an arena's tables."""

from __future__ import annotations

from pathlib import Path

from mirage.store.arena import Arena
from mirage.store.export import write_whole
from mirage.store.remote import remote_of

MAKERS = "makers.csv"
"""Makers of the systems: UTF-8, with the header `system,maker`."""
TAXONOMY = "taxonomy.yaml"
"""Categories of notes: a list of mappings with a name and a meaning."""


BESIDE = (MAKERS, TAXONOMY)


def file_beside(arena: Arena, name: str) -> Path | None:
    """Return the path of a file next to an arena's tables, fetched from object storage; None if there is none."""
    file = arena.path / name
    if (remote := remote_of(arena.path)) is not None:
        if (data := remote.beside(name)) is None:
            return None
        write_whole(file, data)
    return file if file.is_file() else None
