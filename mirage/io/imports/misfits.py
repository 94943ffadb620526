"""Consistency checks of imports: answers need their queries, and queries with answers must not change."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import ArenaError, BadInput, Outdated
from mirage.stages.shown import refuse_changed
from mirage.store.arena import Arena

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY = ("language", "query_id")


def refuse_misfits(arena: Arena, tables: Mapping[str, pa.Table]) -> None:
    """Check that tables fit those of an arena.

    Raises:
        BadInput: if queries of answers or judgments are neither in the arena nor imported, naming the first.
        ArenaError: if a query or passage changes that the arena has answers to or judgments on.
    """
    _refuse_changed(arena, tables, whole=True)
    keys = list(_QUERY)
    queries = [tables["queries"].select(keys)] if "queries" in tables else []
    queries += [arena.read("queries", columns=keys)] if "queries" in arena.tables else []
    for name in ("answers", "judgments"):
        if queries and name in tables:
            strays = tables[name].select(keys)
            for known in queries:
                strays = strays.join(known, keys, join_type="left anti")
            if len(strays):
                raise BadInput(
                    f"{name} refer to a missing query",
                    where=_first(strays),
                    do="import the query too, or use another folder",
                )


def refuse_changes(current: Arena, seen: Arena | None, tables: Mapping[str, pa.Table]) -> None:
    """Check that texts and labels of queries and passages with answers or judgments do not change.

    Additional passages are allowed.

    Args:
        current: the current arena.
        seen: the arena with which the tables were merged.
        tables: the tables.

    Raises:
        Outdated: if the arena has changed since.
        ArenaError: if a query or passage would change.
    """
    if seen is None or seen.version != current.version:
        raise Outdated("another program has changed the arena", where=str(current.path))
    if "retrieved" in tables:
        refuse_changed(current, tables["retrieved"])
    _refuse_changed(current, tables, whole=False)


def _refuse_changed(arena: Arena, tables: Mapping[str, pa.Table], *, whole: bool) -> None:
    keys = list(_QUERY)
    answered = [arena.read(name, columns=keys) for name in ("answers", "judgments") if name in arena.tables]
    for name in ("queries", "passages"):
        if not answered or name not in tables or name not in arena.tables:
            continue
        changed = _changed_queries(name, arena.read(name), tables[name], whole=whole)
        for table in answered:
            if len(hit := changed.join(table, keys, join_type="left semi")):
                raise ArenaError(
                    f"{name} would change of queries that this arena has answers to or judgments on",
                    where=f"{arena.path}: {_first(hit)}",
                    do="use a new folder, or other ids for the queries",
                )


def _first(table: pa.Table) -> str:
    """Return the place of the first query of a table."""
    row = table.sort_by([(key, "ascending") for key in _QUERY]).slice(0, 1).to_pylist()[0]
    return f"language={row['language']!r}, query_id={row['query_id']!r}"


def grows(arena: Arena, tables: Mapping[str, pa.Table]) -> bool:
    """Return whether existing queries get additional passages."""
    if "passages" not in tables or "passages" not in arena.tables:
        return False
    keys = list(schema.key("passages"))
    old = arena.read("passages", columns=keys)
    new = tables["passages"].select(keys).join(old, keys, join_type="left anti")
    return bool(len(new.join(old, list(_QUERY), join_type="left semi")))


def _changed_queries(name: str, old: pa.Table, new: pa.Table, *, whole: bool) -> pa.Table:
    """Return the keys of queries with a row that changes.

    Args:
        name: the table.
        old: its rows in the arena.
        new: its new rows.
        whole: whether further rows and values where there were none are changes too.
    """
    import pyarrow.compute as pc

    keys, of_query = list(schema.key(name)), list(_QUERY)
    values = {"queries": ("text", "subset"), "passages": ("text", "position", "relevant")}[name]
    old, new = old.select([*keys, *values]), new.select([*keys, *values])
    if whole:
        old = old.join(new.select(of_query), of_query, join_type="left semi")
    both = old.join(new, keys, join_type="full outer" if whole else "inner", right_suffix=" new")
    masks = []
    for before, after in ((both[value], both[f"{value} new"]) for value in values):
        added = pc.xor(pc.is_valid(before), pc.is_valid(after)) if whole else pc.is_valid(before)
        masks.append(pc.fill_null(pc.not_equal(before, after), added))
    return both.filter(functools.reduce(pc.or_, masks)).select(of_query)
