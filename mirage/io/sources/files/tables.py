"""Read the three kinds of files: queries with their passages, answers, verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.sources.files.options import PASSAGES, Options
from mirage.io.sources.files.read import Limit, Refused, Row, named_records, parse_row, read_table
from mirage.text.dates import utc_day
from mirage.text.thoughts import store_answer

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.stages.judge import OrderedPair

Kind = Literal["answers", "queries", "judgments"]
"""Kind of the records of a file."""
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


def read_judgments(
    path: Path, *, options: Options | None = None, known: pa.Table | None = None, queries: pa.Table | None = None
) -> pa.Table:
    """Read verdicts; one wrong line refuses the whole file. `verdict` speaks of the order shown: `A` says that
    `system_a` is better. `points`, where given, are what `system_a` takes of the one point of the battle; a row with
    points alone gets the verdict that is nearest: `A` above 0.5, `B` below, `tie` at 0.5.

    Args:
        path: a file named `.jsonl`, `.csv` or `.parquet`, with `.gz` after it if compressed.
        options: how its columns are named.
        known: a table with `language`, `query_id` and `system`, such as `answers`: a query or system that is not in
            it is then an error. None takes every name.
        queries: without these, a table with `language` and `query_id`: a query that is not in it is an error.

    Returns:
        Table `judgments`.

    Raises:
        Refused: listing every wrong line.
        BadInput: if the file cannot be read, holds no record, or lacks a column that was named.
    """
    options = options or Options()
    options.check("judgments")
    keys = None if queries is None else _queries(queries)
    systems = None
    if known is not None:
        keys, systems = _queries(known), _systems(known)

    def finish(row: Row, _: Row, where: str) -> None:
        if row["system_a"] == row["system_b"]:
            raise BadInput(f"{row['system_a']} is compared with itself", where=where)
        if row["verdict"] is None:
            if row["points"] is None:
                raise BadInput("there is neither a verdict nor points", where=where, do="give one of them")
            row["verdict"] = schema.verdict_of(row["points"])
        if row["points"] is not None and row["verdict"] == "unparsed":
            raise BadInput("there are points, but the verdict is unparsed", where=where)
        if row["reason"] and row["verdict"] != "unparsed":
            raise BadInput(f"the verdict is {row['verdict']}, but there is a reason why there is none", where=where)
        for name in ("system_a", "system_b") if systems is not None else ():
            language = row["language"]
            if systems is not None and row[name] not in systems.get(language, ()):
                raise UnknownName(f"system in {language}", row[name], systems.get(language, ()), where=where)
        row["call"] = None
        row["repeat"] = row["repeat"] or None
        row["judge"] = schema.criterion_judge(row["judge"], row["criterion"])
        _refuse_unknown(row, keys, where)

    return read_table("judgments", path, options, finish, languages=_languages(keys))


def read_battle_list(path: Path) -> list[OrderedPair]:
    """Read a list of battles, as `mirage place --next FILE` writes it: language, query_id, system_a, system_b.

    One wrong line refuses the file.

    Args:
        path: a file named `.jsonl`, `.csv` or `.parquet`, with `.gz` after it if compressed.

    Raises:
        Refused: listing every wrong line.
        BadInput: if the file cannot be read or holds no record.
    """
    from mirage.stages.judge import OrderedPair

    errors: list[BadInput] = []
    keys = [name for name in schema.BATTLE if name != "judge"]
    rows = []
    for record, where in named_records(path, Options(), errors):
        try:
            # A battle is a verdict that has no judge yet.
            row = parse_row("judgments", {**record, "judge": "none yet", "verdict": "unparsed"}, where)
        except BadInput as error:
            errors.append(error)
            continue
        rows.append(OrderedPair(row[keys[0]], row[keys[1]], row[keys[2]], row[keys[3]]))
    if errors:
        raise Refused(errors, len(rows) + len(errors))
    if not rows:
        raise BadInput("this file holds no battles", where=str(path), do=f"give one record a line: {', '.join(keys)}")
    return rows


def read_queries(path: Path, *, passages: Path | None = None, options: Options | None = None) -> dict[str, pa.Table]:
    """Read queries, with passages in the records or in a separate file; one invalid line rejects the file.

    A passage's `position` is its place in the list, or in the file among those of its query, where none is given.

    Args:
        path: a file named `.jsonl`, `.csv` or `.parquet`, with `.gz` after it if compressed. The field `passages` of a
            record may be a list of objects with the columns of that table, those of the query left out.
        passages: a file of the same kind with one passage a record.
        options: how the columns are named.

    Returns:
        Table `queries`, and table `passages` if there are any.

    Raises:
        Refused: listing every wrong line.
        BadInput: if a file cannot be read, holds no record, or lacks a column that was named.
    """
    options = options or Options()
    options.check("queries")
    of_passages = options.of_passages()
    rows_by_query: dict[_Key, list[Row]] = {}
    subsets: dict[_Key, str | None] = {}
    columns: set[str] = set()

    def finish(row: Row, record: Row, where: str) -> None:
        key = row["language"], row["query_id"]
        if row["text"] is None and row["reason"] is None:
            raise BadInput("text is missing: give the query, or in reason why there is none", where=where)
        if row["text"] is not None and row["reason"] is not None:
            raise BadInput("there is a text, and a reason why there is none", where=where)
        entries = record.get(PASSAGES)
        if entries is not None and passages is not None:
            raise BadInput(f"there are passages here and in {passages.name}", where=where, do="give them in one place")
        if not isinstance(entries, list | None):
            raise BadInput(
                f"{PASSAGES} is no list", where=where, do="give the passages in a separate file: --passages FILE"
            )
        rows = [_inner(entry, place, row, of_passages, where) for place, entry in enumerate(entries or (), start=1)]
        _check_passages(rows, row["subset"], where)
        columns.update(*(entry for entry in entries or ()))
        subsets[key] = row["subset"]
        rows_by_query[key] = rows

    tables = {"queries": read_table("queries", path, options.own(), finish)}
    if passages is not None:
        tables[PASSAGES] = _passages(passages, of_passages, subsets)
    elif any(rows_by_query.values()):
        for field_name in of_passages.names:
            if field_name not in columns:
                raise UnknownName(f"{PASSAGES} column", field_name, columns, where=str(path))
        rows = [row for of_query in rows_by_query.values() for row in of_query]
        tables[PASSAGES] = schema.from_columns(PASSAGES, {name: [row[name] for row in rows] for name in rows[0]})
    return tables


def _inner(entry: Any, place: int, query: Row, options: Options, where: str) -> Row:
    """Read a passage in the record of its query."""
    try:
        if not isinstance(entry, Mapping):
            raise BadInput(f"it is {entry!r}, not an object", where=where)
        record = options.apply(entry) | {name: query[name] for name in ("language", "query_id")}
        row = parse_row(PASSAGES, record, where)
    except BadInput as error:
        raise BadInput(f"passage {place}: {error.what}", where=where, do=error.do) from None
    row["position"] = row["position"] or place
    return row


def _passages(path: Path, options: Options, subsets: Mapping[_Key, str | None]) -> pa.Table:
    """Read passages from a separate file, each for one of the queries."""
    of_query: dict[_Key, dict[str, Row]] = {}
    last_places: dict[_Key, str] = {}

    def finish(row: Row, _: Row, where: str) -> None:
        key = row["language"], row["query_id"]
        if key not in subsets:
            raise BadInput(f"there is no query {key[1]!r} in {key[0]} for this passage", where=where)
        rows = of_query.setdefault(key, {})
        row["position"] = row["position"] or len(rows) + 1
        rows.setdefault(row["passage_id"], row)
        last_places[key] = where

    def rest(errors: list[BadInput]) -> None:
        for key, rows in of_query.items():
            try:
                _check_passages(list(rows.values()), subsets[key], last_places[key])
            except BadInput as error:
                errors.append(BadInput(f"query {key[1]} in {key[0]}: {error.what}", where=error.where))

    return read_table(PASSAGES, path, options, finish, rest=rest)


def _check_passages(rows: list[Row], subset: str | None, where: str) -> None:
    """Reject passages of one query that conflict with each other or with its subset."""
    for name in ("passage_id", "position"):
        values = [row[name] for row in rows]
        if len(set(values)) < len(values):
            repeated = next(value for value in values if values.count(value) > 1)
            raise BadInput(f"two passages have the {name} {repeated}", where=where)
    labels = [row["relevant"] for row in rows]
    if subset == "non_relevant" and True in labels:
        raise BadInput("the subset is non_relevant, but a passage is labelled relevant", where=where)
    if subset == "relevant" and labels and not any(label is not False for label in labels):
        raise BadInput("the subset is relevant, but every passage is labelled as not", where=where)


def _queries(table: pa.Table) -> set[_Key]:
    queries = table.group_by(["language", "query_id"]).aggregate([])
    return set(zip(queries["language"].to_pylist(), queries["query_id"].to_pylist(), strict=True))


def _languages(queries: Collection[_Key] | None) -> dict[str, set[str]]:
    """Return the languages of each query id."""
    languages: dict[str, set[str]] = {}
    for code, query_id in queries or ():
        languages.setdefault(query_id, set()).add(code)
    return languages


def _systems(table: pa.Table) -> dict[str, set[str]]:
    """Return the systems of each language."""
    pairs = table.group_by(["language", "system"]).aggregate([])
    systems: dict[str, set[str]] = {}
    for code, system in zip(pairs["language"].to_pylist(), pairs["system"].to_pylist(), strict=True):
        systems.setdefault(code, set()).add(system)
    return systems


def _refuse_unknown(row: Row, queries: set[_Key] | None, where: str) -> None:
    if queries is not None and (row["language"], row["query_id"]) not in queries:
        raise BadInput(f"the arena has no query {row['query_id']!r} in {row['language']}", where=where)
