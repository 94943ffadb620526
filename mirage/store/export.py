"""Export of tables to a file: CSV, JSON Lines or Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput
from mirage.store.arena import open_arena
from mirage.store.files import write_bytes
from mirage.store.sheets import BOM, csv_text

if TYPE_CHECKING:
    import pyarrow as pa


def to_csv(rows: pa.Table) -> str:
    """Convert rows to CSV with a header, safe to open in a spreadsheet (`csv_text`); a null is an empty field.

    It begins with the byte order mark that spreadsheets need to read other characters than ASCII, if there are any.
    """
    text = csv_text(rows.column_names, [tuple(row.values()) for row in rows.to_pylist()])
    return text if text.isascii() else BOM + text


def to_json(rows: pa.Table, about: Mapping[str, Any]) -> str:
    """Convert rows to `{"about": {...}, "rows": [{...}, ...]}`."""
    return json.dumps({"about": dict(about), "rows": rows.to_pylist()}, ensure_ascii=False, indent=1)


def to_jsonl(rows: pa.Table) -> str:
    """Convert rows to JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.to_pylist())


def to_parquet(rows: pa.Table) -> bytes:
    """Convert rows to a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(rows, out, compression="zstd")
    return bytes(out.getvalue())


_KINDS: dict[str, Callable[[pa.Table], str | bytes]] = {".csv": to_csv, ".jsonl": to_jsonl, ".parquet": to_parquet}


def export_table(path: Path, table: str, out: Path, *, languages: Sequence[str] | None = None) -> int:
    """Write a table of an arena into one file, in the format of its extension.

    Args:
        path: the arena's folder.
        table: name of the table.
        out: file named .csv, .jsonl or .parquet; overwritten if it exists.
        languages: codes; None for all.

    Returns:
        Number of rows.

    Raises:
        TableMissing: if the arena lacks the table.
        BadInput: if the extension is unknown, or the file cannot be written.
    """
    _refuse_unknown_kind(out)
    arena = open_arena(path)
    arena.need(table)
    rows = arena.read(table, languages=languages)
    export_rows(rows, out)
    return len(rows)


def export_rows(rows: pa.Table, out: Path) -> None:
    """Write rows into one file, in the format of its extension.

    Args:
        rows: the rows.
        out: file named .csv, .jsonl or .parquet; overwritten if it exists.

    Raises:
        BadInput: if the extension is unknown, or the file cannot be written.
    """
    _refuse_unknown_kind(out)
    content = _KINDS[out.suffix](rows)
    write_whole(out, content if isinstance(content, bytes) else content.encode("utf-8"))


def _refuse_unknown_kind(out: Path) -> None:
    if out.suffix not in _KINDS:
        raise BadInput(f"{out.name} has an unknown extension", do=f"use one of {', '.join(_KINDS)}")


def write_whole(out: Path, data: bytes) -> None:
    """Write a file atomically.

    Raises:
        BadInput: if it cannot be written.
    """
    try:
        write_bytes(out, data)
    except OSError as error:
        raise BadInput(
            f"{out} cannot be written: {error.strerror or error}", do="free space or check permissions"
        ) from None
