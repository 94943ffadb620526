"""Read records of a file and check each value against its column; all errors are collected first."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.io.sources.files.options import Options
from mirage.text.languages import language
from mirage.text.names import NAMES, Names, need_visible, normalise_name

if TYPE_CHECKING:
    import pyarrow as pa

_HELPS = 3
"""Maximum number of different suggestions in the text of an error."""
SHOWN = 10
"""Maximum number of invalid lines listed in the text of an error; the others are counted."""
_COMPLETED = {"answers": ("status",)}
"""Required columns that are derived if a record lacks them, by table."""
_BLANK = {"answers": ("text",)}
"""Columns in which the empty text is a value, by table."""
_FLAGS = {"true": True, "1": True, "false": False, "0": False}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limit:
    """Maximum size of an untrusted file."""

    rows: int
    """Maximum records."""
    size: int
    """Maximum bytes, unpacked."""


def _places(alike: list[BadInput]) -> str:
    """Return the place of the first of some errors, how many more there are, and the names of their other files."""
    first, *others = (str(error.where) for error in alike)
    files = dict.fromkeys(Path(re.sub(r":\d+$", "", where)).name for where in (first, *others))
    names = [*files][1:]
    more = f" and {len(others):,} more" if others else ""
    return first + more + (f", in {', '.join(names[:SHOWN])}{' ...' * (len(names) > SHOWN)}" if names else "")


class Refused(BadInput):
    """A file that is refused whole.

    Args:
        wrong: one error for each wrong line, in the order of the lines.
        n: how many records there are.
    """

    def __init__(self, errors: list[BadInput], n: int) -> None:
        self.wrong = tuple(errors)
        if len(errors) == 1:
            message, where = errors[0].what, errors[0].where
            super().__init__(message, where=where, do=errors[0].do or "correct the line; nothing was imported")
            return
        alike: dict[tuple[str, str], list[BadInput]] = {}
        for error in errors:
            alike.setdefault((error.what, error.do), []).append(error)
        lines = [
            f"{_places(same)}: {what}" + (f" ({do})" if isinstance(same[0], UnknownName) else "")
            for (what, do), same in list(alike.items())[:SHOWN]
        ]
        if len(alike) > SHOWN:
            rest = sum(map(len, list(alike.values())[SHOWN:]))
            lines.append(f"... and {rest:,} more; mirage check lists them all")
        helps = dict.fromkeys(do for (_, do), same in alike.items() if do and not isinstance(same[0], UnknownName))
        super().__init__(
            f"{len(errors):,} of {max(n, len(errors)):,} records cannot be taken",
            where="\n         ".join(lines),
            do="; ".join([*list(helps)[:_HELPS], *([] if helps else ["correct these lines"]), "nothing was imported"]),
        )


def required_columns(table: str) -> tuple[str, ...]:
    """Return the columns that every record of a table must have."""
    completed = _COMPLETED.get(table, ())
    return tuple(
        column.name for column in schema.columns(table) if not column.nullable and column.name not in completed
    )


def read_table(
    table: str,
    path: Path,
    options: Options,
    finish: Callable[[Row, Row, str], None],
    *,
    limit: Limit | None = None,
    languages: Mapping[str, Collection[str]] | None = None,
) -> pa.Table:
    """Read a table; one wrong line refuses the whole file.

    Args:
        table: the table's name.
        path: the file.
        options: how its columns are named.
        finish: called with a row, the record it is of and `file:line`; completes the row, raises BadInput if it is
            wrong.
        limit: how much the file may hold.
        languages: by query id, the languages of the queries that an arena has: where there is one, a record that says
            none is in it.

    Raises:
        Refused: listing every wrong line.
        BadInput: if the file cannot be read at all, holds no record, or lacks a column that was named.
    """
    errors: list[BadInput] = []
    data: dict[str, list[Any]] = {column.name: [] for column in schema.columns(table)}
    seen: dict[tuple[str, ...], str] = {}
    names = Names()
    for record, where in named_records(path, options, errors, most=limit.size if limit else None):
        if limit and len(seen) + len(errors) >= limit.rows:
            raise BadInput(f"there are more than {limit.rows:,} {table}", where=where, do=f"use mirage import {table}")
        if languages and not record.get("language"):
            of_query = languages.get(normalise_name(str(record.get("query_id"))), ())
            record |= {"language": next(iter(of_query))} if len(of_query) == 1 else {}
        try:
            row = parse_row(table, record, where)
            finish(row, record, where)
            for name in NAMES.intersection(row):
                if row[name] and not name.endswith("_id"):
                    names.check(row[name], "system" if name.startswith("system") else name, where)
            key = tuple(row[name] for name in schema.key(table))
            if key in seen:
                raise BadInput(f"this repeats {seen[key]}: {', '.join(str(part) for part in key if part)}", where=where)
            seen[key] = where
        except BadInput as error:
            errors.append(error)
            continue
        for name, values in data.items():
            values.append(row[name])
    n = len(seen) + len(errors)
    if errors:
        raise Refused(errors, n)
    if not seen:
        raise BadInput(
            f"this file holds no {table}",
            where=str(path),
            do="give one record a line: " + ", ".join(required_columns(table)),
        )
    return schema.from_columns(table, data)


def named_records(
    path: Path, options: Options, errors: list[BadInput], *, most: int | None = None
) -> Iterator[tuple[Row, str]]:
    """Yield the records of a file under our names, with their places; an invalid line ends the iteration and is added
    to the errors.

    Raises:
        UnknownName: after the last record, if a column that was named is in none of them.
    """
    columns: set[str] = set()
    try:
        for line in store.records(path, most=most):
            columns.update(line.value)
            yield options.apply(line.value), line.where
    except BadInput as error:
        if not error.where.startswith(f"{path}:") and (not columns or most is not None):
            raise
        errors.append(error)
        return
    for field_name in options.names:
        if columns and field_name not in columns and field_name.partition(".")[0] not in columns:
            raise UnknownName("column", field_name, columns, where=str(path))


def parse_row(table: str, record: Mapping[str, Any], where: str) -> Row:
    """Build a row of a table from a record: each column's value, with its type and in its range; null if optional.

    Raises:
        BadInput: at the first invalid column.
    """
    row: Row = {}
    for column in schema.columns(table):
        name, value = column.name, record.get(column.name)
        optional = column.nullable or name in _COMPLETED.get(table, ())
        if name not in record and not optional:
            there = ", ".join(list(record)[:12]) or "no fields"
            raise BadInput(
                f"{name} is missing; there are {there}",
                where=where,
                do=f"say which field it is: --map THEIRS={name}, or what all records have: --set {name}=VALUE",
            )
        absent = value is None or (value == "" and name not in _BLANK.get(table, ()))
        row[name] = None if absent and optional else _READERS[column.kind](column, value, where)
    return row


def _text(column: schema.Column, value: Any, where: str) -> str:
    if type(value) is int and not column.nullable:
        # An id that looks like a number is written as one by many programs; it means its digits.
        value = str(value)
    if isinstance(value, str) and column.name == "verdict":
        value = schema.verdict_word(value)
    if isinstance(value, str) and column.name in NAMES:
        value = normalise_name(value)
        need_visible(value, column.name, where)
    if not isinstance(value, str) or (not value and not column.nullable):
        raise BadInput(f"{column.name} is {value!r}, not a text", where=where)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{column.name} has a lone surrogate", where=where) from None
    if column.languages is not None:
        return language(value, where=where).code
    if column.choices is not None and value not in column.choices:
        raise UnknownName(column.name, value, column.choices, where=where)
    return value


def _count(column: schema.Column, value: Any, where: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    low = int(column.range.low or 0) if column.range else 0
    if type(value) is not int or not low <= value < 2**31:
        raise BadInput(f"{column.name} is {value!r}, not a whole number from {low}", where=where)
    return value


def _number(column: schema.Column, value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    low = column.range.low if column.range and column.range.low is not None else -math.inf
    high = column.range.high if column.range and column.range.high is not None else math.inf
    if not math.isfinite(number) or not low <= number <= high:
        raise BadInput(f"{column.name} is {value!r}, not a number in [{low:g}, {high:g}]", where=where)
    return number


def _flag(column: schema.Column, value: Any, where: str) -> bool:
    flag = value if isinstance(value, bool) else _FLAGS.get(str(value).casefold())
    if flag is None:
        raise BadInput(f"{column.name} is {value!r}, neither true nor false", where=where)
    return flag


_READERS: dict[str, Callable[[schema.Column, Any, str], Any]] = {
    "text": _text,
    "count": _count,
    "number": _number,
    "flag": _flag,
}
