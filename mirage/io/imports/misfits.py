"""Consistency checks of imports: answers need their queries, and queries with answers must not change."""

from collections.abc import Mapping

import pyarrow as pa

from mirage import schema
from mirage.errors import ArenaError, BadInput, Outdated
from mirage.stages.shown import refuse_changed
from mirage.store.arena import Arena
from mirage.store.lineage import QUERY
from mirage.store.upsert import matching


def refuse_misfits(arena: Arena, tables: Mapping[str, pa.Table]) -> None:
    """Check that tables fit those of an arena.

    Raises:
        BadInput: if queries of answers or judgments are neither in the arena nor imported, naming the first.
        ArenaError: if a query or passage changes that the arena has answers to or judgments on.
    """
    _refuse_changed(arena, tables, whole=True)
    queries = [tables["queries"]] if "queries" in tables else []
    queries += [arena.read("queries", columns=QUERY)] if "queries" in arena.tables else []
    for name in ("answers", "judgments"):
        if queries and name in tables:
            strays = tables[name]
            for known in queries:
                strays = matching(strays, known, QUERY, present=False)
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
    answered = [arena.read(name, columns=QUERY) for name in ("answers", "judgments") if name in arena.tables]
    for name in ("queries", "passages"):
        if not answered or name not in tables or name not in arena.tables:
            continue
        changed = _changed_queries(name, arena.read(name), tables[name], whole=whole)
        for table in answered:
            if len(hit := matching(changed, table, QUERY)):
                raise ArenaError(
                    f"{name} would change of queries that this arena has answers to or judgments on",
                    where=f"{arena.path}: {_first(hit)}",
                    do="use a new folder, or other ids for the queries",
                )


def _first(table: pa.Table) -> str:
    """Return the place of the first query of a table."""
    row = table.sort_by([(key, "ascending") for key in QUERY]).slice(0, 1).to_pylist()[0]
    return f"language={row['language']!r}, query_id={row['query_id']!r}"


def adds_passages(arena: Arena, tables: Mapping[str, pa.Table]) -> bool:
    """Return whether existing queries get additional passages."""
    if "passages" not in tables or "passages" not in arena.tables:
        return False
    old = arena.read("passages", columns=schema.key("passages"))
    new = matching(tables["passages"], old, old.column_names, present=False)
    return bool(len(matching(new, old, QUERY)))


def _changed_queries(name: str, old: pa.Table, new: pa.Table, *, whole: bool) -> pa.Table:
    """Return the keys of queries with a row that changes.

    Args:
        name: the table.
        old: its rows in the arena.
        new: its new rows.
        whole: whether further rows and values where there were none are changes too.
    """
    import pyarrow.compute as pc

    keys = schema.key(name)
    values = {"queries": ("text", "subset"), "passages": ("text", "position", "relevant")}[name]
    if whole:
        old = matching(old, new, QUERY)
        parts = [matching(*pair, [*keys, *values], present=False) for pair in ((old, new), (new, old))]
    else:
        both = matching(old, new, keys)
        given = {value: both.filter(pc.is_valid(both[value])) for value in values}
        parts = [matching(rows, new, [*keys, value], present=False) for value, rows in given.items()]
    return pa.concat_tables([part.select(QUERY) for part in parts])
