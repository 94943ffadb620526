"""Commands for votes: `mirage votes export|import|ballot|audit|left|labels|agreement|correct|scores|notes`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage import store
from mirage.cli.common import (
    ArenaDir,
    How,
    Languages,
    OpenArena,
    arena_log,
    command_group,
    existing_arena,
    open_existing,
)
from mirage.cli.output import Format, columns_of, note, show
from mirage.errors import BadInput
from mirage.store import Arena
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.people.votes.ballots import Ballot

votes = command_group("votes", "Votes, labels, scores and notes of people: import, export, ballots, agreement.")

CORRECTED = (
    *("language", "judge", "system", "rating", "low", "high", "rank", "rank_low", "rank_high"),
    *("uncorrected", "uncorrected_low", "uncorrected_high", "uncorrected_rank", "votes", "battles", "lam", "width"),
)
"""Columns of `correct`."""
SCORES = ("measure", "language", "system", "mean", "mean_low", "mean_high", "queries", "raters", "person")
"""Columns of `votes scores`."""
Logged = Literal["battles", "citations", "labels", "notes"]
"""Kinds of rows in the log of votes."""


def _show(kind: type, records: Sequence[Any], output_format: Format = "table", *about: str) -> None:
    """Print records with all their fields; for people reasons follow the table, each after the fields it is about."""
    people = output_format == "table" and about
    show(records, columns_of(kind, "reason") if people else (), output_format, of=kind)
    for row in records if about else ():
        if row.reason:
            note(f"{', '.join(getattr(row, name) for name in about)}: {row.reason}")


@votes.command("export")
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Named .csv, .jsonl or .parquet.")],
    arena: Annotated[
        Arena | None,
        typer.Option("--arena", metavar="DIR", parser=open_existing, help="Only rows on queries of this arena."),
    ] = None,
    kind: Annotated[
        Logged, typer.Option("--kind", help="Votes on battles, citations or labels of queries, or notes.")
    ] = "battles",
) -> None:
    """Export the log of votes to a file.

    Reads the votes, from the user's folder or the database of MIRAGE_VOTES_URL. Writes FILE: every row of the log in
    order of time, including votes that were undone and the rows that undo them.
    """
    from mirage.people.votes import KINDS, Votes
    from mirage.people.votes.stage import export_votes

    with Votes() as database:
        n = export_votes(database, KINDS[kind], file, arena=arena)
        note(f"{file}: {n:,} rows from {database.where}")


@votes.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `mirage votes export` writes it, .gz or not.")],
    kind: Annotated[
        Literal["battles", "citations", "labels", "notes", "answers"],
        typer.Option(
            "--kind", help="Votes on battles, citations or labels of queries, notes, or people's labels on answers."
        ),
    ] = "battles",
    arena: Annotated[
        Path | None,
        typer.Option(
            "--arena",
            metavar="DIR",
            parser=existing_arena,
            help="answers: the arena to write into. labels: reject votes on queries that it lacks or has changed.",
        ),
    ] = None,
) -> None:
    """Import a log of votes or notes, a returned ballot, or people's labels on answers.

    Reads FILE. Writes new rows all-or-nothing: one invalid line rejects the file, and the error names the line. A
    ballot's file is also rejected if it was modified, or if the ballot was not made here. --kind answers writes the
    table scores of --arena. Its records have query_id, system, rater and value; language if the arena has several;
    measure, by default `answered`: 1 if the answer answers the question, 0 if it abstains; low and high, the ends of
    another scale. Label answers drawn at random within each language and system, or corrected levels are biased.
    """
    from mirage.people.votes import KINDS, Votes
    from mirage.people.votes.ballots import import_ballot, is_returned
    from mirage.people.votes.stage import import_votes

    if kind == "answers":
        _import_answer_labels(file, arena)
        return
    only = None if arena is None else store.open_arena(arena)
    with Votes() as database:
        if is_returned(file):
            read, new = import_ballot(database, file, arena=only)
        else:
            read, new = import_votes(database, KINDS[kind], file, arena=only)
        note(f"{database.where}: {read:,} rows read, {new:,} of them new")


def _import_answer_labels(file: Path, arena: Path | None) -> None:
    """Import people's labels on answers into an arena."""
    from mirage.people.levels import import_labels

    if arena is None:
        raise BadInput("labels on answers are stored in their arena", do="name it: --arena DIR")
    result = import_labels(arena, file, made_by="mirage votes import")
    if result.changed:
        note(f"left out: {count_text(result.changed, 'label')} on answers that have changed since")
    note(f"{result.arena.address}: {count_text(result.labels, 'label')} of people's scores")


