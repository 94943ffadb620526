"""A corpus of 100,000 passages of Zipfian words: what a test set from it takes before the first question, on two cores.

Each step runs in a process of its own, whose peak memory holds the corpus too.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Row, in_fresh_process
from mirage.stages.retrieve.bm25 import Bm25
from mirage.stages.testset.coverage import CLUSTERS, cluster
from mirage.text.duplicates import near_duplicates

PASSAGES, WORDS, PLANTED = 100_000, 110, 1_000


def make_corpus() -> list[str]:
    """Return the passages; the last ones are the first ones with their sentences in another order."""
    draw = np.random.default_rng(7)
    chances = 1 / np.arange(1, 80_001)
    vocabulary = np.array([f"w{k}" for k in range(len(chances))])
    ids = draw.choice(len(chances), size=(PASSAGES, WORDS), p=chances / chances.sum())
    texts = [". ".join(" ".join(vocabulary[row[k : k + 11]]) for k in range(0, WORDS, 11)) + "." for row in ids]
    for k in range(PLANTED):
        texts[-1 - k] = ". ".join(draw.permutation(texts[k].removesuffix(".").split(". "))) + "."
    return texts


def time_step(step: str) -> None:
    """Print the seconds that a step takes over the corpus, and what it finds."""
    texts = make_corpus()
    start = time.perf_counter()
    if step == "duplicates":
        found = len(near_duplicates(texts))
    elif step == "clusters":
        found = len(np.unique(cluster(texts, CLUSTERS, rng=np.random.default_rng(0))))
    else:
        found = Bm25(texts).n
    print(f"seconds={time.perf_counter() - start}")
    print(f"found={found}")


def run() -> list[Row]:
    """Time each step over the same corpus."""
    steps = {
        "duplicates": f"near-duplicates of {PASSAGES:,} passages of {WORDS} words",
        "clusters": "clusters of the same by tf-idf",
        "index": "BM25 index of the same",
    }
    found = {
        "duplicates": "{:,.0f} pairs of " + f"{PLANTED:,} planted reorderings",
        "clusters": "{:,.0f} clusters",
        "index": "{:,.0f} passages",
    }
    rows, total, most = [], 0.0, 0.0
    for step, what in steps.items():
        values, memory = in_fresh_process(f"from benchmarks.corpora import time_step; time_step({step!r})")
        value = f"{values['seconds']:.0f} s, {memory:,.0f} MB at its peak"
        rows.append(Row(what, value, found[step].format(values["found"]), "", ""))
        total, most = total + values["seconds"], max(most, memory)
    rows.append(Row("all of it", f"{total:.0f} s, {most:,.0f} MB", "", "", "under 10 minutes and 4,000 MB"))
    return rows
