"""NoMIRACL's public files, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import UnknownName
from mirage.languages import LANGUAGES, miracl_language
from mirage.sources.download import DownloadResult, Progress, fetch
from mirage.sources.nomiracl.origin import ORIGIN, What, file_names

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
    """Fetch NoMIRACL's public files into a folder that `read_outputs` or `read_queries` then reads.

    Args:
        into: the folder; made if absent.
        what: `outputs` (2 files a language, about 2 MB each) or `questions` (9 files a language).
        languages: codes or lower-case English names; all 18 by default.
        base_url: another address with the same files under the same names.
        progress: as of `download.fetch`, like the rest.
        timeout: seconds.
        rng: draws the jitter of pauses.
        sleep: waits a number of seconds.

    Raises:
        UnknownName: if a language or `what` is unknown.
        Unreachable: if a file did not come, or none is there.
        BadInput: if the address is none, or the folder cannot be written.
    """
    if what not in ORIGIN:
        raise UnknownName("download", what, ORIGIN)
    selection = list(LANGUAGES.values()) if languages is None else [miracl_language(name) for name in languages]
    names = [name for lang in dict.fromkeys(selection) for name in file_names(what, lang)]
    base = base_url or ORIGIN[what].url
    return fetch(into, names, base, progress=progress, timeout=timeout, rng=rng, sleep=sleep)
