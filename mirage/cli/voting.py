"""Commands about people's votes: `mirage votes export|import|ballot|left|agreement|correct|citations`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from mirage.cli.common import QUIET, ArenaDir, How, Languages, Seed, app, arena_log, codes, rows
from mirage.cli.output import note, show
from mirage.errors import BadInput

votes = typer.Typer(help="People's votes: files in and out, agreement, a ranking corrected by them.", **QUIET)  # type: ignore[arg-type]
app.add_typer(votes, name="votes")

AGREEMENT = (
    *("referee", "language", "n", "queries", "voters", "raw", "raw_low", "raw_high", "kappa", "kappa_low"),
    *("kappa_high", "alpha", "alpha_low", "alpha_high", "distance", "distance_low", "distance_high", "skipped"),
    *("both_bad", "unread", "enough", "reason"),
)
"""Columns of `agreement`."""
CORRECTED = (
    *("language", "judge", "system", "rating", "low", "high", "rank", "rank_low", "rank_high"),
    *("uncorrected", "uncorrected_low", "uncorrected_high", "uncorrected_rank", "votes", "battles", "lam", "width"),
)
"""Columns of `correct`."""
CITATIONS = (
    *("language", "system", "supported", "supported_low", "supported_high", "citations", "unclear", "answers"),
    *("voters", "agree", "pairs", "reason"),
)
"""Columns that `mirage votes citations` prints."""
LEFT = ("ballot", "language", "voter", "items", "voted", "left")
"""Columns of `left`."""

Evidence = Annotated[bool, typer.Option("--evidence", help="Votes on citations instead of battles.")]
OnNuggets = Annotated[bool, typer.Option("--nuggets", help="Votes on nuggets instead of battles.")]


def _kind(*, evidence: bool, nuggets: bool) -> Any:
    """The kind of rows that the options name."""
    from mirage.votes import Evidence as Citation
    from mirage.votes import NuggetVote, Vote

    if evidence and nuggets:
        raise BadInput("a file holds votes of one kind", do="give --evidence or --nuggets")
    return Citation if evidence else NuggetVote if nuggets else Vote


@votes.command("export")
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Named .csv, .jsonl or .parquet.")],
    arena: Annotated[Path | None, typer.Option(metavar="DIR", help="Only votes on queries of this arena.")] = None,
    evidence: Evidence = False,
    nuggets: OnNuggets = False,
) -> None:
    """Write the log of votes into a file.

    Reads the votes, in the user's own folder or where MIRAGE_VOTES_URL says. Writes FILE: every row of the log, in the
    order of time; a vote that was taken back stands in it, and the row that takes it back.
    """
    from mirage import store
    from mirage.votes import Votes
    from mirage.votes.stage import export_votes

    only = None if arena is None else store.open_arena(arena)
    with Votes() as database:
        n = export_votes(database, _kind(evidence=evidence, nuggets=nuggets), file, arena=only)
        note(f"{file}: {n:,} rows from {database.where}")


@votes.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `mirage votes export` writes it, .gz or not.")],
    evidence: Evidence = False,
    nuggets: OnNuggets = False,
) -> None:
    """Read a log of votes from a file, or what a ballot gave back.

    Reads FILE. Writes the votes that are not there already, all or none: one wrong line refuses the file, with the
    line named. A ballot's file is refused as well if it was changed, or if the ballot was not made here.
    """
    from mirage.votes import Votes
    from mirage.votes.ballots import import_ballot, is_returned
    from mirage.votes.stage import import_votes

    kind = _kind(evidence=evidence, nuggets=nuggets)
    with Votes() as database:
        read, new = import_ballot(database, file) if is_returned(file) else import_votes(database, kind, file)
        note(f"{database.where}: {read:,} rows read, {new:,} of them new")


@votes.command("ballot")
def ballot(
    dir_: ArenaDir,
    language: Annotated[str, typer.Option(metavar="CODE", help="Language of the queries, which voters read well.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Named .html; for several voters NAME-1.html and so on.")],
    n: Annotated[int, typer.Option("--n", min=1, help="How many battles, over all voters.")] = 40,
    voters: Annotated[
        str | None, typer.Option(metavar="NAMES", help="A ballot for each, commas between; else one for anybody.")
    ] = None,
    reviews: Annotated[int, typer.Option(min=1, help="How many people see each battle.")] = 1,
    part: Annotated[
        str | None, typer.Option(metavar="I/N", help="Part I of the ballots for N people without names.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Write ballots to send around: one HTML file a person, which opens without a server or a network.

    Holds the battles that the queue asks first, blind, in random order. It gives back a file for mirage votes import.
    The same arguments give the same ballot. Reads the tables queries, passages, answers, judgments and ratings. Writes
    FILE, and in the user's own folder what its items stand for.
    """
    from mirage import store
    from mirage.views.ballot import ballot_html
    from mirage.votes import correction_needs
    from mirage.votes.ballots import draw_ballots, keep, people_of
    from mirage.votes.stage import vote_pool

    if out.suffix != ".html":
        raise BadInput(f"{out.name} is no name of a page", do="name it .html")
    arena = store.open_arena(dir_)
    people, own = people_of(voters, part)
    ballots = draw_ballots(arena, language, n=n, people=people, reviews=reviews, seed=seed)
    ballots = [ballots[own]] if own is not None else ballots
    pages = [ballot_html(arena, drawn) for drawn in ballots]
    keep(ballots)
    for drawn, page in zip(ballots, pages, strict=True):
        file = out if len(ballots) == 1 else out.with_name(f"{out.stem}-{drawn.part}{out.suffix}")
        store.write_whole(file, page.encode("utf-8"))
        note(f"{file}: {len(drawn.items):,} battles for {drawn.voter or 'whoever opens it'}")
    note(correction_needs(vote_pool(arena, language).n_queries))


