"""The part of an arena that a board publishes as its sources: verdicts and outcomes, and texts if their licences allow
it.

Everything else in a board is computed from it, so a reader can recompute the board from the site alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = ("queries", "passages", "answers")
"""Tables with copyrightable texts."""
_ALWAYS = ("systems", "queries", "answers", "outcomes", "judgments", "published")
_WITH_TEXTS = ("nuggets", "nugget_assignments")
"""Tables with only texts, needed to recompute battles by nuggets."""
_HIDDEN: Mapping[str, tuple[str, ...]] = {
    "queries": ("text",),
    "answers": ("text", "reason", "thoughts"),
    "judgments": ("rationale", "reason"),
    "nugget_assignments": ("quote", "reason"),
}
"""Text columns, null if texts are not published."""
_PRIVATE: Mapping[str, tuple[str, ...]] = {"answers": ("call", "thoughts"), "judgments": ("call",)}
"""Columns that are never published: ledger keys, and models' thoughts."""
_OPEN = re.compile(
    r"\b(apache(?:[- ]licen[cs]e)?[- ]2(?:\.0)?|mit|bsd(?:-[23]-clause)?|unlicense|cc0(?:[- ]1\.0)?|public domain"
    r"|pddl|odc-by|odbl|cc[- ]by(?:[- ]sa)?(?:[- ][34]\.0)?|gpl-3\.0|mpl-2\.0)\b",
    re.IGNORECASE,
)
"""Licences that allow redistribution for any purpose."""
_CLOSED = re.compile(r"\b(nc|nd|non-?commercial|no ?derivatives|proprietary|all rights reserved)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextPermission:
    """Decision on publishing the texts of an arena, with the reason."""

    allowed: bool
    """Whether texts may be published."""
    reason: str
    """The reason: the licences."""


def text_permission(arena: Arena, stated: bool | None = None) -> TextPermission:
    """Return whether the licences of an arena's texts allow a board to publish them.

    Every source of queries, passages and answers that names a licence must name one that allows redistribution; if no
    source of a table names a licence, the arena's licence decides.

    Args:
        arena: the arena.
        stated: the publisher's statement; None to decide by the licences.
    """
    shown = [table for table in ("queries", "answers") if table in arena.tables and _has_texts(arena, table)]
    if not shown:
        return TextPermission(False, "the arena has no texts")
    if stated is not None:
        return TextPermission(stated, f"the publisher states that texts may {'' if stated else 'not '}be shown")
    names: dict[str, None] = {}
    for table in TEXTS:
        if table in arena.tables:
            sources = arena.manifest["made"][table]["from"]
            licences = [str(source["licence"]) for source in sources if source.get("licence")]
            names.update(dict.fromkeys(licences or [str(arena.manifest["licence"])]))
    for name in names:
        if not _OPEN.search(name) or _CLOSED.search(name):
            return TextPermission(False, f"licence {name!r}" if name.strip() else "no licence is recorded")
    return TextPermission(True, "licence " + ", ".join(names))


def write_sources(arena: Arena, into: Path, *, texts: bool, features: bool = False) -> Arena:
    """Write the sources of a board into a folder, as a separate arena.

    Args:
        arena: the arena.
        into: a new folder.
        texts: whether to include texts.
        features: whether to include the measured features.

    Raises:
        ArenaError: if the arena has no outcomes and no judgments, or the folder cannot be written.
    """
    wanted = [*_ALWAYS, *(_WITH_TEXTS if texts else ()), *(("features",) if features else ())]
    tables = [table for table in schema.TABLES if table in arena.tables and table in wanted]
    if not {"outcomes", "judgments"} & set(tables):
        raise ArenaError("the arena has no outcomes and no judgments to publish", where=arena.address,
                         do=f"run: {arena.command('outcomes')}")  # fmt: skip
    for table in tables:
        rows = _number_voters(table, _hide_columns(table, arena.read(table), texts=texts))
        made = arena.manifest["made"][table]
        store.write(
            into,
            {table: rows},
            **{name: str(arena.manifest[name]) for name in ("title", "label", "about", "licence")},
            made_by=store.Provenance(made["by"], sources=_name_sources(made["from"]), notes=made["notes"]),
        )
    return store.open_arena(into)


def _has_texts(arena: Arena, table: str) -> bool:
    sql = f'SELECT 1 FROM "{table}" WHERE text IS NOT NULL LIMIT 1'  # noqa: S608  # a table's name
    return len(arena.sql(sql)) > 0


def _hide_columns(table: str, rows: pa.Table, *, texts: bool) -> pa.Table:
    """Return the rows with unpublished columns set to null."""
    import pyarrow as pa

    hidden = {*_PRIVATE.get(table, ()), *(() if texts else _HIDDEN.get(table, ()))}
    for name in hidden:
        place = rows.column_names.index(name)
        rows = rows.set_column(place, rows.field(place), pa.nulls(len(rows), rows.field(place).type))
    if table == "queries" and not texts:
        place = rows.column_names.index("reason")
        reason = pa.array(["not published with this board"] * len(rows), rows.field(place).type)
        rows = rows.set_column(place, rows.field(place), reason)
    return rows


def _number_voters(table: str, rows: pa.Table) -> pa.Table:
    """Return judgments with voters' names replaced by numbers."""
    import pyarrow as pa

    if table != "judgments" or rows["voter"].null_count == len(rows):
        return rows
    voters = rows["voter"].to_pylist()
    numbers = {name: f"voter {n}" for n, name in enumerate(dict.fromkeys(v for v in voters if v is not None), 1)}
    place = rows.column_names.index("voter")
    column = pa.array([None if voter is None else numbers[voter] for voter in voters], pa.string())
    return rows.set_column(place, rows.field(place), column)


def _name_sources(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the sources' descriptions, without paths of the publisher's machine."""
    kept = ("name", "url", "licence", "sha256")
    return [{name: source[name] for name in kept if source.get(name) is not None} for source in sources]
