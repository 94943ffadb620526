"""Tags of queries, and the part of an arena whose queries have given tags.

part = select_tagged(arena, [("domain", "finance")])    # reads like an arena without the other queries
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from mirage.errors import BadInput, UnknownName
from mirage.store.arena import Arena

_QUERIES = ("queries", "answers", "outcomes", "judgments", "scores", "features")
"""Tables that determine the queries of an arena; the first that exists counts."""


def select_tagged(arena: Arena, tags: Iterable[tuple[str, str]]) -> Arena:
    """Return the part of an arena whose queries have some tags: any given value of a tag, for every given tag.

    Tables without queries (`ratings`, `predictions`, `systems`) are not filtered: they were computed from all queries.

    Args:
        arena: the arena.
        tags: pairs of tag and value; empty for the whole arena.

    Raises:
        TableMissing: if the arena has no tags.
        UnknownName: if no query has a tag, or a value of it.
    """
    wanted = tuple(sorted(set(tags)))
    known = tag_values(arena.whole) if wanted else {}
    for tag, value in wanted:
        if tag not in known:
            raise UnknownName("tag", tag, known, where=str(arena.path))
        if value not in known[tag]:
            raise UnknownName(f"value of the tag {tag}", value, known[tag], where=str(arena.path))
    return replace(arena, tags=wanted)


def parse_tag(text: str) -> tuple[str, str]:
    """Split `domain=finance` into tag and value.

    Raises:
        BadInput: if there is no `=` between two texts.
    """
    tag, sign, value = text.partition("=")
    if not (sign and tag.strip() and value.strip()):
        raise BadInput(f"{text!r} is not a tag and value", do="write TAG=VALUE, such as domain=finance")
    return tag.strip(), value.strip()


@lru_cache(maxsize=32)
def tag_values(arena: Arena) -> dict[str, dict[str, int]]:
    """Return the tags of an arena's queries, each with its values and their numbers of queries.

    Raises:
        TableMissing: if the arena has no tags.
    """
    arena.need("tags")
    rows = arena.sql("SELECT tag, value, count(*) AS n FROM tags GROUP BY ALL ORDER BY ALL").to_pylist()
    values: dict[str, dict[str, int]] = {}
    for row in rows:
        values.setdefault(row["tag"], {})[row["value"]] = row["n"]
    return values


@lru_cache(maxsize=64)
def count_queries(arena: Arena) -> int:
    """Return the number of queries in an arena, or in its selected part."""
    table = next((name for name in _QUERIES if name in arena.whole.tables), None)
    if table is None or table not in arena.tables:
        return 0
    sql = f'SELECT count(DISTINCT (language, query_id)) AS n FROM "{table}"'  # noqa: S608  # a table's name
    return int(arena.sql(sql)["n"][0].as_py())
