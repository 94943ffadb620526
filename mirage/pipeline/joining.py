"""Tables that come in join those that an arena has: the same key is replaced, the rest stays, what is untrue goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError, BadInput

if TYPE_CHECKING:
    import pyarrow as pa

_QUESTION = ("language", "query_id")


def join(arena: store.Arena, tables: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], int]:
    """Tables as they will be with those that come in.

    A question's passages are replaced with it. A verdict on an answer whose text changes goes, as it was on another.

    Args:
        arena: what is there.
        tables: what comes in.

    Returns:
        The tables to write, and how many verdicts went.

    Raises:
        ArenaError: if a question changes that the arena has answers to or judgments on.
    """
    if "queries" in tables:
        _refuse_changed(arena, tables)
    made = dict(tables)
    for name, table in tables.items():
        if name in arena.tables:
            made[name] = _joined(arena.read(name), table, _QUESTION if name == "passages" else schema.key(name))
    if "answers" in tables and {"answers", "judgments"} <= set(arena.tables):
        judgments = arena.read("judgments")
        kept = _still_true(judgments, arena.read("answers"), tables["answers"])
        if dropped := len(judgments) - len(kept):
            made["judgments"] = _joined(kept, tables.get("judgments", kept.slice(0, 0)), schema.key("judgments"))
            return made, dropped
    return made, 0


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


def _still_true(judgments: pa.Table, old: pa.Table, new: pa.Table) -> pa.Table:
    """The verdicts on answers that have the text they had."""
    import pyarrow.compute as pc

    keys = list(schema.key("answers"))
    # Arrow joins no null to a null, and an answer that has no text, as before, is not changed.
    before, now = (t.select(keys).append_column("text", pc.fill_null(t["text"], "\0")) for t in (old, new))
    again = before.join(now.select(keys), keys, join_type="left semi")
    changed = again.join(now, [*keys, "text"], join_type="left anti")
    kept = judgments
    for side in ("system_a", "system_b"):
        kept = kept.join(changed, ["language", "query_id", side], keys, join_type="left anti")
    return kept.select(judgments.column_names).cast(judgments.schema)
