"""Fields of a record as the readers of formats of answers take them: `values` by name, and the errors for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from mirage.errors import BadInput
from mirage.formats import values
from mirage.formats.spec import Builder, Record

_ENDINGS = re.compile(r"(?:\.(?:jsonl?|ndjson|csv|tsv|parquet|gz|zst|txt))+$", re.IGNORECASE)


def first(value: Mapping[str, Any], *names: str) -> Any:
    """What stands under the first of these names that holds something; None where none does."""
    return values.first(value, *names)[1]


def text(record: Record, *names: str) -> str | None:
    """The text under the first of these names that holds something; a number is its digits.

    Raises:
        BadInput: if it is a list, an object or a truth value.
    """
    name, value = values.first(record.value, *names)
    return values.text(value, name, record.where)


def answer_text(record: Record, *names: str) -> str | None:
    """As `text`, but an empty text stays one: the system was there and gave nothing.

    Raises:
        BadInput: as `text`.
    """
    name = next((name for name in names if record.value.get(name) is not None), names[0])
    return values.text(record.value.get(name), name, record.where)


def need(record: Record, *names: str) -> str:
    """The id or name under the first of these names.

    Raises:
        BadInput: if there is none, or it is no id.
    """
    name, value = values.first(record.value, *names)
    content = values.identifier(value, name, record.where)
    if content is None:
        raise values.missing(names[0], record.value, record.where, also=names)
    return content


def listed(record: Record, *names: str) -> list[Any]:
    """The list under the first of these names, also one that stands in a cell as text; empty where none is."""
    return values.listed(first(record.value, *names), record.where)


def unpacked(value: Any) -> Any:
    """A list or an object that stands as text in a cell, written by JSON or by Python; else the value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        parsed = values.listed(value)
    except BadInput:
        return value
    return parsed if value.lstrip()[0] == "[" and parsed != [value] else parsed[0]


def number(value: Any) -> float | None:
    """A finite number, also written as text; None for anything else."""
    try:
        return values.number(value, "", "")
    except BadInput:
        return None


def is_measure(value: Any) -> bool:
    """Whether a value may be a score: a number, NaN and infinity too, or nothing."""
    if value is None or value == "":
        return True
    try:
        return not isinstance(value, bool) and isinstance(value, int | float | str) and float(value) is not None
    except ValueError:
        return False


def wrong(record: Record, name: str, expected: str, value: Any) -> BadInput:
    """The error of a value that is not what its field holds."""
    return BadInput(
        f"{name} must be {expected}, not {values.shortened(value)}",
        where=record.where,
        do=f"mend the record, or take {name} from another field: --map THEIRS={name}",
    )


def system_of(record: Record, builder: Builder, *, from_file: str | None = None) -> str:
    """The system that a record names, else one named after its file; then the summary says so.

    Args:
        record: the record.
        builder: gets word of the guess.
        from_file: the name to take where the record has none; null for the file's name without its endings.
    """
    name = text(record, "system", "model", "model_name")
    if name is not None:
        return name
    path = PurePath(record.where.rpartition(":")[0])
    name = from_file or _ENDINGS.sub("", path.name) or "system"
    builder.guessed("system", f"{path.name} names none, so it is called {name}; --set system=NAME gives another name")
    return name
