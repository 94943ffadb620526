"""Tables that come in join those that an arena has: the same key is replaced, the rest stays, what is untrue goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError, BadInput
from mirage.pipeline.stages import derived

if TYPE_CHECKING:
    import pyarrow as pa

_QUESTION = ("language", "query_id")
_ABOUT = {"outcomes": ("system",), "features": ("system",), "judgments": ("system_a", "system_b")}
"""Tables whose rows are about answers, and the columns that name whose."""


def join(arena: store.Arena, tables: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """What an arena will hold when tables come in.

    A question's passages are replaced with it. What was decided, measured or judged on an answer whose text changes
    goes, as it was on another; what was on others stays.

    Args:
        arena: what is there.
        tables: what comes in.

    Returns:
        These tables as they will be, and what is left of those that lose rows.

    Raises:
        ArenaError: if a question changes that the arena has answers to or judgments on.
    """
    if "queries" in tables:
        _refuse_changed(arena, tables)
    left: dict[str, pa.Table] = {}
    if "answers" in tables and "answers" in arena.tables:
        changed = _changed(arena.read("answers"), tables["answers"])
        for name, sides in _ABOUT.items():
            if len(changed) and name in arena.tables:
                old = arena.read(name)
                kept = _not_about(old, changed, sides)
                if len(kept) < len(old):
                    left[name] = kept
    made = {}
    for name, new in tables.items():
        keys = _QUESTION if name == "passages" else schema.key(name)
        old = left[name] if name in left else arena.read(name) if name in arena.tables else None
        made[name] = new if old is None else _joined(old, new, keys)
    return made, left


def write(into: Path, tables: Mapping[str, pa.Table], **manifest: Any) -> tuple[store.Arena, int]:
    """Write tables into an arena, new or existing, as `join` says.

    Args:
        into: the arena's folder.
        tables: what comes in.
        manifest: the arguments of `store.write` that go into the manifest.

    Returns:
        The arena, and how many verdicts went because an answer that they were on has another text now.

    Raises:
        ArenaError: if a question changes that the arena has answers to, or the arena cannot be written.
    """
    stale = derived({"judgments"} & set(tables))
    if not store.is_arena(into):
        return store.write(into, tables, stale=stale, **manifest), 0
    arena = store.open_arena(into)
    made, left = join(arena, tables)
    # First what speaks of answers that go: whoever is killed in between has too little, never something wrong.
    for name, kept in left.items():
        before = arena.manifest["made"][name]
        store.write(
            into,
            {name: kept},
            made_by=before["by"],
            made_from=before["from"],
            notes=before["notes"],
            stale=derived([name]),
        )
    dropped = arena.rows("judgments") - len(left["judgments"]) if "judgments" in left else 0
    return store.write(into, made, stale=stale, **manifest), dropped


def refuse_unasked(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Refuse answers and judgments of questions that neither the arena has nor come in, where there are any.

    Raises:
        BadInput: naming the first.
    """
    keys = list(_QUESTION)
    asked = [tables["queries"].select(keys)] if "queries" in tables else []
    asked += [arena.read("queries", columns=keys)] if "queries" in arena.tables else []
    for name in ("answers", "judgments"):
        if asked and name in tables:
            strays = tables[name].select(keys)
            for known in asked:
                strays = strays.join(known, keys, join_type="left anti")
            if len(strays):
                first = _first(strays)
                raise BadInput(
                    f"there are {name} of a question that is not there",
                    where=f"language={first[0]!r}, query_id={first[1]!r}",
                    do="import its question with it, or into another folder",
                )


def _refuse_changed(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Refuse to change questions, or their passages, that an arena has answers to or judgments on."""
    import pyarrow as pa

    keys = list(_QUESTION)
    coming = tables["queries"].select(keys)
    held = [arena.read(name, columns=keys) for name in ("answers", "judgments") if name in arena.tables]
    common = pa.concat_tables(
        [table.join(coming, keys, join_type="left semi") for table in held] or [coming.slice(0, 0)]
    )
    for name in ("queries", "passages"):
        if len(common) and name in tables and name in arena.tables:
            old, new = (
                _by_question(t.join(common, keys, join_type="left semi")) for t in (arena.read(name), tables[name])
            )
            if changed := sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key)):
                raise ArenaError(
                    f"this arena holds answers or judgments of questions that would change, {len(changed):,} of them",
                    where=f"{arena.path}: language={changed[0][0]!r}, query_id={changed[0][1]!r}",
                    do="leave those questions out, or give a new folder",
                )


def _by_question(table: pa.Table) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Rows by question, in the order of their key."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    order = "passages" if "passage_id" in table.column_names else "queries"
    for row in schema.sort(order, table).to_pylist():
        found.setdefault((row["language"], row["query_id"]), []).append(row)
    return found


def _first(table: pa.Table) -> tuple[str, str]:
    row = table.sort_by([(key, "ascending") for key in _QUESTION]).slice(0, 1).to_pylist()[0]
    return row["language"], row["query_id"]


def _joined(old: pa.Table, new: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """The new rows, and the old ones with other keys."""
    import pyarrow as pa

    others = old.join(new.select(list(keys)), list(keys), join_type="left anti").select(old.column_names)
    return pa.concat_tables([others.cast(old.schema), new])


def _changed(old: pa.Table, new: pa.Table) -> pa.Table:
    """Keys of the answers that are there and come in with another text."""
    import pyarrow.compute as pc

    keys = list(schema.key("answers"))
    # Arrow joins no null to a null, and an answer that has no text, as before, is not changed.
    before, now = (t.select(keys).append_column("text", pc.fill_null(t["text"], "\0")) for t in (old, new))
    again = before.join(now.select(keys), keys, join_type="left semi")
    return again.join(now, [*keys, "text"], join_type="left anti").select(keys)


def _not_about(table: pa.Table, answers: pa.Table, sides: Sequence[str]) -> pa.Table:
    """The rows that are on none of these answers."""
    kept = table
    for side in sides:
        kept = kept.join(answers, ["language", "query_id", side], answers.column_names, join_type="left anti")
    return kept.select(table.column_names).cast(table.schema)
