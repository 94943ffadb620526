"""Command that reproduces the paper's results: `mirage paper reproduce`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, codes, local_path, paper
from mirage.cli.output import note, progress, show
from mirage.errors import BadInput
from mirage.stats.intervals import MOST_DRAWS

COLUMNS = ("correction", "measure", "paper", "ours", "effect", "unit", "n", "reason")
"""Columns of the corrections printed by `reproduce`."""


@paper.command()
def reproduce(
    dir_: ArenaDir,
    into: Annotated[Path, typer.Option("--into", metavar="OUT", parser=local_path, help="Output folder.")] = Path(
        "reproduced"
    ),
    referee: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="relevance|JUDGE",
            help="Referee of the battles; by default the arena's only judge, else relevance.",
        ),
    ] = None,
    languages: Languages = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM,SYSTEM",
            help="The two held-out systems; by default the paper's, else those a quarter from the top and the bottom.",
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option(min=2, max=MOST_DRAWS, help="Tournaments per language, and bootstrap draws.")
    ] = 200,
    forests: Annotated[int, typer.Option(min=1, help="Tournaments with a fitted random forest (Table 5).")] = 20,
    splits: Annotated[int, typer.Option(min=1, help="Random splits of the systems (Table 3).")] = 50,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Reproduce the paper's Tables 2 to 5 and Figures 3 to 6 from an arena, with the effect of each correction.

    Reads the tables features, and outcomes (referee relevance) or judgments (a judge). Writes into OUT one CSV per
    table or figure, reproduction.json and reproduction.html with the plots. Prints the corrections over all languages.
    """
    from mirage import papers as making
    from mirage import store
    from mirage.battles.referee import Referee
    from mirage.publish.charts.reproduce import page

    arena = store.open_arena(dir_)
    arena.need("features")
    judge = making.only_referee(arena) if referee is None else Referee.from_name(referee)
    held_out = [part.strip() for part in (holdout or "").split(",") if part.strip()]
    if holdout is not None and not held_out:
        raise BadInput("--holdout is empty", do="give two systems, comma-separated")
    with progress("Reproducing") as update:
        settings = making.PaperSettings(codes(languages), held_out, draws, forests, splits, seed)
        result = making.reproduce(arena, judge, settings, progress=update)
    items = [asdict(item) for item in result.items]
    html = page(f"MIRAGE-Bench's results on {arena.title}", items, about=result.about, missing=result.missing)
    files = making.write_reproduction(result, into, html=html)
    rows = [row for row in result.item("corrections").rows if row["language"] == "all"]
    show(rows, COLUMNS, output_format)
    for name, reason in result.missing.items():
        note(f"missing: {name}: {reason}")
    note(f"held out: {' and '.join(result.about['held out'])} ({result.about['held out, why']})")
    note(f"by {judge.name}, seed {seed}; {len(files)} files are in {into}: open {files[-2].name}")
