"""Scores included with the data: agreement of the raters, and means by system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.people.votes import raters

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


@lru_cache(maxsize=16)
def rater_rows(arena: Arena, languages: Sequence[str]) -> pa.Table:
    """Return the agreement of people who scored the same answers, by measure (`raters.RaterAgreement`).

    Args:
        arena: with a table `scores`.
        languages: codes; of several the rows of `all` alone, where a measure has them.
    """
    rows = raters.rater_agreement(arena.read("scores", languages=languages))
    joint = {row.measure for row in rows if row.language == "all"}
    return schema.from_rows(
        raters.RaterAgreement, [row for row in rows if row.language == "all" or row.measure not in joint]
    )


@lru_cache(maxsize=16)
def mean_rows(arena: Arena, languages: Sequence[str]) -> pa.Table:
    """Return the mean scores by system and measure (`raters.ScoreMean`); languages as for `rater_rows`."""
    rows = raters.score_means(arena.read("scores", languages=languages))
    joint = {(row.measure, row.person) for row in rows if row.language == "all"}
    return schema.from_rows(
        raters.ScoreMean, [row for row in rows if row.language == "all" or (row.measure, row.person) not in joint]
    )
