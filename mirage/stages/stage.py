"""Stages of the pipeline: their declaration, and applying one to an arena.

    OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), make_outcomes)
    run(OUTCOMES, Path("arena"), made_by="mirage measure outcomes")

A stage is a function from tables to tables. Each domain package declares its own in `stage.py`; their order is in
`mirage.pipeline`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from mirage import schema
from mirage.llm.engines.processes import Processes
from mirage.schema import Tables
from mirage.store.arena import Arena
from mirage.store.upsert import NewRows, Snapshot, read_consistently, retry_outdated, upsert
from mirage.store.writing import Provenance

Progress = Callable[[int, int], None]
"""Progress callback: amount done, and total."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A function from tables to tables, with the tables it reads and writes."""

    name: str
    """Name of the stage."""
    reads: tuple[str, ...]
    """Required input tables."""
    writes: tuple[str, ...]
    """Output tables."""
    run: Callable[..., dict[str, pa.Table]]
    """Pure function `run(tables, **options)` that returns tables; both by name."""
    version: int = 1
    """Increment when the stage's output for the same input changes, so that a run does not skip it."""
    uses: tuple[str, ...] = ()
    """Optional input tables."""
    remarks: Callable[[Tables], Sequence[str]] = lambda _: ()
    """Returns caveats about the input tables, as notes for the manifest."""
    by: tuple[str, ...] = ()
    """Columns, in every table, by whose values the work can be split: language, or language and query. Empty if it
    cannot be split. The first input table determines the values.
    """

    def tables(self, arena: Arena) -> tuple[str, ...]:
        """Return the input tables present in an arena."""
        return (*self.reads, *(name for name in self.uses if name in arena.tables))


def run(
    stage: Stage,
    path: Path,
    *,
    made_by: str,
    part: str | None = None,
    settings: Mapping[str, Any] | None = None,
    step: str | None = None,
    executor: Processes | None = None,
    check: Callable[[Arena, Tables], object] | None = None,
    **options: Any,
) -> Arena:
    """Apply a stage to an arena and write its output; tables derived from changed tables are removed.

    Args:
        stage: the stage.
        path: the arena's folder.
        made_by: the command, for the manifest.
        part: column for partial replacement: rows whose value the stage did not produce stay.
        settings: how the rows are made, for the manifest: of each value of `part`, else of each table.
        step: the pipeline step (`store.upsert`).
        executor: runs a splittable stage in parts; None to run it here, whole. All options but `progress` must then be
            picklable.
        check: raises to abort, given the current arena and the output tables.
        options: options of the stage.

    Raises:
        ArenaError: if the arena lacks a table that the stage reads, or cannot be written.
    """

    def make() -> Arena:
        seen = read_consistently(
            path, lambda arena: Snapshot(arena, {name: arena.read(name) for name in stage.tables(arena)})
        )
        outputs = (
            stage.run(seen.tables, **options) if executor is None else _spread(stage, seen.tables, executor, options)
        )
        values = {name: None if part is None else new.select([part]) for name, new in outputs.items()}
        owners = [value for named in values.values() if named is not None for value in named[part].unique().to_pylist()]
        origin = Provenance(
            made_by,
            notes=stage.remarks(seen.tables),
            settings={} if settings is None else dict.fromkeys(owners or outputs, settings),
            step=step,
        )
        rows = {name: NewRows(new, values[name]) for name, new in outputs.items()}
        result = upsert(
            path,
            rows,
            made_by=origin,
            check=None if check is None else lambda arena: check(arena, outputs),
            seen=seen,
        )
        return result.arena

    return retry_outdated(make)


_PARTS = 8
"""Parts per worker, to balance their load."""
_BYTES = 100_000_000
"""Approximate maximum size of the tables in a part, which a worker holds in memory. Rows with one value stay in one
part.
"""


def _spread(stage: Stage, tables: Tables, executor: Processes, options: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Run a stage in parts, and concatenate the results."""
    progress: Progress = options.get("progress") or _ignore_progress
    options = {name: value for name, value in options.items() if name != "progress"}
    size = sum(table.nbytes for table in tables.values())
    tasks = list(_cut(stage, tables, max(_PARTS * executor.workers, -(-size // _BYTES))))
    if len(tasks) < 2:
        return stage.run(tables, **options)
    parts: list[dict[str, pa.Table]] = []
    work = partial(_apply, stage.run, options)
    for part in executor.run(work, (_rows(tables, keys) for keys in tasks)):
        parts.append(part)
        progress(len(parts), len(tasks))
    return {name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}


def _cut(stage: Stage, tables: Tables, count: int) -> Iterator[pa.Table]:
    """Split the values of the stage's columns, sorted, into about `count` parts; none if it cannot be split."""
    if not stage.by:
        return
    columns = list(stage.by)
    keys = tables[stage.reads[0]].select(columns).group_by(columns).aggregate([]).select(columns)
    keys = keys.sort_by([(column, "ascending") for column in columns])
    size = max(1, -(-len(keys) // count))
    for start in range(0, len(keys), size):
        yield keys.slice(start, size)


def _rows(tables: Tables, keys: pa.Table) -> dict[str, pa.Table]:
    """Return the rows of tables with these values, in order."""
    return {
        name: schema.sort(name, table.join(keys, keys.column_names, join_type="left semi").select(table.column_names))
        for name, table in tables.items()
    }


def _ignore_progress(_completed: int, _total: int) -> None:
    """Ignore progress."""


def _apply(
    function: Callable[..., dict[str, pa.Table]], options: Mapping[str, Any], tables: Tables
) -> dict[str, pa.Table]:
    """Run a stage on one part."""
    return function(tables, **options)
