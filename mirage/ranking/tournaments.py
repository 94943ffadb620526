"""The paper's tournaments on an arena: running, tabulating and storing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mirage import store
from mirage.battles.judge import Judge
from mirage.ranking import paper
from mirage.ranking.arena import read_battles
from mirage.ranking.settings import RankSettings
from mirage.ranking.stage import JUDGED_TOURNAMENTS, RELEVANCE_TOURNAMENTS
from mirage.stages.stage import Progress, run


def tournaments(
    arena: store.Arena, judge: Judge, settings: RankSettings, *, progress: Progress | None = None
) -> paper.TournamentResult:
    """Run the tournaments of a judge (`ranking.paper.play`), one for each draw; errors as for `rank_arena`."""
    battles = read_battles(arena, judge, settings)
    return paper.play(battles, tournaments=settings.draws, seed=settings.seed, progress=progress)


def tournament_rows(played: paper.TournamentResult) -> list[dict[str, Any]]:
    """Return rows by language, the best first: `language, system, rating, low, high, rank, tournaments, failed, rated,
    reason`.

    `rating` is the mean over tournaments with a rating, null if none has one; `low` and `high` are its published
    percentiles, null with a reason if fewer than `paper.FEWEST_RATED` of the tournaments have a rating (`rated`).
    """
    all_rows = []
    for code, tournaments in played.languages.items():
        rows: list[dict[str, Any]] = [
            {"language": code, "system": s, "rating": None, "low": None, "high": None, "rank": None}
            for s in tournaments.systems
        ]
        if tournaments.fitted:
            for row, rating, rank in zip(rows, tournaments.mean().tolist(), tournaments.ranks().tolist(), strict=True):
                row |= {"rating": rating, "rank": rank}
            if not tournaments.lacking:
                for row, low, high in zip(rows, *tournaments.interval().tolist(), strict=True):
                    row |= {"low": low, "high": high}
            order = np.lexsort((np.arange(len(rows)), tournaments.ranks()))
            rows = [rows[k] for k in order]
        counts = {
            "tournaments": tournaments.fitted,
            "failed": len(tournaments.failed),
            "rated": tournaments.rated,
            "reason": tournaments.lacking,
        }
        all_rows += [row | counts for row in rows]
    return all_rows


def keep_tournaments(path: Path, judge: Judge, *, tournaments: int = paper.TOURNAMENTS, seed: int = 0) -> store.Arena:
    """Store every tournament of a judge, of each skill, in the arena; those of other judges are kept."""
    options: dict[str, Any] = {"tournaments": tournaments, "seed": seed}
    stage = RELEVANCE_TOURNAMENTS if judge.by_labels else JUDGED_TOURNAMENTS
    options |= {} if judge.by_labels else {"judge": judge.name}
    method = paper.TournamentResult(judge.name, "both", {}, tournaments, paper.MATCHES, seed, "dense").method
    made_by = "mirage rank paper --store"
    return run(stage, path, made_by=made_by, part="judge", notes=[f"{judge.name}: {method}"], **options)
