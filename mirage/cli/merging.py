"""Working on shares of an arena: the option `--shard`, and the command that brings parts together, `mirage merge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, app, located
from mirage.cli.output import note, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.engines.shards import Shard

COLUMNS = ("table", "new")
"""Columns of `merge`."""


def part_of(dir_: Path, share: str | None, *, dry: bool = False) -> tuple[Path, Shard | None]:
    """The folder that a command works on, and the shard that it holds; the arena itself without `--shard`.

    Args:
        dir_: the arena.
        share: what `--shard` says.
        dry: whether nothing may be written.

    Raises:
        BadInput: if it is no shard, or nothing may be written.
    """
    if share is None:
        return dir_, None
    from mirage import store
    from mirage.engines.shards import read_shard
    from mirage.pipeline.parts import cut

    shard = read_shard(share)
    if dry:
        raise BadInput("--dry-run goes without --shard", do="leave --shard out: the whole is planned")
    part = cut(dir_, shard)
    note(
        f"Working in {store.address(part)}; `mirage merge {store.address(dir_)} {store.address(part)}` brings it back."
    )
    return part, shard


@app.command()
def merge(
    dir_: ArenaDir,
    parts: Annotated[
        list[Path],
        typer.Argument(metavar="PART...", parser=located, help="Folders or addresses that `--shard` has made."),
    ],
    output_format: How = "table",
) -> None:
    """Bring the parts of an arena together that commands with `--shard` have made.

    Reads the parts, and their ledgers where they are on this machine. Writes the tables that they have more rows of,
    and the ledger. Parts go by key: the order does not matter, nor how often they are merged. An answer takes the place
    of a failed call; two other values under one key are a conflict, which is named, and nothing is written then. Prints
    the new rows of each table.
    """
    from mirage.pipeline.parts import merge as bring

    report = bring(dir_, parts)
    note(f"{report.replies:,} replies of models are new in the ledger.")
    show([{"table": name, "new": count} for name, count in report.rows.items()], COLUMNS, output_format)
