"""The only layer that reads and writes files: arenas (Parquet with a manifest), and text files.

`arena.py` reads typed tables, `writing.py` replaces them, `upsert.py` merges rows into them in one transaction;
`files.py` reads lines with their numbers and writes files atomically; `copies.py` copies arenas, also to and from
object storage; `ledger.py` caches the replies of paid services; `runs.py` records the
inputs of pipeline steps.
"""

from mirage.store.archives import archive_names, archived_documents, is_archive
from mirage.store.arena import (
    Arena,
    bundled_arenas,
    check,
    chosen_queries,
    is_arena,
    open_arena,
    refuse_bundled,
    reopen,
)
from mirage.store.copies import copy, copy_arena
from mirage.store.export import export_rows, write_whole
from mirage.store.files import (
    Line,
    Sink,
    csv_rows,
    find_files,
    fingerprint,
    jsonl,
    lines,
    list_files,
    need_file,
    write_bytes,
    write_text,
)
from mirage.store.folders import locate
from mirage.store.json_members import json_members
from mirage.store.ledger import NAME as LEDGER
from mirage.store.ledger import Ledger, kept_ledger, ledger_path
from mirage.store.ledger import ledger_key as ledger_key
from mirage.store.lineage import LINEAGE, derived_tables
from mirage.store.makers import makers_of
from mirage.store.records import beginning, ending, is_longer, kind, records
from mirage.store.runs import content, record_judge, record_run, runs, settings_of
from mirage.store.scan import columns_of, parquet_rows, scan
from mirage.store.sheets import csv_text
from mirage.store.tags import count_queries, parse_tag, select_tagged, tag_values
from mirage.store.upsert import (
    NewRows,
    Snapshot,
    UpsertResult,
    by_key,
    consistently,
    not_about,
    retry_outdated,
    upsert,
)
from mirage.store.writing import Provenance, Settings, write

__all__ = [
    "LEDGER",
    "LINEAGE",
    "Arena",
    "Ledger",
    "Line",
    "NewRows",
    "Provenance",
    "Settings",
    "Sink",
    "Snapshot",
    "UpsertResult",
    "archive_names",
    "archived_documents",
    "beginning",
    "bundled_arenas",
    "by_key",
    "check",
    "chosen_queries",
    "columns_of",
    "consistently",
    "content",
    "copy",
    "copy_arena",
    "count_queries",
    "csv_rows",
    "csv_text",
    "derived_tables",
    "ending",
    "export_rows",
    "find_files",
    "fingerprint",
    "is_archive",
    "is_arena",
    "is_longer",
    "json_members",
    "jsonl",
    "kept_ledger",
    "kind",
    "ledger_key",
    "ledger_path",
    "lines",
    "list_files",
    "locate",
    "makers_of",
    "need_file",
    "not_about",
    "open_arena",
    "parquet_rows",
    "parse_tag",
    "record_judge",
    "record_run",
    "records",
    "refuse_bundled",
    "reopen",
    "retry_outdated",
    "runs",
    "scan",
    "select_tagged",
    "settings_of",
    "tag_values",
    "upsert",
    "write",
    "write_bytes",
    "write_text",
    "write_whole",
]
