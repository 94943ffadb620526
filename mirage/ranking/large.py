"""Rankings from verdicts or counts too large for memory, read from files or from a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema, store
from mirage.battles.blocks import BlockedBattles, count_blocks
from mirage.battles.verdict_rows import only_judge
from mirage.errors import BadInput, UnknownName
from mirage.llm.engines.tasks import Executor
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.settings import RankSettings
from mirage.ranking.streamed import Intervals, rate_blocks
from mirage.schema import Ties
from mirage.text.names import NAMES, normalise_names

if TYPE_CHECKING:
    import pyarrow as pa

LARGE = 20_000_000
"""Number of verdicts from which they are not read into memory."""

DENSE = 60_000_000
"""Number of cells (query x system x system, about 30 bytes each) above which counts are not held in memory."""

BATCH = 262_144
"""Rows per batch of a table."""

UNDETERMINED = "und"
"""BCP 47 code of an unknown language."""


class VerdictSource(ABC):
    """Verdicts readable in batches, with the columns of table `judgments` or some of them."""

    rows: int
    """Number of verdicts, of all judges and languages."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The available columns."""

    @abstractmethod
    def distinct(self, column: str) -> list[str]:
        """Return the distinct values of a column, sorted."""

    @abstractmethod
    def scan(self, columns: Sequence[str], equal: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows whose columns have these values, in batches of some columns."""

    @property
    @abstractmethod
    def origin(self) -> str:
        """Location of the verdicts, for error messages."""

    @property
    def large(self) -> bool:
        """True if the verdicts must be counted in blocks of queries."""
        if self.rows >= LARGE:
            return True
        systems = len({*self.distinct("system_a"), *self.distinct("system_b")})
        if self.rows * systems**2 <= DENSE:
            return False
        queries = len(self.distinct("query_id")) if "query_id" in self.columns else self.rows
        return queries * systems**2 > DENSE


@dataclass(frozen=True, slots=True)
class VerdictTable(VerdictSource):
    """Verdicts in memory."""

    table: pa.Table
    """A table with the columns of `judgments` or some of them, as text."""
    rows: int
    """Number of verdicts, of all judges and languages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        return tuple(self.table.column_names)

    @property
    def origin(self) -> str:
        """Location of the verdicts, for error messages."""
        return "the battles"

    def distinct(self, column: str) -> list[str]:
        """Return the distinct values of a column, sorted."""
        return sorted(self.table[column].unique().to_pylist())

    def scan(self, columns: Sequence[str], equal: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows whose columns have these values, in batches of some columns."""
        import pyarrow.compute as pc

        chosen = self.table
        for name, value in equal.items():
            chosen = chosen.filter(pc.equal(chosen[name], value))
        yield from chosen.select(list(columns)).to_batches(max_chunksize=BATCH)


@dataclass(frozen=True, slots=True)
class VerdictFiles(VerdictSource):
    """Verdicts in Parquet files."""

    paths: tuple[Path, ...]
    """The files."""
    rows: int
    """Number of verdicts, of all judges and languages."""

    @classmethod
    def of_arena(cls, arena: store.Arena, *, languages: Sequence[str] | None = None) -> VerdictFiles:
        """Open the verdicts of an arena.

        Args:
            arena: the arena.
            languages: codes; if the arena has all of them, only their files are fetched from object storage. None for
                all.
        """
        arena.need("judgments")
        files = arena.manifest["tables"]["judgments"]
        if languages and set(languages) <= {file["language"] for file in files}:
            files = [file for file in files if file["language"] in languages]
        return cls(tuple(arena.fetch(files)), sum(file["rows"] for file in files))

    @classmethod
    def of_file(cls, path: Path) -> VerdictFiles | None:
        """Open the verdicts of a Parquet file; None if it is not a Parquet file."""
        rows = store.parquet_rows(path) if path.is_file() else None
        return None if rows is None else cls((path,), rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that all files have."""
        return store.columns_of(self.paths)

    @property
    def origin(self) -> str:
        """Location of the verdicts, for error messages."""
        return str(self.paths[0])

    def distinct(self, column: str) -> list[str]:
        """Return the distinct values of a column, sorted."""
        return store.distinct(self.paths, column)

    def scan(self, columns: Sequence[str], equal: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows whose columns have these values, in batches of some columns."""
        return store.scan(self.paths, list(columns), equal=equal)


def rank_files(
    files: VerdictSource,
    settings: RankSettings = RankSettings(),
    *,
    judge: str | None = None,
    intervals: Intervals | None = None,
    executor: Executor | None = None,
) -> RankingReport:
    """Rank systems by the verdicts of one judge, counted in blocks of queries (`streamed.py`).

    Args:
        files: the verdicts, in files or in memory; without `language` they are of one language, without `query_id`
            each row is a separate query, without `judge` all are of one judge.
        settings: the settings; ties are `half` or `drop`.
        judge: name of the judge; None if there is only one.
        intervals: `draws` or `sandwich`; None for draws unless they would take long.
        executor: runs the counting, by language and block of queries; None for this process.

    Raises:
        BadInput: if a column is missing or a value cannot be parsed.
        UnknownName: if the judge or a language has no verdicts.
        NotEnoughData: if there is no battle to rate.
    """
    if settings.selects_verdicts:
        raise BadInput("verdicts counted in blocks of queries all count", do="omit the settings that select verdicts")
    columns, languages = files.columns, settings.languages
    if "inclusion" in columns:
        raise BadInput(
            "verdicts with inclusion probabilities are weighted, and cannot be counted in blocks of queries",
            where=files.origin,
            do="rank fewer languages at a time",
        )
    for name in ("system_a", "system_b", "verdict"):
        if name not in columns:
            raise BadInput(f"there is no column {name}", where=files.origin, do=f"rename the column to {name}")
    referee = only_judge(files.distinct("judge"), judge) if "judge" in columns else judge or "judge"
    codes = files.distinct("language") if "language" in columns else [UNDETERMINED]
    for code in languages or ():
        if code not in codes:
            raise UnknownName("language", code, codes, where=f"battles by {referee}")
    opened: Mapping[str, Callable[[], AbstractContextManager[BlockedBattles]]] = {
        code: partial(_open_battles, files, columns, referee, code, settings.ties, executor)
        for code in languages or codes
    }
    return rate_blocks(
        opened,
        referee=referee,
        draws=settings.draws,
        seed=settings.seed,
        ties=settings.ties,
        penalty=settings.penalty,
        intervals=intervals,
    )


def keep_ratings(arena: store.Arena, ranking: RankingReport, *, made_by: str) -> store.Arena:
    """Store a ranking in the arena's table `ratings`; ratings by other referees are kept.

    Args:
        arena: the arena as it was ranked.
        ranking: result of `rank_files` on its verdicts.
        made_by: the command, for the manifest.

    Raises:
        Outdated: if its verdicts have changed since.
        ArenaError: if the arena cannot be written.
    """
    rows = ranking.table()
    result = store.upsert(
        arena.path,
        {"ratings": store.NewRows(rows, rows.select(["referee"]))},
        made_by=store.Provenance(made_by, notes=[f"{ranking.referee}: {ranking.method}"], subjects={ranking.referee}),
        seen=store.Snapshot(arena, {"judgments": schema.from_columns("judgments", {})}),
    )
    return result.arena


def _open_battles(
    files: VerdictSource, columns: Sequence[str], judge: str, language: str, ties: Ties, executor: Executor | None
) -> AbstractContextManager[BlockedBattles]:
    equal = {name: value for name, value in (("judge", judge), ("language", language)) if name in columns}
    return count_blocks(_batches(files, columns, equal), drop_ties=ties == "drop", executor=executor)


def _batches(files: VerdictSource, columns: Sequence[str], equal: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    def normalise(batch: pa.RecordBatch) -> pa.RecordBatch:
        for name in NAMES.intersection(batch.schema.names):
            batch = batch.set_column(batch.schema.names.index(name), name, normalise_names(batch[name]))
        return batch

    names = [name for name in ("query_id", "system_a", "system_b", "verdict", "points") if name in columns]
    row = 0
    for batch in map(normalise, files.scan(names, equal)):
        if "query_id" in columns:
            yield batch
            continue
        ids = pa.array([f"{number:08}" for number in range(row, row + len(batch))])
        row += len(batch)
        yield batch.append_column("query_id", ids)
