"""Commands that write files for others: a table, a leaderboard, TREC's lines, a model's results, a data set, a
copy.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from mirage import schema
from mirage.cli.common import QUIET, ArenaDir, Languages, Seed, app, codes, local_path, located
from mirage.cli.output import note
from mirage.errors import ArenaError
from mirage.exports import Lines
from mirage.intervals import MOST_DRAWS

export = typer.Typer(help="Write what an arena holds for elsewhere.", **QUIET)  # type: ignore[arg-type]
app.add_typer(export, name="export")

Out = Annotated[
    Path, typer.Option("--out", metavar="FILE", parser=local_path, help="The file; replaced if it is there.")
]


@export.command("table")
def export_table(
    dir_: ArenaDir,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Name of the table.")],
    out: Out,
    languages: Languages = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="CSV: no quote before texts that a spreadsheet would compute.")
    ] = False,
) -> None:
    """Write a table into one file, as CSV, JSON Lines or Parquet by its name.

    Reads the table. Writes FILE. In CSV, texts that begin like a formula get a quote before them, and a column _quoted
    says where; an import takes the quotes away again.
    """
    from mirage.store import export as exporting

    n = exporting.export_table(dir_, table, out, languages=codes(languages), exact=exact)
    note(f"{n:,} rows of {table} are in {out}")


@export.command("records")
def export_records(
    dir_: ArenaDir,
    format_: Annotated[str, typer.Option("--format", metavar="NAME", help="The format; mirage export records --help.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="PATH", parser=local_path, help="The file; a folder for ragelo and trec.")
    ],
) -> None:
    """Write queries, passages, answers or verdicts in a format of others, as they can be imported again.

    Reads the tables that the format has a place for. Writes PATH. NAME is rag, ragas, ragelo, open-rag-eval,
    inspector, trec-rag, trec, nuggets (nuggetizer's), lmarena or alpaca_eval; what mirage measured is added where the
    format has a place for it.
    """
    from mirage import store
    from mirage.formats.registry import writer

    write = writer(format_)
    write(store.open_arena(dir_), out)
    note(f"The records are in {out}; read them again with: mirage import {format_} {quote(str(out))} --into DIR")


@export.command("preferences")
def export_preferences(
    dir_: ArenaDir,
    judge: Annotated[str, typer.Option(metavar="NAME", help="Whose verdicts.")],
    out: Out,
    languages: Languages = None,
    seed: Seed = 0,
) -> None:
    """Write the pairs of answers between which a judge decided, for preference training (DPO).

    Reads the tables queries, passages, answers and judgments. Writes FILE, JSON Lines with prompt, chosen and
    rejected as lists of messages. A pair shown in both orders counts only if both verdicts agree.
    """
    from mirage.sft import export as exporting

    n, left = exporting.export_preferences(dir_, out, judge=judge, languages=codes(languages), seed=seed)
    for reason, count in sorted(left.items(), key=lambda item: (-item[1], item[0])):
        note(f"{count:,} pairs are left out: {reason}")
    note(f"{n:,} pairs are in {out}")


@export.command("report")
def export_report(
    dir_: ArenaDir,
    out: Out,
    referee: Annotated[
        str, typer.Option(metavar="relevance|JUDGE", help="Human relevance labels, or a judge's name.")
    ] = "relevance",
    skill: Annotated[schema.Skill, typer.Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
) -> None:
    """Write the leaderboard with its charts into one HTML file, which opens without the explorer.

    Reads the table outcomes (referee relevance) or judgments (a judge). Writes FILE.
    """
    from mirage import store
    from mirage.battles.referee import Referee
    from mirage.charts.report import report_page
    from mirage.views import leaderboard as views

    arena = store.open_arena(dir_)
    selection = codes(languages) or views.size(arena, referee).languages
    board = views.board(arena, referee, skill, tuple(selection))
    about = {
        "arena": arena.name,
        "numbers": arena.label,
        "version": arena.version,
        "referee": referee,
        "skill": skill,
        "languages": board.languages,
        "method": board.method,
    }
    unit = Referee.named(referee).counted
    summary = f"{board.n_answers:,} {unit} on {board.n_queries:,} queries in {len(board.languages)} languages."
    html = report_page(arena.title, summary, board.rows.to_pylist(), board.ranks.to_pylist(), about=about)
    store.write_whole(out, html.encode("utf-8"))
    note(f"The report is in {out}; it opens in any browser.")


@export.command("leaderboard")
def export_leaderboard(
    dir_: ArenaDir,
    out: Out,
    referee: Annotated[
        str, typer.Option(metavar="relevance|JUDGE", help="Human relevance labels, or a judge's name.")
    ] = "relevance",
    skill: Annotated[schema.Skill, typer.Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
    draws: Annotated[int, typer.Option(min=1, max=MOST_DRAWS, help="Bootstrap draws behind the intervals.")] = 1_000,
    seed: Seed = 0,
) -> None:
    """Write the ranking as a table to print: .tex (LaTeX) or .md (Markdown) by the name of the file, or .csv or .json.

    Reads the table outcomes (referee relevance) or judgments (a judge). Writes FILE. LaTeX and Markdown have the
    ranking over all languages chosen, with intervals, n and tiers, and a caption that says how it was made; CSV and
    JSON have every language, unrounded.
    """
    import mirage.rank as rank
    from mirage import store
    from mirage.battles.referee import Referee
    from mirage.exports.leaderboard import write_leaderboard
    from mirage.rank.ranking import rank_by, remarks

    arena = store.open_arena(dir_)
    by_labels = Referee.named(referee, skill=skill).by_labels
    table = arena.read("outcomes") if by_labels else arena.read("judgments", columns=rank.COLUMNS)
    only = codes(languages)
    ranking = rank_by(table, referee, skill=skill, languages=only, draws=draws, seed=seed)
    write_leaderboard(ranking, out, title=arena.title, notes=remarks(ranking, table, languages=only))
    note(f"The ranking is in {out}")


@export.command("trec-eval")
def export_trec_eval(
    dir_: ArenaDir,
    out: Annotated[
        Path, typer.Option("--out", metavar="PATH", parser=local_path, help="tot: the file. trec_eval: a folder.")
    ],
    lines: Annotated[
        Lines, typer.Option("--lines", help="tot: all systems in one file. trec_eval: a file for each system.")
    ] = "tot",
    queries: Annotated[bool, typer.Option("-q", "--queries", help="A line for every query, too.")] = False,
    languages: Languages = None,
) -> None:
    """Write what was measured on systems and answers in the lines of TREC's tools.

    Reads what there is of the tables outcomes, features, scores and ratings. Writes PATH. `tot` has system, measure,
    topic and value, as TREC AutoJudge reads it; `trec_eval` has what the program of that name prints. The topic `all`
    is the mean over languages, each counting alike. White space in names is written %20, and % is %25.
    """
    from mirage import store
    from mirage.exports.trec import export_trec

    n = export_trec(store.open_arena(dir_), out, lines=lines, queries=queries, languages=codes(languages))
    note(f"What was measured on {n:,} systems is in {out}")


@export.command("run")
def export_run(
    dir_: ArenaDir,
    retriever: Annotated[str, typer.Option("--retriever", metavar="NAME", help="Whose passages.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PATH", parser=local_path, help="The file; a folder where there are several."),
    ],
    languages: Languages = None,
) -> None:
    """Write what a retriever brought as a TREC run: query, Q0, passage, rank, score, and the retriever's name.

    Reads the table retrieved. Writes PATH: the file, or for several languages a folder with `run.LL.txt` for each.
    `mirage import trec PATH` reads it again.
    """
    from mirage import store
    from mirage.formats.trec import write_run

    n = write_run(store.open_arena(dir_), retriever, out, languages=codes(languages))
    note(f"{n:,} lines of {retriever} are in {out}")


@export.command("model-index")
def export_model_index(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="The system.")],
    out: Out,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Name of the data set on the hub.")
    ] = None,
    languages: Languages = None,
) -> None:
    """Write the results of a system for the card of its model on the Hugging Face Hub, as YAML.

    Reads what there is of the tables outcomes, features and ratings. Writes FILE: a `model-index` for the top of the
    model's README.md, with a result for each language and over all, and the interval and n of each metric. Needs the
    extra `hub`.
    """
    from mirage import store
    from mirage.exports.hub import model_index

    text = model_index(store.open_arena(dir_), system, dataset=dataset, languages=codes(languages))
    store.write_whole(out, text.encode("utf-8"))
    note(f"The results of {system} are in {out}; paste them between the lines --- of the model's README.md")


@app.command("copy")
def copy_arena(
    dir_: ArenaDir,
    into: Annotated[
        Path,
        typer.Argument(metavar="INTO", parser=located, help="A new or empty folder, or an address on object storage."),
    ],
) -> None:
    """Copy an arena to another folder, to object storage, or from there.

    Reads every file of the arena. Writes the same files and the same manifest to INTO; where an arena is there already,
    it stays as it is. The ledger of replies and what else lies beside the tables are not copied.
    """
    from mirage import store

    arena = store.open_arena(dir_)
    copied = store.copy(arena, into)
    if copied.version != arena.version:
        raise ArenaError("another arena is there already", where=copied.address, do="give another folder or address")
    note(f"{copied.address}: {len(copied.tables)} tables, {copied.size / 1e6:.2f} MB")


@export.command("dataset")
def export_dataset(
    dir_: ArenaDir,
    into: Annotated[Path, typer.Option("--into", metavar="FOLDER", parser=local_path, help="A new or empty folder.")],
) -> None:
    """Copy the arena into a folder with a card, ready to be pushed to the Hugging Face Hub as a data set.

    Reads every table. Writes FOLDER: Parquet by table and language, and README.md with a configuration for each table,
    the languages, the licence and the sources. The folder is an arena as well: every command takes it. Needs the extra
    `hub`.
    """
    from mirage import store
    from mirage.exports import hub

    card = hub.export_dataset(store.open_arena(dir_), into)
    note(f"The data set is in {into}. Read its card, {card}, then push it: hf upload NAME {into} --repo-type dataset")
