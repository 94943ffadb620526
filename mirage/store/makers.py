"""Makers named by the user, in a file beside an arena's tables."""

from __future__ import annotations

from pathlib import Path

from mirage.errors import BadInput
from mirage.store.arena import Arena
from mirage.store.export import write_whole
from mirage.store.files import csv_rows
from mirage.store.remote import remote_of
from mirage.text.makers import Makers

MAKERS = "makers.csv"
"""File name in an arena's folder: UTF-8, with the header `system,maker`."""
_MOST = 4 * 1024**2
"""Maximum bytes of the file."""


def makers_of(arena: Arena) -> Makers:
    """Return the makers of an arena's systems and judges, from its `makers.csv`, else from their names.

    Raises:
        BadInput: if the file cannot be read, has other columns, or lists a system twice or without a maker.
    """
    file = arena.path / MAKERS
    if (remote := remote_of(arena.path)) is not None:
        if (data := remote.beside(MAKERS)) is None:
            return Makers()
        write_whole(file, data)
    return Makers.of_names(_read(file).items()) if file.is_file() else Makers()


def _read(file: Path) -> dict[str, str]:
    maker_of: dict[str, str] = {}
    for line in csv_rows(file, most=_MOST):
        system, name = (str(line.value.get(column) or "").strip() for column in ("system", "maker"))
        if not system or not name:
            raise BadInput("a system or a maker is missing", where=line.where, do="write lines of system,maker")
        if maker_of.setdefault(system, name) != name:
            raise BadInput(
                f"{system} has two makers, {maker_of[system]} and {name}", where=line.where, do="keep one line"
            )
    return maker_of
