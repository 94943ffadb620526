"""Download NoMIRACL's public files by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import UnknownName
from mirage.io.sources.download import DownloadResult, Progress, fetch
from mirage.io.sources.nomiracl.origin import ORIGIN, What, file_names
from mirage.text.languages import LANGUAGES, miracl_language

if TYPE_CHECKING:
    import numpy as np


def pull_nomiracl(
    into: Path,
    *,
    what: What = "outputs",
    languages: Iterable[str] | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
    rng: np.random.Generator | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> DownloadResult:
    """Download NoMIRACL's public files into a folder for `read_outputs` or `read_queries`.

    Args:
        into: the folder; created if it does not exist.
        what: `outputs` (2 files per language, about 2 MB each) or `questions` (9 files per language).
        languages: codes or lower-case English names; all 18 by default.
        base_url: another address with the same files under the same names.
        progress: see `download.fetch`, as for the remaining arguments.
        timeout: seconds.
        rng: random source for the jitter of pauses.
        sleep: function that waits a number of seconds.

    Raises:
        UnknownName: if a language or `what` is unknown.
        Unreachable: if a file cannot be downloaded, or none exists.
        BadInput: if the address is invalid, or the folder cannot be written.
    """
    if what not in ORIGIN:
        raise UnknownName("download", what, ORIGIN)
    selection = list(LANGUAGES.values()) if languages is None else [miracl_language(name) for name in languages]
    names = [name for lang in dict.fromkeys(selection) for name in file_names(what, lang)]
    base = base_url or ORIGIN[what].url
    return fetch(into, names, base, progress=progress, timeout=timeout, rng=rng, sleep=sleep)
