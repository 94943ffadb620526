"""Names that the shell completes on TAB: arenas, systems and judges (`mirage --install-completion`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mirage.errors import MirageError
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena
from mirage.store.files import find_files
from mirage.store.manifest import arena_folders

if TYPE_CHECKING:
    from collections.abc import Iterable


def complete_arenas(incomplete: str) -> list[str]:
    """Return the bundled arenas, and those in the folder that is typed; without any, the shell completes paths."""
    folder = _folder_of(incomplete)
    return _beginning([*arenas.bundled_arenas(), *map(str, arena_folders(folder).values())], incomplete)


def complete_sources(incomplete: str) -> list[str]:
    """Return the completions of `complete_arenas`, and the files in the typed folder."""
    files = map(str, find_files(_folder_of(incomplete), "*")[0])
    return [*complete_arenas(incomplete), *_beginning(files, incomplete)]


def complete_systems(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the systems of the arena that the command names."""
    from mirage.views.overview import contents_view

    arena = _named_arena(ctx)
    return [] if arena is None else _beginning(contents_view(arena).systems, incomplete)


def complete_judges(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the judges of the arena that the command names."""
    from mirage.battles.judge import judges

    arena = _named_arena(ctx)
    return [] if arena is None else _beginning(judges(arena, panel=True), incomplete)


def _named_arena(ctx: typer.Context) -> Arena | None:
    """Return the arena among the arguments typed so far; None without one that can be read."""
    for value in (ctx.params.get("arena"), ctx.params.get("dir_"), ctx.params.get("file")):
        try:
            if isinstance(value, Arena):
                return value
            if isinstance(value, str | Path):
                return open_arena(arenas.bundled_arenas().get(str(value), Path(value)))
        except MirageError:
            continue
    return None


def _folder_of(incomplete: str) -> Path:
    """Return the folder whose contents complete a path."""
    return Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
