"""What retrievers brought, as it stands in an arena: what may be named so, and what may not change any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage import store
from mirage.errors import ArenaError, BadInput
from mirage.shown import GIVEN

if TYPE_CHECKING:
    import pyarrow as pa

_LIST = ("language", "query_id", "retriever")


def refuse_name(name: str) -> None:
    """Refuse what cannot be the name of a retriever.

    Raises:
        BadInput: if it is `given`, empty, or has white space, which no run can hold.
    """
    if name == GIVEN:
        raise BadInput(
            "`given` is no retriever: it stands for the passages that came with the queries",
            do="leave --retriever out to show these, or name another, such as bm25",
        )
    if not name or any(letter.isspace() for letter in name):
        raise BadInput(f"{name!r} cannot be the name of a retriever", do="give a name without white space")


def refuse_changed(arena: store.Arena, new: pa.Table) -> None:
    """Refuse other passages of a retriever for queries whose answers say that they were shown the old ones.

    Args:
        arena: the arena as it is.
        new: `schema.Retrieved` rows that are to come in.

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
            f"there are answers that were shown what {name} brought, and {len(changed):,} of its lists would change",
            where=f"{arena.address}: language={language!r}, query_id={query_id!r}",
            do="give the retriever another name, or write into another folder",
        )