Voters = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Comma-separated names, one ballot each; default one anonymous ballot."),
]


def _people(voters: str | None) -> list[str | None]:
    """Return the people to draw ballots for; one without a name if none is given."""
    return [None] if voters is None else [*voters.split(",")]


def _need_html(out: Path) -> None:
    """Reject an output file with another extension than .html."""
    if out.suffix != ".html":
        raise BadInput(f"{out.name} does not end in .html", do="rename it")


def _write_ballots(arena: Arena, ballots: Sequence[Ballot], out: Path, noun: str) -> None:
    """Write a file per ballot, and the key to their items."""
    from mirage.people.votes.ballot_page import ballot_html
    from mirage.people.votes.ballots import keep

    pages = [ballot_html(arena, drawn) for drawn in ballots]
    keep(ballots)
    several = len({ballot.language for ballot in ballots}) > 1
    for drawn, page in zip(ballots, pages, strict=True):
        parts = [drawn.language] * several + [str(drawn.part)] * (drawn.parts > 1)
        file = out.with_name("-".join([out.stem, *parts]) + out.suffix)
        store.write_whole(file, page.encode("utf-8"))
        note(f"{file}: {len(drawn.items):,} {noun} for {drawn.voter or 'an anonymous voter'}")


@votes.command("ballot")
def ballot(
    arena: OpenArena,
    language: Annotated[str, typer.Option(metavar="CODE", help="Language of the queries; voters must read it well.")],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Output file, .html; for several voters NAME-1.html and so on.")
    ],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of battles, over all voters.")] = 40,
    voters: Voters = None,
    reviews: Annotated[int, typer.Option(min=1, help="Number of people per battle.")] = 1,
) -> None:
    """Write ballots to send to voters: one HTML file per person, which works without a server or a network.

    A ballot holds the next battles of the queue, blind and in random order. Voters save a file in it for mirage votes
    import. The same arguments give the same ballot. Reads the tables queries, passages, answers, judgments and ratings.
    Writes FILE, and the key to its items in the user's folder.
    """
    from mirage.people.votes import correction_needs
    from mirage.people.votes.ballots import draw_ballots
    from mirage.people.votes.stage import vote_pool

    _need_html(out)
    _write_ballots(arena, draw_ballots(arena, language, n=n, people=_people(voters), reviews=reviews), out, "battles")
    note(correction_needs(vote_pool(arena, language).n_queries))


@votes.command("audit")
def write_audit(
    arena: OpenArena,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Output file, .html; for several languages or voters NAME-sw-1.html.")
    ],
    n: Annotated[int, typer.Option("--n", min=2, help="Number of queries, half of each label.")] = 40,
    languages: Languages = None,
    voters: Voters = None,
    reviews: Annotated[int, typer.Option(min=1, help="Number of people per query.")] = 1,
) -> None:
    """Write ballots that audit the labels of queries: can these passages answer this question?

    Draws half of the queries from each label, in proportion to the languages, and writes one HTML file per language and
    person, without the labels. Each ballot saves a file for mirage votes import; mirage report rates then corrects for
    the errors. Reads the tables queries and passages. Writes FILE, and the key to its items in the user's folder.
    """
    from mirage.people.votes.ballots import audit_ballots
    from mirage.people.votes.labels import draw_audit

    _need_html(out)
    items = draw_audit(arena, n=n, languages=languages)
    _write_ballots(arena, audit_ballots(arena, items, people=_people(voters), reviews=reviews), out, "queries")


@votes.command("labels")
def print_label_checks(arena: OpenArena, output_format: How = "table") -> None:
    """Print the share of wrong labels that an audit by people found, by language and label.

    With 95% intervals (Wilson), weighted by the audit's design. Reads the table queries and the votes on labels; those
    on changed passages do not count. Writes nothing.
    """
    from mirage.people.votes import LabelVote
    from mirage.people.votes.labels import LabelCheck, check_labels

    _show(LabelCheck, check_labels(arena, arena_log(arena, LabelVote, raw=True)), output_format, "language", "label")


