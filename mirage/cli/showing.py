"""Commands that print the contents of an arena: `mirage show answers` and `mirage show nuggets`."""

from __future__ import annotations

from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, OpenArena, command_group
from mirage.cli.measuring import show_means
from mirage.cli.output import note, show

showing = command_group("show", "Print the contents of an arena.")

ANSWERS = ("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
"""Columns of `show answers`."""
BANK = ("language", "query_id", "nugget_id", "importance", "text", "passage_id", "author")
"""Columns that `mirage show nuggets` prints."""


@showing.command("answers")
def show_answers(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option(metavar="NAME", help="The system.")],
    output_format: How = "table",
) -> None:
    """Print the parsed answers of a system.

    Columns: language, query, system, outcome (ok, empty, truncated, refused, api_error, missing), the key of the call
    in the arena's ledger, the parts of the answer (reasoning, answer, and the cited passages by first mention,
    comma-separated), and the reason if there is no valid answer. Reads the tables answers and passages. Writes nothing.
    """
    from mirage.stages.generate import stage as generating

    show(generating.answers_of(dir_, system), ANSWERS, output_format)


@showing.command("nuggets")
def show_nuggets(
    arena: OpenArena,
    scores: Annotated[bool, typer.Option("--scores", help="Print nugget scores by system instead.")] = False,
    output_format: How = "table",
) -> None:
    """Print the nuggets of the queries, or with --scores the nugget scores by system.

    Scores are by system and language, and over languages, with 95% intervals over queries. Reads the tables nuggets,
    nugget_assignments and answers. Writes nothing.
    """
    from mirage.stages.features.stage import nugget_means

    if not scores:
        show(arena.read("nuggets"), BANK, output_format, of="nuggets")
        return
    chosen, means = nugget_means(arena)
    show_means(means, output_format)
    note(f"Assignments by {chosen}.")
