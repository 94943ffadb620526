"""Read, merge and write as one transaction: what every command uses that puts rows beside those of others.

    upsert(path, {"answers": by_key("answers", rows)}, made_by="mirage import answers")

Under the arena's lock the present manifest is read, rows that come in take the place of those with the same key, rows
and tables that are no longer true go, notes of what stays are kept, and the manifest is written last. Two programs that
write at once are therefore served one after the other, and the second merges into what the first has left. What takes
long (a model's calls, measuring features) is done before, without the lock; `Snapshot` says on which rows it was done,
so that nothing is written on a text that has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mirage import schema
from mirage.errors import ArenaError
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.location import address
from mirage.store.runs import content
from mirage.store.writing import commit, exclusively, named, refuse_lone_surrogates, serialise

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")
_QUERY = ("language", "query_id")
_ABOUT = {
    "nugget_assignments": ("system",),
    "support_grades": ("system",),
    "scores": ("system",),
    "outcomes": ("system",),
    "features": ("system",),
    "judgments": ("system_a", "system_b"),
}
"""Tables whose rows are about answers, and the columns that name whose."""
_TOGETHER = {
    **dict.fromkeys(("turns", "tags", "passages", "documents"), _QUERY),
    "retrieved": (*_QUERY, "retriever"),
}
"""Tables with several rows that come and go together: those of a query, or of a retriever for it; by which columns."""
_TEXTS = ("queries", "passages", "retrieved")
"""Tables of what systems are shown: where they change, what was made of single queries is no longer true."""
_FROM = {
    "outcomes": ("queries", "answers"),
    "features": ("queries", "passages", "retrieved", "answers"),
    "ratings": ("outcomes", "judgments"),
    "tournaments": ("outcomes", "judgments"),
    "predictions": ("outcomes", "features", "judgments"),
    "importances": ("outcomes", "features", "judgments"),
}
"""Tables that are made from other tables, and which."""
_ON_QUERIES = ("nuggets", "answers", *_ABOUT)
"""Tables of which no row is written on a query that has changed since it was made."""
_VALUES = {
    "queries": ("text", "subset"),
    "passages": ("text", "relevant"),
    "retrieved": ("rank", "title", "text"),
    "answers": ("text", "status", "retriever", "depth"),
}
"""Columns that what is made from a table rests on; where they change, it is no longer true."""
_NUGGET_SCORES = ("nugget_vital_strict", "nugget_all_strict", "nugget_vital", "nugget_all")
_SCORED: dict[str, tuple[str, ...]] = {
    "nuggets": _NUGGET_SCORES,
    "nugget_assignments": _NUGGET_SCORES,
    "support_grades": ("citation_precision", "citation_recall"),
}
"""Features that are measured from the rows that a table has of a query; they go where those change."""
_DECIDED = {
    "nuggets": ("text", "importance"),
    "nugget_assignments": ("assignment",),
    "support_grades": ("grade",),
}
"""Columns of these tables that the features rest on."""
_WHO = {"nugget_assignments": "assigner", "support_grades": "grader"}
"""Columns of these tables, whose rows are about one answer, that say who decided."""
_ATTEMPTS = 5
"""How often something is read or made again because another program has changed the arena meanwhile."""


class Outdated(ArenaError):
    """What was to be written was made from tables that another program has replaced since."""


@dataclass(frozen=True)
class NewRows:
    """What comes into a table."""

    new: pa.Table
    """The rows."""
    replaced: pa.Table | None = None
    """Values of some columns: the arena's rows with these values go. None: all its rows go."""


@dataclass(frozen=True)
class Snapshot:
    """The tables that new rows were made from, as they were read; rows on what has changed since are not written."""

    arena: Arena
    """The arena as it was."""
    tables: Mapping[str, pa.Table]
    """Those tables by name; of queries, passages, retrieved and answers the key and the columns that were used."""


@dataclass(frozen=True)
class UpsertResult:
    """What a transaction has done."""

    arena: Arena
    """The arena as it is now."""
    replaced: Mapping[str, int]
    """By table, how many rows those that came in took the place of."""
    lost: Mapping[str, int]
    """By table, how many rows went because the answer that they are about has another text now."""


