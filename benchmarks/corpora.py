"""A corpus of 100,000 passages of Zipfian words: what a test set from it takes, on two cores."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Row, in_fresh_process
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


def time_duplicates() -> None:
    """Print the seconds and the number of near-duplicates in the corpus."""
    texts = make_corpus()
    start = time.perf_counter()
    pairs = near_duplicates(texts)
    print(f"seconds={time.perf_counter() - start}")
    print(f"pairs={len(pairs)}")


def run() -> list[Row]:
    """Time each step over the same corpus in a process of its own."""
    duplicates, memory = in_fresh_process("from benchmarks.corpora import time_duplicates; time_duplicates()")
    return [
        Row(
            f"near-duplicates of {PASSAGES:,} passages of {WORDS} words",
            f"{duplicates['seconds']:.0f} s, {memory:,.0f} MB at its peak",
            f"{duplicates['pairs']:,.0f} pairs found of {PLANTED:,} planted reorderings",
            "",
            "with the other steps under 10 minutes and 4,000 MB",
        )
    ]
