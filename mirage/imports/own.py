"""Bring your own: queries, answers and verdicts from files join those that an arena has."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.imports import misfits
from mirage.imports.public import prints
from mirage.sources import files

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class UserFile:
    """A file of the user's and how to read it."""

    kind: files.Kind
    """What its records are."""
    file: Path
    """`.jsonl`, `.csv` or `.parquet`, `.gz` after that if compressed."""
    passages: Path | None = None
    """Queries: the file of their passages, if the records do not hold them."""
    options: files.Options = field(default_factory=files.Options)
    """How its columns are named."""

    @property
    def files(self) -> list[Path]:
        """The files it is read from."""
        return [self.file, *([self.passages] if self.passages else [])]


@dataclass(frozen=True)
class ImportResult:
    """What an import did."""

    arena: store.Arena
    """The arena as it is now."""
    rows: int
    """Records that were read."""
    replaced: int
    """Rows of the arena that they took the place of."""
    dropped: int
    """Verdicts that went because an answer that they judged was replaced by another text."""


def read_own(own: UserFile, into: Path | None = None) -> dict[str, pa.Table]:
    """Read a file as an import would, writing nothing.

    Args:
        own: the file.
        into: an arena that the records must fit, where there is one: answers and verdicts its queries, verdicts its
            systems, and queries no answers that it has.

    Raises:
        UnknownName: if there is no such kind.
        BadInput: listing every wrong line.
        ArenaError: if a query would change that the arena has answers to.
    """
    if own.kind not in get_args(files.Kind):
        raise UnknownName("kind of file", own.kind, get_args(files.Kind))
    if own.passages is not None and own.kind != "queries":
        raise BadInput(f"{own.kind} have no passages", do="leave out --passages, or import queries")
    arena = store.open_arena(into) if into is not None and store.is_arena(into) else None
    if own.kind == "answers":
        return {"answers": files.read_answers(own.file, options=own.options, known=_known(arena, "queries"))}
    if own.kind == "judgments":
        known = _known(arena, "answers", "outcomes")
        queries = _known(arena, "queries") if known is None else None
        return {"judgments": files.read_judgments(own.file, options=own.options, known=known, queries=queries)}
    tables = files.read_queries(own.file, passages=own.passages, options=own.options)
    if arena is not None:
        misfits.refuse_misfits(arena, tables)
    return tables


def import_own(own: UserFile, into: Path) -> ImportResult:
    """Read a file into an arena, new or existing (`store.upsert`).

    Raises:
        BadInput: listing every wrong line; nothing is then imported.
        ArenaError: if a query would change that the arena has answers to, or the arena cannot be written.
    """
    tables = read_own(own, into)
    result = store.upsert(
        into,
        {name: store.by_key(name, table) for name, table in tables.items()},
        made_by=f"mirage import {own.kind}",
        made_from=[origin for file in own.files for origin in prints(file.parent, [file])],
        check=lambda arena: misfits.refuse_misfits(arena, tables),
    )
    replaced, dropped = result.replaced.get(own.kind, 0), result.lost.get("judgments", 0)
    return ImportResult(result.arena, len(tables[own.kind]), replaced, dropped)


def _known(arena: store.Arena | None, *tables: str) -> pa.Table | None:
    """Keys of the first of some tables that an arena has."""
    name = next((name for name in tables if arena is not None and name in arena.tables), None)
    if arena is None or name is None:
        return None
    return arena.read(name, columns=[key for key in schema.key(name) if key != "parser"])
