"""Transactional read, merge and write, used by every command that adds rows to a table.

    upsert(path, {"answers": by_key("answers", rows)}, made_by="mirage import")

Under the arena's lock the current manifest is read, new rows replace those with the same key, invalidated rows and
tables are removed, provenance of remaining rows is kept, and the manifest is written last. Concurrent programs are thus
serialised, and the second merges into the result of the first. Slow work (calls to models, measuring features) happens
before, without the lock; `Snapshot` records its inputs, so that results on texts that have changed since are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mirage import schema
from mirage.errors import ArenaError, Outdated
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.labels import query_labels
from mirage.store.lineage import ABOUT, LINEAGE, QUERY, derived_tables
from mirage.store.runs import content
from mirage.store.writing import Provenance, commit, exclusive_lock, refuse_lone_surrogates, serialise

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")
_TOGETHER = {
    **dict.fromkeys(("turns", "tags", "passages", "documents"), QUERY),
    "retrieved": (*QUERY, "retriever"),
}
"""Tables whose rows are replaced in groups, per query or per retriever and query, with the grouping columns."""
_TEXTS = ("queries", "passages", "retrieved")
"""Tables of what systems are shown; a change invalidates rows derived from single queries."""
_ON_QUERIES = ("nuggets", "answers", *ABOUT)
"""Tables whose new rows are dropped if their query has changed since."""
_ATTEMPTS = 5
"""Maximum attempts at an operation that conflicts with other programs' writes."""


@dataclass(frozen=True)
class NewRows:
    """Rows to write into a table."""

    new: pa.Table
    """The rows."""
    replaced: pa.Table | None = None
    """Values of some columns that select the existing rows to remove; None: all rows."""


@dataclass(frozen=True)
class Snapshot:
    """The input tables of new rows, as read; rows on inputs that have changed since are not written."""

    arena: Arena
    """The arena at the time of reading."""
    tables: Mapping[str, pa.Table]
    """The input tables by name; of queries, passages, retrieved and answers only the key and the columns used."""


@dataclass(frozen=True)
class UpsertResult:
    """Result of a transaction."""

    arena: Arena
    """The arena after the transaction."""
    replaced: Mapping[str, int]
    """Number of replaced rows by table."""
    lost: Mapping[str, int]
    """Number of rows removed by table because the text of their answer has changed."""


def by_key(table: str, rows: pa.Table) -> NewRows:
    """Build rows that replace those with the same key, or the whole group in grouped tables."""
    return NewRows(rows, rows.select(list(_TOGETHER.get(table, schema.key(table)))))


def read_consistently(path: Path, read: Callable[[Arena], _T]) -> _T:
    """Open an arena and read from it, repeating if another program changes it meanwhile.

    Args:
        path: the arena's folder.
        read: reads the data needed.

    Raises:
        ArenaError: if there is no arena or it is damaged.
    """
    for _ in range(_ATTEMPTS):
        arena = open_arena(path)
        try:
            return read(arena)
        except ArenaError:
            if open_arena(path).version == arena.version:
                raise
    return read(open_arena(path))


