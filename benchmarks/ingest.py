"""Import of the published NoMIRACL outputs: replies a second and memory, from 33 gzip files to a written arena."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.harness import Row, in_fresh_process

DATA = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "nomiracl"

_IMPORT = """
import sys, time
from pathlib import Path
from mirage import imports
start = time.perf_counter()
arena = imports.import_outputs(Path({source!r}), Path({into!r}))
print("seconds=" + str(time.perf_counter() - start))
print("replies=" + str(arena.rows("answers")))
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
print("replies=" + str(n))
"""


def run() -> list[Row]:
    """Time the import in a fresh process, beside a bare loop over gzip and json."""
    if not DATA.is_dir():
        return [Row("import of the published NoMIRACL outputs", "not run", f"the files are not at {DATA}", "", "")]
    with tempfile.TemporaryDirectory() as folder:
        bare, _ = in_fresh_process(_READ.format(source=str(DATA)))
        ours, peak = in_fresh_process(_IMPORT.format(source=str(DATA), into=f"{folder}/arena"))
    speed = ours["replies"] / ours["seconds"]
    return [
        Row(
            f"import of {ours['replies']:,.0f} replies, with outcomes by both parsers, to a written arena",
            f"{speed:,.0f} replies/s ({ours['seconds']:.1f} s)",
            f"gzip and json alone: {bare['seconds']:.1f} s",
            f"{ours['seconds'] / bare['seconds']:.1f} times that time",
            "at least 15,000 replies/s",
        ),
        Row("memory of that import", f"{peak:,.0f} MB at its peak", "", "", "under 600 MB"),
    ]