def by_key(table: str, rows: pa.Table) -> NewRows:
    """Rows that replace those with the same key; what a query has several of replaces all that it had."""
    return NewRows(rows, rows.select(list(_TOGETHER.get(table, schema.key(table)))))


def derived(tables: Iterable[str]) -> tuple[str, ...]:
    """The tables that are made, directly or through others, from any of these; these themselves are not among them."""
    originals = set(tables)
    reached = set(originals)
    for table, sources in _FROM.items():
        if reached & set(sources):
            reached.add(table)
    return tuple(name for name in schema.TABLES if name in reached - originals)


def consistently(path: Path, read: Callable[[Arena], _T]) -> _T:
    """Open an arena and read of it, again where another program has changed it before all was read.

    Args:
        path: the arena's folder.
        read: reads what is wanted.

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
    """Make something and write it, again where it turns out to be `Outdated`.

    Raises:
        Outdated: if others have changed the arena each time.
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
    made_by: str,
    made_from: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
    subjects: Collection[str] = (),
    texts: Callable[[Arena | None], Mapping[str, str]] | None = None,
    check: Callable[[Arena], object] | None = None,
    seen: Snapshot | None = None,
    step: str | None = None,
    stale: Collection[str] = (),
    keep: Collection[str] = (),
) -> UpsertResult:
    """Insert rows, replace those with the same key, and drop what is no longer true, in one transaction.

    Outcomes, features and verdicts on answers whose text or status changes go with them, assignments with their
    nuggets, and features with the assignments or grades that they are measured from; tables that were made from rows
    that change go too. Everything else stays, with its notes.

    Args:
        path: the arena's folder.
        rows: what comes in, by table.
        made_by: the command, for the manifest.
        made_from: what the rows were made from; added to what the manifest says of the rows that stay.
        notes: what a reader must know of the rows; added likewise.
        subjects: names that the notes begin with, before a colon; older notes on them go.
        texts: given the arena as it is (None: there is none), its new title, label, about and licence.
        check: given the arena as it is, raises what refuses the whole.
        seen: what the rows were made from. Rows on queries and answers that have changed since are left out, and
            those that stand there stay.
        step: the step of a run that this is; what other steps were run with is then kept (`record_run`).
        stale: tables that go if anything changes, beside those that were made from rows that change.
        keep: tables that stay although they were made from rows that change.

    Raises:
        BadInput: if a row breaks the contract.
        Outdated: if other tables than queries, passages, retrieved and answers have changed since they were `seen`.
        ArenaError: if the folder holds something that is not an arena, cannot be written, or is locked for too long.
        MirageError: what `check` raises.
    """
    path = path.absolute()
    for table, part in rows.items():
        schema.validate(table, part.new, where=address(path))
    refuse_lone_surrogates(made_by, *notes, *named(made_from))

    def change() -> UpsertResult:
        arena = open_arena(path) if is_arena(path) else None
        if arena is not None and check is not None:
            check(arena)
        described = dict(texts(arena)) if texts is not None else {}
        refuse_lone_surrogates(*described.values())
        manifest = arena.manifest if arena is not None else {}
        merged, replaced, removed = _merge(arena, rows, seen)
        files = {table: serialise(table, data, where=address(path)) for table, data in merged.items()}
        old_tables = manifest.get("tables", {})
        changed = [table for table, parts in files.items() if [entry for entry, _ in parts] != old_tables.get(table)]
        origins = {}
        for table in merged:
            before = manifest.get("made", {}).get(table, {"by": made_by, "from": [], "notes": []})
            if table in rows:
                keeps_origin = rows[table].replaced is not None
                origins[table] = _made(before if keeps_origin else {}, made_by, made_from, notes, subjects)
            else:
                origins[table] = {key: before[key] for key in ("by", "from", "notes")}
            run_records = before.get("runs", {}) if step is not None or table not in changed else {}
            if run_records := {name: record for name, record in run_records.items() if name != step}:
                origins[table]["runs"] = run_records
        stale_tables = {*stale, *derived(set(changed) & set(_ABOUT))} - set(keep)
        commit(path, manifest, files, origins=origins, texts=described, stale=stale_tables)
        return UpsertResult(open_arena(path), replaced, removed)

    return exclusively(path, change)


