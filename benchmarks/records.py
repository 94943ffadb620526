"""Import of flat RAG records: records a second of processor time beside `json.loads` alone, and memory of many rows."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, in_fresh_process

RECORDS, MANY, SYSTEMS, PASSAGES = 200_000, 500_000, 10, 5

_READ = """
import json, sys, time
from pathlib import Path
import pyarrow, pyarrow.compute, pyarrow.parquet
from mirage.io.formats import rag, run, finish
path = Path({path!r})
start = time.process_time()
with path.open("rb") as lines:
    for line in lines:
        json.loads(line)
print("bare=" + str(time.process_time() - start))
start = time.process_time()
tables, summary = run.read(path, name="rag")
print("ours=" + str(time.process_time() - start))
print("records=" + str(summary.records))
"""
_IMPORT = """
import time
from pathlib import Path
from mirage.io.imports import import_file
start = time.perf_counter()
arena = import_file(Path({path!r}), Path({into!r})).arena
print("seconds=" + str(time.perf_counter() - start))
print("answers=" + str(arena.rows("answers")))
"""


def write(path: Path, n: int, *, words: int, seed: int = 0) -> None:
    """Write records of queries that ten systems answer from the same five passages.

    Args:
        path: the file.
        n: number of records.
        words: words of a passage; an answer has half as many.
        seed: of the words.
    """
    generator = np.random.default_rng(seed)
    vocabulary = [f"word{number}" for number in range(2_000)]

    def text(length: int) -> str:
        return " ".join(vocabulary[i] for i in generator.integers(0, len(vocabulary), length))

    with path.open("w", encoding="utf-8") as file:
        for number in range(n // SYSTEMS):
            shared = {
                "question": f"Which bridge has the number {number}?",
                "language": "en",
                "contexts": [text(words) for _ in range(PASSAGES)],
            }
            for system in range(SYSTEMS):
                answer = f"{text(words // 4)} [1] {text(words // 4)} [2]."
                file.write(json.dumps({**shared, "system": f"system {system}", "answer": answer}) + "\n")


def run() -> list[Row]:
    """Time reading and building in a fresh process, and take the memory of a whole import."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        write(path, RECORDS, words=60)
        read, _ = in_fresh_process(_READ.format(path=str(path)))
        write(path, MANY, words=24)
        whole, peak = in_fresh_process(_IMPORT.format(path=str(path), into=f"{folder}/arena"))
    return [
        Row(
            f"{RECORDS:,} flat RAG records with {PASSAGES} passages each, read and built",
            f"{read['records'] / read['ours']:,.0f} records/s of one core ({read['ours']:.1f} s)",
            f"json.loads alone: {read['bare']:.1f} s",
            f"{read['ours'] / read['bare']:.1f} times that time",
            "at least 20,000 records/s of one core",
        ),
        Row(
            f"memory of the import of {whole['answers']:,.0f} answers ({whole['seconds']:.0f} s)",
            f"{peak:,.0f} MB at its peak",
            "",
            "",
            "under 1,000 MB",
        ),
    ]
