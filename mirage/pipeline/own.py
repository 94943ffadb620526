"""Bring your own: questions, answers and verdicts from files join those that an arena has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema, store
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.pipeline.imports import prints
from mirage.pipeline.stages import derived
from mirage.sources import files

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Own:
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
class Added:
    """What an import did."""

    arena: store.Arena
    """The arena as it is now."""
    rows: int
    """Records that were read."""
    replaced: int
    """Rows of the arena that they took the place of."""
    dropped: int
    """Verdicts that went because an answer that they judged was replaced by another text."""


def read_own(own: Own, into: Path | None = None) -> dict[str, pa.Table]:
    """Read a file as an import would, writing nothing.

    Args:
        own: the file.
        into: an arena that the records must fit, where there is one: answers and verdicts its questions, verdicts its
            systems, and questions no answers that it has.

    Raises:
        UnknownName: if there is no such kind.
        BadInput: listing every wrong line.
        ArenaError: if the arena holds answers to questions that would be replaced.
    """
    if own.kind not in get_args(files.Kind):
        raise UnknownName("kind of file", own.kind, get_args(files.Kind))
    if own.passages is not None and own.kind != "queries":
        raise BadInput(f"{own.kind} have no passages", do="leave out --passages, or import queries")
    arena = store.open_arena(into) if into is not None and store.is_arena(into) else None
    if own.kind == "answers":
        return {"answers": files.answers(own.file, options=own.options, known=_known(arena, "queries"))}
    if own.kind == "judgments":
        return {"judgments": files.judgments(own.file, options=own.options, known=_known(arena, "answers", "outcomes"))}
    tables = files.queries(own.file, passages=own.passages, options=own.options)
    if arena is not None:
        _refuse_answered(arena, tables["queries"])
    return tables


def import_own(own: Own, into: Path) -> Added:
    """Read a file into an arena, new or existing. What has the same key is replaced; the rest stays.

    A question's passages are replaced with it. A verdict on an answer whose text changes goes, as it was on another.

    Raises:
        BadInput: listing every wrong line; nothing is then imported.
        ArenaError: if the arena holds answers to questions that would be replaced, or cannot be written.
    """
    tables = read_own(own, into)
    new = tables[own.kind]
    made: dict[str, pa.Table] = {}
    before: Mapping[str, Any] = {"from": [], "notes": []}
    replaced = dropped = 0
    if store.is_arena(into):
        arena = store.open_arena(into)
        before = arena.manifest["made"].get(own.kind, before)
        for name, table in tables.items():
            if name in arena.tables:
                made[name] = _joined(arena.read(name), table, schema.key(own.kind))
        if own.kind in arena.tables:
            replaced = arena.rows(own.kind) + len(new) - len(made[own.kind])
        if own.kind == "answers" and "judgments" in arena.tables and "answers" in arena.tables:
            judgments = arena.read("judgments")
            made["judgments"] = _still_true(judgments, arena.read("answers"), new)
            dropped = len(judgments) - len(made["judgments"])
            if not dropped:
                del made["judgments"]
    made_from = prints(own.file.parent, [own.file])
    if own.passages is not None:
        made_from += prints(own.passages.parent, [own.passages])
    arena = store.write(
        into,
        {**tables, **made},
        made_by=f"mirage import {own.kind}",
        made_from=[*(one for one in before["from"] if one not in made_from), *made_from],
        notes=before["notes"],
        stale=derived(tables),
    )
    return Added(arena, len(new), replaced, dropped)


def _known(arena: store.Arena | None, *tables: str) -> pa.Table | None:
    """Keys of the first of some tables that an arena has."""
    name = next((name for name in tables if arena is not None and name in arena.tables), None)
    if arena is None or name is None:
        return None
    return arena.read(name, columns=[key for key in schema.key(name) if key != "parser"])


def _refuse_answered(arena: store.Arena, queries: pa.Table) -> None:
    """Refuse to replace questions that an arena has answers to."""
    keys = list(schema.key("queries"))
    for name in ("answers", "judgments"):
        if name in arena.tables:
            held = arena.read(name, columns=keys).join(queries.select(keys), keys, join_type="left semi")
            if len(held):
                first = held.sort_by([(key, "ascending") for key in keys]).slice(0, 1).to_pylist()[0]
                raise ArenaError(
                    f"this arena holds {name} to questions of this file",
                    where=f"{arena.path}: language={first['language']!r}, query_id={first['query_id']!r}",
                    do="leave those questions out, or give a new folder",
                )


def _joined(old: pa.Table, new: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """The new rows, and the old ones with other keys."""
    import pyarrow as pa

    others = old.join(new.select(list(keys)), list(keys), join_type="left anti").select(old.column_names)
    return pa.concat_tables([others.cast(old.schema), new])


def _still_true(judgments: pa.Table, old: pa.Table, new: pa.Table) -> pa.Table:
    """The verdicts on answers that have the text they had."""
    keys = list(schema.key("answers"))
    # Arrow joins no null text; an answer without one was not judged on it.
    same = old.select([*keys, "text"]).join(new.select([*keys, "text"]), [*keys, "text"], join_type="left semi")
    again = old.select(keys).join(new.select(keys), keys, join_type="left semi")
    changed = again.join(same.select(keys), keys, join_type="left anti")
    kept = judgments
    for side in ("system_a", "system_b"):
        kept = kept.join(changed, ["language", "query_id", side], keys, join_type="left anti")
    return kept.select(judgments.column_names).cast(judgments.schema)
