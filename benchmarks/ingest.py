"""Import of the published NoMIRACL outputs: answers a second and memory, from 33 gzip files to a written arena."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.harness import Row, in_fresh_process

DATA = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "nomiracl"

_IMPORT = """
import sys, time
from pathlib import Path
from mirage.store import cores
from mirage.io import imports
start = time.perf_counter()
arena = imports.import_outputs(Path({source!r}), Path({into!r}), processes=cores.available())
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


def run() -> list[Row]:
    """Time the import in fresh processes, each beside bare loops over gzip and json; the worst round counts."""
    if not DATA.is_dir():
        return [Row("import of the published NoMIRACL outputs", "not run", f"the files are not at {DATA}", "", "")]
    bare = [_seconds(_READ.format(source=str(DATA)))[0]]
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            seconds, answers, peak = _seconds(_IMPORT.format(source=str(DATA), into=f"{folder}/arena"))
        bare.append(_seconds(_READ.format(source=str(DATA)))[0])
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
