"""BM25 over a corpus, beside bm25s alone and rank_bm25: seconds to index, memory, queries a second; and exact search by
vectors on disk, beside one matrix product a block.

MIRAGE_BENCH_PASSAGES names another number of passages, such as 1e6; rank_bm25 is run on 20,000 at most, and its figures
scaled. Passages have 60 words drawn by Zipf's law, queries 6 words of one passage.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import Row, in_fresh_process

SIZE = "MIRAGE_BENCH_PASSAGES"
WORDS, QUERIES = 60, 500
DEPTH = 10
WIDTH = 768
"""Numbers of a vector."""
_VECTORS = 100_000
"""Vectors at least: in the first block nothing can be left out yet."""
_FEW = 20_000
"""Most passages for which rank_bm25 is run: it keeps a dictionary for each."""
_SETUP = f"""
import time
import numpy as np
rng = np.random.default_rng(0)
share = 1 / np.arange(1, 200_001)
bounds = np.cumsum(share / share.sum())
vocabulary = np.array([f"w{{k}}" for k in range(len(bounds))])
def texts(n):
    draws = np.random.default_rng(1)
    for start in range(0, n, 1_000):
        rows = np.searchsorted(bounds, draws.random((min(1_000, n - start), {WORDS})))
        yield from (" ".join(vocabulary[row]) for row in rows)
def queries(n):
    chosen = set(rng.integers(0, n, {QUERIES}).tolist())
    return [" ".join(rng.choice(text.split(), 6)) for k, text in enumerate(texts(n)) if k in chosen]
"""
_OURS = """
from mirage.stages.retrieve.bm25 import Bm25
start = time.perf_counter()
index = Bm25(texts({n}))
print(f"index={{time.perf_counter() - start}}")
wanted = queries({n})
start = time.perf_counter()
for query in wanted:
    index.search(query, {depth})
print(f"rate={{len(wanted) / (time.perf_counter() - start)}}")
"""
_BM25S = """
import bm25s
start = time.perf_counter()
index = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
index.index([text.split() for text in texts({n})], show_progress=False)
print(f"index={{time.perf_counter() - start}}")
wanted = [query.split() for query in queries({n})]
start = time.perf_counter()
index.retrieve(wanted, k={depth}, show_progress=False)
print(f"rate={{len(wanted) / (time.perf_counter() - start)}}")
"""
_RANK_BM25 = """
from rank_bm25 import BM25Okapi
start = time.perf_counter()
index = BM25Okapi([text.split() for text in texts({n})], k1=0.9, b=0.4)
print(f"index={{time.perf_counter() - start}}")
wanted = [query.split() for query in queries({n})][:20]
start = time.perf_counter()
for query in wanted:
    np.argsort(-index.get_scores(query))[:{depth}]
print(f"rate={{len(wanted) / (time.perf_counter() - start)}}")
"""


def ran(code: str, n: int) -> tuple[float, float, float]:
    """Index and search in a new process: seconds to index, queries a second, peak memory in MB."""
    values, peak = in_fresh_process(_SETUP + code.format(n=n, depth=DEPTH))
    return values["index"], values["rate"], peak


def dense(n: int, *, queries: int = 512) -> tuple[float, float]:
    """Seconds of an exact search over vectors on disk, and of the matrix products alone, block by block."""
    from mirage.stages.retrieve.dense import BLOCK, nearest

    rng = np.random.default_rng(0)
    wanted = rng.standard_normal((queries, WIDTH), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        with path.open("wb") as file:
            for start in range(0, n, BLOCK):
                rng.standard_normal((min(BLOCK, n - start), WIDTH), np.float32).tofile(file)
        vectors = np.memmap(path, "<f4", "r").reshape(-1, WIDTH)
        seconds: dict[str, list[float]] = {"ours": [], "products": []}
        for _ in range(3):
            start_time = time.perf_counter()
            nearest(wanted, vectors, DEPTH)
            seconds["ours"].append(time.perf_counter() - start_time)
            start_time = time.perf_counter()
            for start in range(0, n, BLOCK):
                wanted @ np.asarray(vectors[start : start + BLOCK]).T
            seconds["products"].append(time.perf_counter() - start_time)
    return min(seconds["ours"]), min(seconds["products"])


def run() -> list[Row]:
    """The rows of the page."""
    n = int(float(os.environ.get(SIZE, "20000")))
    index, rate, peak = ran(_OURS, n)
    their_index, their_rate, their_peak = ran(_BM25S, n)
    rows = [
        Row(
            f"BM25 index of {n:,} passages",
            f"{index:,.1f} s",
            f"bm25s alone, words split at spaces: {their_index:,.1f} s",
            f"{index / their_index:.2f} times that",
            "1,000,000 under 600 s",
        ),
        Row(
            "memory of the same, with the search",
            f"{peak:,.0f} MB",
            f"bm25s alone: {their_peak:,.0f} MB",
            f"{peak / their_peak:.2f} times that",
            "1,000,000 under 4,000 MB",
        ),
        Row(
            f"queries of 6 words, the best {DEPTH}",
            f"{rate:,.0f} a second",
            f"bm25s alone: {their_rate:,.0f} a second",
            f"{rate / their_rate:.1f} times that",
            "at least 500 a second",
        ),
    ]
    part = min(n, _FEW)
    other_index, other_rate, _ = ran(_RANK_BM25, part)
    # It gives every passage a score: twice the passages take twice the time.
    other_index, other_rate = other_index * n / part, other_rate * part / n
    scaled = "" if part == n else f", from {part:,} passages and scaled"
    rows.append(
        Row(
            "the same beside rank_bm25",
            f"{rate:,.0f} a second, indexed in {index:,.1f} s",
            f"rank_bm25: {other_rate:,.2f} a second, indexed in {other_index:,.1f} s{scaled}",
            f"{rate / other_rate:,.0f} times that",
            "",
        )
    )
    n = max(n, _VECTORS)
    ours, products = dense(n)
    rows.append(
        Row(
            f"exact search of 512 queries in {n:,} vectors of {WIDTH} on disk",
            f"{ours:.2f} s",
            f"one matrix product a block: {products:.2f} s",
            f"{products / ours:.2f} of its speed",
            "at least 0.7 of its speed",
        )
    )
    return rows
