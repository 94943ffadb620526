"""Files of an arena against the contract of its tables, when a table is first read.

An arena may come from anywhere, and its hashes say only that its manifest agrees. What a page, a query or an export
relies on is therefore checked before the first row is used: types, nulls, enumerations, languages, dates and numbers.
`arena.check` also verifies hashes, keys, names and order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput
from mirage.store.manifest import damage_error, verify

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


_CHECKED: set[tuple[Path, str]] = set()
"""Path and hash of files that were checked."""


def refuse_foreign_values(
    folder: Path, manifest: Mapping[str, Any], version: str, table: str, files: Iterable[Mapping[str, Any]]
) -> None:
    """Check files of a table by their entries in an arena's manifest, each once in a process.

    Raises:
        ArenaError: if a file cannot be read, or has other columns, rows or languages than it should.
        BadInput: naming the column, if a value breaks the contract.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    new = {(folder / file["path"], file["sha256"]): file for file in files}
    if new := {key: file for key, file in new.items() if key not in _CHECKED}:
        parts = []
        for (path, _), file in new.items():
            try:
                parts.append(_read_ruled(table, path, file))
            except (OSError, ValueError, pa.ArrowException) as error:
                verify(folder, manifest, version)
                raise damage_error(folder, file, str(error)) from None
        rows = pa.concat_tables(parts, promote_options="default").unify_dictionaries()
        for name in rows.column_names:
            column, values = schema.column(table, name), rows[name]
            if column.kind == "text":  # few texts differ where there is a rule
                values = pc.unique(values).cast(column.arrow)
            for bad, breach in schema.breaches(column, values):
                if pc.any(bad).as_py():
                    what = f"{table}.{name} {breach}; the first such value is {values.filter(bad)[0].as_py()!r}"
                    raise BadInput(what, where=f"{folder}/{table}", do=f"{name}: {column.meaning}")
    _CHECKED.update(new)


def _read_ruled(table: str, path: Path, file: Mapping[str, Any]) -> pa.Table:
    """Read the columns of a file in which a value may break the contract.

    Raises:
        ValueError: if the file has other columns, rows or languages than it should.
    """
    import pyarrow.parquet as pq

    columns = [column for column in schema.columns(table) if column.has_rule]
    known = [column.name for column in columns if column.kind == "text" and column.name not in schema.left_out(table)]
    with pq.ParquetFile(path, read_dictionary=known, pre_buffer=False) as parquet:
        if parquet.metadata.num_rows != file["rows"]:
            raise ValueError(f"{parquet.metadata.num_rows:,} rows instead of {file['rows']:,}")
        rows = parquet.read(_check_columns(table, parquet), use_threads=False)
    rows.validate(full=True)  # texts are UTF-8
    codes = rows["language"].unique().to_pylist() if "language" in rows.column_names else []
    if file["language"] and codes not in ([file["language"]], []):
        raise ValueError("its language does not match the manifest")
    return rows


def _check_columns(table: str, parquet: pq.ParquetFile) -> list[str]:
    """Return the columns of a file in which a value may break the contract.

    Raises:
        ValueError: if a column is missing, of another type, or named twice.
    """
    stored, ruled = parquet.schema.to_arrow_schema(), []
    fields = [parquet.schema.column(k) for k in range(len(parquet.schema))]
    optional = {field.path for field in fields if field.max_definition_level}
    names = [name.lower() for name in stored.names]  # as DuckDB compares them
    for column in schema.columns(table):
        if names.count(column.name) > (column.name in stored.names):
            raise ValueError(f"two columns are named {column.name}, or one in another case")
        if column.name not in stored.names:
            if not column.nullable:
                raise ValueError(f"it has no column {column.name}")
        elif (kind := stored.field(column.name).type) != column.arrow:
            raise ValueError(f"{column.name} is {kind}, not {column.arrow}")
        elif column.has_rule or (column.name in optional and not column.nullable):
            ruled.append(column.name)
    return ruled
