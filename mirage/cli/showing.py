"""Commands that print the contents of an arena: `mirage show` and `mirage show answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import DEFAULT, ArenaDir, How, OpenArena, command_group
from mirage.cli.output import note, show

if TYPE_CHECKING:
    from mirage.views.overview import OverviewView

showing = command_group("show", "Print what an arena holds and finds, or the answers of a system.", default=True)

ANSWERS = ("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
"""Columns of `show answers`."""


@showing.command(DEFAULT)
def show_arena(arena: OpenArena, output_format: How = "table") -> None:
    """Print what an arena holds, what its default judge finds, and the next commands.

    Reads all tables. Writes nothing. One row per table: its rows and their languages.
    """
    from mirage.views.overview import ArenaTable, overview_view

    view = overview_view(arena)
    show(view.contents.tables, (), output_format, of=ArenaTable)
    note(f"{arena.title} ({arena.label}): {view.contents.summary}", "")
    print_overview(view)


def print_overview(view: OverviewView) -> None:
    """Print the findings, the remarks that fit a summary, and the next commands."""
    note(*view.findings, *(f"Note: {remark}." for remark in view.remarks))
    note("\nNext:", *(f"  {each.command}  # {each.purpose}" for each in view.next))


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
