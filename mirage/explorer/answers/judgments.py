"""Judgments on one query, for the Answers page."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.store.query_rows import of_query

if TYPE_CHECKING:
    from mirage.store import Arena


@lru_cache(maxsize=256)
def judgments_on(arena: Arena, key: tuple[str, str]) -> tuple[schema.Judgment, ...]:
    """Return all verdicts on the answers to a query, by judge, with the two orders of a pair adjacent.

    Args:
        arena: the arena.
        key: language and id of the query.

    Raises:
        TableMissing: if the arena has no judgments.
    """
    arena.need("judgments")
    rows = [schema.Judgment(**row) for row in of_query(arena, "judgments", key)]
    return tuple(
        sorted(
            rows,
            key=lambda judgment: (judgment.judge, *sorted((judgment.system_a, judgment.system_b)), judgment.system_a),
        )
    )


def preferred_system(judgment: schema.Judgment) -> str | None:
    """Return the system that a verdict prefers; None for ties and unparsed verdicts."""
    return {"A": judgment.system_a, "B": judgment.system_b}.get(judgment.verdict)
