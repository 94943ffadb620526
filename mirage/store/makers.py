"""Makers given by the user, in a file next to an arena's tables."""

from pathlib import Path

from mirage.errors import BadInput
from mirage.store.arena import Arena
from mirage.store.files import csv_rows
from mirage.store.records import refuse_larger
from mirage.store.user_files import MAKERS, file_beside
from mirage.text.makers import Makers

_MOST = 4 * 1024**2
"""Maximum bytes of the file."""


def makers_of(arena: Arena) -> Makers:
    """Return the makers of an arena's systems and judges, from its `makers.csv`, else from their names.

    Raises:
        BadInput: if the file cannot be read, has other columns, or lists a system twice or without a maker.
    """
    file = file_beside(arena, MAKERS)
    return Makers() if file is None else Makers.of_names(_read(file).items())


def _read(file: Path) -> dict[str, str]:
    maker_of: dict[str, str] = {}
    refuse_larger(file, _MOST)
    for line in csv_rows(file):
        system, name = (str(line.value.get(column) or "").strip() for column in ("system", "maker"))
        if not system or not name:
            raise BadInput("a system or a maker is missing", where=line.where, do="write lines of system,maker")
        if maker_of.setdefault(system, name) != name:
            raise BadInput(
                f"{system} has two makers, {maker_of[system]} and {name}", where=line.where, do="keep one line"
            )
    return maker_of
