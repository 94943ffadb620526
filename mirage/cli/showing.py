"""Commands that print the contents of an arena: `mirage show` and `mirage show answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from mirage.cli.common import DEFAULT, ArenaDir, How, OpenArena, command_group
from mirage.cli.completion import complete_systems
from mirage.cli.output import Format, note, show

if TYPE_CHECKING:
    from mirage.views.overview import OverviewView

showing = command_group("show", "Print what an arena holds and finds, or the answers of a system.", default=True)

ANSWERS = ("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
"""Columns of `show answers`."""
HEADS = {"abstained": "abstain", "cites": "cite", "target_language": "query's language", "length": "characters"}
"""Heads of what answers do."""


@showing.command(DEFAULT)
def show_arena(arena: OpenArena, output_format: How = "table") -> None:
    """Print the contents of an arena, the findings by its default judge, and the next commands.

    Reads all tables. Writes nothing. One row per table: its rows and their languages.
    """
    from mirage.views.overview import ArenaTable, overview_view

    view = overview_view(arena)
    note(*view.findings, f"{arena.title} ({arena.label}): {view.contents.summary}")
    if output_format == "table":
        print_behaviour(view)
    show(view.contents.tables, (), output_format, of=ArenaTable)
    print_next(view)


def print_behaviour(view: OverviewView, output_format: Format = "table") -> None:
    """Print the behaviour of the answers if nothing says which is better."""
    if view.behaviour is not None:
        from mirage.views.behaviour import AnswerBehaviour

        show(view.behaviour.rows, (), output_format, of=AnswerBehaviour, heads=HEADS)
        note(*view.behaviour.remarks)


def print_next(view: OverviewView) -> None:
    """Print the remarks that fit a summary, and the next commands."""
    note(*(f"Note: {remark}." for remark in view.remarks))
    note("\nNext:", *(f"  {each.command}  # {each.purpose}" for each in view.next))


@showing.command("answers")
def show_answers(
    dir_: ArenaDir,
    system: Annotated[str, Option(metavar="NAME", autocompletion=complete_systems, help="The system.")],
    output_format: How = "table",
) -> None:
    """Print the parsed answers of a system.

    Columns: language, query, system, outcome (ok, empty, truncated, refused, api_error, missing), the key of the call
    in the arena's ledger, the parts of the answer (reasoning, answer, and the cited passages by first mention,
    comma-separated), and the reason if there is no valid answer. Reads the tables answers and passages. Writes nothing.
    """
    from mirage.stages.generate import stage as generating

    show(generating.answers_of(dir_, system), ANSWERS, output_format)
