"""Commands that write files for others: `export table`, `export preferences`, `export report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mirage import schema
from mirage.cli.common import QUIET, ArenaDir, Languages, Seed, app, codes
from mirage.cli.output import note

export = typer.Typer(help="Write a table, preference pairs or a report into one file.", **QUIET)  # type: ignore[arg-type]
app.add_typer(export, name="export")

Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file; replaced if it is there.")]


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
    skill: Annotated[schema.Skill, typer.Option(help="Which questions count, by relevance.")] = "both",
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
    summary = f"{board.n_replies:,} {unit} on {board.n_queries:,} questions in {len(board.languages)} languages."
    html = report_page(arena.title, summary, board.rows.to_pylist(), board.ranks.to_pylist(), about=about)
    store.write_whole(out, html.encode("utf-8"))
    note(f"The report is in {out}; it opens in any browser.")
