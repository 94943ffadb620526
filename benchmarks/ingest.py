"""Import of the published NoMIRACL outputs to a written arena, and of flat RAG records beside `json.loads`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import DATA, Row, in_fresh_process

OUTPUTS = DATA / "nomiracl"

_IMPORT = """
import sys, time
from pathlib import Path
from mirage.store import cores
from mirage.io.imports import public
start = time.perf_counter()
arena = public.import_outputs(Path({source!r}), Path({into!r}), processes=cores.available())
print("seconds=" + str(time.perf_counter() - start))
print("answers=" + str(arena.rows("answers")))
"""

_READ = """
import gzip, json, sys, time
from pathlib import Path
start = time.perf_counter()
n = 0
for path in sorted(Path({source!r}).glob("*/*.jsonl.gz")):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            n += len(json.loads(line)["results"])
print("seconds=" + str(time.perf_counter() - start))
print("answers=" + str(n))
"""


ROUNDS = 5
"""Imports, each between two bare loops, as a machine is not equally fast all the time."""


def published_outputs() -> list[Row]:
    """Time the import in fresh processes, each beside bare loops over gzip and json; the worst round counts."""
    if not OUTPUTS.is_dir():
        return [Row("import of the published NoMIRACL outputs", "not run", f"the files are not at {OUTPUTS}", "", "")]
    bare = [_seconds(_READ.format(source=str(OUTPUTS)))[0]]
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            seconds, answers, peak = _seconds(_IMPORT.format(source=str(OUTPUTS), into=f"{folder}/arena"))
        bare.append(_seconds(_READ.format(source=str(OUTPUTS)))[0])
        beside = (bare[-2] + bare[-1]) / 2
        rounds.append((seconds / beside, seconds, beside, answers, peak))
    ratio, seconds, beside, answers, peak = max(rounds)
    least = min(rounds)[0]
    return [
        Row(
            f"import of {answers:,.0f} answers, with outcomes by both parsers, to a written arena; worst of {ROUNDS}",
            f"{answers / seconds:,.0f} answers/s ({seconds:.1f} s)",
            f"gzip and json alone, before and after: {beside:.1f} s",
            f"{ratio:.1f} times that time ({least:.1f} at best)",
            "at most 6 times",
        ),
        Row("memory of that import", f"{peak:,.0f} MB at its peak", "", "", "under 600 MB"),
    ]


def _seconds(code: str) -> tuple[float, float, float]:
    values, peak = in_fresh_process(code)
    return values["seconds"], values["answers"], peak


RECORDS, MANY, SYSTEMS, PASSAGES = 200_000, 500_000, 10, 5

_READ_RECORDS = """
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
_IMPORT_RECORDS = """
import time
from pathlib import Path
from mirage.io.imports.formats import import_file
start = time.perf_counter()
arena = import_file(Path({path!r}), Path({into!r})).arena
print("seconds=" + str(time.perf_counter() - start))
print("answers=" + str(arena.rows("answers")))
"""


def write_records(path: Path, n: int, *, words: int, seed: int = 0) -> None:
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


def flat_records() -> list[Row]:
    """Time reading and building flat RAG records in a fresh process, and take the memory of a whole import."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        write_records(path, RECORDS, words=60)
        read, _ = in_fresh_process(_READ_RECORDS.format(path=str(path)))
        write_records(path, MANY, words=24)
        whole, peak = in_fresh_process(_IMPORT_RECORDS.format(path=str(path), into=f"{folder}/arena"))
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


def run() -> list[Row]:
    """Time both imports."""
    return [*published_outputs(), *flat_records()]
