"""Commands that write files for other programs: `mirage export ...`."""

from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from mirage.cli.common import ArenaDir, Languages, OpenArena, Seed, command_group, local_path
from mirage.cli.completion import complete_judges
from mirage.cli.output import note
from mirage.errors import BadInput

export = command_group("export", "Export data for other programs.")

Out = Annotated[Path, Option("--out", metavar="FILE", parser=local_path, help="Output file; overwritten if it exists.")]


@export.command("table")
def export_table(
    dir_: ArenaDir,
    table: Annotated[str, Argument(metavar="TABLE", help="Name of the table.")],
    out: Out,
    languages: Languages = None,
) -> None:
    """Write a table into one file: CSV, JSON Lines or Parquet, by its extension.

    Reads the table. Writes FILE. In CSV, texts that look like formulas are prefixed with a quote, and a column _quoted
    marks them; an import removes the quotes.
    """
    from mirage.store import export as exporting

    n = exporting.export_table(dir_, table, out, languages=languages)
    note(f"{n:,} rows of {table} are in {out}")


@export.command("records")
def export_records(arena: OpenArena, out: Out) -> None:
    """Write answers with their queries and passages, one per line, as JSON Lines.

    Reads the tables queries, passages and answers. Writes FILE, which `mirage import` reads again.
    """
    from mirage.io.formats import full_records

    full_records.write(arena, out)
    note(f"The records are in {out}; read them again with: mirage import {quote(str(out))} --as rag --into DIR")


@export.command("preferences")
def export_preferences(
    dir_: ArenaDir,
    judge: Annotated[str, Option(metavar="NAME", autocompletion=complete_judges, help="The judge.")],
    out: Out,
) -> None:
    """Write a judge's preferred and rejected answers, for preference training (DPO).

    Reads the tables queries, passages, answers and judgments. Writes FILE, JSON Lines with prompt, chosen and rejected
    as lists of messages. A pair shown in both orders counts only if both verdicts agree.
    """
    from mirage.stages import sft

    n, left = sft.export_preferences(dir_, out, judge=judge)
    for reason, count in sorted(left.items(), key=lambda item: (-item[1], item[0])):
        note(f"{count:,} pairs excluded: {reason}")
    note(f"{n:,} pairs are in {out}")


@export.command("html")
def export_html(
    arena: OpenArena,
    into: Annotated[Path, Option("--into", metavar="FILE", parser=local_path, help="Output file, .html.")],
    judge: Annotated[str, Option(metavar="NAME", help="The judge that ranks; by default the arena's.")] = "",
    texts: Annotated[
        bool | None, Option("--texts/--no-texts", help="Show texts; default: unless a licence forbids it.")
    ] = None,
) -> None:
    """Write an arena into one self-contained HTML file: who is best, the rates, and the battles that decide.

    Reads the tables outcomes, judgments and nuggets, as far as present, and the texts. Writes FILE, which opens in any
    browser without a network, prints, and holds its figures as JSON too. Recompute it: mirage check FILE --arena DIR.
    """
    from mirage.publish.html_report import write_report

    if into.suffix.lower() != ".html":
        raise BadInput(f"{into.name} has another extension", do="name the file .html")
    shown = write_report(arena, into, judge=judge, texts=texts)
    note(f"{into}; texts {'' if shown.allowed else 'not '}shown: {shown.reason}")


@export.command("trec")
def export_trec_measurements(
    arena: OpenArena,
    out: Out,
    queries: Annotated[bool, Option("-q", "--queries", help="Add a line per query.")] = False,
) -> None:
    """Write measurements of systems and answers as read by TREC AutoJudge: system, measure, topic and value.

    Reads the tables outcomes, features, scores and ratings, as far as present. Writes FILE. The topic `all` is the
    unweighted mean over languages. Spaces in names are written %20, and % is %25.
    """
    from mirage.publish.trec import export_trec

    n = export_trec(arena, out, queries=queries)
    note(f"Measurements of {n:,} systems are in {out}")


@export.command("hub")
def export_dataset(
    arena: OpenArena,
    into: Annotated[Path, Option("--into", metavar="FOLDER", parser=local_path, help="A new or empty folder.")],
) -> None:
    """Copy the arena into a folder with a dataset card, ready to push to the Hugging Face Hub.

    Reads every table. Writes FOLDER: Parquet by table and language, and README.md with a configuration per table, the
    languages, the licence and the sources. The folder is itself an arena that every command accepts. Needs the extra
    `hub`.
    """
    from mirage.publish import hub

    card = hub.export_dataset(arena, into)
    note(f"The dataset is in {into}. Review its card, {card}, then push it: hf upload NAME {into} --repo-type dataset")


@export.command("sft")
def export_sft(
    dir_: ArenaDir,
    out: Out,
    system: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="A teacher; by default the system `reference`, or the only one. Repeatable."),
    ] = None,
    languages: Languages = None,
    seed: Seed = 0,
) -> None:
    """Create a training set from a system's answers, mixing in passages that are not relevant.

    The teacher should have answered from the relevant passages only (`mirage generate --relevant-only`). Reads the
    tables queries, passages and answers. Selects the answers that cite only relevant passages. Writes FILE (chat, JSON
    Lines, each with its teacher as `system`).
    """
    from mirage.stages import sft

    n, left = sft.write_training_set(dir_, out, systems=system, languages=languages, seed=seed)
    for (teacher, reason), count in sorted(left.items(), key=lambda item: -item[1]):
        note(f"{count:,} answers of {teacher} excluded: {reason}")
    note(f"{n:,} conversations are in {out}")
