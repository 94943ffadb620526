"""Download NoMIRACL's public files by name."""

from collections.abc import Iterable
from pathlib import Path

from mirage.errors import UnknownName
from mirage.io.sources.download import DownloadResult, Progress, fetch
from mirage.io.sources.nomiracl.origin import ORIGIN, What, file_names
from mirage.text.languages import LANGUAGES, miracl_language


def pull_nomiracl(
    into: Path,
    *,
    what: What = "outputs",
    languages: Iterable[str] | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
) -> DownloadResult:
    """Download NoMIRACL's public files into a folder for `read_outputs` or `read_queries`.

    Args:
        into: the folder; created if it does not exist.
        what: `outputs` (2 files per language, about 2 MB each) or `questions` (9 files per language).
        languages: codes or lower-case English names; all 18 by default.
        base_url: another address with the same files under the same names.
        progress: as of `download.fetch`.

    Raises:
        UnknownName: if a language or `what` is unknown.
        Unreachable: if a file cannot be downloaded, or none exists.
        BadInput: if the address is invalid, or the folder cannot be written.
    """
    if what not in ORIGIN:
        raise UnknownName("download", what, ORIGIN)
    selection = list(LANGUAGES.values()) if languages is None else [miracl_language(name) for name in languages]
    names = [name for lang in dict.fromkeys(selection) for name in file_names(what, lang)]
    return fetch(into, names, base_url or ORIGIN[what].url, progress=progress)
