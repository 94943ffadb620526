"""Passages shown to each system: those given with the query, or a retriever's top passages.

    shown_passages(tables)              # one row per answer and passage shown to its system

A system is a retriever with a generator. A null `retriever` of an answer means the passages of table `passages`, the
setting of the papers, also called the retriever `given`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.schema import Passage
from mirage.store.query_rows import of_query

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

GIVEN = "given"
"""Retriever name of the passages in table `passages`."""

_QUERY = ("language", "query_id")
_OF_LIST = (*_QUERY, "retriever")
_PASSAGE = (*_QUERY, "passage_id")
_KNOWN = ("title", "text", "relevant", "passage_language")
Key = tuple[str, str]
"""Language and id of a query."""


def query_texts(queries: pa.Table | None) -> dict[Key, str | None]:
    """Return the text of each query, null if unknown; nothing without a table."""
    if queries is None:
        return {}
    languages, ids, texts = (queries[name].to_pylist() for name in (*_QUERY, "text"))
    return dict(zip(zip(languages, ids, strict=True), texts, strict=True))


def query_turns(turns: pa.Table | None) -> dict[Key, list[tuple[str, str]]]:
    """Return speaker and text of the turns before each query, in order; nothing without a table."""
    from mirage import schema

    by_query: dict[Key, list[tuple[str, str]]] = {}
    for row in schema.sort("turns", turns).to_pylist() if turns is not None else ():
        by_query.setdefault((row["language"], row["query_id"]), []).append((row["speaker"], row["text"]))
    return by_query


def contexts(passages: pa.Table | None, retrieved: pa.Table | None = None) -> pa.Table:
    """Return the passages of every retriever, in order.

    Args:
        passages: `schema.Passage` rows, or some of their columns; None for none.
        retrieved: `schema.Retrieved` rows; None for none.

    Returns:
        Columns language, query_id, retriever (`given` for passages given with the query), passage_id, position (from 1,
        by rank), and title, text, relevant and passage_language as far as `passages` has them. Columns other than
        `relevant` come from `passages` if it has the passage; `relevant` always does, null if unlabelled.
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
    return pa.concat_tables([given, _number_passages(retrieved, passages, known).cast(given.schema)])


def _number_passages(retrieved: pa.Table, passages: pa.Table, known: list[str]) -> pa.Table:
    """Number the passages of retrievers, and join what `passages` has of them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    order = [(name, "ascending") for name in (*_QUERY, "retriever", "rank", "passage_id")]
    rows = retrieved.sort_by(order)
    lists = pc.rank(
        pc.binary_join_element_wise(*(rows[name] for name in _OF_LIST), "\x1f"), tiebreaker="dense"
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


def shown_passages(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the passages shown to the system of each answer.

    Args:
        tables: `answers`, and `passages` and `retrieved` if present.

    Returns:
        Columns language, query_id, system, passage_id, position (from 1), title, text, relevant and passage_language,
        sorted by the first three and the position. Answers without known passages have no row.
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
    """Return the top passages of one retriever as rows of `schema.Passage`.

    Args:
        rows: `contexts`, with all their columns.
        retriever: the retriever.
        depth: maximum number per query; None for all.
    """
    import pyarrow.compute as pc

    from mirage import schema

    own = rows.filter(pc.equal(rows["retriever"], retriever))
    own = own if depth is None else own.filter(pc.less_equal(own["position"], depth))
    names = [column.name for column in schema.columns("passages") if column.name in own.column_names]
    return schema.sort("passages", schema.from_columns("passages", {name: own[name] for name in names}))


def retrievers(arena: Arena) -> list[str]:
    """Return the names of an arena's retrievers."""
    if "retrieved" not in arena.tables:
        return []
    names: list[str] = arena.sql("SELECT DISTINCT retriever FROM retrieved ORDER BY ALL")["retriever"].to_pylist()
    return names


def need_retriever(arena: Arena, name: str) -> None:
    """Check that a retriever has results in an arena.

    Raises:
        TableMissing: if nothing was retrieved.
        UnknownName: if only others have results.
    """
    arena.need("retrieved")
    if name not in (names := retrievers(arena)):
        raise UnknownName("retriever", name, names, where=arena.address)


