"""Battle counts for more verdicts than fit in memory: counted per query and pair, stored on disk in blocks of queries.

    with count_blocks(batches) as battles:
        for block in battles.blocks(): ...

Workers encode and count the verdicts: first one task per batch, then one task per bucket of queries. The results are
merged here and are identical bytes for every executor.

A query is identified by a 64-bit hash of its id, and blocks are ranges of the hash. The rows of a block and their order
therefore do not depend on the order of the input. Two of n queries collide with probability n^2 / 2^65.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS
from mirage.battles.verdict_rows import shares_of_battles
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm.engines.tasks import Executor, Local, Task, Work, nothing
from mirage.store.buckets import Buckets, buckets

if TYPE_CHECKING:
    import pyarrow as pa

BUCKETS = 256
"""Files the verdicts are partitioned into, by the leading bits of the hash."""

QUERIES = 32_768
"""Queries per block: a block takes buckets up to this many queries, and at least one bucket."""

MOST_SYSTEMS = 65_535
"""Maximum number of systems: a pair's index has 31 bits."""

_ROW = np.dtype([("query", "<u8"), ("first", "<u2"), ("second", "<u2"), ("points", "<f4"), ("verdict", "i1")])
_CELL = np.dtype([("query", "<i4"), ("pair", "<i4"), ("first", "<f4"), ("second", "<f4")])


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
    """Battles of one language by one referee, stored on disk as blocks of queries."""

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    n_queries: int
    """Q: queries with a verdict, parsed or not."""
    n_cells: int
    """Number of rows in all blocks."""
    queries_by_system: NDArray[np.intp]
    """S: number of queries each system battles on."""
    record: NDArray[np.int64]
    """S x 3: wins, ties and losses of each system."""
    unparsed: int
    """Number of unparsed verdicts."""
    buckets: Buckets
    """Storage of the counts."""
    members: tuple[tuple[tuple[int, int], ...], ...]
    """Buckets of each block, with their numbers of queries."""

    def blocks(self) -> Iterator[QueryBlock]:
        """Yield the counts block by block, always in the same order."""
        for members in self.members:
            parts, offset = [], 0
            for number, n in members:
                part = self.buckets.read(number, _CELL)
                part["query"] += offset
                offset += n
                parts.append(part)
            cells = np.concatenate(parts)
            yield QueryBlock(
                offset,
                *(np.ascontiguousarray(cells[name]) for name in ("query", "pair", "first", "second")),
            )

    def net_squares(self) -> float:
        """Return the sum over queries and pairs of (points of one system - points of the other)^2."""
        return sum(float(((block.first - block.second) ** 2).sum(dtype=np.float64)) for block in self.blocks())


@contextmanager
def count_blocks(
    batches: Iterable[pa.RecordBatch],
    *,
    drop_ties: bool = False,
    folder: Path | None = None,
    executor: Executor | None = None,
) -> Iterator[BlockedBattles]:
    """Count the verdicts of one judge in one language.

    Args:
        batches: `query_id`, `system_a`, `system_b`, `verdict` and optionally `points`, as in table `judgments`, in any
            order; each batch fits in memory.
        drop_ties: whether to ignore ties instead of counting half a point for each system; soft verdicts (`points`)
            then count by their verdict.
        folder: directory for the temporary files, 17 bytes a verdict; None for the system's temporary directory.
        executor: runs the encoding of batches and the counting of buckets; None for this process. The batches are read
            in this process.

    Raises:
        UnknownName: if a verdict has an unknown value.
        BadInput: if a system battles itself, or there are more systems than `MOST_SYSTEMS`.
        NotEnoughData: if every verdict is unparsed.
        OSError: if the disk is full.
    """
    workers = Local() if executor is None else executor
    with buckets(BUCKETS, folder=folder) as held:
        systems, unparsed = _sort_into_buckets(batches, held, workers)
        battles = _count_buckets(held, systems, unparsed, workers, drop_ties=drop_ties)
        if not battles.n_cells:
            raise NotEnoughData(f"all {unparsed:,} verdicts are unparsed", do="check the judge's replies")
        yield battles


