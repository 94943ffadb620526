"""Tables of first views that were computed once: they come with the program, for the arenas that do.

    data/views/<name>-<version>.parquet

`make sample` writes them. A file belongs to one version of an arena, and to all of its queries: with any other content
the view is computed. Where there is none, nothing is lacking but the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mirage.store.arena import Arena
from mirage.store.export import to_parquet, write_whole
from mirage.store.files import list_files
from mirage.store.shipped import shipped

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def first_view(arena: Arena, name: str) -> pa.Table | None:
    """The table of a view of an arena, as it was computed before; None where it was not."""
    import pyarrow.parquet as pq

    path = _path(arena, name)
    return None if arena.tags or not path.is_file() else pq.read_table(path)


def write_first_views(name: str, tables: Iterable[tuple[Arena, pa.Table]]) -> list[Path]:
    """Keep the tables of a view of the bundled arenas, in the place of all that were kept of it.

    Returns:
        The files.

    Raises:
        BadInput: if one cannot be written.
    """
    folder = shipped() / "data" / "views"
    folder.mkdir(exist_ok=True)
    files = []
    for arena, rows in tables:
        files.append(_path(arena, name))
        write_whole(files[-1], to_parquet(rows))
    for old in set(list_files(folder, f"{name}-*.parquet")) - set(files):
        old.unlink()
    return files


def _path(arena: Arena, name: str) -> Path:
    return shipped() / "data" / "views" / f"{name}-{arena.version[:16]}.parquet"