def refuse_name(name: str) -> None:
    """Check the name of a retriever.

    Raises:
        BadInput: if it is `given`, empty, or has whitespace, which TREC runs cannot represent.
    """
    if name == GIVEN:
        raise BadInput(
            "`given` is reserved for the passages supplied with the queries",
            do="omit --retriever to show these, or use another name, such as bm25",
        )
    if not name or any(letter.isspace() for letter in name):
        raise BadInput(f"{name!r} is not a valid name of a retriever", do="use a name without whitespace")


def refuse_changed(arena: Arena, new: pa.Table) -> None:
    """Check that no list changes from which answers were generated.

    Args:
        arena: the current arena.
        new: new `schema.Retrieved` rows.

    Raises:
        ArenaError: naming the first such query.
    """
    import pyarrow.compute as pc

    if "retrieved" not in arena.tables or "answers" not in arena.tables:
        return
    answers = arena.read("answers", columns=list(_OF_LIST))
    answers = answers.filter(pc.is_valid(answers["retriever"])).group_by(list(_OF_LIST)).aggregate([])
    if not len(answers):
        return
    columns = (*_OF_LIST, "passage_id", "rank", "text")
    coming = answers.join(new.select(list(_OF_LIST)), list(_OF_LIST), join_type="left semi")
    before, after = (
        {
            tuple(row[name] for name in columns)
            for row in table.select(columns).join(coming, list(_OF_LIST), join_type="left semi").to_pylist()
        }
        for table in (arena.read("retrieved"), new)
    )
    if changed := sorted({row[:3] for row in before ^ after}):
        language, query_id, name = changed[0]
        raise ArenaError(
            f"{len(changed):,} lists of {name} would change from which answers were generated",
            where=f"{arena.address}: language={language!r}, query_id={query_id!r}",
            do="use another name for the retriever, or write into another folder",
        )


class ShownPassages:
    """Lookup of the passages shown for one answer.

    Args:
        passages: as `contexts`.
        retrieved: as `contexts`.
        columns: columns of `contexts` to return.
    """

    def __init__(self, passages: pa.Table | None, retrieved: pa.Table | None, *, columns: tuple[str, ...]) -> None:
        rows = contexts(passages, retrieved).sort_by(
            [(name, "ascending") for name in (*_QUERY, "retriever", "position", "passage_id")]
        )
        self._lists: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
        keys = (rows[name].to_pylist() for name in _OF_LIST)
        values = (rows[name].to_pylist() for name in columns)
        for language, query_id, retriever, *row in zip(*keys, *values, strict=True):
            self._lists.setdefault((language, query_id, retriever), []).append(tuple(row))

    def of(self, query: Key, retriever: str | None, depth: int | None) -> list[tuple[Any, ...]]:
        """Return the columns of each passage shown, in order.

        Args:
            query: language and id.
            retriever: the answer's retriever; None for the passages given with the query.
            depth: the answer's depth.
        """
        return self._lists.get((*query, GIVEN if retriever is None else retriever), [])[:depth]


_SHOWN = ("passage_id", "position", "title", "text", "relevant", "passage_language")


def shown_with(arena: Arena, key: Key) -> ShownPassages:
    """Return the passages of one query by retriever: id, position, title, text, label and language of each."""
    import pyarrow as pa

    from mirage import schema

    tables = {
        name: pa.Table.from_pylist(of_query(arena, name, key), schema.arrow_schema(name))
        for name in ("passages", "retrieved")
    }
    return ShownPassages(tables["passages"], tables["retrieved"], columns=_SHOWN)


def merge_passages(key: Key, lists: Iterable[Sequence[tuple[Any, ...]]]) -> tuple[Passage, ...]:
    """Merge lists of passages without duplicates; passages not in the first list follow its last position.

    Args:
        key: the query.
        lists: lists of `shown_with`.
    """
    passages: dict[str, Passage] = {}
    for rows in lists:
        last = max((passage.position for passage in passages.values()), default=0)
        for passage_id, position, title, text, relevant, code in rows:
            if passage_id not in passages:
                passages[passage_id] = Passage(
                    *key, passage_id, last + position, title, text, relevant, passage_language=code
                )
    return tuple(sorted(passages.values(), key=lambda passage: passage.position))
