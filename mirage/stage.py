"""What a stage of the pipeline is, and applying one to an arena.

    OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), make_outcomes)
    run(OUTCOMES, Path("arena"), made_by="mirage outcomes")

A stage is a function from tables to tables. Each domain package declares its own in `stage.py`; the order of all is in
`mirage.pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.engines.tasks import Executor, Task, Work, nothing

if TYPE_CHECKING:
    import pyarrow as pa

Tables = Mapping[str, "pa.Table"]
Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A function from tables to tables, with the names of the tables that it reads and writes."""

    name: str
    """What it is called."""
    reads: tuple[str, ...]
    """Tables it needs."""
    writes: tuple[str, ...]
    """Tables it makes."""
    run: Callable[..., dict[str, pa.Table]]
    """`run(tables, **options)` -> tables, both by name; pure."""
    version: int = 1
    """Raised when the stage makes something else of the same tables, so that a run does not skip it."""
    uses: tuple[str, ...] = ()
    """Tables it reads where the arena has them."""
    remarks: Callable[[Tables], Sequence[str]] = lambda _: ()
    """What a reader of the result must know of the tables it was made from: notes for the manifest."""
    by: tuple[str, ...] = ()
    """Columns of every table by whose values the work can be cut: language, or language and query. None if it cannot be
    cut. The first table that it reads says which values there are."""

    def tables(self, arena: store.Arena) -> tuple[str, ...]:
        """What it reads of an arena."""
        return (*self.reads, *(name for name in self.uses if name in arena.tables))


def run(
    stage: Stage,
    path: Path,
    *,
    made_by: str,
    part: str | None = None,
    notes: Sequence[str] = (),
    step: str | None = None,
    executor: Executor | None = None,
    check: Callable[[store.Arena, Tables], object] | None = None,
    **options: Any,
) -> store.Arena:
    """Apply a stage to an arena and write what it makes; tables made from the old ones go if it differs.

    Args:
        stage: the stage.
        path: the arena's folder.
        made_by: the command, for the manifest.
        part: a column by whose values the table is replaced in part: rows with values that the stage did not make stay.
        notes: for the manifest; with `part`, each begins with the value it speaks of and a colon.
        step: the step of a run that this is (`store.upsert`).
        executor: where a stage that can be cut is applied, part by part; None for here, whole. Its options are then
            picklable, but `progress`, which is called here.
        check: given the arena as it is and the tables that come in, raises what refuses them.
        options: the stage's own.

    Raises:
        ArenaError: if the arena lacks a table the stage reads, or cannot be written.
    """

    def make() -> store.Arena:
        seen = store.consistently(
            path, lambda arena: store.Snapshot(arena, {name: arena.read(name) for name in stage.tables(arena)})
        )
        outputs = (
            stage.run(seen.tables, **options) if executor is None else _spread(stage, seen.tables, executor, options)
        )
        remarks = [*notes, *stage.remarks(seen.tables)]
        values = {name: None if part is None else new.select([part]) for name, new in outputs.items()}
        subjects = {
            value for named in values.values() if named is not None for value in named[part].unique().to_pylist()
        }
        rows = {name: store.NewRows(new, values[name]) for name, new in outputs.items()}
        result = store.upsert(
            path,
            rows,
            made_by=made_by,
            notes=remarks,
            subjects=subjects,
            check=None if check is None else lambda arena: check(arena, outputs),
            seen=seen,
            step=step,
        )
        return result.arena

    return store.retry_outdated(make)


_PARTS = 8
"""Parts a worker, so that none waits long for the last."""
_BYTES = 100_000_000
"""Of the tables in a part, about, however large they are: what a worker holds at once. Rows of one value stay
together."""


def _spread(stage: Stage, tables: Tables, executor: Executor, options: Mapping[str, Any]) -> dict[str, pa.Table]:
    """What a stage makes of tables, part by part."""
    import pyarrow as pa

    progress: Progress = options.get("progress") or _silent
    options = {name: value for name, value in options.items() if name != "progress"}
    size = sum(table.nbytes for table in tables.values())
    tasks = list(_cut(stage, tables, max(_PARTS * executor.workers, -(-size // _BYTES))))
    if len(tasks) < 2:
        return stage.run(tables, **options)
    work = Work(stage.name, nothing, partial(_apply, stage.run, options))
    outputs: dict[str, dict[str, pa.Table]] = {}
    for key, output in executor.run(
        work, (Task(str(number), _rows(tables, keys)) for number, keys in enumerate(tasks))
    ):
        outputs[key] = output
        progress(len(outputs), len(tasks))
    parts = [outputs[str(number)] for number in range(len(tasks))]
    return {name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}


def _cut(stage: Stage, tables: Tables, count: int) -> Iterator[pa.Table]:
    """The values of the columns by which a stage is cut, sorted, in about so many parts; none for one without."""
    if not stage.by:
        return
    columns = list(stage.by)
    keys = tables[stage.reads[0]].select(columns).group_by(columns).aggregate([]).select(columns)
    keys = keys.sort_by([(column, "ascending") for column in columns])
    size = max(1, -(-len(keys) // count))
    for start in range(0, len(keys), size):
        yield keys.slice(start, size)


def _rows(tables: Tables, keys: pa.Table) -> dict[str, pa.Table]:
    """The rows of tables with these values, in their order."""
    return {
        name: schema.sort(name, table.join(keys, keys.column_names, join_type="left semi").select(table.column_names))
        for name, table in tables.items()
    }


def _silent(_completed: int, _total: int) -> None:
    """Say nothing."""


def _apply(
    function: Callable[..., dict[str, pa.Table]], options: Mapping[str, Any], _loaded: None, task: Task
) -> dict[str, pa.Table]:
    """Apply a stage to one part."""
    return function(task.rows, **options)
