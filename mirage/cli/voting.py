"""Commands for votes: `mirage votes export|import|ballot|audit|agreement|correct|scores`."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

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
from mirage.cli.completion import complete_judges
from mirage.cli.output import columns_of, note, show
from mirage.errors import BadInput
from mirage.store.arena import Arena, open_arena
from mirage.store.export import export_rows
from mirage.store.home import read_key
from mirage.store.writing import claim_arena
from mirage.text.segmentation import count_text

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


@votes.command("export")
def export(
    file: Annotated[Path, Argument(metavar="FILE", help="Named .csv, .jsonl or .parquet.")],
    arena: Annotated[
        Arena | None,
        Option("--arena", metavar="DIR", parser=open_existing, help="Only rows on queries of this arena."),
    ] = None,
    kind: Annotated[
        Logged, Option("--kind", help="Votes on battles, citations or labels of queries, or notes.")
    ] = "battles",
    key: Annotated[
        Path | None,
        Option("--key", metavar="FILE", help="Also write the secret key, for another machine of yours."),
    ] = None,
) -> None:
    """Export the log of votes to a file.

    Reads the votes, from the user's folder or the database of MIRAGE_VOTES_URL. Writes FILE: every row of the log in
    order of time, including votes that were undone and the rows that undo them, each signed with the key of these
    votes. Elsewhere they count only with that key, which --key writes: whoever has it can make votes that count.
    """
    from mirage.people.votes.database import Votes
    from mirage.people.votes.kinds import KINDS
    from mirage.people.votes.stage import export_votes

    with Votes() as database:
        n = export_votes(database, KINDS[kind].row, file, arena=arena, key=key)
        note(f"{file}: {n:,} rows from {database.where}")


@votes.command("import")
def import_(
    file: Annotated[Path, Argument(metavar="FILE", help="As mirage votes export or mirage votes ballot writes it.")],
    kind: Annotated[
        Literal[Logged, "answers"],
        Option(
            "--kind", help="Votes on battles, citations or labels of queries, notes, or people's labels on answers."
        ),
    ] = "battles",
    arena: Annotated[
        Path | None,
        Option(
            "--arena",
            metavar="DIR",
            parser=existing_arena,
            help="Arena of a ballot, or of people's labels on answers.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        Option("--key", metavar="FILE", help="Key of the votes that FILE is from."),
    ] = None,
) -> None:
    """Import a log of votes or notes, a filled ballot, or people's labels on answers.

    Reads FILE. Writes new rows all-or-nothing: one invalid line rejects the file, and the error names the line. The
    rows of a ballot that have a vote must be on the current texts of --arena. What is not signed for its voter and item
    is stored as an opinion, which does not count; --key lets the signatures of other votes count, from now on.

    --kind answers writes the table scores of --arena. Its records have query_id, system, rater and value; language if
    the arena has several; measure, by default `answered`: 1 if the answer answers the question, 0 if it abstains; low
    and high, the ends of another scale. Label answers drawn at random within each language and system, or corrected
    levels are biased.
    """
    from mirage.people.votes.ballots import import_ballot, is_ballot
    from mirage.people.votes.database import Votes
    from mirage.people.votes.kinds import KINDS
    from mirage.people.votes.stage import import_votes

    if kind == "answers":
        if key is not None:
            raise BadInput("labels on answers are not signed", do="omit --key")
        _import_answer_labels(file, _need_arena(arena, "labels on answers"))
        return
    with Votes() as database:
        if key is not None:
            database.add_key(read_key(key))
        if is_ballot(file):
            imported = import_ballot(database, file, open_arena(_need_arena(arena, "a ballot")))
        elif arena is not None:
            raise BadInput("a log of votes names its arenas", do="omit --arena")
        else:
            imported = import_votes(database, KINDS[kind].row, file)
        first, *others = imported.lines()
        note(f"{database.where}: {first}", *others)


def _need_arena(arena: Path | None, noun: str) -> Path:
    """Return the arena that an import needs."""
    if arena is None:
        raise BadInput(f"{noun} need their arena", do="name it: --arena DIR")
    return arena


def _import_answer_labels(file: Path, arena: Path) -> None:
    """Import people's labels on answers into an arena."""
    from mirage.people.levels.labels import import_labels

    result = import_labels(claim_arena(arena), file, made_by="mirage votes import")
    if result.changed:
        note(f"left out: {count_text(result.changed, 'label')} on answers that have changed since")
    note(f"{result.arena.address}: {count_text(result.labels, 'label')} of people's scores")