@votes.command("left")
def left(dir_: ArenaDir, output_format: How = "table") -> None:
    """Print how far the ballots of an arena have come, and what each person has left.

    Reads the ballots made here and the votes imported. Writes nothing.
    """
    from mirage import store
    from mirage.votes import Vote, Votes
    from mirage.votes.ballots import ballots_left

    arena = store.open_arena(dir_)
    with Votes() as database:
        results = ballots_left(arena, database.rows(Vote))
    show([dataclasses.asdict(row) for row in results], LEFT, output_format)


@votes.command("agreement")
def agreement(
    dir_: ArenaDir,
    languages: Languages = None,
    all_votes: Annotated[
        bool, typer.Option("--all-votes", help="Also votes on battles that the queue preferred: biased.")
    ] = False,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print how far people agree with each judge, and with each other.

    Share of agreement, Cohen's kappa and Krippendorff's alpha with 95% intervals over queries. Reads the votes on
    the arena that count (drawn at random), and the table judgments. Writes nothing.
    """
    from mirage import store
    from mirage.votes import Vote
    from mirage.votes.stage import vote_agreement

    arena = store.open_arena(dir_)
    log = arena_log(arena, Vote)
    agreements = vote_agreement(arena, log, languages=codes(languages), control=not all_votes, seed=seed)
    columns = AGREEMENT if output_format != "table" else tuple(name for name in AGREEMENT if name != "reason")
    show([dataclasses.asdict(row) for row in agreements], columns, output_format)
    for row in agreements:
        if row.reason:
            note(f"{row.referee}, {row.language}: {row.reason}")
    if all_votes:
        note("with votes on battles that the queue preferred: these say how it chose, not how far to trust a judge")


@votes.command("correct")
def correct(
    dir_: ArenaDir,
    judge: Annotated[
        str, typer.Option(metavar="NAMES", help="The judge whose ranking is corrected; or several, commas between.")
    ],
    languages: Languages = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Measures of the answers that help to predict the votes; or: all."),
    ] = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print a judge's ranking corrected by people's votes, beside the uncorrected one.

    Prediction-powered inference with 95% intervals. Several judges, and features, become one prediction of the votes,
    fitted to other queries than those it is used on. The intervals hold whatever judges and features are worth; the
    column width says how much narrower they are than by the votes alone. Reads the votes on battles drawn with a known
    chance, the table judgments, and features where they are named. Writes nothing.
    """
    from mirage import store
    from mirage.votes import Vote
    from mirage.votes.stage import correct_ranking

    arena = store.open_arena(dir_)
    log = arena_log(arena, Vote)
    correction = correct_ranking(
        arena,
        log,
        judge=[name.strip() for name in judge.split(",") if name.strip()],
        languages=codes(languages),
        features=None if features == "all" else [name.strip() for name in (features or "").split(",") if name.strip()],
        seed=seed,
    )
    show(rows(correction.table(), CORRECTED), CORRECTED, output_format)
    for code, ranking in correction.languages.items():
        note(f"{code}: {ranking.method}")
    for code, error in correction.refused.items():
        note(f"{code}: not corrected: {error.what}")


@votes.command("citations")
def citations(dir_: ArenaDir, languages: Languages = None, output_format: How = "table") -> None:
    """Print how many citations support the sentence that cites them, as people see it.

    By language and system, with 95% intervals that take the answer as the cluster. Reads the votes on citations, and
    the table answers where there is one. Writes nothing.
    """
    from mirage import store
    from mirage.votes import Evidence, stage

    arena = store.open_arena(dir_)
    log = arena_log(arena, Evidence)
    only = codes(languages)
    results = [row for row in stage.citation_support(arena, log) if only is None or row.language in only]
    columns = CITATIONS if output_format != "table" else tuple(name for name in CITATIONS if name != "reason")
    show([dataclasses.asdict(row) for row in results], columns, output_format)
    for row in results:
        if row.reason:
            note(f"{row.language}, {row.system}: {row.reason}")
