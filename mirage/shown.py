"""What each system was shown with a query: the passages that came with it, or the first of those a retriever brought.

    shown(tables)                       # one row for each answer and passage that its system was shown

A system is a retriever with a generator. Answers whose `retriever` is null are of systems that were shown the passages
of table `passages`; this is the setting of the papers, and the retriever `given` stands for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

GIVEN = "given"
"""The retriever of a system that was shown the passages of the query as they stand in table `passages`."""

_QUERY = ("language", "query_id")
_PASSAGE = (*_QUERY, "passage_id")
_KNOWN = ("title", "text", "relevant")
Key = tuple[str, str]
"""Language and id of a query."""


def contexts(passages: pa.Table | None, retrieved: pa.Table | None = None) -> pa.Table:
    """What a system may be shown: the passages of every retriever, in its order.

    Args:
        passages: `schema.Passage` rows, or some of their columns; None for none.
        retrieved: `schema.Retrieved` rows; None for none.

    Returns:
        Columns language, query_id, retriever (`given` for the passages that came with the query), passage_id, position
        (from 1, by rank), and of title, text and relevant those that `passages` has. Title and text are those of
        `passages` where it has them, and the label is always that of `passages`; null where nobody has labelled it.
    """
    import pyarrow as pa

    from mirage import schema

    if passages is None:
        passages = schema.arrow_schema("passages").empty_table()
    known = [name for name in _KNOWN if name in passages.column_names]
    given = pa.table(
        {
            **{name: passages[name] for name in _QUERY},
            "retriever": pa.array([GIVEN] * len(passages), pa.string()),
            **{name: passages[name] for name in ("passage_id", "position", *known)},
        }
    )
    if retrieved is None or not len(retrieved):
        return given
    return pa.concat_tables([given, _placed(retrieved, passages, known).cast(given.schema)])


def _placed(retrieved: pa.Table, passages: pa.Table, known: list[str]) -> pa.Table:
    """What retrievers brought, with its places, and with what is known of the same passages of the queries."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    order = [(name, "ascending") for name in (*_QUERY, "retriever", "rank", "passage_id")]
    rows = retrieved.sort_by(order)
    lists = pc.rank(
        pc.binary_join_element_wise(*(rows[name] for name in (*_QUERY, "retriever")), "\x1f"), tiebreaker="dense"
    ).to_numpy()
    starts = np.flatnonzero(np.r_[True, lists[1:] != lists[:-1]])
    position = np.arange(len(rows)) - np.repeat(starts, np.diff(np.r_[starts, len(rows)])) + 1
    rows = rows.append_column("position", pa.array(position, pa.int32())).append_column(
        "row", pa.array(np.arange(len(rows)))
    )
    of_query = passages.select([*_PASSAGE, *known]).rename_columns([*_PASSAGE, *(f"{name}_known" for name in known)])
    joined = rows.join(of_query, list(_PASSAGE), join_type="left outer").sort_by("row")
    columns = {name: joined[name] for name in (*_QUERY, "retriever", "passage_id", "position")}
    for name in known:
        known_value = joined[f"{name}_known"]
        columns[name] = pc.coalesce(known_value, joined[name]) if name in joined.column_names else known_value
    return pa.table(columns)


def shown(tables: Mapping[str, pa.Table]) -> pa.Table:
    """What the system of each answer was shown.

    Args:
        tables: `answers`, and `passages` and `retrieved` where they are there.

    Returns:
        Columns language, query_id, system, passage_id, position (from 1), title, text and relevant, sorted by the first
        three and the position. An answer whose system was shown nothing that the tables know has no row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    answers = tables["answers"].select([*_QUERY, "system", "retriever", "depth"])
    retriever = pc.fill_null(answers["retriever"], GIVEN)
    depth = pc.fill_null(answers["depth"], pa.scalar(2**31 - 1, pa.int32()))
    answers = pa.table(
        {**{name: answers[name] for name in (*_QUERY, "system")}, "retriever": retriever, "depth": depth}
    )
    rows = answers.join(
        contexts(tables.get("passages"), tables.get("retrieved")), [*_QUERY, "retriever"], join_type="inner"
    )
    rows = rows.filter(pc.less_equal(rows["position"], rows["depth"]))
    names = (*_QUERY, "system", "passage_id", "position", *_KNOWN)
    order = [(name, "ascending") for name in (*_QUERY, "system", "position")]
    return rows.select(names).sort_by(order)


def given_by(rows: pa.Table, retriever: str, depth: int | None) -> pa.Table:
    """The first passages of one retriever as rows of `schema.Passage`, for what is made to show passages.

    Args:
        rows: `contexts`, with all their columns.
        retriever: the retriever.
        depth: how many of each query; None for all.
    """
    import pyarrow.compute as pc

    from mirage import schema

    own = rows.filter(pc.equal(rows["retriever"], retriever))
    own = own if depth is None else own.filter(pc.less_equal(own["position"], depth))
    names = [column.name for column in schema.columns("passages") if column.name in own.column_names]
    return schema.sort("passages", schema.from_columns("passages", {name: own[name] for name in names}))


def retrievers(arena: Arena) -> list[str]:
    """The retrievers of an arena by name; none where nothing was retrieved."""
    if "retrieved" not in arena.tables:
        return []
    names = arena.sql("SELECT DISTINCT retriever FROM retrieved ORDER BY ALL")["retriever"].to_pylist()
    return [str(name) for name in names]


def need_retriever(arena: Arena, name: str) -> None:
    """Refuse a retriever that brought nothing here.

    Raises:
        TableMissing: if nothing was retrieved.
        UnknownName: if others brought something alone.
    """
    from mirage.errors import UnknownName

    arena.need("retrieved")
    if name not in (names := retrievers(arena)):
        raise UnknownName("retriever", name, names, where=arena.address)


class ShownPassages:
    """Looks up what one answer's system was shown; for whoever goes through answers by themselves.

    Args:
        passages: as `contexts`.
        retrieved: as `contexts`.
        columns: which of `contexts`' columns are wanted.
    """

    def __init__(self, passages: pa.Table | None, retrieved: pa.Table | None, *, columns: tuple[str, ...]) -> None:
        rows = contexts(passages, retrieved).sort_by(
            [(name, "ascending") for name in (*_QUERY, "retriever", "position", "passage_id")]
        )
        self._lists: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
        keys = (rows[name].to_pylist() for name in (*_QUERY, "retriever"))
        values = (rows[name].to_pylist() for name in columns)
        for language, query_id, retriever, *row in zip(*keys, *values, strict=True):
            self._lists.setdefault((language, query_id, retriever), []).append(tuple(row))

    def of(self, query: Key, retriever: str | None, depth: int | None) -> list[tuple[Any, ...]]:
        """The wanted columns of each passage that was shown, in order.

        Args:
            query: language and id.
            retriever: that of the answer; None for the passages that came with the query.
            depth: that of the answer.
        """
        return self._lists.get((*query, GIVEN if retriever is None else retriever), [])[:depth]
