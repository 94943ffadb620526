"""Download the three data sets of MIRAGE-Bench from the Hugging Face hub with `datasets`.

`datasets` handles the division of the sets into files; here each language of a set becomes one Parquet file,
`<set>/<language>/dev.parquet`.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.io.sources.download import DownloadResult, finish, not_written
from mirage.store.extras import extra
from mirage.store.files import Sink, write_bytes
from mirage.text.languages import LANGUAGES, miracl_language

What = Literal["questions", "outputs", "judgments"]

NAME = "MIRAGE-Bench queries, answers, features and judgments (Hugging Face data sets nthakur/mirage-bench*)"
URL = "https://huggingface.co/nthakur"
LICENCE = "as the data sets say; the passages are Wikipedia (CC BY-SA)"
SETS: dict[What, str] = {
    "questions": "nthakur/mirage-bench",
    "outputs": "nthakur/mirage-bench-output",
    "judgments": "nthakur/mirage-bench-pairwise-judgments",
}
"""The sets by content."""


def pull_bench(
    into: Path,
    *,
    what: What | None = None,
    languages: Iterable[str] | None = None,
    source: Path | None = None,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> DownloadResult:
    """Fetch the public data sets into a folder that `read` then reads; existing files are not downloaded again.

    Args:
        into: the folder; made if absent.
        what: which of the sets; all three by default.
        languages: codes or lower-case English names; all 18 by default.
        source: a folder with copies of the data sets, named as `SETS` without their owner, in place of the hub.
        progress: called with how many files are done, how many there will be, and the name of the next.

    Raises:
        UnknownName: if a language or set is unknown.
        Unreachable: if the hub does not answer, or has none of it. What came stays.
        BadInput: if a set has other splits, or the folder cannot be written.
    """
    if what is not None and what not in SETS:
        raise UnknownName("data set", what, SETS)
    codes = list(dict.fromkeys(miracl_language(name).code for name in (LANGUAGES if languages is None else languages)))
    names = {
        f"{SETS[dataset].split('/')[1]}/{code}/dev.parquet": (_address(dataset, source), code)
        for dataset in ([what] if what else SETS)
        for code in codes
    }
    fetched, absent = 0, []
    for number, (name, (address, code)) in enumerate(names.items()):
        if progress:
            progress(number, len(names), name)
        if Sink(into / name).done:
            continue
        content = _fetch(address, code)
        if content is None:
            absent.append(name)
            continue
        try:
            write_bytes(into / name, content)
        except OSError as error:
            raise not_written(into, error) from None
        fetched += 1
    return finish(into, names, fetched, absent, where="", do="check the languages, or the folder")


def _address(dataset: What, source: Path | None) -> str:
    return SETS[dataset] if source is None else str(source / SETS[dataset].split("/")[1])


def _fetch(address: str, code: str) -> bytes | None:
    """Return one language of a set as Parquet; None if the set lacks the language."""
    import pyarrow.parquet as pq

    with extra("hub", "fetching from the hub"):
        from datasets import load_dataset

    try:
        with _hide_progress():
            table = load_dataset(address, code, split="dev").with_format("arrow")[:]
    except ValueError as error:
        # datasets has no error of its own for a language or a split that is not there.
        if "BuilderConfig" in str(error):
            return None
        raise BadInput(f"{address} cannot be read: {error}", where=code, do="fetch it by hand and import it") from None
    except (ConnectionError, FileNotFoundError) as error:
        raise Unreachable(
            f"{address} did not come: {error}",
            where=code,
            do="check the connection and run the same command again; what came stays",
        ) from None
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None), buffer, compression="zstd")
    return buffer.getvalue()


@contextmanager
def _hide_progress() -> Iterator[None]:
    """Hide the progress bars of `datasets`, as we print our own."""
    from datasets import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    before = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not before:
            enable_progress_bars()
