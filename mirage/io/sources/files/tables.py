"""Read the three kinds of files: queries with their passages, answers, verdicts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import BadInput
from mirage.io.sources.files.options import Options
from mirage.io.sources.files.read import Limit, Row, read_table
from mirage.text.dates import utc_day
from mirage.text.thoughts import store_answer

if TYPE_CHECKING:
    import pyarrow as pa


_Key = tuple[str, str]
_FAILED = ("refused", "api_error")
_FITTING = {
    "no text": ("missing", *_FAILED),
    "an empty text": ("empty", "truncated", *_FAILED),
    "a text": ("ok", "truncated", *_FAILED),
}
"""How an answer may have ended, by what there is of it; the first where a record does not say."""


def read_answers(
    path: Path, *, options: Options | None = None, known: pa.Table | None = None, limit: Limit | None = None
) -> pa.Table:
    """Read what systems answered; one wrong line refuses the whole file.

    A record without `status` is `ok`, `empty` if its text is white space, or `missing` if it has no text.

    Args:
        path: a file named `.jsonl`, `.csv` or `.parquet`, with `.gz` after it if compressed.
        options: how its columns are named.
        known: a table with `language` and `query_id`, such as `queries`: an answer to a query that is not in it is
            then an error. None takes every query.
        limit: how much the file may hold; None for any amount.

    Returns:
        Table `answers`.

    Raises:
        Refused: listing every wrong line.
        BadInput: if the file cannot be read, holds no record, or lacks a column that was named.
    """
    options = options or Options()
    options.check("answers")
    queries = None if known is None else _queries(known)

    def finish(row: Row, record: Row, where: str) -> None:
        if record.get("sample") not in (None, "", 0, "0"):
            raise BadInput(
                f"sample {record['sample']!r}: only first answers can be read so",
                where=where,
                do="use mirage import FILE --into DIR, which also reads further samples",
            )
        if row["text"] == "" and row["status"] in _FITTING["no text"]:
            row["text"] = None  # CSV writes both alike
        row |= asdict(store_answer(*(row[name] for name in ("text", "status", "reason", "thoughts"))))
        content = "no text" if row["text"] is None else "a text" if row["text"].strip() else "an empty text"
        row["status"] = row["status"] or _FITTING[content][0]
        if row["status"] not in _FITTING[content]:
            raise BadInput(f"status is {row['status']}, but there is {content}", where=where)
        row["call"] = None
        day = row["run_date"] or record.get("created_at")
        row["run_date"] = None if day in (None, "") else utc_day(day, where=where)
        _refuse_unknown(row, queries, where)

    return read_table(
        "answers",
        path,
        options,
        finish,
        limit=limit,
        languages=_languages(queries),
    )


def _queries(table: pa.Table) -> set[_Key]:
    queries = table.group_by(["language", "query_id"]).aggregate([])
    return set(zip(queries["language"].to_pylist(), queries["query_id"].to_pylist(), strict=True))


def _languages(queries: Collection[_Key] | None) -> dict[str, set[str]]:
    """Return the languages of each query id."""
    languages: dict[str, set[str]] = {}
    for code, query_id in queries or ():
        languages.setdefault(query_id, set()).add(code)
    return languages


def _refuse_unknown(row: Row, queries: set[_Key] | None, where: str) -> None:
    if queries is not None and (row["language"], row["query_id"]) not in queries:
        raise BadInput(f"the arena has no query {row['query_id']!r} in {row['language']}", where=where)
