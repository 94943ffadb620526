"""Sharded work on an arena: the option `--shard`, and the command `mirage arena merge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, arenas, locate
from mirage.cli.output import note, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.llm.engines.shards import Shard

COLUMNS = ("table", "new")
"""Columns of `merge`."""


def part_of(dir_: Path, share: str | None, *, dry: bool = False) -> tuple[Path, Shard | None]:
    """Return the folder to work on and its shard; without `--shard`, the arena itself.

    Args:
        dir_: the arena.
        share: value of `--shard`.
        dry: whether nothing may be written.

    Raises:
        BadInput: if the value is not a shard, or nothing may be written.
    """
    if share is None:
        return dir_, None
    from mirage import store
    from mirage.llm.engines.shards import read_shard
    from mirage.pipeline.parts import cut

    shard = read_shard(share)
    if dry:
        raise BadInput("--dry-run cannot be combined with --shard", do="omit --shard to plan the whole arena")
    part = cut(dir_, shard)
    whole, own = store.address(dir_), store.address(part)
    note(f"Working in {own}; merge it with `mirage arena merge {whole} {own}`.")
    return part, shard


@arenas.command("merge")
def merge(
    dir_: ArenaDir,
    parts: Annotated[
        list[Path],
        typer.Argument(metavar="PART...", parser=locate, help="Folders or addresses of parts made with `--shard`."),
    ],
    output_format: How = "table",
) -> None:
    """Merge parts made with `--shard` into an arena.

    Reads the parts, and their ledgers if they are on this machine. Writes the tables with new rows, and the ledger.
    Rows are merged by key: order and repetition do not matter. An answer replaces a failed call; two different values
    under one key are a conflict, which is reported, and nothing is written. Prints the number of new rows per table.
    """
    from mirage.pipeline.parts import merge as bring

    report = bring(dir_, parts)
    note(f"{report.replies:,} new replies in the ledger.")
    show([{"table": name, "new": count} for name, count in report.rows.items()], COLUMNS, output_format)
