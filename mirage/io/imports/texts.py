"""Download of the texts that are not bundled, into an arena in the user's folder."""

import os
from collections.abc import Callable
from pathlib import Path

from mirage.io.imports.public import import_outputs
from mirage.io.sources.nomiracl.download import pull_nomiracl
from mirage.io.sources.nomiracl.origin import file_names
from mirage.stages.features.stage import FEATURES
from mirage.stages.stage import run
from mirage.store import home
from mirage.store.arena import Arena
from mirage.text.languages import LANGUAGES


def download_texts(into: Path, progress: Callable[[float, str], None]) -> Arena:
    """Download NoMIRACL's published outputs into an arena with outcomes and features; an interrupted download resumes.

    Args:
        into: the user's folder: the files go to `nomiracl`, the arena to `arenas/nomiracl-texts`. The environment
            variable MIRAGE_NOMIRACL_URL sets a mirror with the same files.
        progress: called with the share done, in [0, 1], and the current step.

    Raises:
        Unreachable: if a file could not be downloaded, or there is none; downloaded files are kept. Files missing at
            the source are listed in the arena's manifest.
        ArenaError: if the arena cannot be written, or another session is downloading the texts.
    """
    names = [name for lang in LANGUAGES.values() for name in file_names("outputs", lang)]

    def fetching(fetched: int, size: int | None, name: str) -> None:
        progress(0.6 * (names.index(name) + fetched / (size or fetched or 1)) / len(names), f"Fetching {name}")

    def measuring(measured: int, total: int) -> None:
        progress(0.75 + 0.25 * measured / total, "Measuring the answers")

    answers, path = into / "nomiracl", into / "arenas" / home.TEXTS
    with home.lock_folder(into):
        pulled = pull_nomiracl(answers, base_url=os.environ.get("MIRAGE_NOMIRACL_URL"), progress=fetching)
        notes = [f"not at the source: {', '.join(pulled.absent)}"] if pulled.absent else []
        import_outputs(
            answers,
            path,
            notes=notes,
            progress=lambda n, total: progress(0.6 + 0.15 * n / total, "Reading the answers"),
        )
        return run(FEATURES, path, made_by="mirage measure features", progress=measuring)
