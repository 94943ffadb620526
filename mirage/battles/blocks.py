"""Battle counts by query and pair that met: for many queries with few battles each, where a table of every two systems
on every query would not fit in memory.

A query is identified by a 64-bit hash of its id, and blocks are ranges of the hash. The rows of a block and their order
therefore do not depend on the order of the input. Two of n queries collide with probability n^2 / 2^65.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED
from mirage.battles.verdict_rows import Verdicts
from mirage.errors import BadInput
from mirage.stats.arrays import Integers, Places

BUCKETS = 256
"""Ranges of the hash, by its leading bits."""

QUERIES = 32_768
"""Queries per block: a block takes ranges of the hash up to this many queries, and at least one."""

MOST_SYSTEMS = 65_535
"""Maximum number of systems: a pair's index has 31 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryBlock:
    """Counts of a block of queries: one row per query and pair of systems that battled on it."""

    n_queries: int
    """Number of queries in the block."""
    query: NDArray[np.int32]
    """N: query index of each row, from 0, ascending."""
    pair: NDArray[np.int32]
    """N: index of the pair (i, j), i < j, in `numpy.triu_indices` of the systems, ascending within a query."""
    first: NDArray[np.float32]
    """N: points won by system i; a tie is half a point, or nothing where ties are dropped."""
    second: NDArray[np.float32]
    """N: points won by system j."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockedBattles:
    """Battles of one language by one judge, in blocks of queries."""

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    n_queries: int
    """Q: queries with a verdict, parsed or not."""
    queries_by_system: Places
    """S: number of queries with battles of each system."""
    results: Integers
    """S x 3: wins, ties and losses of each system."""
    unparsed: int
    """Number of unparsed verdicts."""
    cells: QueryBlock
    """All counts, as one block."""
    ends: Places
    """Number of queries in all blocks up to and including each."""

    ballots: ClassVar[None] = None
    """Single votes are not held."""

    @property
    def n_cells(self) -> int:
        """Number of rows in all blocks."""
        return len(self.cells.query)

    def record(self) -> Integers:
        """Return the wins, ties and losses of each system (S x 3)."""
        return self.results

    def blocks(self) -> Iterator[QueryBlock]:
        """Yield the counts block by block, always in the same order."""
        edges = np.searchsorted(self.cells.query, [0, *self.ends])
        for (start, end), (low, high) in zip(pairwise([0, *self.ends]), pairwise(edges), strict=True):
            of = self.cells
            yield QueryBlock(
                int(end - start),
                of.query[low:high] - np.int32(start),
                of.pair[low:high],
                of.first[low:high],
                of.second[low:high],
            )

    def net_squares(self) -> float:
        """Return the sum over queries and pairs of (points of one system - points of the other)^2."""
        return sum(float(((block.first - block.second) ** 2).sum(dtype=np.float64)) for block in self.blocks())


def count_blocks(verdicts: Verdicts, *, drop_ties: bool = False) -> BlockedBattles:
    """Count the verdicts of one judge in one language.

    Args:
        verdicts: the verdicts, in any order.
        drop_ties: whether to ignore ties instead of counting half a point for each system; soft verdicts (`points`)
            then count by their verdict.

    Raises:
        BadInput: if there are more systems than `MOST_SYSTEMS`.
    """
    from pandas.util import hash_array

    s = len(verdicts.systems)
    if s > MOST_SYSTEMS:
        raise BadInput(f"there are more than {MOST_SYSTEMS:,} systems", do="rank fewer systems")
    hashes, places = np.unique(
        hash_array(np.array(verdicts.queries, dtype=object), categorize=False), return_inverse=True
    )
    readable = verdicts.verdict != UNPARSED
    a, b, verdict, points = (
        column[readable] for column in (verdicts.first, verdicts.second, verdicts.verdict, verdicts.points)
    )
    query = places[verdicts.query[readable]].astype(np.int64)
    share = np.where(verdict == TIE, 0.0 if drop_ties else 0.5, verdict == FIRST).astype(np.float32)
    other = np.where(verdict == TIE, share, 1 - share).astype(np.float32)
    if not drop_ties:
        soft = np.isfinite(points)
        share, other = np.where(soft, points, share), np.where(soft, 1 - points, other)
    swapped = a > b
    cells = _sum_cells(query, a, b, np.where(swapped, other, share), np.where(swapped, share, other), s, len(hashes))
    met_on = np.unique(np.concatenate([cells.query.astype(np.int64) * s + k for k in systems_of(cells.pair, s)]))
    return BlockedBattles(
        verdicts.systems,
        len(hashes),
        np.bincount(met_on % max(s, 1), minlength=s),
        _record(a, b, verdict, s),
        int((~readable).sum()),
        cells,
        _block_ends(hashes),
    )


def systems_of(pair: NDArray[np.integer[Any]], s: int) -> tuple[Places, Places]:
    """Return the two of s systems in each pair, given its index in `numpy.triu_indices`; s is at most
    `MOST_SYSTEMS`.
    """
    place, width = pair.astype(np.int64), 2 * s - 1
    # Exact: square roots of squares are exact, and those between squares are far enough from an integer.
    i = ((width - np.sqrt(width**2 - 8 * place)) / 2).astype(np.intp)
    return i, np.asarray(place - i * (width - i) // 2 + i + 1, dtype=np.intp)


def _record(a: Places, b: Places, verdict: NDArray[np.int8], s: int) -> Integers:
    """Return the wins, ties and losses of each system (S x 3)."""
    record = np.zeros((s, 3), dtype=np.int64)
    for column, kinds in ((0, (FIRST, SECOND)), (1, (TIE, TIE)), (2, (SECOND, FIRST))):
        record[:, column] += np.bincount(a[verdict == kinds[0]], minlength=s)
        record[:, column] += np.bincount(b[verdict == kinds[1]], minlength=s)
    return record


def _sum_cells(
    query: Integers,
    a: Places,
    b: Places,
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    s: int,
    n_queries: int,
) -> QueryBlock:
    """Sum the points of both sides by query and pair."""
    i, j = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    pairs = s * (s - 1) // 2
    keys, cell = np.unique(query * pairs + i * (2 * s - i - 1) // 2 + j - i - 1, return_inverse=True)
    of_query, pair = np.divmod(keys, pairs)
    points = [np.bincount(cell, side, len(keys)).astype(np.float32) for side in (first, second)]
    return QueryBlock(n_queries, of_query.astype(np.int32), pair.astype(np.int32), *points)


def _block_ends(hashes: NDArray[np.uint64]) -> Places:
    """Return the number of queries up to the end of each block, given the sorted hashes of all queries."""
    ends, size, total = [], 0, 0
    for n in np.bincount((hashes >> np.uint64(56)).astype(np.intp), minlength=BUCKETS).tolist():
        if n and size and size + n > QUERIES:
            ends.append(total)
            size = 0
        size, total = size + n, total + n
    return np.array([*ends, total], dtype=np.intp)
