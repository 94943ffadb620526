"""Stages from outcomes or judgments to ratings and tournaments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema
from mirage.battles.counts import Battles
from mirage.battles.judge import Judge
from mirage.errors import NotEnoughData
from mirage.ranking import paper
from mirage.ranking.bootstrap import rate
from mirage.ranking.settings import DRAWS, SEED
from mirage.stages.stage import Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def _rate_by_relevance(tables: Tables, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, pa.Table]:
    import pyarrow as pa

    ranked = [rate(battles, draws=draws, seed=seed).table() for battles in _by_skill(tables["outcomes"])]
    return {"ratings": pa.concat_tables(ranked)}


def _by_skill(outcomes: pa.Table) -> list[dict[str, Battles]]:
    """Return the battles by relevance labels of each skill that has any.

    Raises:
        NotEnoughData: if none has.
    """
    found = []
    for skill in get_args(schema.Skill):
        try:
            found.append(Judge.relevance(skill).battles(outcomes))
        except NotEnoughData:
            if skill == "both":
                raise
    return found


def _rate_by_judge(tables: Tables, *, judge: str, draws: int = DRAWS, seed: int = SEED) -> dict[str, pa.Table]:
    battles = Judge.from_name(judge).battles(tables["judgments"])
    return {"ratings": rate(battles, draws=draws, seed=seed).table()}


def _tournaments(battles: Mapping[str, Battles], options: Mapping[str, Any]) -> pa.Table:
    return paper.play(battles, **options).table()


def _relevance_tournaments(tables: Tables, **options: Any) -> dict[str, pa.Table]:
    import pyarrow as pa

    played = [_tournaments(battles, options) for battles in _by_skill(tables["outcomes"])]
    return {"tournaments": pa.concat_tables(played)}


def _judged_tournaments(tables: Tables, *, judge: str, **options: Any) -> dict[str, pa.Table]:
    return {"tournaments": _tournaments(Judge.single(judge).battles(tables["judgments"]), options)}


RELEVANCE_RATINGS = Stage("ratings by relevance", ("outcomes",), ("ratings",), _rate_by_relevance)
JUDGED_RATINGS = Stage("ratings by a judge", ("judgments",), ("ratings",), _rate_by_judge)
RELEVANCE_TOURNAMENTS = Stage("tournaments by relevance", ("outcomes",), ("tournaments",), _relevance_tournaments)
JUDGED_TOURNAMENTS = Stage("tournaments by a judge", ("judgments",), ("tournaments",), _judged_tournaments)
