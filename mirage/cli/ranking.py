"""The command that ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirage import schema
from mirage.cli.common import ArenaDir, How, Languages, Parser, Seed, app, codes, rows
from mirage.cli.output import note, show
from mirage.cli.tournaments import as_published, keep_tournaments
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.cli.output import Format
    from mirage.rank.whatif import Choice
    from mirage.store import Arena

RANKS = (
    *("language", "system", "rating", "low", "high", "rank", "rank_low", "rank_high", "tier"),
    *("wins", "ties", "losses", "battles"),
)
"""Columns of `rank`."""


@app.command()
def rank(
    dir_: ArenaDir,
    referees: Annotated[
        list[str],
        typer.Option(
            "--referee",
            metavar="relevance|JUDGE|pooled",
            help="Human relevance labels, or a judge's name; several judges, or pooled for all, are counted together.",
        ),
    ],
    skill: Annotated[schema.Skill, typer.Option(help="Which questions count, by relevance.")] = "both",
    languages: Languages = None,
    draws: Annotated[int, typer.Option(min=1, help="Bootstrap draws behind the intervals.")] = 200,
    seed: Seed = 0,
    ties: Annotated[schema.Ties, typer.Option(help="Half a win for each, Davidson's model, or dropped.")] = "half",
    parser: Parser = "strict",
    without: Annotated[
        str | None, typer.Option("--leave-out-family", metavar="MAKER", help="Without the judges made by MAKER.")
    ] = None,
    no_own: Annotated[
        bool,
        typer.Option(
            "--no-own-family", help="Without a judge's verdicts on systems of its own maker (see makers.csv)."
        ),
    ] = False,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Only battles whose two orders were judged and agree.")
    ] = False,
    control: Annotated[
        str | None,
        typer.Option(metavar="length,citations,language", help="Compare at equal style of the answers, one or more."),
    ] = None,
    votes: Annotated[
        bool, typer.Option("--votes", help="People's votes replace the judge's verdicts on the same battles.")
    ] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's way: tournaments of 100 drawn queries, --draws of them.")
    ] = False,
    store_: Annotated[bool, typer.Option("--store", help="Keep the ranking of every skill in the arena.")] = False,
    how: How = "table",
) -> None:
    """Rank the systems by a referee.

    Bradley-Terry ratings with 95% intervals, rank intervals, tiers and records. Reads the table outcomes (referee
    relevance) or judgments (a judge). Writes nothing; with --store, the table ratings, where ratings by other
    referees stay. Where judges are pooled, verdicts left out or replaced by votes, or style is controlled for (which
    reads the table features), it tells which ranks that moves. With --paper: means and percentiles over tournaments as
    published; --store then writes the table tournaments. Makers are those that DIR/makers.csv names, else those that
    the names tell.
    """
    from mirage import pipeline, rank, store
    from mirage.makers import BY_NAME
    from mirage.rank.battles import RELEVANCE
    from mirage.rank.whatif import POOLED, Choice

    arena = store.open_arena(dir_)
    referee, only = referees[0], codes(languages)
    by_labels = referee == RELEVANCE
    style = tuple(part.strip() for part in (control or "").split(",") if part.strip())
    makers = store.makers_of(arena) if without is not None or no_own else BY_NAME
    choice = Choice(ties, without, own=not no_own, consistent=consistent, control=style, makers=makers)
    otherwise = len(referees) > 1 or referee == POOLED or choice != Choice(ties) or votes
    if otherwise:
        if store_ or paper or skill != "both" or parser != "strict":
            raise BadInput(
                "a ranking by pooled judges, by some of the verdicts, with votes, or at equal style is only printed",
                do="leave out --store, --paper, --skill and --parser",
            )
        _otherwise(arena, referees, choice, votes, languages=only, draws=draws, seed=seed, how=how)
        return
    if store_ and (only or ties != "half" or parser != "strict"):
        raise BadInput("--store keeps the ranking as it is by default", do="leave out --languages, --ties and --parser")
    if paper:
        if ties not in ("half", "drop"):
            raise BadInput("the paper drops ties", do="leave out --ties, or --paper")
        as_published(arena, referee, skill=skill, parser=parser, languages=only, draws=draws, seed=seed, how=how)
        if store_:
            keep_tournaments(arena, referee, draws=draws, seed=seed)
        return
    table = arena.read("outcomes") if by_labels else arena.read("judgments", columns=rank.COLUMNS)
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


def _otherwise(arena: Arena, referees: list[str], choice: Choice, voted: bool, *, how: Format, **options: Any) -> None:
    """Print a ranking that counts otherwise, and what that moves."""
    from mirage import pipeline, rank, votes
    from mirage.rank.whatif import Choice, compare

    table = arena.read("judgments", columns=rank.COLUMNS)
    features = arena.read("features") if choice.control else None
    people = pipeline.people_verdicts(arena, votes.Votes().rows(votes.Vote, arena=arena.name)) if voted else None
    found = pipeline.what_if(table, referees, choice, features=features, votes=people, **options)
    show(rows(pipeline.ordered(found.ranking), RANKS), RANKS, how)
    for line in (found.method, *pipeline.counted(found), *pipeline.remarks(found.ranking, table)):
        note(line)
    if choice != Choice() or found.voted:
        usual = pipeline.what_if(table, referees, Choice(), **options).ranking
        different = compare(usual, found.ranking)
        for code in found.ranking.languages:
            note(f"against the plain ranking, {code}: " + "; ".join(pipeline.moved(different, language=code)))
