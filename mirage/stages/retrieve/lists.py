"""Validation of retrievers' lists in an arena: their names, and changes to lists already answered from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage import store
from mirage.errors import ArenaError, BadInput
from mirage.stages.shown import GIVEN

if TYPE_CHECKING:
    import pyarrow as pa

_LIST = ("language", "query_id", "retriever")


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


def refuse_changed(arena: store.Arena, new: pa.Table) -> None:
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
    answers = arena.read("answers", columns=list(_LIST))
    answers = answers.filter(pc.is_valid(answers["retriever"])).group_by(list(_LIST)).aggregate([])
    if not len(answers):
        return
    columns = (*_LIST, "passage_id", "rank", "text")
    coming = answers.join(new.select(list(_LIST)), list(_LIST), join_type="left semi")
    before, after = (
        {
            tuple(row[name] for name in columns)
            for row in table.select(columns).join(coming, list(_LIST), join_type="left semi").to_pylist()
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
