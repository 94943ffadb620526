"""Commands on the two papers: `mirage rank paper` and `mirage report paper`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from mirage.cli.common import How, Languages, OpenArena, local_path, open_existing
from mirage.cli.output import columns_of, note, progress, show
from mirage.cli.ranking import OneJudge, ranks
from mirage.cli.reporting import report
from mirage.errors import ArenaError, BadInput
from mirage.stats.intervals import MOST_DRAWS
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena
from mirage.store.export import write_whole
from mirage.store.sheets import csv_text
from mirage.store.writing import claim_arena

if TYPE_CHECKING:
    from mirage.cli.output import Format
    from mirage.papers.printed import PrintedFigure
    from mirage.views.reproduced import PaperChoice

TOURNAMENTS = ("language", "system", "rating", "low", "high", "rank", "tournaments", "failed", "rated", "reason")
"""Columns of `rank paper` without `--into`."""


@ranks.command("paper")
def rank_paper(
    arena: OpenArena,
    into: Annotated[
        Path | None,
        Option("--into", metavar="OUT", parser=local_path, help="Folder: reproduce the tables too."),
    ] = None,
    judge: OneJudge = None,
    languages: Languages = None,
    draws: Annotated[int, Option(min=2, max=MOST_DRAWS, help="Tournaments per language.")] = 200,
    store_: Annotated[bool, Option("--store", help="Store every tournament in the table tournaments.")] = False,
    output_format: How = "table",
) -> None:
    """Rank by MIRAGE-Bench's method, or with --into reproduce its Tables 2 to 5 and Figure 4.

    Without --into: mean and percentiles of each rating over --draws tournaments of 100 drawn queries, ties dropped.
    With it: each figure of the tables on the arena, beside the printed one, in OUT/figures.csv, and a summary. Reads
    the table features (--into), and outcomes (judge relevance) or judgments. Writes OUT, and with --store the table
    tournaments.
    """
    from mirage.ranking.stage import keep_tournaments
    from mirage.views.reproduced import PaperChoice, tournaments_view

    if store_:
        claim_arena(arena.path)
    choice = PaperChoice(judge, tuple(languages or ()), draws)
    by = choice.decider(arena)
    if store_ and into is not None:
        raise BadInput("--store keeps tournaments, which --into does not rank by", do="omit one of them")
    if into is not None:
        _reproduce(arena, choice, into, output_format)
        return
    with progress("Tournaments") as update:
        view = tournaments_view(arena, choice, update)
    show(view.rows, TOURNAMENTS, output_format)
    note(*view.remarks)
    if store_:
        with progress("Storing"):
            keep_tournaments(arena.path, by, tournaments=draws, seed=view.seed)


def _reproduce(arena: Arena, choice: PaperChoice, into: Path, how: Format) -> None:
    """Write the paper's figures on an arena beside the printed ones, and print a summary."""
    from mirage.papers.printed import PrintedFigure
    from mirage.views.reproduced import reproduction_view

    with progress("Reproducing") as update:
        view = reproduction_view(arena, choice, update)
    rows = ([*asdict(figure).values()] for figure in view.figures)
    write_whole(into / "figures.csv", csv_text(columns_of(PrintedFigure), rows).encode("utf-8"))
    _show_figures(view.figures, how)
    *remarks, by = view.remarks
    note(*remarks, f"{by}; every figure is in {into / 'figures.csv'}")


@report.command("paper")
def report_paper(
    arena: Annotated[
        Arena | None,
        Argument(metavar="[DIR]", parser=open_existing, help="An arena to compare with the printed figures."),
    ] = None,
    source: Annotated[str | None, Option(metavar="PAPER", help="NoMIRACL or MIRAGE-Bench; default both.")] = None,
    item: Annotated[str | None, Option(metavar="ITEM", help="The table or figure, such as 'Table 3'.")] = None,
    names: Annotated[
        list[str] | None,
        Option("--as", metavar="PRINTED=SYSTEM", help="The arena's system for a printed name. Repeatable."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print the figures of the two papers next to an arena's.

    Prints a row per item; with --item or another --format, one per number. Reads the bundled figures, and from DIR
    queries, passages, answers and outcomes. Writes nothing. Rates are 1 - accuracy, as printed, with 95% intervals;
    `remark` explains a missing figure. `mirage rank paper` computes MIRAGE-Bench's Tables 2 to 5.
    """
    from mirage.papers.printed import PrintedFigure
    from mirage.views.printed import PrintedChoice, figures_view

    path = arenas.bundled_arenas().get("published")
    if path is None:
        raise ArenaError("the bundled figures are not installed", do="run from a checkout, or build them: make data")
    choice = PrintedChoice(source, item, tuple(_pairs(names or []).items()))
    figures = figures_view(open_arena(path), arena, choice)
    if output_format != "table" or item is None:
        _show_figures(figures, output_format, compared=arena is not None)
        if output_format == "table":
            note(f"The figures of one table: --item NAME; all {len(figures):,}: --format csv")
        return
    records = [asdict(figure) | {"printed": _as_printed(figure)} for figure in figures]
    hidden = ("reference",) if arena is not None else columns_of(PrintedFigure)[9:]
    show(records, columns_of(PrintedFigure, "source", "text", *hidden), of=PrintedFigure)
    note(*dict.fromkeys(f"printed in: {figure.reference}" for figure in figures))


def _show_figures(figures: Sequence[PrintedFigure], how: Format, *, compared: bool = True) -> None:
    """Print a summary row per item as a table, and one row per figure in other formats."""
    from mirage.papers.printed import PrintedFigure, PrintedItem, summarise_items

    if how == "table":
        columns = columns_of(PrintedItem)
        show(summarise_items(figures), columns if compared else columns[:3], of=PrintedItem)
    else:
        show(figures, (), how, of=PrintedFigure)


def _as_printed(figure: PrintedFigure) -> float | str | None:
    """Return a printed figure: its number, whole for a count, or its text."""
    if figure.printed is None:
        return figure.text
    return int(figure.printed) if figure.unit == "count" else figure.printed


def _pairs(names: list[str]) -> dict[str, str]:
    """Parse `--as` into a mapping."""
    pairs = {}
    for pair in names:
        printed, mark, system = pair.rpartition("=")
        if not (printed and mark and system):
            raise BadInput(f"--as {pair} is not a pair", do="write it as --as 'PRINTED NAME=SYSTEM'")
        pairs[printed] = system
    return pairs
