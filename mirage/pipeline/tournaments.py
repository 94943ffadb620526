"""The paper's tournaments on an arena: played, as rows to print, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mirage import schema, store
from mirage.pipeline.ranking import battles_of
from mirage.pipeline.stages import JUDGED_TOURNAMENTS, RELEVANCE_TOURNAMENTS, Progress, run
from mirage.rank import paper
from mirage.rank.battles import RELEVANCE


def tournaments(
    arena: store.Arena,
    referee: str,
    *,
    skill: schema.Skill = "both",
    parser: schema.Parser = "strict",
    languages: Sequence[str] | None = None,
    tournaments: int = paper.TOURNAMENTS,
    seed: int = 0,
    progress: Progress | None = None,
) -> paper.Played:
    """Play the tournaments of a referee (`rank.paper.play`); arguments and errors else as for `ranking`."""
    table = arena.read("outcomes" if referee == RELEVANCE else "judgments")
    battles = battles_of(table, referee, skill=skill, parser=parser, languages=languages)
    return paper.play(battles, tournaments=tournaments, seed=seed, progress=progress)


def tournament_rows(played: paper.Played) -> list[dict[str, Any]]:
    """By language, the best first: `language, system, rating, low, high, rank, tournaments, failed, rated, reason`.

    `rating` is the mean over tournaments with a rating, null where none has one; `low` and `high` are its published
    percentiles, null where under `paper.FEWEST_RATED` of the tournaments have a rating (`rated`), with the reason.
    """
    found = []
    for code, one in played.languages.items():
        rows: list[dict[str, Any]] = [
            {"language": code, "system": s, "rating": None, "low": None, "high": None, "rank": None}
            for s in one.systems
        ]
        if one.fitted:
            for row, rating, rank in zip(rows, one.mean().tolist(), one.ranks().tolist(), strict=True):
                row |= {"rating": rating, "rank": rank}
            if not one.lacking:
                for row, low, high in zip(rows, *one.interval().tolist(), strict=True):
                    row |= {"low": low, "high": high}
            order = np.lexsort((np.arange(len(rows)), one.ranks()))
            rows = [rows[k] for k in order]
        counts = {"tournaments": one.fitted, "failed": len(one.failed), "rated": one.rated, "reason": one.lacking}
        found += [row | counts for row in rows]
    return found


def keep_tournaments(path: Path, referee: str, *, tournaments: int = paper.TOURNAMENTS, seed: int = 0) -> store.Arena:
    """Write every tournament of a referee, of each skill, into the arena; those of other referees stay."""
    options: dict[str, Any] = {"tournaments": tournaments, "seed": seed}
    by_labels = referee == RELEVANCE
    stage = RELEVANCE_TOURNAMENTS if by_labels else JUDGED_TOURNAMENTS
    options |= {} if by_labels else {"judge": referee}
    said = paper.Played(referee, "both", {}, tournaments, paper.MATCHES, seed, "dense").method
    made_by = "mirage rank --paper --store"
    return run(stage, path, made_by=made_by, part="referee", notes=[f"{referee}: {said}"], **options)