@votes.command("left")
def print_ballots_left(arena: OpenArena) -> None:
    """Print the progress of an arena's ballots, and the battles each person has left.

    Reads the ballots made here and the votes imported. Writes nothing.
    """
    from mirage.people.votes import Vote, Votes
    from mirage.people.votes.ballots import BallotProgress, ballots_left

    with Votes() as database:
        _show(BallotProgress, ballots_left(arena, database.rows(Vote)))


@votes.command("agreement")
def agreement(
    arena: OpenArena,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print the agreement of people with each judge and with each other.

    Share of agreement, Cohen's kappa and Krippendorff's alpha with 95% intervals over queries. Reads the votes on the
    arena that count (drawn at random), and the table judgments. Writes nothing.
    """
    from mirage.people.votes import Agreement, Vote
    from mirage.people.votes.stage import vote_agreement

    agreements = vote_agreement(arena, arena_log(arena, Vote), languages=languages)
    _show(Agreement, agreements, output_format, "judge", "language")


@votes.command("correct")
def correct(
    arena: OpenArena,
    judge: Annotated[
        str, typer.Option(metavar="NAMES", help="Judge whose ranking to correct; several comma-separated.")
    ],
    languages: Languages = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Comma-separated features to use as predictors of the votes, or: all."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print a judge's ranking, uncorrected and corrected by people's votes.

    Prediction-powered inference with 95% intervals. Judges and features are combined into one prediction of the votes,
    cross-fitted over queries. The intervals are valid whatever the quality of judges and features; the column width
    compares them to those from the votes alone. Reads the votes on battles drawn with a known probability, the table
    judgments, and features if requested. Writes nothing.
    """
    from mirage.people.votes import Vote
    from mirage.people.votes.stage import correct_ranking

    log = arena_log(arena, Vote)
    correction = correct_ranking(
        arena,
        log,
        judge=[name.strip() for name in judge.split(",") if name.strip()],
        languages=languages,
        features=None if features == "all" else [name.strip() for name in (features or "").split(",") if name.strip()],
    )
    show(correction.table(), CORRECTED, output_format)
    for code, ranking in correction.languages.items():
        note(f"{code}: {ranking.method}")
    for code, error in correction.refused.items():
        note(f"{code}: not corrected: {error.what}")


@votes.command("scores")
def scores(
    dir_: ArenaDir,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print the agreement of people on the same answers.")
    ] = False,
    verdicts_from: Annotated[
        str | None,
        typer.Option(metavar="MEASURE", help="Write verdicts: the answer with the higher score by MEASURE wins."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print imported scores of the answers by people and programs.

    Prints the mean of each system by each measure, or with `--agreement` the share of equal pairs of people's scores
    and Krippendorff's alpha for ordinal and interval data; both with 95% intervals over queries. Reads the table
    scores. Writes nothing, except with `--verdicts-from` the verdicts of a judge `people: MEASURE` (by programs
    `scores: MEASURE`) into the table judgments: each rater who scored both answers counts, and ratings made from older
    verdicts are removed.
    """
    from mirage.people.votes import raters

    if verdicts_from is not None:
        result = raters.judge_by_scores(dir_, verdicts_from, made_by="mirage votes scores")
        note(f"{result.arena.address}: verdicts of {raters.judge_name(result.arena.read('scores'), verdicts_from)}")
    table = store.open_arena(dir_).read("scores")
    if agreement:
        _show(raters.RaterAgreement, raters.rater_agreement(table), output_format, "measure", "language")
        return
    show(raters.score_means(table), SCORES, output_format, of=raters.ScoreMean, value="mean")


@votes.command("notes")
def print_note_categories(
    arena: Annotated[
        Arena | None,
        typer.Argument(metavar="[DIR]", parser=open_existing, help="Arena; default those of arenas without a file."),
    ] = None,
) -> None:
    """Print the categories of notes, and the file that defines them.

    The file is taxonomy.yaml next to the arena's tables, else in the user's folder (MIRAGE_HOME), else the bundled
    file. Writes nothing.
    """
    from mirage.people.notes import Category, load_taxonomy

    chosen = load_taxonomy(arena)
    _show(Category, chosen.categories)
    note(f"{chosen.path}: {count_text(len(chosen.categories), 'category')}")
