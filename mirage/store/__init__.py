"""The only layer that touches the disk: arenas (Parquet with a manifest), text files in, text files out.

`arena.py` keeps typed tables; `files.py` reads lines with their numbers and writes files whole; `ledger.py` keeps the
replies of paid services; `runs.py` what the stages of a run were made with.
"""

from mirage.store.arena import Arena, bundled, check, is_arena, open_arena, reopen, write
from mirage.store.copies import copy
from mirage.store.files import Line, Sink, csv_rows, fingerprint, jsonl, lines, list_files, write_bytes, write_text
from mirage.store.ledger import NAME as LEDGER
from mirage.store.ledger import Ledger
from mirage.store.ledger import key as ledger_key
from mirage.store.makers import makers_of
from mirage.store.records import ending, records
from mirage.store.runs import content, record_runs, runs

__all__ = [
    "LEDGER",
    "Arena",
    "Ledger",
    "Line",
    "Sink",
    "bundled",
    "check",
    "content",
    "copy",
    "csv_rows",
    "ending",
    "fingerprint",
    "is_arena",
    "jsonl",
    "ledger_key",
    "lines",
    "list_files",
    "makers_of",
    "open_arena",
    "record_runs",
    "records",
    "reopen",
    "runs",
    "write",
    "write_bytes",
    "write_text",
]
