"""The only layer that touches the disk: arenas (Parquet with a manifest), text files in, text files out.

`arena.py` keeps typed tables; `files.py` reads lines with their numbers and writes files whole.
"""

from mirage.store.arena import Arena, bundled, check, open_arena, write
from mirage.store.files import Line, Sink, jsonl, lines, list_files, write_text

__all__ = [
    "Arena",
    "Line",
    "Sink",
    "bundled",
    "check",
    "jsonl",
    "lines",
    "list_files",
    "open_arena",
    "write",
    "write_text",
]
