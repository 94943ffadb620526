"""What comes into an arena must fit what it holds: answers their questions, questions the answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError, BadInput

if TYPE_CHECKING:
    import pyarrow as pa

_QUESTION = ("language", "query_id")


def refuse_misfits(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Refuse tables that do not fit those that an arena has.

    Raises:
        BadInput: if there are answers or judgments of questions that neither the arena has nor come in.
        ArenaError: if a question changes that the arena has answers to or judgments on.
    """
    if "queries" in tables:
        _refuse_changed(arena, tables)
    _refuse_unasked(arena, tables)


def _refuse_unasked(arena: store.Arena, tables: Mapping[str, pa.Table]) -> None:
    """Refuse answers and judgments of questions that neither the arena has nor come in, where there are any.

    Raises:
        BadInput: naming the first.
    """
    keys = list(_QUESTION)
    questions = [tables["queries"].select(keys)] if "queries" in tables else []
    questions += [arena.read("queries", columns=keys)] if "queries" in arena.tables else []
    for name in ("answers", "judgments"):
        if questions and name in tables:
            strays = tables[name].select(keys)
            for known in questions:
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
    answered = [arena.read(name, columns=keys) for name in ("answers", "judgments") if name in arena.tables]
    common = pa.concat_tables(
        [table.join(coming, keys, join_type="left semi") for table in answered] or [coming.slice(0, 0)]
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
    by_question: dict[tuple[str, str], list[dict[str, Any]]] = {}
    order = "passages" if "passage_id" in table.column_names else "queries"
    for row in schema.sort(order, table).to_pylist():
        by_question.setdefault((row["language"], row["query_id"]), []).append(row)
    return by_question


def _first(table: pa.Table) -> tuple[str, str]:
    row = table.sort_by([(key, "ascending") for key in _QUESTION]).slice(0, 1).to_pylist()[0]
    return row["language"], row["query_id"]
