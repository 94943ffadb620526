"""Commands for votes: `mirage votes export|import|ballot|audit|labels|left|agreement|correct`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from mirage.cli.common import QUIET, ArenaDir, How, Languages, Seed, app, arena_log, codes, rows
from mirage.cli.output import note, show
from mirage.errors import BadInput

votes = typer.Typer(help="Votes and scores of people: import, export, ballots, agreement, corrected rankings.", **QUIET)  # type: ignore[arg-type]
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
CHECKS = (
    *("language", "label", "queries", "audited", "wrong", "error", "error_low", "error_high", "unclear", "voters"),
    *("agree", "not_asked", "asked", "wrong_language", "reason"),
)
"""Columns of `labels`."""
LEFT = ("ballot", "language", "voter", "items", "voted", "left")
"""Columns of `left`."""

Evidence = Annotated[bool, typer.Option("--evidence", help="Use votes on citations instead of battles.")]
OnLabels = Annotated[bool, typer.Option("--labels", help="Use votes on labels of queries instead of battles.")]


def _kind(*, evidence: bool, labels: bool) -> Any:
    """Return the row class that the options select."""
    from mirage.people.votes import Evidence as Citation
    from mirage.people.votes import LabelVote, Vote

    if evidence and labels:
        raise BadInput("a file holds votes of one kind", do="use --evidence or --labels")
    return Citation if evidence else LabelVote if labels else Vote


@votes.command("export")
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Named .csv, .jsonl or .parquet.")],
    arena: Annotated[Path | None, typer.Option(metavar="DIR", help="Only votes on queries of this arena.")] = None,
    evidence: Evidence = False,
    labels: OnLabels = False,
) -> None:
    """Export the log of votes to a file.

    Reads the votes, from the user's folder or the database of MIRAGE_VOTES_URL. Writes FILE: every row of the log in
    order of time, including votes that were undone and the rows that undo them.
    """
    from mirage import store
    from mirage.people.votes import Votes
    from mirage.people.votes.stage import export_votes

    only = None if arena is None else store.open_arena(arena)
    with Votes() as database:
        kind = _kind(evidence=evidence, labels=labels)
        n = export_votes(database, kind, file, arena=only)
        note(f"{file}: {n:,} rows from {database.where}")


@votes.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `mirage votes export` writes it, .gz or not.")],
    evidence: Evidence = False,
    labels: OnLabels = False,
    arena: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Reject votes on labels of queries that this arena lacks or has changed."),
    ] = None,
) -> None:
    """Import a log of votes, or a returned ballot.

    Reads FILE. Writes new votes all-or-nothing: one invalid line rejects the file, and the error names the line. A
    ballot's file is also rejected if it was modified, or if the ballot was not made here.
    """
    from mirage import store
    from mirage.people.votes import Votes
    from mirage.people.votes.ballots import is_returned
    from mirage.people.votes.label_ballots import import_any_ballot
    from mirage.people.votes.stage import import_votes

    kind = _kind(evidence=evidence, labels=labels)
    only = None if arena is None else store.open_arena(arena)
    with Votes() as database:
        if is_returned(file):
            read, new = import_any_ballot(database, file, arena=only)
        else:
            read, new = import_votes(database, kind, file, arena=only)
        note(f"{database.where}: {read:,} rows read, {new:,} of them new")


@votes.command("ballot")
def ballot(
    dir_: ArenaDir,
    language: Annotated[str, typer.Option(metavar="CODE", help="Language of the queries; voters must read it well.")],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Output file, .html; for several voters NAME-1.html and so on.")
    ],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of battles, over all voters.")] = 40,
    voters: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Comma-separated names, one ballot each; default one anonymous ballot."),
    ] = None,
    reviews: Annotated[int, typer.Option(min=1, help="Number of people per battle.")] = 1,
    part: Annotated[str | None, typer.Option(metavar="I/N", help="Ballot I of N anonymous ballots.")] = None,
    seed: Seed = 0,
) -> None:
    """Write ballots to send to voters: one HTML file per person, which works without a server or a network.

    A ballot holds the next battles of the queue, blind and in random order. Voters save a file in it for mirage votes
    import. The same arguments give the same ballot. Reads the tables queries, passages, answers, judgments and ratings.
    Writes FILE, and the key to its items in the user's folder.
    """
    from mirage import store
    from mirage.people.votes import correction_needs
    from mirage.people.votes.ballot_page import ballot_html
    from mirage.people.votes.ballots import draw_ballots, keep, people_of
    from mirage.people.votes.stage import vote_pool

    if out.suffix != ".html":
        raise BadInput(f"{out.name} does not end in .html", do="rename it")
    arena = store.open_arena(dir_)
    people, own = people_of(voters, part)
    ballots = draw_ballots(arena, language, n=n, people=people, reviews=reviews, seed=seed)
    ballots = [ballots[own]] if own is not None else ballots
    pages = [ballot_html(arena, drawn) for drawn in ballots]
    keep(ballots)
    for drawn, page in zip(ballots, pages, strict=True):
        file = out if len(ballots) == 1 else out.with_name(f"{out.stem}-{drawn.part}{out.suffix}")
        store.write_whole(file, page.encode("utf-8"))
        note(f"{file}: {len(drawn.items):,} battles for {drawn.voter or 'an anonymous voter'}")
    note(correction_needs(vote_pool(arena, language).n_queries))


@votes.command("audit")
def write_audit(
    dir_: ArenaDir,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Output file, .html; for several languages or voters NAME-sw-1.html.")
    ],
    n: Annotated[int, typer.Option("--n", min=2, help="Number of queries, half of each label.")] = 40,
    languages: Languages = None,
    voters: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Comma-separated names, one ballot each; default one anonymous ballot."),
    ] = None,
    reviews: Annotated[int, typer.Option(min=1, help="Number of people per query.")] = 1,
    seed: Seed = 0,
) -> None:
    """Write ballots that audit the labels of queries: can these passages answer this question? Draws half of the
    queries from each label, in proportion to the languages, and writes one HTML file per language and person, without
    the labels. Each ballot saves a file for mirage votes import; mirage rates then corrects for the label errors. Reads
    the tables queries and passages. Writes FILE, and the key to its items in the user's folder.
    """
    from mirage import store
    from mirage.people.votes.ballot_page import label_ballot_html
    from mirage.people.votes.ballots import people_of
    from mirage.people.votes.label_ballots import keep_label_ballots, label_ballots
    from mirage.people.votes.labels import draw_audit

    if out.suffix != ".html":
        raise BadInput(f"{out.name} does not end in .html", do="rename it")
    arena = store.open_arena(dir_)
    people, _ = people_of(voters, None)
    items = draw_audit(arena, n=n, languages=codes(languages), seed=seed)
    ballots = label_ballots(arena, items, people=people, reviews=reviews, seed=seed)
    pages = [label_ballot_html(arena, ballot) for ballot in ballots]
    keep_label_ballots(ballots)
    for drawn, page in zip(ballots, pages, strict=True):
        parts = [drawn.language] * (len({ballot.language for ballot in ballots}) > 1)
        parts += [str(drawn.part)] * (drawn.parts > 1)
        file = out.with_name("-".join([out.stem, *parts]) + out.suffix)
        store.write_whole(file, page.encode("utf-8"))
        note(f"{file}: {len(drawn.items):,} queries for {drawn.voter or 'an anonymous voter'}")


@votes.command("labels")
def print_label_checks(dir_: ArenaDir, output_format: How = "table") -> None:
    """Print the share of wrong labels that an audit by people found, by language and label.

    With 95% intervals (Wilson), weighted by the audit's design. Reads the table queries and the votes on labels; those
    on changed passages do not count. Writes nothing.
    """
    from mirage import store
    from mirage.people.votes import LabelVote
    from mirage.people.votes.labels import check_labels

    arena = store.open_arena(dir_)
    results = check_labels(arena, arena_log(arena, LabelVote, raw=True))
    columns = CHECKS if output_format != "table" else tuple(name for name in CHECKS if name != "reason")
    show([dataclasses.asdict(row) for row in results], columns, output_format)
    for row in results:
        if row.reason:
            note(f"{row.language}, {row.label}: {row.reason}")


@votes.command("left")
def print_ballots_left(dir_: ArenaDir, output_format: How = "table") -> None:
    """Print the progress of an arena's ballots, and the battles each person has left.

    Reads the ballots made here and the votes imported. Writes nothing.
    """
    from mirage import store
    from mirage.people.votes import Vote, Votes
    from mirage.people.votes.ballots import ballots_left

    arena = store.open_arena(dir_)
    with Votes() as database:
        results = ballots_left(arena, database.rows(Vote))
    show([dataclasses.asdict(row) for row in results], LEFT, output_format)


@votes.command("agreement")
def agreement(
    dir_: ArenaDir,
    languages: Languages = None,
    all_votes: Annotated[
        bool, typer.Option("--all-votes", help="Include votes on battles selected by the queue: biased.")
    ] = False,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print the agreement of people with each judge and with each other.

    Share of agreement, Cohen's kappa and Krippendorff's alpha with 95% intervals over queries. Reads the votes on the
    arena that count (drawn at random), and the table judgments. Writes nothing.
    """
    from mirage import store
    from mirage.people.votes import Vote
    from mirage.people.votes.stage import vote_agreement

    arena = store.open_arena(dir_)
    log = arena_log(arena, Vote)
    agreements = vote_agreement(arena, log, languages=codes(languages), control=not all_votes, seed=seed)
    columns = AGREEMENT if output_format != "table" else tuple(name for name in AGREEMENT if name != "reason")
    show([dataclasses.asdict(row) for row in agreements], columns, output_format)
    for row in agreements:
        if row.reason:
            note(f"{row.referee}, {row.language}: {row.reason}")
    if all_votes:
        note("includes votes on battles selected by the queue, which bias the agreement")


@votes.command("correct")
def correct(
    dir_: ArenaDir,
    judge: Annotated[
        str, typer.Option(metavar="NAMES", help="Judge whose ranking to correct; several comma-separated.")
    ],
    languages: Languages = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Comma-separated features to use as predictors of the votes, or: all."),
    ] = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Print a judge's ranking, uncorrected and corrected by people's votes.

    Prediction-powered inference with 95% intervals. Judges and features are combined into one prediction of the votes,
    cross-fitted over queries. The intervals are valid whatever the quality of judges and features; the column width
    compares them to those from the votes alone. Reads the votes on battles drawn with a known probability, the table
    judgments, and features if requested. Writes nothing.
    """
    from mirage import store
    from mirage.people.votes import Vote
    from mirage.people.votes.stage import correct_ranking

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
