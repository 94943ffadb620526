"""Import of the user's own queries, answers and verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.io.imports import misfits
from mirage.io.imports.public import prints
from mirage.io.sources import files

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class UserFile:
    """A file of the user and how to read it."""

    kind: files.Kind
    """Kind of its records."""
    file: Path
    """`.jsonl`, `.csv` or `.parquet`, followed by `.gz` if compressed."""
    passages: Path | None = None
    """For queries: the file of their passages, if separate."""
    options: files.Options = field(default_factory=files.Options)
    """Names of its columns."""

    @property
    def files(self) -> list[Path]:
        """Return the files to read."""
        return [self.file, *([self.passages] if self.passages else [])]


@dataclass(frozen=True)
class ImportResult:
    """Result of an import."""

    arena: store.Arena
    """The arena after the import."""
    rows: int
    """Records read."""
    replaced: int
    """Rows replaced."""
    dropped: int
    """Verdicts removed because the text of a judged answer changed."""


def read_own(own: UserFile, into: Path | None = None) -> dict[str, pa.Table]:
    """Read a file as an import would, without writing.

    Args:
        own: the file.
        into: an arena to check against, if it exists: answers and verdicts need its queries, verdicts its systems, and
            queries with answers must not change.

    Raises:
        UnknownName: if there is no such kind.
        BadInput: listing every invalid line.
        ArenaError: if a query with answers would change.
    """
    if own.kind not in get_args(files.Kind):
        raise UnknownName("kind of file", own.kind, get_args(files.Kind))
    if own.passages is not None and own.kind != "queries":
        raise BadInput(f"{own.kind} have no passages", do="omit --passages, or import queries")
    arena = store.open_arena(into) if into is not None and store.is_arena(into) else None
    if own.kind == "answers":
        return {"answers": files.read_answers(own.file, options=own.options, known=_read_keys(arena, "queries"))}
    if own.kind == "judgments":
        known = _read_keys(arena, "answers", "outcomes")
        queries = _read_keys(arena, "queries") if known is None else None
        return {"judgments": files.read_judgments(own.file, options=own.options, known=known, queries=queries)}
    tables = files.read_queries(own.file, passages=own.passages, options=own.options)
    if arena is not None:
        misfits.refuse_misfits(arena, tables)
    return tables


def import_own(own: UserFile, into: Path) -> ImportResult:
    """Import a file into an arena, new or existing (`store.upsert`).

    Raises:
        BadInput: listing every invalid line; nothing is then imported.
        ArenaError: if a query with answers would change, or the arena cannot be written.
    """
    tables = read_own(own, into)
    result = store.upsert(
        into,
        {name: store.by_key(name, table) for name, table in tables.items()},
        made_by=store.Provenance(
            f"mirage import {own.kind}",
            sources=[origin for file in own.files for origin in prints(file.parent, [file])],
        ),
        check=lambda arena: misfits.refuse_misfits(arena, tables),
    )
    replaced, dropped = result.replaced.get(own.kind, 0), result.lost.get("judgments", 0)
    return ImportResult(result.arena, len(tables[own.kind]), replaced, dropped)


def _read_keys(arena: store.Arena | None, *tables: str) -> pa.Table | None:
    """Return the keys of the first of some tables that an arena has."""
    name = next((name for name in tables if arena is not None and name in arena.tables), None)
    if arena is None or name is None:
        return None
    return arena.read(name, columns=[key for key in schema.key(name) if key != "parser"])
