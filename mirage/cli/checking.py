"""The command that says whether something is sound before it is relied on."""

from __future__ import annotations

from mirage.cli.common import ArenaDir, app
from mirage.cli.output import note


@app.command()
def check(dir_: ArenaDir) -> None:
    """Check that an arena is sound.

    Reads every byte: hashes, row counts, and every row against the contract. Writes nothing. Exit code 2 at the
    first thing that is wrong.
    """
    from mirage import store

    for line in store.check(store.open_arena(dir_)):
        note(line)
