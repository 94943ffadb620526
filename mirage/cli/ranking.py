"""The command that ranks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mirage import schema
from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, app, codes, rows
from mirage.cli.output import note, show
from mirage.cli.tournaments import as_published, keep_tournaments
from mirage.errors import BadInput

RANKS = (
    *("language", "system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"),
    *("wins", "ties", "losses", "battles"),
)
"""Columns of `rank`."""


@app.command()
def rank(
    dir_: ArenaDir,
    referee: Annotated[str, typer.Option(metavar="relevance|JUDGE", help="Human relevance labels, or a judge's name.")],
    skill: Annotated[schema.Skill, typer.Option(help="Which questions count, by relevance.")] = "both",
    languages: Languages = None,
    draws: Annotated[int, typer.Option(min=1, help="Bootstrap draws behind the intervals.")] = 200,
    seed: Seed = 0,
    ties: Annotated[schema.Ties, typer.Option(help="Half a win for each, Davidson's model, or dropped.")] = "half",
    parser: Parser = "strict",
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's way: tournaments of 100 drawn queries, --draws of them.")
    ] = False,
    store_: Annotated[bool, typer.Option("--store", help="Keep the ranking of every skill in the arena.")] = False,
    how: How = "table",
) -> None:
    """Rank the systems by a referee.

    Bradley-Terry ratings with 95% intervals, rank intervals and records. Reads the table outcomes (referee
    relevance) or judgments (a judge). Writes nothing; with --store, the table ratings, where ratings by other
    referees stay. With --paper: means and percentiles over tournaments as published; --store then writes the table
    tournaments.
    """
    from mirage import pipeline, store
    from mirage.rank.battles import RELEVANCE

    arena = store.open_arena(dir_)
    by_labels = referee == RELEVANCE
    only = codes(languages)
    if store_ and (only or ties != "half" or parser != "strict"):
        raise BadInput("--store keeps the ranking as it is by default", do="leave out --languages, --ties and --parser")
    if paper:
        if ties not in ("half", "drop"):
            raise BadInput("the paper drops ties", do="leave out --ties, or --paper")
        as_published(arena, referee, skill=skill, parser=parser, languages=only, draws=draws, seed=seed, how=how)
        if store_:
            keep_tournaments(arena, referee, draws=draws, seed=seed)
        return
    table = arena.read("outcomes" if by_labels else "judgments")
    options: dict[str, Any] = {"draws": draws, "seed": seed}
    ranking = pipeline.ranking(table, referee, skill=skill, parser=parser, languages=only, ties=ties, **options)
    if store_:
        stage = pipeline.RELEVANCE_RATINGS if by_labels else pipeline.JUDGED_RATINGS
        options |= {} if by_labels else {"judge": referee}
        notes = [f"{referee}: {ranking.method}"]
        pipeline.run(stage, dir_, made_by="mirage rank --store", part="referee", notes=notes, **options)
    show(rows(pipeline.ordered(ranking), RANKS), RANKS, how)
    for line in (ranking.method, *pipeline.remarks(ranking, table, languages=only)):
        note(line)
