"""What a stage of the pipeline is, and applying one to an arena.

    OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), make_outcomes)
    run(OUTCOMES, Path("arena"), made_by="mirage outcomes")

A stage is a function from tables to tables. Each domain package declares its own in `stage.py`; the order of all is in
`mirage.pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import store

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
        options: the stage's own.

    Raises:
        ArenaError: if the arena lacks a table the stage reads, or cannot be written.
    """

    def make() -> store.Arena:
        seen = store.consistently(
            path, lambda arena: store.Snapshot(arena, {name: arena.read(name) for name in stage.tables(arena)})
        )
        outputs = stage.run(seen.tables, **options)
        remarks = [*notes, *stage.remarks(seen.tables)]
        values = {name: None if part is None else new.select([part]) for name, new in outputs.items()}
        subjects = {
            value for named in values.values() if named is not None for value in named[part].unique().to_pylist()
        }
        rows = {name: store.NewRows(new, values[name]) for name, new in outputs.items()}
        result = store.upsert(path, rows, made_by=made_by, notes=remarks, subjects=subjects, seen=seen, step=step)
        return result.arena

    return store.retry_outdated(make)