def retry_outdated(make: Callable[[], _T]) -> _T:
    """Retry an operation that raises `Outdated`.

    Raises:
        Outdated: if every attempt conflicts.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return make()
        except Outdated:
            continue
    return make()


def upsert(
    path: Path,
    rows: Mapping[str, NewRows],
    *,
    made_by: str | Provenance,
    texts: Callable[[Arena | None], Mapping[str, str]] | None = None,
    check: Callable[[Arena], object] | None = None,
    seen: Snapshot | None = None,
    stale: Collection[str] = (),
    keep: Collection[str] = (),
) -> UpsertResult:
    """Insert rows, replace those with the same key, and remove invalidated rows and tables, in one transaction.

    Outcomes, features and verdicts are removed with answers whose text or status changes, assignments with their
    nuggets, features with the assignments or grades they are computed from, and tables derived from changed rows.
    Everything else stays, with its notes.

    Args:
        path: the arena's folder.
        rows: new rows by table.
        made_by: the command, or the provenance of the rows, which is added to that of the remaining rows.
        texts: maps the current arena (None if there is none) to its new title, label, about and licence.
        check: raises to abort, given the current arena.
        seen: inputs of the rows. Rows on queries and answers that have changed since are dropped, and existing rows are
            kept.
        stale: tables to remove if anything changes, besides derived tables.
        keep: derived tables not to remove.

    Raises:
        BadInput: if a row breaks the contract.
        Outdated: if other tables than queries, passages, retrieved and answers have changed since `seen`.
        ArenaError: if the folder is not an arena, cannot be written, or is locked for too long.
        MirageError: from `check`.
    """
    path = path.absolute()
    for table, part in rows.items():
        schema.validate(table, part.new, where=str(path))
    origin = Provenance.of(made_by)

    with exclusive_lock(path):
        arena = open_arena(path) if is_arena(path) else None
        if arena is not None and check is not None:
            check(arena)
        described = dict(texts(arena)) if texts is not None else {}
        described |= _label_maker(arena, rows.get("queries"), origin.labels)
        refuse_lone_surrogates(*described.values())
        manifest = arena.manifest if arena is not None else {}
        merged, replaced, removed = _merge(arena, rows, seen)
        files = {table: serialise(table, data, where=str(path)) for table, data in merged.items()}
        old_tables = manifest.get("tables", {})
        changed = [table for table, parts in files.items() if [entry for entry, _ in parts] != old_tables.get(table)]
        origins = {}
        for table in merged:
            before = manifest.get("made", {}).get(table, origin.after({}))
            if table in rows:
                origins[table] = origin.after(before if rows[table].replaced is not None else {})
            else:
                origins[table] = {key: value for key, value in before.items() if key != "runs"}
            run_records = before.get("runs", {}) if origin.step is not None or table not in changed else {}
            if run_records := {name: record for name, record in run_records.items() if name != origin.step}:
                origins[table]["runs"] = run_records
        stale_tables = {*stale, *derived_tables(set(changed) & set(ABOUT))} - set(keep)
        commit(path, manifest, files, origins=origins, texts=described, stale=stale_tables)
        return UpsertResult(open_arena(path), replaced, removed)


def _label_maker(arena: Arena | None, queries: NewRows | None, maker: schema.Maker | None) -> dict[str, str]:
    """Return the maker of the labels after queries are added: `unknown` for several; empty if it does not change."""
    said = None if arena is None else arena.manifest.get("labels")
    if queries is None or said == maker or (arena is None and maker is None):
        return {}
    known = {} if arena is None or queries.replaced is None else query_labels(arena)
    rows = zip(*(queries.new[name].to_pylist() for name in ("language", "query_id", "subset")), strict=True)
    added = any(subset is not None and (language, query) not in known for language, query, subset in rows)
    return {"labels": "unknown" if known or maker is None else maker} if added else {}


def _merge(
    arena: Arena | None, rows: Mapping[str, NewRows], seen: Snapshot | None
) -> tuple[dict[str, pa.Table], dict[str, int], dict[str, int]]:
    """Return the merged tables, and by table the numbers of rows replaced, and of rows removed with their answers."""
    import pyarrow as pa

    if arena is None:
        return {table: part.new for table, part in rows.items()}, {}, {}
    queries, answers = _changed_since(arena, seen)
    merged: dict[str, pa.Table] = {}
    replaced: dict[str, int] = {}
    removed: dict[str, int] = {}
    altered: pa.Table | None = None
    for table in schema.TABLES:  # answers precede the tables about them
        old = arena.read(table) if table in arena.tables and (table in rows or table in ABOUT) else None
        if old is not None and table in ABOUT and altered is not None:
            remaining = not_about(old, altered, table)
            if len(remaining) < len(old):
                removed[table] = len(old) - len(remaining)
                merged[table] = old = remaining
        if old is not None and len(remaining := _valid_rows(table, old, merged, arena)) < len(old):
            merged[table] = old = remaining
        if table not in rows:
            continue
        new = rows[table].new
        if table in _ON_QUERIES:
            new = _drop_outdated(new, table, queries, answers)
        if old is not None:
            others = _remaining_rows(old, rows[table], table, queries, answers)
            others = matching(others, new, schema.key(table), present=False)
            replaced[table] = len(old) - len(others)
            new = pa.concat_tables([others.cast(old.schema), new])
            altered = _changed_keys(table, old, new) if table == "answers" else altered
        merged[table] = new
    return merged, replaced, removed


def _remaining_rows(
    old: pa.Table, part: NewRows, table: str, queries: pa.Table | None, answers: pa.Table | None
) -> pa.Table:
    """Return the existing rows to keep: those not replaced, and those on inputs that have changed since."""
    replaced = old
    if part.replaced is not None:
        replaced = matching(old, part.replaced, part.replaced.column_names)
    if table in _ON_QUERIES:
        replaced = _drop_outdated(replaced, table, queries, answers)
    return matching(old, replaced, schema.key(table), present=False)


def matching(rows: pa.Table, others: pa.Table, columns: Sequence[str], *, present: bool = True) -> pa.Table:
    """Return the rows with values of some columns that occur in another table (not, with `present=False`), in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def comparable(table: pa.Table) -> pa.Table:
        # Arrow joins no null to a null.
        null = [name for name in columns if rows[name].null_count or others[name].null_count]
        texts = {name: pc.fill_null(table[name].cast(pa.string()), "\0") for name in null}
        return pa.table({name: texts.get(name, table[name]) for name in columns})

    places = comparable(rows).append_column("", pa.array(range(len(rows)), pa.int64()))
    join = "left semi" if present else "left anti"
    return rows.take(places.join(comparable(others), list(columns), join_type=join)[""].combine_chunks().sort())