def _made(
    before: Mapping[str, Any],
    made_by: str,
    made_from: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    subjects: Collection[str],
) -> dict[str, Any]:
    """How a table was made, where rows come in beside those that stay."""
    starts = tuple(f"{subject}: " for subject in subjects)
    sources = [source for source in before.get("from", []) if source not in made_from]
    old_notes = [note for note in before.get("notes", []) if note not in notes and not note.startswith(starts)]
    return {"by": made_by, "from": [*sources, *made_from], "notes": [*old_notes, *notes]}


def _merge(
    arena: Arena | None, rows: Mapping[str, NewRows], seen: Snapshot | None
) -> tuple[dict[str, pa.Table], dict[str, int], dict[str, int]]:
    """The tables as they will be, how many rows were replaced, and how many went with the answers they were about."""
    import pyarrow as pa

    if arena is None:
        return {table: part.new for table, part in rows.items()}, {}, {}
    queries, answers = _changed_since(arena, seen)
    merged: dict[str, pa.Table] = {}
    replaced: dict[str, int] = {}
    removed: dict[str, int] = {}
    altered: pa.Table | None = None
    for table in schema.TABLES:  # answers come before what is about them
        old = arena.read(table) if table in arena.tables and (table in rows or table in _ABOUT) else None
        if old is not None and table in _ABOUT and altered is not None:
            remaining = not_about(old, altered, table)
            if len(remaining) < len(old):
                removed[table] = len(old) - len(remaining)
                merged[table] = old = remaining
        if old is not None and len(remaining := _still_true(table, old, merged, arena)) < len(old):
            merged[table] = old = remaining
        if table not in rows:
            continue
        new = rows[table].new
        if table in _ON_QUERIES:
            new = _outside(not_about(new, answers, table), queries)
        if old is not None:
            others = _others(old, rows[table], table, queries, answers)
            keys = list(schema.key(table))
            others = matching(others, new, keys, present=False)
            replaced[table] = len(old) - len(others)
            new = pa.concat_tables([others.cast(old.schema), new])
            altered = _altered(table, old, new) if table == "answers" else altered
        merged[table] = new
    return merged, replaced, removed


def _others(old: pa.Table, part: NewRows, table: str, queries: pa.Table | None, answers: pa.Table | None) -> pa.Table:
    """The rows that stay: those not replaced, and those on what has changed since the new rows were made."""
    replaced = old
    if part.replaced is not None:
        replaced = matching(old, part.replaced, part.replaced.column_names)
    if table in _ON_QUERIES:
        replaced = _outside(not_about(replaced, answers, table), queries)
    return matching(old, replaced, schema.key(table), present=False)