def systems_of(pair: NDArray[np.integer[Any]], s: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the two of s systems in each pair, given its index in `numpy.triu_indices`; s is at most
    `MOST_SYSTEMS`.
    """
    place, width = pair.astype(np.int64), 2 * s - 1
    # Exact: square roots of squares are exact, and those between squares are far enough from an integer.
    i = ((width - np.sqrt(width**2 - 8 * place)) / 2).astype(np.intp)
    return i, np.asarray(place - i * (width - i) // 2 + i + 1, dtype=np.intp)


def _sort_into_buckets(batches: Iterable[pa.RecordBatch], held: Buckets, executor: Executor) -> tuple[list[str], int]:
    """Write each verdict to its bucket; return the systems in order of first appearance and the number of unparsed
    verdicts.
    """
    code_of: dict[str, int] = {}
    unparsed = 0
    tasks = (Task(str(number), batch) for number, batch in enumerate(batches))
    for _, (systems, rows, ends) in executor.run(Work("encode verdicts", nothing, _encode), tasks):
        codes = np.array([code_of.setdefault(name, len(code_of)) for name in systems], dtype=np.intp)
        _refuse_many(len(code_of))
        rows = np.require(rows, requirements="W")
        for column in ("first", "second"):
            rows[column] = codes[rows[column]] if len(rows) else 0
        unparsed += int((rows["verdict"] == UNPARSED).sum())
        for number, (start, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
            if end > start:
                held.append(number, rows[start:end])
    return list(code_of), unparsed


def _refuse_many(n: int) -> None:
    """Raise if there are more systems than a pair index has room for."""
    if n > MOST_SYSTEMS:
        raise BadInput(f"there are more than {MOST_SYSTEMS:,} systems", do="rank fewer systems")


def _encode(_loaded: None, task: Task) -> tuple[list[str], NDArray[Any], NDArray[np.intp]]:
    """Return the systems of a batch, its verdicts sorted by bucket with systems as integers, and the end of each
    bucket.
    """
    code_of: dict[str, int] = {}
    rows = _rows(task.rows, code_of)
    bucket = (rows["query"] >> np.uint64(56)).astype(np.uint8)
    ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
    return list(code_of), rows[np.argsort(bucket, kind="stable")], ends


def _rows(batch: pa.RecordBatch, code_of: dict[str, int]) -> NDArray[Any]:
    from pandas.util import hash_array

    rows = np.zeros(batch.num_rows, dtype=_ROW)
    names, place = _encode_column(batch.column("query_id"))
    rows["query"] = hash_array(names, categorize=False)[place]
    for column, name in (("first", "system_a"), ("second", "system_b")):
        names, place = _encode_column(batch.column(name))
        codes = np.array([code_of.setdefault(system, len(code_of)) for system in names.tolist()], dtype=np.intp)
        _refuse_many(len(code_of))
        rows[column] = codes[place] if len(codes) else 0
    if (rows["first"] == rows["second"]).any():
        row = batch.slice(int(np.argmax(rows["first"] == rows["second"])), 1).to_pylist()[0]
        raise BadInput(f"{row['system_a']} battles itself", where=f"query_id={row['query_id']}", do="remove the row")
    names, place = _encode_column(batch.column("verdict"))
    for name in names.tolist():
        if name not in VERDICTS:
            raise UnknownName("verdict", name, VERDICTS)
    rows["verdict"] = np.array([VERDICTS[name] for name in names.tolist()], dtype=np.int8)[place] if len(names) else 0
    rows["points"] = np.nan
    if "points" in batch.schema.names:
        rows["points"] = shares_of_battles(batch)
    return rows


def _encode_column(column: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values of a column, and each row's index among them."""
    encoded = column.dictionary_encode()
    values = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return values, encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)


