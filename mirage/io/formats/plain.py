"""Plain files of battles, read by column: CSV, JSON Lines or Parquet with clean texts alone and no repeated verdict."""

from __future__ import annotations

from json import loads
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema
from mirage.battles.decision import VERDICTS
from mirage.battles.judge import RESERVED
from mirage.battles.verdict_rows import OF_KNOWN
from mirage.errors import MirageError
from mirage.io.formats.spec import ABSENT, NO_TEXT, Tables
from mirage.store.files import lines
from mirage.text.languages import fold_codes
from mirage.text.languages import language as language_of
from mirage.text.names import Names, normalise_names

if TYPE_CHECKING:
    import pyarrow as pa

_BATTLE = ("query_id", "system_a", "system_b", "verdict")
_COLUMNS = frozenset((*_BATTLE, "language", "judge"))
"""Columns of a plain file; one with others is read record by record."""
_ODD = "^$|^['=+@-]|[\\p{C}]"
"""Texts that may need more than taking over: empty, escaped for spreadsheets, with control characters."""
_KINDS = {"system_a": "system", "system_b": "system", "judge": "judge"}


def read_plain(path: Path) -> tuple[Tables, dict[str, str]] | None:
    """Return the tables of a plain file of battles, and what was assumed by column; None if a record may need more
    than taking over.
    """
    import pyarrow as pa

    rows = _read_columns(path)
    try:
        if rows is None or not _is_plain(rows):
            return None
    except MirageError:
        return None  # the reader of records says where
    columns = {name: rows[name] for name in rows.column_names}
    absent = {name: ABSENT[name] for name in ABSENT if name not in columns}
    columns |= {name: pa.repeat(value, len(rows)) for name, (value, _) in absent.items()}
    judgments = schema.from_columns("judgments", columns)
    queries = judgments.group_by(["language", "query_id"], use_threads=False).aggregate([])
    known = {name: queries[name] for name in ("language", "query_id")} | {"reason": pa.repeat(NO_TEXT, len(queries))}
    tables = {"queries": schema.from_columns("queries", known), "judgments": judgments}
    return tables, {name: why for name, (_, why) in absent.items()}


def _read_columns(path: Path) -> pa.Table | None:
    """Read the columns of a file as texts; None if it has other columns or another format."""
    import pyarrow as pa
    from pyarrow import csv, json, parquet

    texts = csv.ConvertOptions(column_types=dict.fromkeys(_COLUMNS, pa.string()), strings_can_be_null=False)
    try:
        # The names first: a file of long answers is not to be read twice.
        if path.suffix == ".csv":
            names = csv.open_csv(path, convert_options=texts).schema.names
        elif path.suffix == ".jsonl":
            first = loads(next((text for _, text in lines(path)), "{}"))
            names = list(first) if isinstance(first, dict) else []
        elif path.suffix == ".parquet":
            names = parquet.read_schema(path).names
        else:
            return None
        if not set(_BATTLE) <= set(names) <= _COLUMNS or len(set(names)) < len(names):
            return None
        if path.suffix == ".csv":
            rows = csv.read_csv(path, convert_options=texts)
        else:
            rows = json.read_json(path) if path.suffix == ".jsonl" else parquet.read_table(path)
    except (pa.ArrowException, MirageError, OSError, ValueError):
        return None
    same = set(rows.column_names) == set(names) and all(column.type == pa.string() for column in rows.columns)
    return rows if same and len(rows) else None


def _is_plain(rows: pa.Table) -> bool:
    """Return whether the values can be taken over as they are.

    Raises:
        BadInput: if a name is hidden, or differs from another in case, width or spaces only.
        UnknownName: if a language is not known.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = Names()
    for name in rows.column_names:
        values = pc.unique(rows[name])
        if values.null_count or pc.any(pc.match_substring_regex(values, _ODD)).as_py():
            return False
        if not values.equals(normalise_names(values)):
            return False
        texts = values.to_pylist()
        if name == "verdict" and not set(texts) <= set(VERDICTS):
            return False
        if name == "language" and (fold_codes(texts) or any(language_of(code).code != code for code in texts)):
            return False
        if name == "judge" and any(text in RESERVED or text.startswith(OF_KNOWN) for text in texts):
            return False
        for text in texts if name in _KINDS else ():
            names.check(text, _KINDS[name], "")
    if pc.any(pc.equal(rows["system_a"], rows["system_b"])).as_py():
        return False
    keys = [name for name in rows.column_names if name != "verdict"]
    encoded = pa.table({name: rows[name].dictionary_encode() for name in keys})
    if len(encoded.group_by(keys).aggregate([])) < len(rows):
        return False
    of_query = [name for name in ("language", "query_id") if name in keys]
    queries = encoded.group_by(of_query).aggregate([])
    for *language, query in zip(*(queries[name].to_pylist() for name in of_query), strict=True):
        names.check(query, "id", "", *language)
    return True