Voter = Annotated[
    str | None,
    Option("--voter", metavar="NAME", help="Who votes; default: voters write it in the file."),
]
Out = Annotated[Path, Option(metavar="FILE", help="Output file, named .csv, .jsonl or .parquet.")]


@votes.command("ballot")
def ballot(
    arena: OpenArena,
    language: Annotated[str, Option(metavar="CODE", help="Language of the queries; voters must read it well.")],
    out: Out,
    n: Annotated[int, Option("--n", min=1, help="Number of battles.")] = 40,
    voter: Voter = None,
) -> None:
    """Write a ballot to send to a voter: a sheet with the next battles of the queue, blind and in random order.

    The voter fills in the column vote (A, B, tie, both_bad or skip), and mirage votes import takes the file. Without
    --voter several people can fill in copies under names that are not checked. Reads the tables queries, passages,
    answers and judgments, and the votes. Writes FILE.
    """
    from mirage.people.votes.ballots import battle_ballot
    from mirage.people.votes.correct import correction_needs
    from mirage.people.votes.database import Votes
    from mirage.people.votes.stage import vote_pool

    with Votes() as database:
        rows = battle_ballot(database, arena, language, voter=voter, n=n)
    export_rows(rows, out)
    note(f"{out}: {count_text(len(rows), 'battle')}")
    note(correction_needs(vote_pool(arena, language).n_queries))


@votes.command("audit")
def write_audit(
    arena: OpenArena,
    out: Out,
    n: Annotated[int, Option("--n", min=2, help="Number of queries, half of each label.")] = 40,
    languages: Languages = None,
    voter: Voter = None,
) -> None:
    """Write a ballot that audits the labels of queries: can these passages answer this question?

    Draws half of the queries from each label, in proportion to the languages, and writes them without the labels. The
    voter fills in the column vote (yes, no, unclear or skip), and mirage votes import takes the file; mirage report
    rates then corrects for the errors. Reads the tables queries and passages. Writes FILE.
    """
    from mirage.people.votes import ballots
    from mirage.people.votes.database import Votes
    from mirage.people.votes.labels import draw_audit

    with Votes() as database:
        rows = ballots.ballot(database, arena, draw_audit(arena, n=n, languages=languages), voter)
    export_rows(rows, out)
    note(f"{out}: {count_text(len(rows), 'query')}")


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
    from mirage.people.votes.agreement import Agreement
    from mirage.people.votes.kinds import Vote
    from mirage.views.votes import agreement_view

    view = agreement_view(arena, arena_log(arena, Vote), tuple(languages or ()))
    hidden = ("reason",) if output_format == "table" else ()
    show(view.rows, columns_of(Agreement, *hidden), output_format, of=Agreement)
    note(*view.remarks)


@votes.command("correct")
def correct(
    arena: OpenArena,
    judge: Annotated[
        str, Option(metavar="NAME", autocompletion=complete_judges, help="Judge whose ranking to correct.")
    ],
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print a judge's ranking, uncorrected and corrected by people's votes.

    Prediction-powered inference with 95% intervals, which are valid whatever the quality of the judge; the column width
    compares them to those from the votes alone. Reads the votes on battles drawn with a known probability, and the
    table judgments. Writes nothing.
    """
    from mirage.people.votes.kinds import Vote
    from mirage.views.votes import corrected_view

    view = corrected_view(arena, judge, arena_log(arena, Vote), tuple(languages or ()))
    show(view.table, CORRECTED, output_format)
    note(*(f"{code}: {method}" for code, method in view.methods.items()))
    note(*(f"{code}: not corrected: {reason}" for code, reason in view.refused.items()))


@votes.command("scores")
def scores(
    dir_: ArenaDir,
    verdicts_from: Annotated[
        str | None,
        Option(metavar="MEASURE", help="Write verdicts: the answer with the higher score by MEASURE wins."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print the scores of the answers by people and programs.

    Prints the mean of each system by each measure, with its 95% interval over queries. Reads the table scores. Writes
    nothing, except with `--verdicts-from` the verdicts of a judge `people: MEASURE`, or by programs `scores: MEASURE`,
    into the table judgments: each rater who scored both answers counts. Ratings made from older verdicts are removed.
    """
    from mirage.people.votes import raters
    from mirage.views.votes import scores_view

    if verdicts_from is not None:
        result = raters.judge_by_scores(claim_arena(dir_), verdicts_from, made_by="mirage votes scores")
        note(f"{result.arena.address}: verdicts of {raters.judge_name(result.arena.read('scores'), verdicts_from)}")
    show(scores_view(open_arena(dir_)).rows, SCORES, output_format, of=raters.ScoreMean, value="mean")
