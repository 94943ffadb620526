"""The nuggets of one query, their changes, and their assignments to each system's answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.explorer.kit.query_keys import Key
from mirage.stages.features.assessed import decider
from mirage.store.query_rows import of_query

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from mirage.stages.nuggets import BankChange
    from mirage.store import Arena


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """One nugget with its assignment to each answer."""

    nugget: schema.Nugget
    """The fact."""
    assignments: Mapping[str, schema.NuggetAssignment]
    """Assignments by system; undecided systems are missing."""


@dataclass(frozen=True, slots=True)
class NuggetMatrix:
    """The nuggets of one query with the assignments of some systems."""

    rows: tuple[NuggetRow, ...]
    """The nuggets, vital nuggets first."""
    systems: tuple[str, ...]
    """Systems by name; empty without assignments."""
    assigner: str | None
    """Assigner; null without assignments."""


@lru_cache(maxsize=32)
def assigner_of(arena: Arena) -> str | None:
    """Return the assigner with the most assignments; the term matcher only if there is no other."""
    if "nugget_assignments" not in arena.tables:
        return None
    return decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner")


def matrix(arena: Arena, key: Key, systems: Collection[str] = ()) -> NuggetMatrix | None:
    """Return the nuggets of a query against its systems.

    Args:
        arena: the arena.
        key: language and id of the query.
        systems: systems to include; empty for all.

    Returns:
        None if the query has no nuggets.
    """
    nuggets = bank(arena, key)
    if not nuggets:
        return None
    assigner = assigner_of(arena)
    by_nugget: dict[str, dict[str, schema.NuggetAssignment]] = {}
    for row in _assignments(arena, key):
        if row.assigner == assigner and (not systems or row.system in systems):
            by_nugget.setdefault(row.nugget_id, {})[row.system] = row
    rows = tuple(NuggetRow(nugget, by_nugget.get(nugget.nugget_id, {})) for nugget in nuggets)
    return NuggetMatrix(rows, tuple(sorted({system for row in rows for system in row.assignments})), assigner)


@lru_cache(maxsize=256)
def bank(arena: Arena, key: Key) -> tuple[schema.Nugget, ...]:
    """Return the nuggets of a query, vital nuggets first."""
    rows = [schema.Nugget(**row) for row in of_query(arena, "nuggets", key)]
    return tuple(sorted(rows, key=lambda nugget: (nugget.importance != "vital", nugget.nugget_id)))


@lru_cache(maxsize=256)
def _assignments(arena: Arena, key: Key) -> tuple[schema.NuggetAssignment, ...]:
    """Return the assignments of a query's nuggets by all assigners."""
    return tuple(schema.NuggetAssignment(**row) for row in of_query(arena, "nugget_assignments", key))


@lru_cache(maxsize=64)
def bank_rows(arena: Arena, key: Key) -> pa.Table:
    """Return the nuggets of a query as a table `nuggets`."""
    return schema.from_rows("nuggets", bank(arena, key))


@dataclass(frozen=True)
class BankDraft:
    """A change previewed before it is saved."""

    place: tuple[Path, Key]
    """Arena and query."""
    seen: tuple[schema.Nugget, ...]
    """The nuggets of the query when the change was made."""
    change: Callable[..., BankChange]
    """The change, without bank, author and time."""


@lru_cache(maxsize=64)
def queries(arena: Arena, language: str) -> tuple[str, ...]:
    """Return the ids of a language's queries that have or had nuggets, sorted."""
    names: set[str] = set()
    for table in ("nuggets", "nugget_edits"):
        if language in arena.languages(table):
            names |= set(arena.read(table, columns=["query_id"], languages=[language])["query_id"].to_pylist())
    return tuple(sorted(names))


@dataclass(frozen=True, slots=True)
class BankEdit:
    """One change to the bank of a query."""

    edit: schema.NuggetEdit
    """Author, action and time."""
    before: tuple[schema.Nugget, ...]
    """The nuggets before the change."""
    after: tuple[schema.Nugget, ...]
    """The nuggets after the change."""


def edit_of(edit: schema.NuggetEdit) -> BankEdit:
    """Parse the nuggets of a change."""
    before, after = (tuple(schema.Nugget(**row) for row in json.loads(text)) for text in (edit.before, edit.after))
    return BankEdit(edit, before, after)


def edits(arena: Arena, key: Key) -> list[BankEdit]:
    """Return the changes to the nuggets of a query, latest first."""
    rows = [schema.NuggetEdit(**row) for row in of_query(arena, "nugget_edits", key)]
    return [edit_of(row) for row in sorted(rows, key=lambda row: (row.time, row.edit_id), reverse=True)]


def whole_bank(arena: Arena) -> pa.Table:
    """Return the nuggets of all queries: `schema.Nugget` rows."""
    rows = arena.read_optional("nuggets")
    return schema.from_rows("nuggets", []) if rows is None else rows
