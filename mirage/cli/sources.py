"""Commands that get data: `pull` downloads public files, `import` reads files into an arena."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from mirage.cli.common import (
    DEFAULT,
    FileFormat,
    Into,
    Languages,
    Meanings,
    Names,
    Values,
    command_group,
    local_path,
)
from mirage.cli.output import columns_of, note, progress, show
from mirage.errors import BadInput, UnknownName
from mirage.io.options import Options
from mirage.io.sources.download import DownloadResult
from mirage.io.sources.miracl import Split as Miracl
from mirage.io.sources.mirage_bench.hub import What as Bench
from mirage.io.sources.nomiracl.origin import Split, What
from mirage.store import cores, folders
from mirage.store.arena import Arena, open_arena
from mirage.store.copies import copy_arena
from mirage.store.upsert import retry_outdated
from mirage.text.segmentation import count_rows

if TYPE_CHECKING:
    from mirage.io.imports.formats import FileImport

pull = command_group("pull", "Download public data over HTTPS, or an arena from object storage.", default=True)
import_ = command_group("import", "Import files into an arena.", default=True)

MOST_QUERIES = 250
"""Queries of NoMIRACL per subset and language, as in the paper."""


Folder = Annotated[Path, Option("--into", metavar="DIR", parser=local_path, help="Folder for the files.")]
Mirror = Annotated[str | None, Option("--base-url", help="A mirror with the same files.")]


def _report_arena(arena: Arena, about: str) -> None:
    """Report the result of an import, and name the next command."""
    from mirage.views.overview import next_step

    note(about)
    # Another program may have changed the arena since.
    command, purpose = retry_outdated(lambda: next_step(open_arena(arena.path)))
    note(f"Next, to {purpose}: {command}")


def _report_download(download: DownloadResult) -> None:
    """Report the files of a download, and those the source lacks."""
    note(f"{download.files} files in {download.folder}, {download.fetched} of them new.")
    if download.absent:
        note(f"Not available, and not required: {', '.join(download.absent)}")


@pull.command(DEFAULT)
def pull_arena(
    url: Annotated[str, Argument(metavar="URL", help="Address of an arena: s3://, gs:// or abfs://, or a folder.")],
    into: Annotated[Path, Argument(metavar="DIR", parser=local_path, help="A new or empty folder.")],
) -> None:
    """Copy an arena from object storage into a folder.

    Reads every file of the arena. Writes DIR; rerun an interrupted copy to complete it.
    """
    copy_arena(url, str(into))
    arena = open_arena(into)
    note(f"{arena.address}: {len(arena.tables)} tables, {arena.size / 1e6:.2f} MB")


@pull.command("nomiracl")
def pull_nomiracl(
    into: Folder,
    what: Annotated[What, Option(help="Answers of 11 systems, or labelled queries.")] = "outputs",
    languages: Languages = None,
    base_url: Mirror = None,
) -> None:
    """Download NoMIRACL's public files; an interrupted download resumes.

    Reads the public repository. Writes the files into DIR as published, for `mirage import nomiracl DIR --into ARENA`.
    """
    from mirage.io.sources.nomiracl import download as source

    with progress("Fetching", unit="bytes") as update:
        download = source.pull_nomiracl(into, what=what, languages=languages, base_url=base_url, progress=update)
    _report_download(download)


@import_.command("nomiracl")
def import_nomiracl(
    path: Annotated[Path, Argument(metavar="PATH", help="Folder with relevant/ and non_relevant/, .jsonl or .gz.")],
    into: Into,
    what: Annotated[What, Option(help="Answers, or labelled queries without answers.")] = "outputs",
    split: Annotated[Split, Option(help="Queries: the split.")] = "test",
    languages: Languages = None,
) -> None:
    """Import NoMIRACL's published answers, or its queries, into an arena.

    Reads PATH as downloaded by `mirage pull nomiracl`. Writes the tables queries, passages, answers and outcomes (for
    queries: queries and passages, at most 250 per subset and language) in one step, and removes tables derived from
    the old rows. Prints the numbers of rows read.
    """
    from mirage.io.imports.public import import_nomiracl_queries, import_outputs
    from mirage.io.sources.nomiracl.outputs import ReadCount, summarise

    if what == "questions":
        arena = import_nomiracl_queries(path, into, split=split, cap=MOST_QUERIES, languages=languages)
        _report_arena(arena, f"{into}: {arena.manifest['about']}")
        return
    with progress("Reading") as update:
        arena = import_outputs(path, into, progress=update, processes=cores.available())
    counted = {"queries": ["language", "subset", "reason"], "answers": ["language", "status"]}
    show(summarise({name: arena.read(name, columns=columns) for name, columns in counted.items()}), of=ReadCount)
    _report_arena(arena, f"{into}: {arena.manifest['about']}")


@pull.command("miracl")
def pull_miracl(
    into: Folder,
    split: Annotated[Miracl, Option(help="dev: the evaluation set. train: the training set, 16 languages.")] = ("dev"),
    texts: Annotated[
        bool, Option("--texts", help="Also download the corpora with the passages' texts, up to 100 MB per file.")
    ] = False,
    languages: Languages = None,
    base_url: Mirror = None,
) -> None:
    """Download MIRACL's queries and relevance labels; an interrupted download resumes.

    Reads the public repositories. Writes the files into DIR as published, for `mirage import miracl DIR --into ARENA`.
    Corpora are
    whole Wikipedias: 1 file (bn, sw, yo) to 66 files (en) per language.
    """
    from mirage.io.sources import miracl

    with progress("Fetching", unit="bytes") as update:
        download = miracl.pull_miracl(
            into, split=split, texts=texts, languages=languages, base_url=base_url, progress=update
        )
    _report_download(download)


@import_.command("miracl")
def import_miracl(
    path: Annotated[
        Path, Argument(metavar="PATH", help="Folder with topics.*.tsv and qrels.*.tsv (or .gz), and any corpora.")
    ],
    into: Into,
    split: Annotated[Miracl, Option(help="dev: the evaluation set. train: the training set.")] = "dev",
    languages: Languages = None,
) -> None:
    """Rebuild the queries of MIRAGE-Bench from MIRACL: the evaluation set, or with --split train the training set.

    Reads PATH as downloaded by `mirage pull miracl`. Writes the tables queries and passages; the passages have texts if
    PATH has the corpora, else only ids and labels. Prints the queries of each language with the paper's numbers.
    Next, for a training set: `mirage generate DIR --relevant-only`, then `mirage export sft DIR --out FILE`.
    """
    from mirage.io.imports import public
    from mirage.io.sources.miracl import TrainingCount

    arena, counts = public.import_miracl(path, into, split=split, languages=languages)
    show(counts, columns_of(TrainingCount, "remark"), of=TrainingCount)
    for count in counts:
        if count.remark:
            note(f"{count.language}: {count.remark}")
    _report_arena(arena, f"{into}: {arena.manifest['about']}")


@pull.command("mirage-bench")
def pull_mirage_bench(
    into: Folder,
    what: Annotated[Bench | None, Option(help="Only this dataset of the three.")] = None,
    languages: Languages = None,
    source: Annotated[Path | None, Option("--from", metavar="DIR", help="Folder with copies of the datasets.")] = None,
) -> None:
    """Download the public queries, answers, features and judgments of MIRAGE-Bench.

    Reads the three datasets on the Hugging Face Hub. Writes one file per dataset and language into DIR, for `mirage
    import mirage-bench DIR`; existing files are not downloaded again.
    """
    from mirage.io.sources.mirage_bench.hub import pull_bench

    with progress("Fetching") as update:
        download = pull_bench(into, what=what, languages=languages, source=source, progress=update)
    _report_download(download)


@import_.command("mirage-bench")
def import_mirage_bench(
    path: Annotated[Path, Argument(metavar="PATH", help="Folder, or one file, .parquet or .jsonl.")],
    into: Into,
) -> None:
    """Import the public datasets of MIRAGE-Bench, as far as present, into an arena.

    Reads PATH as downloaded by `mirage pull mirage-bench`, or files of the datasets in folders or under names by
    language. Writes the tables queries and passages, answers and features as published, and judgments.
    """
    from mirage.io.imports import public

    with progress("Reading") as update:
        arena, read, notes = public.import_mirage_bench(path, into, progress=update)
    note(*notes)
    _report_arena(arena, f"{into}: " + ", ".join(f"{n:,} {name}" for name, n in read.items()) + " read.")


CARDS = "systems"
"""Format of facts about systems, which is not recognised."""


@import_.command(DEFAULT)
def import_file(
    file: Annotated[
        Path | None, Argument(metavar="[FILE]", help="JSON, CSV or Parquet, compressed or not; or a folder.")
    ] = None,
    into: Annotated[
        Path | None, Option("--into", metavar="DIR", parser=folders.locate, help="The arena's folder.")
    ] = None,
    kind: FileFormat = None,
    names: Names = None,
    values: Values = None,
    meanings: Meanings = None,
    list_: Annotated[bool, Option("--formats", help="List the formats.")] = False,
) -> None:
    """Import a file of any known format into an arena, recognising the format from its content.

    Reads FILE, or all files of a folder. Writes the tables of the format, in one step; missing ids, languages and other
    fields are derived, and reported. Imports are all-or-nothing: one invalid record rejects the file. Without --into it
    prints the recognised format and the rows it would import, and writes nothing. The format `systems` holds facts
    about systems (licence, size, prices) and has to be named.
    """
    from mirage.io.formats.registry import formats as known
    from mirage.io.imports import formats

    if list_:
        rows = [{"name": entry.name, "format": entry.title} for entry in known().values()]
        show([*rows, {"name": CARDS, "format": "facts about systems: licence, size, prices"}], ("name", "format"))
        return
    if file is None:
        raise BadInput(
            "no file is named", do="mirage import FILE --into DIR; mirage import --formats lists the formats"
        )
    options = Options.parse(names or (), values or (), meanings or ())
    if kind == CARDS:
        _import_cards(file, into, options)
        return
    if kind is not None and kind not in known():
        raise UnknownName("format", kind, [*known(), CARDS])
    if not file.exists() and not file.suffix:
        error = UnknownName(
            "file", str(file), [*known(), *(command.name or "" for command in import_.registered_commands)]
        )
        raise error if error.nearest else BadInput(error.what, do="check the path")
    with progress("Reading") as update:
        if into is not None:
            imported = formats.import_file(file, into, name=kind, options=options, progress=update)
        else:
            _, summary = formats.read_file(file, name=kind, options=options, progress=update)
    if into is None:
        note(*summary.lines(), "Nothing was written.")
        asked = (("--map", names), ("--set", values), ("--value", meanings))
        options_again = [word for option, given in asked for each in given or () for word in (option, each)]
        again = ["mirage", "import", str(file), "--as", summary.format, *options_again, "--into", "DIR"]
        note(f"To write it: {shlex.join(again)}")
        return
    _report_import(imported, into)


@import_.command("hf")
def import_dataset(
    dataset: Annotated[str, Argument(metavar="NAME", help="owner/name, or a folder made with save_to_disk.")],
    into: Into,
    split: Annotated[str | None, Option(help="Split, if there are several.")] = None,
    config: Annotated[str | None, Option(help="Configuration, if there are several.")] = None,
    kind: FileFormat = None,
    names: Names = None,
    values: Values = None,
    meanings: Meanings = None,
) -> None:
    """Import a dataset of the Hugging Face Hub, in any known format, into an arena.

    Streams NAME from the Hub (extra `hub`), or reads the folder; nothing but the arena is stored. Writes the tables of
    the format, in one step, as `mirage import FILE` does.
    """
    from mirage.io.imports import formats

    options = Options.parse(names or (), values or (), meanings or ())
    with progress("Reading") as update:
        imported = formats.import_dataset(
            dataset, into, split=split, config=config, name=kind, options=options, progress=update
        )
    _report_import(imported, into)


def _report_import(imported: FileImport, into: Path) -> None:
    """Report what was read, the arena's tables, and the next command."""
    arena = imported.arena
    note(*imported.summary.lines())
    counts = ", ".join(count_rows(arena.rows(table), table) for table in arena.tables)
    _report_arena(arena, f"{into}: {counts} in all.")


def _import_cards(file: Path, into: Path | None, options: Options) -> None:
    """Import facts about systems; those without other data in the arena are stored and named.

    Raises:
        BadInput: if no arena is named.
    """
    from mirage.io.imports.cards import import_cards

    if into is None:
        raise BadInput("facts about systems belong to an arena", do="add --into DIR")
    done = import_cards(file, into, options=options)
    total, where = done.arena.rows("systems"), done.arena.address
    note(f"{where}: {done.rows:,} system cards read, {done.replaced:,} replacing older ones; {total:,} in total.")
    if done.strangers:
        note(f"Stored, although the arena has no other data of these systems: {'; '.join(done.strangers)}")
    if done.ignored:
        note(f"Ignored: {'; '.join(done.ignored)}")
