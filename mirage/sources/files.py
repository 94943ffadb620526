"""Bring your own: verdicts of any judge, from JSON Lines or CSV.

    {"language": "sw", "query_id": "12", "judge": "gpt-4o", "system_a": "mine", "system_b": "aya-101", "verdict": "A"}

or the same six columns under a CSV header; `rationale` may be a seventh, anything else is ignored. `verdict` speaks of
the order shown: `A` says that `system_a` is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.languages import LANGUAGES

if TYPE_CHECKING:
    import pyarrow as pa

NEEDED = ("language", "query_id", "judge", "system_a", "system_b", "verdict")
"""Columns that every record must have."""
VERDICTS = ("A", "B", "tie", "unparsed")
SHOWN = 10
"""Refused lines that the error lists; it counts the others."""


def judgments(path: Path, *, known: pa.Table | None = None) -> pa.Table:
    """Read verdicts; one wrong line refuses the whole file.

    Args:
        path: a file named `.jsonl` or `.csv`, with `.gz` after it if compressed.
        known: a table with `language`, `query_id` and `system`, such as `answers`: a question or system that is not in
            it is then an error. None takes every name.

    Returns:
        Table `judgments`.

    Raises:
        BadInput: naming file and line of what is wrong: the first ten such lines, and how many there are.
    """
    asked, systems = (None, None) if known is None else _known(known)
    data: dict[str, list[Any]] = {name: [] for name in (*NEEDED, "rationale")}
    seen: dict[tuple[str, ...], str] = {}
    wrong: list[BadInput] = []
    for record in _records(path, wrong):
        try:
            row = _row(record, asked, systems)
            key = tuple(str(row[name]) for name in schema.key("judgments"))
            if key in seen:
                raise BadInput(f"this repeats {seen[key]}: {', '.join(key)}", where=record.where)
            seen[key] = record.where
        except BadInput as error:
            wrong.append(error)
            continue
        for name, values in data.items():
            values.append(row[name])
    if wrong:
        raise _refused(wrong, len(seen) + len(wrong))
    if not seen:
        raise BadInput(
            "this file holds no judgment", where=str(path), do="give one record a line: " + ", ".join(NEEDED)
        )
    return schema.from_columns("judgments", data)


def _records(path: Path, wrong: list[BadInput]) -> Iterator[store.Line]:
    """The records of a file; a line that is no record ends them and is kept as what is wrong."""
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind not in (".jsonl", ".csv"):
        raise BadInput(
            f"{path.name} is named neither .jsonl nor .csv", do="name it for what it holds, .gz if compressed"
        )
    try:
        yield from (store.csv_rows if kind == ".csv" else store.jsonl)(path)
    except BadInput as error:
        wrong.append(error)


def _known(table: pa.Table) -> tuple[set[tuple[str, str]], dict[str, set[str]]]:
    """The questions, and the systems of each language."""
    queries = table.group_by(["language", "query_id"]).aggregate([])
    asked = set(zip(queries["language"].to_pylist(), queries["query_id"].to_pylist(), strict=True))
    pairs = table.group_by(["language", "system"]).aggregate([])
    systems: dict[str, set[str]] = {}
    for code, system in zip(pairs["language"].to_pylist(), pairs["system"].to_pylist(), strict=True):
        systems.setdefault(code, set()).add(system)
    return asked, systems


def _row(
    record: store.Line, asked: set[tuple[str, str]] | None, systems: dict[str, set[str]] | None
) -> dict[str, str | None]:
    """One judgment."""
    value, where = record.value, record.where
    row: dict[str, str | None] = {}
    for name in NEEDED:
        if name not in value:
            raise BadInput(f"{name} is missing; there are {', '.join(value) or 'no fields'}", where=where)
        given = value[name]
        # An id that looks like a number is written as one by many programs; it means its digits.
        text = str(given) if type(given) is int else given
        if not isinstance(text, str) or not text:
            raise BadInput(f"{name} is {given!r}, not a text", where=where)
        row[name] = text
    rationale = value.get("rationale")
    if not isinstance(rationale, str | None):
        raise BadInput(f"rationale is {rationale!r}, not a text", where=where)
    row["rationale"] = rationale or None

    language, query, first, second = (str(row[name]) for name in ("language", "query_id", "system_a", "system_b"))
    if language not in LANGUAGES:
        raise UnknownName("language", language, LANGUAGES, where=where)
    if row["verdict"] not in VERDICTS:
        raise UnknownName("verdict", str(row["verdict"]), VERDICTS, where=where)
    if first == second:
        raise BadInput(f"{first} is compared with itself", where=where)
    if asked is not None and systems is not None:
        for system in (first, second):
            if system not in systems.get(language, ()):
                raise UnknownName(f"system in {language}", system, systems.get(language, ()), where=where)
        if (language, query) not in asked:
            raise BadInput(f"the arena has no question {query!r} in {language}", where=where)
    return row


def _refused(wrong: list[BadInput], n: int) -> BadInput:
    """One error for all lines that are wrong."""
    if len(wrong) == 1:
        (error,) = wrong
        return BadInput(error.what, where=error.where, do=error.do or "correct the line; nothing was imported")
    shown = [f"{e.where}: {e.what}" + (f" ({e.do})" if isinstance(e, UnknownName) else "") for e in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        shown.append(f"... and {len(wrong) - SHOWN:,} more")
    return BadInput(
        f"{len(wrong):,} of {n:,} records cannot be taken",
        where="\n         ".join(shown),
        do="correct these lines; nothing was imported",
    )