def _count_buckets(
    held: Buckets, met: list[str], unparsed: int, executor: Executor, *, drop_ties: bool
) -> BlockedBattles:
    """Replace the verdicts of each bucket by their counts, and group the buckets into blocks."""
    systems = tuple(sorted(met))
    s = len(systems)
    order = {name: k for k, name in enumerate(systems)}
    place = np.array([order[name] for name in met], dtype=np.intp)
    record, queries = np.zeros((s, 3), dtype=np.int64), np.zeros(s, dtype=np.intp)
    size_of: dict[int, int] = {}
    n_cells = 0
    work = Work("count verdicts", nothing, partial(_count, place, drop_ties))
    tasks = (Task(str(number), held.read(number, _ROW)) for number in range(BUCKETS))
    for key, counts in executor.run(work, tasks):
        if counts.n_queries:
            held.replace(int(key), counts.cells)
            size_of[int(key)] = counts.n_queries
            n_cells += len(counts.cells)
            record += counts.record
            queries += counts.queries_by_system
    blocks: list[list[tuple[int, int]]] = [[]]
    size = 0
    for number, n in sorted(size_of.items()):
        if blocks[-1] and size + n > QUERIES:
            blocks.append([])
            size = 0
        blocks[-1].append((number, n))
        size += n
    return BlockedBattles(
        systems,
        sum(size_of.values()),
        n_cells,
        queries,
        record,
        unparsed,
        held,
        tuple(tuple(block) for block in blocks),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _BucketCounts:
    """The counts of one bucket, as returned by a worker."""

    cells: NDArray[Any]
    """Counts by query and pair."""
    n_queries: int
    """Number of queries in the bucket."""
    record: NDArray[np.int64]
    """S x 3: wins, ties and losses."""
    queries_by_system: NDArray[np.intp]
    """S: number of queries each system battles on."""


def _count(place: NDArray[np.intp], drop_ties: bool, _loaded: None, task: Task) -> _BucketCounts:
    """Count the verdicts of one bucket; `place` maps each system code to its index in sorted order."""
    rows, s = task.rows, len(place)
    record = np.zeros((s, 3), dtype=np.int64)
    _, query = np.unique(rows["query"], return_inverse=True)
    n = int(query.max()) + 1 if len(query) else 0
    readable = rows["verdict"] != UNPARSED
    rows, query = rows[readable], query[readable]
    a, b = place[rows["first"]], place[rows["second"]]
    verdict = rows["verdict"]
    for column, kinds in ((0, (FIRST, SECOND)), (1, (TIE, TIE)), (2, (SECOND, FIRST))):
        record[:, column] += np.bincount(a[verdict == kinds[0]], minlength=s)
        record[:, column] += np.bincount(b[verdict == kinds[1]], minlength=s)
    share = np.where(verdict == TIE, 0.0 if drop_ties else 0.5, verdict == FIRST).astype(np.float32)
    other = np.where(verdict == TIE, share, 1 - share).astype(np.float32)
    if not drop_ties:
        soft = np.isfinite(rows["points"])
        share, other = np.where(soft, rows["points"], share), np.where(soft, 1 - rows["points"], other)
    swapped = a > b
    share, other = np.where(swapped, other, share), np.where(swapped, share, other)
    i, j = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    pair = i * (2 * s - i - 1) // 2 + j - i - 1
    keys, cell = np.unique(query.astype(np.int64) * (s * (s - 1) // 2) + pair, return_inverse=True)
    cells = np.zeros(len(keys), dtype=_CELL)
    if len(keys):
        cells["query"], cells["pair"] = np.divmod(keys, s * (s - 1) // 2)
        cells["first"] = np.bincount(cell, share, len(keys))
        cells["second"] = np.bincount(cell, other, len(keys))
    met_on = np.unique(np.concatenate([cells["query"].astype(np.int64) * s + k for k in systems_of(cells["pair"], s)]))
    return _BucketCounts(cells, n, record, np.bincount(met_on % max(s, 1), minlength=s))
