"""Passages shown to each system: those given with the query, or a retriever's top passages.

    shown_passages(tables)              # one row per answer and passage shown to its system

A system is a retriever with a generator. A null `retriever` of an answer means the passages of table `passages`, the
setting of the papers, also called the retriever `given`.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.schema import QueryKey, Tables
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena
from mirage.store.query_rows import of_query
from mirage.store.upsert import matching

GIVEN = "given"
"""Retriever name of the passages in table `passages`."""

_QUERY = ("language", "query_id")
_OF_LIST = (*_QUERY, "retriever")
_PASSAGE = (*_QUERY, "passage_id")
_KNOWN = ("title", "text", "relevant", "passage_language")


def query_texts(queries: pa.Table | None) -> dict[QueryKey, str | None]:
    """Return the text of each query, null if unknown; nothing without a table."""
    if queries is None:
        return {}
    return {(language, query_id): text for language, query_id, text in read_rows(queries, *_QUERY, "text")}


def query_turns(turns: pa.Table | None) -> dict[QueryKey, list[tuple[str, str]]]:
    """Return speaker and text of the turns before each query, in order; nothing without a table."""
    if turns is None:
        return {}
    rows = read_rows(schema.sort("turns", turns), *_QUERY, "speaker", "text")
    return group(((language, query_id), (speaker, text)) for language, query_id, speaker, text in rows)


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
    order = [(name, "ascending") for name in (*_QUERY, "retriever", "rank", "passage_id")]
    rows = retrieved.sort_by(order)
    lists = itertools.groupby(read_rows(rows, *_OF_LIST))
    position = [number for _, of_list in lists for number, _ in enumerate(of_list, 1)]
    rows = rows.append_column("position", pa.array(position, pa.int32())).append_column(
        "row", pa.array(range(len(rows)), pa.int64())
    )
    of_query = passages.select([*_PASSAGE, *known]).rename_columns([*_PASSAGE, *(f"{name}_known" for name in known)])
    joined = rows.join(of_query, list(_PASSAGE), join_type="left outer").sort_by("row")
    columns = {name: joined[name] for name in (*_QUERY, "retriever", "passage_id", "position")}
    for name in known:
        known_value = joined[f"{name}_known"]
        columns[name] = pc.coalesce(known_value, joined[name]) if name in joined.column_names else known_value
    return pa.table(columns)


def shown_passages(tables: Tables) -> pa.Table:
    """Return the passages shown to the system of each answer.

    Args:
        tables: `answers`, and `passages` and `retrieved` if present.

    Returns:
        Columns language, query_id, system, passage_id, position (from 1), title, text, relevant and passage_language,
        sorted by the first three and the position. Answers without known passages have no row.
    """
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
    own = rows.filter(pc.equal(rows["retriever"], retriever))
    own = own if depth is None else own.filter(pc.less_equal(own["position"], depth))
    names = [column.name for column in schema.columns("passages") if column.name in own.column_names]
    return schema.sort("passages", schema.from_columns("passages", {name: own[name] for name in names}))


def retrievers(arena: Arena) -> list[str]:
    """Return the names of an arena's retrievers."""
    if "retrieved" not in arena.tables:
        return []
    return list(arena.sql("SELECT DISTINCT retriever FROM retrieved ORDER BY ALL")["retriever"].to_pylist())


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
    if "retrieved" not in arena.tables or "answers" not in arena.tables:
        return
    columns = (*_OF_LIST, "passage_id", "rank", "text")
    answers = arena.read("answers", columns=list(_OF_LIST))
    coming = matching(answers.filter(pc.is_valid(answers["retriever"])), new, _OF_LIST)
    before, after = (
        set(read_rows(matching(table, coming, _OF_LIST), *columns)) for table in (arena.read("retrieved"), new)
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
        self._lists = group((row[:3], row[3:]) for row in read_rows(rows, *_OF_LIST, *columns))

    def of(self, query: QueryKey, retriever: str | None, depth: int | None) -> list[tuple[Any, ...]]:
        """Return the columns of each passage shown, in order.

        Args:
            query: language and id.
            retriever: the answer's retriever; None for the passages given with the query.
            depth: the answer's depth.
        """
        return self._lists.get((*query, GIVEN if retriever is None else retriever), [])[:depth]


_SHOWN = ("passage_id", "position", "title", "text", "relevant", "passage_language")


def shown_with(arena: Arena, key: QueryKey) -> ShownPassages:
    """Return the passages of one query by retriever: id, position, title, text, label and language of each."""
    tables = {
        name: pa.Table.from_pylist(of_query(arena, name, key), schema.arrow_schema(name))
        for name in ("passages", "retrieved")
    }
    return ShownPassages(tables["passages"], tables["retrieved"], columns=_SHOWN)


def merge_passages(key: QueryKey, lists: Iterable[Sequence[tuple[Any, ...]]]) -> tuple[schema.Passage, ...]:
    """Merge lists of passages without duplicates; passages not in the first list follow its last position.

    Args:
        key: the query.
        lists: lists of `shown_with`.
    """
    passages: dict[str, schema.Passage] = {}
    for rows in lists:
        last = max((passage.position for passage in passages.values()), default=0)
        for passage_id, position, title, text, relevant, code in rows:
            if passage_id not in passages:
                passages[passage_id] = schema.Passage(
                    *key, passage_id, last + position, title, text, relevant, passage_language=code
                )
    return tuple(sorted(passages.values(), key=lambda passage: passage.position))