def matching(rows: pa.Table, others: pa.Table, columns: Sequence[str], *, present: bool = True) -> pa.Table:
    """The rows whose values of some columns another table has, or with `present=False` has not, in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def comparable(table: pa.Table) -> pa.Table:
        # Arrow joins no null to a null.
        null = [name for name in columns if rows[name].null_count or others[name].null_count]
        return pa.table({name: pc.fill_null(table[name], "\0") if name in null else table[name] for name in columns})

    places = comparable(rows).append_column("", pa.array(range(len(rows)), pa.int64()))
    join = "left semi" if present else "left anti"
    return rows.take(places.join(comparable(others), list(columns), join_type=join)[""].combine_chunks().sort())


def _changed_since(arena: Arena, seen: Snapshot | None) -> tuple[pa.Table | None, pa.Table | None]:
    """The keys of the queries and of the answers that have changed since they were seen; None where none has."""
    import pyarrow as pa

    if seen is None:
        return None, None
    changed = [table for table in seen.tables if content(arena, table) != content(seen.arena, table)]
    if others := [table for table in changed if table not in (*_TEXTS, "answers")]:
        raise Outdated(
            f"another program has changed {' and '.join(others)} meanwhile",
            where=arena.address,
            do="run the command again",
        )
    differing = {}
    for table in changed:
        current = arena.read(table) if table in arena.tables else schema.arrow_schema(table).empty_table()
        differing[table] = _differing(table, seen.tables[table], current)
    parts = [differing[table].select(list(_QUERY)) for table in _TEXTS if table in differing]
    return pa.concat_tables(parts) if parts else None, differing.get("answers")


def _differing(table: str, before: pa.Table, after: pa.Table) -> pa.Table:
    """The keys of the rows that only one of two tables has, or that differ in what others rest on."""
    import pyarrow as pa

    return pa.concat_tables([_altered(table, before, after), _altered(table, after, before)])


def _still_true(table: str, old: pa.Table, merged: Mapping[str, pa.Table], arena: Arena) -> pa.Table:
    """The rows of a table that hold after other tables have changed: assignments of nuggets that are still there, and
    features of queries whose nuggets, and of answers whose assignments and grades, are still the same.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def before(source: str) -> pa.Table:
        return arena.read(source) if source in arena.tables else schema.arrow_schema(source).empty_table()

    remaining = old
    if table == "nugget_assignments" and "nuggets" in merged:
        changed = _altered("nuggets", before("nuggets"), merged["nuggets"], ("text",))
        remaining = remaining.join(changed, list(schema.key("nuggets")), join_type="left anti")
    for source in _SCORED.keys() & merged.keys() if table == "features" else ():
        pair, values = (before(source), merged[source]), _DECIDED[source]
        # Whoever decides for the first time may count from now on, for every answer to the query.
        who = _WHO.get(source)
        same = who is not None and set(pair[0][who].unique().to_pylist()) == set(pair[1][who].unique().to_pylist())
        keys = [*_QUERY, "system"] if same else list(_QUERY)
        sides = [_altered(source, *order, values).select(keys) for order in (pair, pair[::-1])]
        scored = pc.is_in(remaining["feature"], value_set=pa.array(_SCORED[source]))
        holding = remaining.filter(scored).join(pa.concat_tables(sides), keys, join_type="left anti")
        holding = holding.select(remaining.column_names).cast(remaining.schema)
        remaining = pa.concat_tables([remaining.filter(pc.invert(scored)), holding])
    return remaining.select(old.column_names).cast(old.schema)


def _altered(table: str, before: pa.Table, after: pa.Table, values: Sequence[str] | None = None) -> pa.Table:
    """The keys of the rows that another table lacks, or has with other values of what others rest on."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = list(schema.key(table))
    names = _VALUES[table] if values is None else values
    values = [name for name in names if name in before.column_names and name in after.column_names]

    def comparable(rows: pa.Table) -> pa.Table:
        # Arrow joins no null to a null.
        texts = {name: pc.fill_null(rows[name].cast(pa.string()), "\0") for name in values}
        return pa.table({**{key: rows[key] for key in keys}, **texts})

    return comparable(before).join(comparable(after), [*keys, *values], join_type="left anti").select(keys)


def not_about(rows: pa.Table, answers: pa.Table | None, table: str) -> pa.Table:
    """The rows of a table that are about none of these answers; all rows of a table that is about none.

    Args:
        rows: rows of the table.
        answers: language, query_id and system of answers; None for none.
        table: the table's name.
    """
    remaining = rows
    for side in _ABOUT.get(table, ()):
        if answers is not None and len(answers):
            remaining = remaining.join(answers, [*_QUERY, side], [*_QUERY, "system"], join_type="left anti")
    return remaining.select(rows.column_names).cast(rows.schema)


def _outside(rows: pa.Table, queries: pa.Table | None) -> pa.Table:
    """The rows that belong to none of these queries."""
    if queries is None or not len(queries):
        return rows
    return rows.join(queries, list(_QUERY), join_type="left anti").select(rows.column_names).cast(rows.schema)
