"""What the Surrogate page shows: stored predictions of left-out systems, regressor by regressor, against the referee.

Nothing is fitted here. Answers are kept by arena, whose hash is that of its manifest: a page that runs again asks
nothing twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import pipeline, surrogate
from mirage.pipeline import Summary

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.schema import Skill
    from mirage.store import Arena
    from mirage.surrogate import Quality


@dataclass(frozen=True, eq=False)
class Compared:
    """The regressors of one referee and skill on left-out systems."""

    chosen: str
    """The regressor for new systems."""
    summary: tuple[Summary, ...]
    """One row a regressor: the default procedure, the paper's five, ours."""
    quality: tuple[Quality, ...]
    """By language, `all` last, then regressor."""
    points: pa.Table
    """Table `predictions` of this referee and skill: prediction, interval and rating of every system."""


@lru_cache(maxsize=64)
def available(arena: Arena) -> tuple[tuple[str, Skill], ...]:
    """The referees and skills that an arena has predictions for; none if it lacks the table."""
    if "predictions" not in arena.tables:
        return ()
    rows = arena.sql("SELECT DISTINCT referee, skill FROM predictions ORDER BY referee <> 'relevance', referee, skill")
    return tuple((row["referee"], row["skill"]) for row in rows.to_pylist())


@lru_cache(maxsize=16)
def compared(arena: Arena, referee: str, skill: Skill = "both") -> Compared:
    """The comparison behind the stored predictions.

    Raises:
        TableMissing: if the arena has no predictions.
        NotEnoughData: if it has none for this referee and skill.
    """
    import pyarrow.compute as pc

    rows = arena.read("predictions")
    held = pipeline.held_out(rows, referee, skill=skill)
    chosen = pipeline.chosen(rows, referee, skill=skill).regressor
    quality = [one for each in held.values() for one in each.quality()]
    quality.sort(key=lambda one: (one.language == surrogate.ALL, one.language))
    mine = pc.and_(pc.equal(rows["referee"], referee), pc.equal(rows["skill"], skill))
    return Compared(chosen, tuple(pipeline.summary(held, chosen)), tuple(quality), rows.filter(mine))
