"""Command that prints the parsed answers of an arena: `mirage show answers`."""

from __future__ import annotations

from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, command_group
from mirage.cli.output import show

showing = command_group("show", "Print the contents of an arena.")

ANSWERS = ("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
"""Columns of `show answers`."""


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
