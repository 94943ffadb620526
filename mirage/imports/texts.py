"""The texts that are not bundled: fetched into the user's own folder and made into an arena there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from mirage import store
from mirage.features.stage import FEATURES
from mirage.imports.public import import_outputs
from mirage.languages import LANGUAGES
from mirage.sources import nomiracl
from mirage.sources.nomiracl.origin import file_names
from mirage.stage import run
from mirage.store import home


def download_texts(into: Path, progress: Callable[[float, str], None]) -> store.Arena:
    """Fetch NoMIRACL's published outputs and make an arena of them with outcomes and features; a repeat goes on.

    Args:
        into: the user's own folder: the files go to `nomiracl`, the arena to `arenas/nomiracl-texts`. The environment
            variable MIRAGE_NOMIRACL_URL names another address with the same files.
        progress: called with the share that is done, in [0, 1], and what is being done.

    Raises:
        Unreachable: if a file did not come, or none is there; what came stays. Files that the source does not have are
            named in the arena's manifest.
        ArenaError: if the arena cannot be written, or another session is bringing the texts.
    """
    names = [name for lang in LANGUAGES.values() for name in file_names("outputs", lang)]

    def fetching(fetched: int, size: int | None, name: str) -> None:
        progress(0.6 * (names.index(name) + fetched / (size or fetched or 1)) / len(names), f"Fetching {name}")

    def measuring(measured: int, total: int) -> None:
        progress(0.75 + 0.25 * measured / total, "Measuring the answers")

    answers, path = into / "nomiracl", into / "arenas" / home.TEXTS
    with home.alone(into):
        pulled = nomiracl.pull_nomiracl(answers, base_url=os.environ.get("MIRAGE_NOMIRACL_URL"), progress=fetching)
        notes = [f"not at the source: {', '.join(pulled.absent)}"] if pulled.absent else []
        import_outputs(
            answers,
            path,
            notes=notes,
            progress=lambda n, total: progress(0.6 + 0.15 * n / total, "Reading the answers"),
        )
        return run(FEATURES, path, made_by="mirage features", progress=measuring)
