"""Rankings of battles that do not fit in memory: seconds a battle and peak memory by the number of battles, and the
draws of the query bootstrap against the cluster sandwich on what fits.

MIRAGE_BENCH_BATTLES names other sizes, with commas: `1e6,1e7,1e8`. The largest take long and much of a disk.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, in_fresh_process

SIZES = "MIRAGE_BENCH_BATTLES"
SYSTEMS = 500
BY_QUERY = 100
"""Battles of a query."""
DRAWS = 1_000
FITS = 10_000_000
"""Battles of which draws are made, too."""
GIGABYTES = 8
LINEAR = 1.2
"""How much longer a battle may take among ten times as many."""
_AT_ONCE = 1_000_000
MANY, OPPONENTS, MANY_BATTLES, MANY_GIGABYTES = 20_000, 30, 3_000_000, 4
"""Systems that meet few others each, and what ranking them may take."""


def write(path: Path, n: int, *, seed: int = 0, systems: int = SYSTEMS, opponents: int | None = None) -> None:
    """Write simulated verdicts on `n` battles into a Parquet file, with an effect of the query on each system; each
    system meets so many others alone, or all.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, systems)
    names = pa.array([f"system-{k:05}" for k in range(systems)])
    steps = np.arange(1, systems) if opponents is None else rng.choice(systems // 2 - 1, opponents // 2, False) + 1
    verdicts = pa.array(["A", "B", "tie"])
    kind = pa.dictionary(pa.int32(), pa.string())
    columns = {"query_id": pa.string(), "judge": kind, "system_a": kind, "system_b": kind, "verdict": kind}

    def encoded(codes: np.ndarray, values: pa.Array) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values)

    with pq.ParquetWriter(path, pa.schema(list(columns.items())), compression="zstd") as writer:
        for begin in range(0, n, _AT_ONCE):
            m = min(_AT_ONCE, n - begin)
            query = (begin + np.arange(m)) // BY_QUERY
            first = rng.integers(0, systems, m)
            second = (first + rng.choice(steps, m)) % systems
            effect = rng.normal(0, 0.5, (int(query[-1] - query[0]) + 1, 8))[query - query[0]]
            rows = np.arange(m)
            gap = strength[first] - strength[second] + effect[rows, first % 8] - effect[rows, second % 8]
            won = rng.random(m) < 1 / (1 + np.exp(-gap))
            verdict = np.where(rng.random(m) < 0.1, 2, np.where(won, 0, 1))
            ids = pa.array([f"q{number}" for number in query.tolist()])
            arrays = [
                ids,
                encoded(np.zeros(m), pa.array(["judge"])),
                encoded(first, names),
                encoded(second, names),
                encoded(verdict, verdicts),
            ]
            writer.write_table(pa.table(arrays, schema=writer.schema))


def ranked(path: Path, intervals: str, draws: int = DRAWS) -> tuple[float, float, float]:
    """Rank a file in a new process: seconds, peak memory in MB, and the mean width of an interval in logits."""
    code = f"""
import time
from pathlib import Path
from mirage.ranking.large import VerdictFiles, rank_files
from mirage.ranking.settings import RankSettings
start = time.perf_counter()
ranking = rank_files(VerdictFiles.of_file(Path({str(path)!r})), RankSettings(draws={draws}), intervals={intervals!r})
print(f"seconds={{time.perf_counter() - start}}")
rows = [row for row in ranking.table().to_pylist() if row["language"] == "und"]
widths = [row["high"] - row["low"] for row in rows]
print(f"width={{sum(widths) / len(widths)}}")
"""
    values, peak = in_fresh_process(code)
    return values["seconds"], peak, values["width"]


def run() -> list[Row]:
    """Rank ever more battles; compare the two kinds of intervals on the fewest."""
    sizes = [int(float(size)) for size in os.environ.get(SIZES, "1e5,1e6,1e7").split(",")]
    rows: list[Row] = []
    before = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.parquet"
        for size in sizes:
            write(path, size)
            seconds, peak, width = ranked(path, "sandwich")
            each = seconds / size * 1e6
            rows.append(
                Row(
                    f"{size:,} battles of {SYSTEMS} systems, {size // BY_QUERY:,} queries, sandwich",
                    f"{seconds:.1f} s, {peak / 1000:.1f} GB at its peak",
                    f"{each:.2f} microseconds a battle",
                    f"{each / before:.2f} of the size before" if before else "",
                    f"at most {LINEAR} and {GIGABYTES} GB",
                )
            )
            before = each
            if size == sizes[0] and size <= FITS:
                slow, _, drawn = ranked(path, "draws")
                rows.append(
                    Row(
                        f"the same {size:,} battles, {DRAWS:,} draws of the query bootstrap",
                        f"{slow:.1f} s",
                        "width of the sandwich's intervals against the draws'",
                        f"{width / drawn:.3f}",
                        "0.95 to 1.05",
                    )
                )
        write(path, MANY_BATTLES, systems=MANY, opponents=OPPONENTS)
        seconds, peak, width = ranked(path, "sandwich")
        rows.append(
            Row(
                f"{MANY_BATTLES:,} battles of {MANY:,} systems with {OPPONENTS} opponents each, sandwich",
                f"{seconds:.1f} s, {peak / 1000:.1f} GB at its peak",
                "mean width of an interval",
                f"{width:.2f} logits",
                f"at most {MANY_GIGABYTES} GB",
            )
        )
    return rows
