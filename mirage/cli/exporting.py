"""Commands that write files for other programs: `mirage export ...`, `mirage arena copy`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from mirage import schema
from mirage.cli.common import QUIET, ArenaDir, Languages, Seed, app, arenas, codes, local_path, locate
from mirage.cli.output import note
from mirage.errors import ArenaError
from mirage.publish import Lines
from mirage.stats.intervals import MOST_DRAWS

export = typer.Typer(help="Export data for other programs.", **QUIET)  # type: ignore[arg-type]
app.add_typer(export, name="export")

Out = Annotated[
    Path, typer.Option("--out", metavar="FILE", parser=local_path, help="Output file; overwritten if it exists.")
]


@export.command("table")
def export_table(
    dir_: ArenaDir,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Name of the table.")],
    out: Out,
    languages: Languages = None,
    exact: Annotated[bool, typer.Option("--exact", help="CSV: do not quote texts that look like formulas.")] = False,
) -> None:
    """Write a table into one file: CSV, JSON Lines or Parquet, by its extension.

    Reads the table. Writes FILE. In CSV, texts that look like formulas are prefixed with a quote, and a column _quoted
    marks them; an import removes the quotes.
    """
    from mirage.store import export as exporting

    n = exporting.export_table(dir_, table, out, languages=codes(languages), exact=exact)
    note(f"{n:,} rows of {table} are in {out}")


@export.command("records")
def export_records(
    dir_: ArenaDir,
    format_: Annotated[str, typer.Option("--format", metavar="NAME", help="Format; see mirage export records --help.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PATH", parser=local_path, help="Output file; a folder for ragelo and trec."),
    ],
) -> None:
    """Write queries, passages, answers or verdicts in the format of another program.

    Reads the tables that the format supports. Writes PATH. NAME is rag, ragas, ragelo, open-rag-eval, inspector,
    trec-rag, trec, nuggets (nuggetizer's), lmarena or alpaca_eval; mirage's measurements are added if the format has
    fields for them. `mirage import` reads the file again.
    """
    from mirage import store
    from mirage.io.formats.registry import writer

    write = writer(format_)
    write(store.open_arena(dir_), out)
    note(f"The records are in {out}; read them again with: mirage import {format_} {quote(str(out))} --into DIR")


@export.command("preferences")
def export_preferences(
    dir_: ArenaDir,
    judge: Annotated[str, typer.Option(metavar="NAME", help="The judge.")],
    out: Out,
    languages: Languages = None,
    seed: Seed = 0,
) -> None:
    """Write a judge's preferred and rejected answers, for preference training (DPO).

    Reads the tables queries, passages, answers and judgments. Writes FILE, JSON Lines with prompt, chosen and rejected
    as lists of messages. A pair shown in both orders counts only if both verdicts agree.
    """
    from mirage.stages.sft import export as exporting

    n, left = exporting.export_preferences(dir_, out, judge=judge, languages=codes(languages), seed=seed)
    for reason, count in sorted(left.items(), key=lambda item: (-item[1], item[0])):
        note(f"{count:,} pairs excluded: {reason}")
    note(f"{n:,} pairs are in {out}")


@export.command("leaderboard")
def export_leaderboard(
    dir_: ArenaDir,
    out: Out,
    referee: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="relevance|nuggets|JUDGE",
            help="Human relevance labels, nugget scores, or a judge's name.",
        ),
    ] = "relevance",
    skill: Annotated[schema.Skill, typer.Option(help="Which queries count, by relevance.")] = "both",
    languages: Languages = None,
    draws: Annotated[int, typer.Option(min=1, max=MOST_DRAWS, help="Bootstrap draws for the intervals.")] = 1_000,
    seed: Seed = 0,
) -> None:
    """Write the ranking as a table: .tex (LaTeX), .md (Markdown), .csv or .json, by extension.

    Reads the table outcomes (referee relevance), judgments (a judge), or the tables of nuggets. Writes FILE. LaTeX and
    Markdown hold the ranking over all chosen languages, with intervals, n and tiers, and a caption that states the
    method; CSV and JSON hold every language, unrounded.
    """
    from mirage import store
    from mirage.publish.leaderboard import write_leaderboard
    from mirage.ranking.arena import rank_arena
    from mirage.ranking.settings import RankSettings

    arena = store.open_arena(dir_)
    settings = RankSettings(skill=skill, languages=codes(languages), draws=draws, seed=seed)
    result = rank_arena(arena, settings.referee(referee), settings)
    write_leaderboard(result.ranking, out, title=arena.title, notes=result.remarks)
    note(f"The ranking is in {out}")


@export.command("trec-eval")
def export_trec_eval(
    dir_: ArenaDir,
    out: Annotated[
        Path, typer.Option("--out", metavar="PATH", parser=local_path, help="tot: a file. trec_eval: a folder.")
    ],
    lines: Annotated[
        Lines, typer.Option("--lines", help="tot: all systems in one file. trec_eval: one file per system.")
    ] = "tot",
    queries: Annotated[bool, typer.Option("-q", "--queries", help="Add a line per query.")] = False,
    languages: Languages = None,
) -> None:
    """Write measurements of systems and answers in the format of TREC's tools.

    Reads the tables outcomes, features, scores and ratings, as far as present. Writes PATH. `tot` has system, measure,
    topic and value, as read by TREC AutoJudge; `trec_eval` has the output format of that program. The topic `all` is
    the unweighted mean over languages. Spaces in names are written %20, and % is %25.
    """
    from mirage import store
    from mirage.publish.trec import export_trec

    n = export_trec(store.open_arena(dir_), out, lines=lines, queries=queries, languages=codes(languages))
    note(f"Measurements of {n:,} systems are in {out}")


@export.command("run")
def export_run(
    dir_: ArenaDir,
    retriever: Annotated[str, typer.Option("--retriever", metavar="NAME", help="The retriever.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PATH", parser=local_path, help="Output file; a folder for several languages."),
    ],
    languages: Languages = None,
) -> None:
    """Write a retriever's lists as a TREC run: query, Q0, passage, rank, score, and the retriever's name.

    Reads the table retrieved. Writes PATH: the file, or for several languages a folder with one `run.LL.txt` each.
    `mirage import trec PATH` reads it again.
    """
    from mirage import store
    from mirage.io.formats.trec import write_run

    n = write_run(store.open_arena(dir_), retriever, out, languages=codes(languages))
    note(f"{n:,} lines of {retriever} are in {out}")


@export.command("model-index")
def export_model_index(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="The system.")],
    out: Out,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Name of the dataset on the Hub.")
    ] = None,
    languages: Languages = None,
) -> None:
    """Write a system's results for its model card on the Hugging Face Hub, as YAML.

    Reads the tables outcomes, features and ratings, as far as present. Writes FILE: a `model-index` for the top of the
    model's README.md, with a result per language and over all, and the interval and n of each metric. Needs the extra
    `hub`.
    """
    from mirage import store
    from mirage.publish.hub import model_index

    text = model_index(store.open_arena(dir_), system, dataset=dataset, languages=codes(languages))
    store.write_whole(out, text.encode("utf-8"))
    note(f"The results of {system} are in {out}; paste them between the --- lines of the model's README.md")


@export.command("eval-record")
def export_eval_record(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="The system.")],
    organization: Annotated[str, typer.Option("--organization", metavar="NAME", help="Who evaluated.")],
    out: Out,
    model: Annotated[
        str | None, typer.Option("--model", metavar="ID", help="Its model, developer/name; default the system's name.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Name of the dataset on the Hub.")
    ] = None,
    languages: Languages = None,
) -> None:
    """Write a system's results as a record of Every Eval Ever, as JSON.

    Reads the tables outcomes, features and ratings, as far as present. Writes FILE: a result for each metric and
    language, with its interval and n.
    """
    import json
    import time

    from mirage import __version__, store
    from mirage.publish.eval_records import every_eval_ever

    record = every_eval_ever(
        store.open_arena(dir_),
        system,
        organization=organization,
        at=int(time.time()),
        version=__version__,
        dataset=dataset,
        model_id=model,
        languages=codes(languages),
    )
    store.write_whole(out, (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode("utf-8"))
    note(f"{len(record['evaluation_results']):,} results of {system} are in {out}")


@export.command("eval-results")
def export_eval_results(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option("--system", metavar="NAME", help="The system.")],
    metric: Annotated[str, typer.Option("--metric", metavar="NAME", help="A rate, bradley_terry_rating or a feature.")],
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="Name of the benchmark on the Hub.")],
    out: Out,
    languages: Languages = None,
) -> None:
    """Write a system's value of one metric for `.eval_results/` of its repository on the Hugging Face Hub, as YAML.

    Reads the tables outcomes, features and ratings, as far as present. Writes FILE: an entry for each language, with
    interval and n in its notes.
    """
    from datetime import UTC, datetime

    from mirage import store
    from mirage.publish.eval_records import eval_results

    today = datetime.now(UTC).date()
    text = eval_results(store.open_arena(dir_), system, metric, dataset=dataset, on=today, languages=codes(languages))
    store.write_whole(out, text.encode("utf-8"))
    note(f"{metric} of {system} is in {out}; add it to .eval_results/ in the model's repository")


@arenas.command("copy")
def copy_arena(
    dir_: ArenaDir,
    into: Annotated[
        Path,
        typer.Argument(metavar="INTO", parser=locate, help="A new or empty folder, or an address on object storage."),
    ],
) -> None:
    """Copy an arena to another folder, or to or from object storage.

    Reads every file of the arena. Writes the same files and the same manifest to INTO, and makers.csv and taxonomy.yaml
    if there are any; an existing arena is not changed. The ledger of replies and other files next to the
    tables are not copied.
    """
    from mirage import store

    arena = store.open_arena(dir_)
    copied = store.copy(arena, into)
    if copied.version != arena.version:
        raise ArenaError(
            "the target already holds another arena", where=copied.address, do="give another folder or address"
        )
    note(f"{copied.address}: {len(copied.tables)} tables, {copied.size / 1e6:.2f} MB")


@export.command("dataset")
def export_dataset(
    dir_: ArenaDir,
    into: Annotated[Path, typer.Option("--into", metavar="FOLDER", parser=local_path, help="A new or empty folder.")],
) -> None:
    """Copy the arena into a folder with a dataset card, ready to push to the Hugging Face Hub.

    Reads every table. Writes FOLDER: Parquet by table and language, and README.md with a configuration per table, the
    languages, the licence and the sources. The folder is itself an arena that every command accepts. Needs the extra
    `hub`.
    """
    from mirage import store
    from mirage.publish import hub

    card = hub.export_dataset(store.open_arena(dir_), into)
    note(f"The dataset is in {into}. Review its card, {card}, then push it: hf upload NAME {into} --repo-type dataset")
