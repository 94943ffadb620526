"""Stages from outcomes or judgments to ratings and tournaments, and the paper's tournaments on an arena."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from mirage.battles.counts import Battles
from mirage.battles.failures import decide_failures, find_failures
from mirage.battles.judge import RELEVANCE
from mirage.errors import NotEnoughData
from mirage.ranking import paper
from mirage.ranking.bootstrap import rate
from mirage.ranking.judges import Judge
from mirage.ranking.settings import DRAWS, SEED, RankSettings
from mirage.schema import Tables
from mirage.stages.stage import Progress, Stage, run
from mirage.store.arena import Arena


def _rate(tables: Tables, *, judge: str = RELEVANCE, draws: int = DRAWS, seed: int = SEED) -> dict[str, pa.Table]:
    rated = [rate(battles, draws=draws, seed=seed).table() for battles in _battles(tables, judge)]
    return {"ratings": pa.concat_tables(rated)}


def store_ratings(
    path: Path, judge: Judge, *, draws: int = DRAWS, seed: int = SEED, made_by: str, step: str | None = None
) -> Arena:
    """Store the default ranking by a judge, by relevance labels that of every skill; those of other judges stay."""
    options: dict[str, Any] = {"draws": draws, "seed": seed}
    made_with = rated_with(**options)
    stage = RATING_STAGES[judge.table]
    return run(stage, path, made_by=made_by, part="judge", settings=made_with, step=step, judge=judge.name, **options)


def rated_with(*, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Return how stored ratings are made, for the manifest."""
    return {"method": "bradley-terry", "penalty": "jeffreys", "ties": "half", "draws": draws, "seed": seed}


def _play(tables: Tables, *, judge: str = RELEVANCE, **options: Any) -> dict[str, pa.Table]:
    return {"tournaments": pa.concat_tables([paper.play(of, **options).table() for of in _battles(tables, judge)])}


def _battles(tables: Tables, judge: str) -> list[dict[str, Battles]]:
    """Return the battles by a judge; by relevance labels those of each skill that has any.

    Raises:
        NotEnoughData: if none has.
    """
    found = []
    for skill in Judge.from_name(judge).skills:
        decider = Judge.from_name(judge, skill=skill)
        try:
            found.append(decider.battles(rows_of_judge(tables, decider)))
        except NotEnoughData:
            if skill == "both":
                raise
    return found


def rows_of_judge(tables: Tables, judge: Judge) -> pa.Table:
    """Return the rows of the judge's table, with the verdicts that failed answers decide."""
    rows = tables[judge.table]
    if judge.table == "judgments" and "answers" in tables:
        rows = decide_failures(rows, find_failures(tables["answers"]))
    return rows


RELEVANCE_RATINGS = Stage("ratings by relevance", ("outcomes",), ("ratings",), _rate, version=2)
JUDGED_RATINGS = Stage("ratings by a judge", ("judgments",), ("ratings",), _rate, uses=("answers",), version=2)
RELEVANCE_TOURNAMENTS = Stage("tournaments by relevance", ("outcomes",), ("tournaments",), _play)
JUDGED_TOURNAMENTS = Stage("tournaments by a judge", ("judgments",), ("tournaments",), _play, uses=("answers",))
RATING_STAGES = {"outcomes": RELEVANCE_RATINGS, "judgments": JUDGED_RATINGS}
"""The stage that rates, by the table of the judge."""
TOURNAMENT_STAGES = {"outcomes": RELEVANCE_TOURNAMENTS, "judgments": JUDGED_TOURNAMENTS}
"""The stage that plays tournaments, by the table of the judge."""


def tournaments(
    arena: Arena, judge: Judge, settings: RankSettings, *, progress: Progress | None = None
) -> paper.TournamentResult:
    """Run the tournaments of a judge (`ranking.paper.play`), one for each draw; errors as for `rank_arena`."""
    battles = judge.battles(judge.read(arena, settings), languages=settings.languages)
    return paper.play(battles, tournaments=settings.draws, seed=settings.seed, progress=progress)


def tournament_rows(played: paper.TournamentResult) -> list[dict[str, Any]]:
    """Return rows by language, the best first: `language, system, rating, low, high, rank, tournaments, failed, rated,
    reason`.

    `rating` is the mean over tournaments with a rating, null if none has one; `low` and `high` are its published
    percentiles, null with a reason if fewer than `paper.FEWEST_RATED` of the tournaments have a rating (`rated`).
    """
    all_rows = []
    for code, of in played.languages.items():
        nothing = [None] * len(of.systems)
        mean, ranks = (of.mean().tolist(), of.ranks().tolist()) if of.fitted else (nothing, nothing)
        low, high = (nothing, nothing) if of.lacking else of.interval().tolist()
        counts = (of.fitted, len(of.failed), of.rated, of.lacking)
        rows = [(code, *row, *counts) for row in zip(of.systems, mean, low, high, ranks, strict=True)]
        all_rows += sorted(rows, key=lambda row: row[5] or 0)
    names = ("language", "system", "rating", "low", "high", "rank", "tournaments", "failed", "rated", "reason")
    return [dict(zip(names, row, strict=True)) for row in all_rows]


def keep_tournaments(path: Path, judge: Judge, *, tournaments: int = paper.TOURNAMENTS, seed: int = 0) -> Arena:
    """Store every tournament of a judge, of each skill, in the arena; those of other judges are kept."""
    options: dict[str, Any] = {"tournaments": tournaments, "seed": seed}
    stage, made_with = TOURNAMENT_STAGES[judge.table], {"method": "published", "matches": paper.MATCHES, **options}
    made_by = "mirage rank paper --store"
    return run(stage, path, made_by=made_by, part="judge", settings=made_with, judge=judge.name, **options)
