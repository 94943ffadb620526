"""Consistency checks of imports: answers need their queries, and queries with answers must not change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError, BadInput, Outdated
from mirage.stages.shown import refuse_changed

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY = ("language", "query_id")


def refuse_misfits(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Check that tables fit those of an arena.

    Raises:
        BadInput: if queries of answers or judgments are neither in the arena nor imported.
        ArenaError: if a query changes that the arena has answers to or judgments on.
    """
    if "queries" in tables:
        _refuse_changed(arena, tables)
    _refuse_unasked(arena, tables)


def _refuse_unasked(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Check that queries of answers and judgments are in the arena or imported, if there are any.

    Raises:
        BadInput: naming the first missing one.
    """
    keys = list(_QUERY)
    queries = [tables["queries"].select(keys)] if "queries" in tables else []
    queries += [arena.read("queries", columns=keys)] if "queries" in arena.tables else []
    for name in ("answers", "judgments"):
        if queries and name in tables:
            strays = tables[name].select(keys)
            for known in queries:
                strays = strays.join(known, keys, join_type="left anti")
            if len(strays):
                first = _first(strays)
                raise BadInput(
                    f"{name} refer to a missing query",
                    where=f"language={first[0]!r}, query_id={first[1]!r}",
                    do="import the query too, or use another folder",
                )


def _refuse_changed(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Check that queries with answers or judgments, and their passages, do not change."""
    import pyarrow as pa

    keys = list(_QUERY)
    coming = tables["queries"].select(keys)
    answered = [arena.read(name, columns=keys) for name in ("answers", "judgments") if name in arena.tables]
    common = pa.concat_tables(
        [table.join(coming, keys, join_type="left semi") for table in answered] or [coming.slice(0, 0)]
    )
    for name in ("queries", "passages"):
        if len(common) and name in tables and name in arena.tables:
            old, new = (
                _by_query(t.join(common, keys, join_type="left semi")) for t in (arena.read(name), tables[name])
            )
            if changed := sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key)):
                raise ArenaError(
                    f"{len(changed):,} queries would change that this arena has answers to or judgments on",
                    where=f"{arena.address}: language={changed[0][0]!r}, query_id={changed[0][1]!r}",
                    do="remove those queries, or use a new folder",
                )


def _by_query(table: pa.Table) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return rows by query, sorted by key."""
    by_query: dict[tuple[str, str], list[dict[str, Any]]] = {}
    order = "passages" if "passage_id" in table.column_names else "queries"
    for row in schema.sort(order, table).to_pylist():
        by_query.setdefault((row["language"], row["query_id"]), []).append(row)
    return by_query


def _first(table: pa.Table) -> tuple[str, str]:
    row = table.sort_by([(key, "ascending") for key in _QUERY]).slice(0, 1).to_pylist()[0]
    return row["language"], row["query_id"]


def refuse_changes(current: store.Arena, seen: store.Arena | None, tables: Mapping[str, pa.Table]) -> None:
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
    keys = list(_QUERY)
    answered = [current.read(name, columns=keys) for name in ("answers", "judgments") if name in current.tables]
    for name in ("queries", "passages"):
        if not answered or name not in tables or name not in current.tables:
            continue
        changed = _changed_queries(name, current.read(name), tables[name])
        for table in answered:
            if len(hit := changed.join(table, keys, join_type="left semi")):
                first = _first(hit)
                raise ArenaError(
                    f"{name} would change of queries that this arena has answers to or judgments on",
                    where=f"{current.path}: language={first[0]!r}, query_id={first[1]!r}",
                    do="use a new folder, or other ids for the queries",
                )


def grows(arena: store.Arena, tables: Mapping[str, pa.Table]) -> bool:
    """Return whether existing queries get additional passages."""
    if "passages" not in tables or "passages" not in arena.tables:
        return False
    keys = list(schema.key("passages"))
    old = arena.read("passages", columns=keys)
    new = tables["passages"].select(keys).join(old, keys, join_type="left anti")
    return bool(len(new.join(old, list(_QUERY), join_type="left semi")))


def _changed_queries(name: str, old: pa.Table, new: pa.Table) -> pa.Table:
    """Return the keys of queries with a row whose existing values differ in a new table."""
    import pyarrow.compute as pc

    keys = list(schema.key(name))
    values = {"queries": ("text", "subset"), "passages": ("text", "position", "relevant")}[name]
    both = old.select([*keys, *values]).join(new.select([*keys, *values]), keys, join_type="inner", right_suffix=" new")
    differs = [pc.fill_null(pc.not_equal(both[value], both[f"{value} new"]), False) for value in values]
    mask = differs[0]
    for other in differs[1:]:
        mask = pc.or_(mask, other)
    return both.filter(mask).select(list(_QUERY))
