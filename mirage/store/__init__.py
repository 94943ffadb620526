"""The only layer that touches the disk: arenas (Parquet with a manifest), text files in, text files out.

`arena.py` reads typed tables, `writing.py` writes them whole, `upsert.py` puts rows beside those of others in one
transaction; `files.py` reads lines with their numbers and writes files whole; `ledger.py` keeps the
replies of paid services; `runs.py` what the stages of a run were made with.
"""

from mirage.store.arena import Arena, bundled, check, is_arena, open_arena, reopen
from mirage.store.copies import copy
from mirage.store.export import export_rows, export_table, to_csv, to_json, to_jsonl, to_parquet, write_whole
from mirage.store.files import Line, Sink, csv_rows, fingerprint, jsonl, lines, list_files, write_bytes, write_text
from mirage.store.ledger import NAME as LEDGER
from mirage.store.ledger import Ledger, kept_ledger, ledger_path
from mirage.store.ledger import ledger_key as ledger_key
from mirage.store.makers import makers_of
from mirage.store.records import ending, records
from mirage.store.runs import content, record_run, runs
from mirage.store.sheets import csv_text
from mirage.store.upsert import (
    NewRows,
    Outdated,
    Snapshot,
    UpsertResult,
    by_key,
    consistently,
    derived,
    retry_outdated,
    upsert,
)
from mirage.store.writing import write

__all__ = [
    "LEDGER",
    "Arena",
    "Ledger",
    "Line",
    "NewRows",
    "Outdated",
    "Sink",
    "Snapshot",
    "UpsertResult",
    "bundled",
    "by_key",
    "check",
    "consistently",
    "content",
    "copy",
    "csv_rows",
    "csv_text",
    "derived",
    "ending",
    "export_rows",
    "export_table",
    "fingerprint",
    "is_arena",
    "jsonl",
    "kept_ledger",
    "ledger_key",
    "ledger_path",
    "lines",
    "list_files",
    "makers_of",
    "open_arena",
    "record_run",
    "records",
    "reopen",
    "retry_outdated",
    "runs",
    "to_csv",
    "to_json",
    "to_jsonl",
    "to_parquet",
    "upsert",
    "write",
    "write_bytes",
    "write_text",
    "write_whole",
]
