"""Checks of the rows of published files; nothing is repaired."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.io.values import shorten

TEXT = ((str,), "a text")
TEXT_OR_NULL = ((str, type(None)), "a text or null")
Fields = Mapping[str, tuple[tuple[type, ...], str]]
"""By field, the allowed types of its value, and their name in words."""


def check_fields(row: Any, fields: Fields, where: str) -> None:
    """Refuse a row that lacks a field, or has a value of another type; an empty text is valid only where null is.

    Raises:
        BadInput: naming the field, and the row's fields.
    """
    if not isinstance(row, Mapping):
        raise BadInput(f"this is {shorten(row)}, not an object", where=where, do=f"give it {', '.join(fields)}")
    for name, (kinds, meaning) in fields.items():
        if name not in row:
            what = f"the field {name} is missing; there are {', '.join(row)}"
            raise BadInput(what, where=where, do=f"every such row needs {', '.join(fields)}")
        if type(row[name]) not in kinds or (row[name] == "" and type(None) not in kinds):
            what = f"{name} is {shorten(row[name])}, not {meaning}"
            raise BadInput(what, where=where, do="write it as the published files do")


def keep_one(files: dict[Any, Path], key: Any, path: Path, what: str) -> None:
    """Note the file, or folder, of a key.

    Raises:
        BadInput: if there is another one.
    """
    if (other := files.setdefault(key, path)) is not path:
        raise BadInput(
            f"there are two {what}: {other.name} and {path.name}", where=str(path.parent), do="keep one of them"
        )