def _changed_since(arena: Arena, seen: Snapshot | None) -> tuple[pa.Table | None, pa.Table | None]:
    """Return the keys of queries and of answers that have changed since the snapshot; None if none has."""
    import pyarrow as pa

    if seen is None:
        return None, None
    changed = [table for table in seen.tables if content(arena, table) != content(seen.arena, table)]
    if others := [table for table in changed if table not in (*_TEXTS, "answers")]:
        raise Outdated(
            f"another program has changed {' and '.join(others)}",
            where=arena.address,
            do="rerun the command",
        )
    differing = {}
    for table in changed:
        current = arena.read(table) if table in arena.tables else schema.arrow_schema(table).empty_table()
        differing[table] = _differing_keys(table, seen.tables[table], current)
    parts = [differing[table].select(list(QUERY)) for table in _TEXTS if table in differing]
    return pa.concat_tables(parts) if parts else None, differing.get("answers")


def _differing_keys(table: str, before: pa.Table, after: pa.Table) -> pa.Table:
    """Return the keys of rows that exist in only one of two tables, or differ in relevant columns."""
    import pyarrow as pa

    return pa.concat_tables([_changed_keys(table, before, after), _changed_keys(table, after, before)])


def _valid_rows(table: str, old: pa.Table, merged: Mapping[str, pa.Table], arena: Arena) -> pa.Table:
    """Return the rows of a table that remain valid after changes to other tables.

    Assignments need their nuggets; features of nuggets and support need unchanged nuggets, assignments and grades.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def before(source: str) -> pa.Table:
        return arena.read(source) if source in arena.tables else schema.arrow_schema(source).empty_table()

    remaining = old
    if table == "nugget_assignments" and "nuggets" in merged:
        changed = _changed_keys("nuggets", before("nuggets"), merged["nuggets"], ("text",))
        remaining = matching(remaining, changed, schema.key("nuggets"), present=False)
    for source, lineage in LINEAGE.items() if table == "features" else ():
        if source not in merged or not lineage.features:
            continue
        pair, who = (before(source), merged[source]), lineage.maker
        # A new assigner or grader may become the default, for every answer to the query.
        same = who is not None and set(pair[0][who].unique().to_pylist()) == set(pair[1][who].unique().to_pylist())
        keys = [*QUERY, "system"] if same else list(QUERY)
        scored = pc.is_in(remaining["feature"], value_set=pa.array(lineage.features))
        holding = matching(remaining.filter(scored), _differing_keys(source, *pair), keys, present=False)
        remaining = pa.concat_tables([remaining.filter(pc.invert(scored)), holding])
    return remaining


def _changed_keys(table: str, before: pa.Table, after: pa.Table, values: Sequence[str] | None = None) -> pa.Table:
    """Return the keys of rows that another table lacks, or has with other values in relevant columns."""
    keys = schema.key(table)
    names = LINEAGE[table].columns if values is None else values
    values = [name for name in names if name in before.column_names and name in after.column_names]
    return matching(before, after, [*keys, *values], present=False).select(keys)


def not_about(rows: pa.Table, answers: pa.Table | None, table: str) -> pa.Table:
    """Return the rows of a table that are not about these answers; all rows if the table is not about answers.

    Args:
        rows: rows of the table.
        answers: language, query_id and system of answers; None for none.
        table: the table's name.
    """
    for side in ABOUT.get(table, ()):
        if answers is not None:
            own = answers.select([*QUERY, "system"]).rename_columns([*QUERY, side])
            rows = matching(rows, own, own.column_names, present=False)
    return rows


def _drop_outdated(rows: pa.Table, table: str, queries: pa.Table | None, answers: pa.Table | None) -> pa.Table:
    """Return the rows of a table that are neither on these queries nor about these answers."""
    remaining = not_about(rows, answers, table)
    return remaining if queries is None else matching(remaining, queries, QUERY, present=False)
