"""Commands that get data: `pull` downloads public files, `import` reads files into an arena."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import (
    FILE_COMMAND,
    File,
    How,
    Into,
    Languages,
    Meanings,
    Names,
    Passages,
    Seed,
    Values,
    codes,
    import_,
    local_path,
    locate,
    pull,
)
from mirage.cli.output import note, progress, show
from mirage.io.sources.download import DownloadResult
from mirage.io.sources.files import Kind, Options
from mirage.io.sources.miracl import Split as Miracl
from mirage.io.sources.mirage_bench import What as Bench
from mirage.io.sources.nomiracl.origin import Split, What
from mirage.store import Arena, cores

READ = ("language", "files", "queries", "answers", "missing", "empty", "prompts_absent")
"""Columns of `import nomiracl`."""
REBUILT = ("language", "split", "topics", "queries", "published", "passages", "texts")
"""Columns of `import miracl`."""


def _tell_next(arena: Arena) -> None:
    """Name the command that makes sense after an import."""
    from mirage.pipeline.findings import next_command

    command, purpose = next_command(arena)
    note(f"Next, to {purpose}: {command}")


def _report_download(download: DownloadResult) -> None:
    """Report the files of a download, and those the source lacks."""
    note(f"{download.files} files in {download.folder}, {download.fetched} of them new.")
    if download.absent:
        note(f"Not available, and not required: {', '.join(download.absent)}")


@pull.command("nomiracl")
def pull_nomiracl(
    into: Annotated[Path, typer.Option("--into", metavar="DIR", parser=local_path, help="Folder for the files.")],
    what: Annotated[What, typer.Option(help="Answers of 11 systems, or labelled queries.")] = "outputs",
    languages: Languages = None,
    base_url: Annotated[str | None, typer.Option(help="A mirror with the same files.")] = None,
) -> None:
    """Download NoMIRACL's public files; an interrupted download resumes.

    Reads the public repository. Writes the files into DIR as published, for `mirage import nomiracl DIR`.
    """
    from mirage.io.sources import nomiracl

    with progress("Fetching", unit="bytes") as update:
        download = nomiracl.pull_nomiracl(
            into, what=what, languages=codes(languages), base_url=base_url, progress=update
        )
    _report_download(download)


@import_.command("nomiracl")
def import_nomiracl(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder with relevant/ and non_relevant/, .jsonl or .gz.")
    ],
    into: Into,
    what: Annotated[What, typer.Option(help="Answers, or labelled queries without answers.")] = "outputs",
    split: Annotated[Split, typer.Option(help="Queries: the split.")] = "test",
    cap: Annotated[int, typer.Option(min=0, help="Queries: maximum per subset and language; 0 for all.")] = 250,
    ratio: Annotated[float | None, typer.Option(help="Queries: number of relevant per non-relevant query.")] = None,
    languages: Annotated[
        str | None, typer.Option(metavar="AR,BN,..", help="Queries: comma-separated language codes.")
    ] = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Import NoMIRACL's published answers, or its queries, into an arena.

    Reads PATH as downloaded by `mirage pull nomiracl`. Writes the tables queries, passages, answers and outcomes (for
    queries: queries and passages) in one step, and removes tables derived from the old rows. Prints the numbers of rows
        read.
    """
    from mirage.io.imports.public import import_nomiracl_queries, import_outputs
    from mirage.io.sources import nomiracl

    if what == "questions":
        options = {"split": split, "cap": cap or None, "ratio": ratio, "languages": codes(languages), "seed": seed}
        arena = import_nomiracl_queries(path, into, **options)
        note(f"{into}: {arena.manifest['about']}")
        _tell_next(arena)
        return
    with progress("Reading") as update:
        arena = import_outputs(path, into, progress=update, processes=cores.available())
    counted = {"queries": ["language", "subset", "reason"], "answers": ["language", "system", "status"]}
    read = nomiracl.summarise({name: arena.read(name, columns=columns) for name, columns in counted.items()})
    show([dataclasses.asdict(count) for count in (*read.languages, read.total)], READ, output_format)
    note(f"{into}: {arena.manifest['about']}")
    _tell_next(arena)


@pull.command("miracl")
def pull_miracl(
    into: Annotated[Path, typer.Option("--into", metavar="DIR", parser=local_path, help="Folder for the files.")],
    split: Annotated[Miracl, typer.Option(help="dev: the evaluation set. train: the training set, 16 languages.")] = (
        "dev"
    ),
    texts: Annotated[
        bool, typer.Option("--texts", help="Also download the corpora with the passages' texts, up to 100 MB per file.")
    ] = False,
    languages: Languages = None,
    base_url: Annotated[str | None, typer.Option(help="A mirror with the same files.")] = None,
) -> None:
    """Download MIRACL's queries and relevance labels; an interrupted download resumes.

    Reads the public repositories. Writes the files into DIR as published, for `mirage import miracl DIR`. Corpora are
    whole Wikipedias: 1 file (bn, sw, yo) to 66 files (en) per language.
    """
    from mirage.io.sources import miracl

    with progress("Fetching", unit="bytes") as update:
        download = miracl.pull_miracl(
            into, split=split, texts=texts, languages=codes(languages), base_url=base_url, progress=update
        )
    _report_download(download)


@import_.command("miracl")
def import_miracl(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder with topics.*.tsv and qrels.*.tsv (or .gz), and any corpora.")
    ],
    into: Into,
    split: Annotated[Miracl, typer.Option(help="dev: the evaluation set. train: the training set.")] = "dev",
    languages: Languages = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Rebuild the queries of MIRAGE-Bench from MIRACL: the evaluation set, or with --split train the training set.

    Reads PATH as downloaded by `mirage pull miracl`. Writes the tables queries and passages; the passages have texts if
    PATH has the corpora, else only ids and labels. Prints the queries of each language with the paper's numbers.
    Next, for a training set: `mirage generate DIR --relevant-only`, then `mirage export sft DIR`.
    """
    from mirage.io.imports import public

    arena, counts = public.import_miracl(path, into, split=split, languages=codes(languages), seed=seed)
    show([dataclasses.asdict(count) for count in counts], REBUILT, output_format)
    for count in counts:
        if count.remark:
            note(f"{count.language}: {count.remark}")
    note(f"{into}: {arena.manifest['about']}")
    _tell_next(arena)


@pull.command("mirage-bench")
def pull_mirage_bench(
    into: Annotated[Path, typer.Option("--into", metavar="DIR", parser=local_path, help="Folder for the files.")],
    what: Annotated[Bench | None, typer.Option(help="Only this dataset of the three.")] = None,
    languages: Languages = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="Folder with copies of the datasets.")
    ] = None,
) -> None:
    """Download the public queries, answers, features and judgments of MIRAGE-Bench.

    Reads the three datasets on the Hugging Face Hub. Writes one file per dataset and language into DIR, for `mirage
    import mirage-bench DIR`; existing files are not downloaded again.
    """
    from mirage.io.sources import mirage_bench

    with progress("Fetching") as update:
        download = mirage_bench.pull_bench(into, what=what, languages=codes(languages), source=source, progress=update)
    _report_download(download)


@import_.command("mirage-bench")
def import_mirage_bench(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Folder, or one file, .parquet or .jsonl.")],
    into: Into,
) -> None:
    """Import the public datasets of MIRAGE-Bench, as far as present, into an arena.

    Reads PATH as downloaded by `mirage pull mirage-bench`, or files of the datasets in folders or under names by
    language. Writes the tables queries and passages, answers and features as published, and judgments.
    """
    from mirage.io.imports import public

    with progress("Reading") as update:
        arena, read, notes = public.import_mirage_bench(path, into, progress=update)
    for line in notes:
        note(line)
    note(f"{into}: " + ", ".join(f"{n:,} {name}" for name, n in read.items()) + " read.")
    _tell_next(arena)


FIELDS = ("field", "becomes", "records", "example")
"""Columns of `import FILE --dry-run`."""


@import_.command(FILE_COMMAND)
def import_file(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON, CSV or Parquet, compressed or not; or a folder.")],
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", parser=locate, help="The arena's folder or address.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the detected format and fields; write nothing.")
    ] = False,
    names: Names = None,
    values: Values = None,
    meanings: Meanings = None,
    output_format: How = "table",
) -> None:
    """Import a file of any known format into an arena, detecting the format from its content.

    Reads FILE, or all files of a folder. Writes the tables of the format, in one step; missing ids, languages and other
    fields are derived, and reported. Imports are all-or-nothing: one invalid record rejects the file. Without --into it
    prints the detected format and the fields it would import, and writes nothing.
    """
    from mirage.io.imports import formats

    name = ctx.info_name if ctx.info_name != FILE_COMMAND else None
    options = Options.parse(names or (), values or (), meanings or ())
    with progress("Reading") as update:
        if into is None or dry_run:
            plan = formats.plan_file(file, into, name=name, options=options, progress=update)
            imported = None
        else:
            imported = formats.import_file(file, into, name=name, options=options, progress=update)
    if imported is None:
        told = (
            FIELDS
            if any(entry.becomes for entry in plan.fields)
            else tuple(name for name in FIELDS if name != "becomes")
        )
        if plan.fields or output_format != "table":
            show([dataclasses.asdict(entry) for entry in plan.fields], told, output_format)
        note("\n".join([*plan.summary.lines(), "Nothing was written."]))
        note(f"To write it: mirage import {plan.summary.format} {file} --into {into or 'DIR'}")
        return
    note("\n".join(imported.summary.lines()))
    note(f"{into}: {', '.join(f'{imported.arena.rows(table):,} {table}' for table in imported.arena.tables)} in all.")
    _tell_next(imported.arena)


@import_.command("hf")
def import_dataset(
    dataset: Annotated[str, typer.Argument(metavar="NAME", help="owner/name, or a folder made with save_to_disk.")],
    into: Into,
    split: Annotated[str | None, typer.Option(help="Split, if there are several.")] = None,
    config: Annotated[str | None, typer.Option(help="Configuration, if there are several.")] = None,
    format_name: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help="Format of the records; detected by default.")
    ] = None,
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
            dataset, into, split=split, config=config, name=format_name, options=options, progress=update
        )
    note("\n".join(imported.summary.lines()))
    note(f"{into}: {', '.join(f'{imported.arena.rows(table):,} {table}' for table in imported.arena.tables)} in all.")
    _tell_next(imported.arena)


@import_.command("queries")
def import_queries(
    file: File,
    into: Into,
    passages: Passages = None,
    names: Names = None,
    values: Values = None,
) -> None:
    """Import your own queries into an arena.

    Reads FILE: language, query_id, text, optionally subset and passages, a list of passage_id, text, title, relevant,
    position; or the passages from a separate file. Writes the tables queries and passages. One invalid line rejects the
    file.
    """
    _import_own("queries", file, into, names, values, passages)


@import_.command("answers")
def import_answers(file: File, into: Into, names: Names = None, values: Values = None) -> None:
    """Import the answers of any system into an arena.

    Reads FILE: language, query_id, system, text, optionally status, template, reason, run_date (or created_at), and
    numbered: whether the prompt numbered its passages, so that [3] cites the third. Writes the table answers; rows
    derived from replaced answers are removed. One invalid line rejects the file.
    """
    _import_own("answers", file, into, names, values)


@import_.command("judgments")
def import_judgments(file: File, into: Into, names: Names = None, values: Values = None) -> None:
    """Import the verdicts of any judge into an arena.

    Reads FILE: language, query_id, judge, system_a, system_b, verdict (A, B or tie), optionally rationale and points
    (system_a's share of the battle's point, 0 to 1; the verdict is then optional). Writes the table judgments; ratings
    derived from older verdicts are removed. One invalid line rejects the file.
    """
    _import_own("judgments", file, into, names, values)


@import_.command("systems")
def import_systems(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML, JSON Lines, CSV or Parquet, by extension.")],
    into: Into,
    names: Names = None,
    values: Values = None,
) -> None:
    """Import facts about systems into an arena: licence, size, prices, and more.

    Reads FILE: system, and any of licence, open_weights, parameters (in billions), released, price_in and price_out (US
    dollars per million tokens), context_length, url, retriever, source; in YAML a list, or a mapping by the system's
    name. Writes the table systems; ratings are not changed. One invalid record rejects the file.
    """
    from mirage.io.imports.cards import import_cards

    done = import_cards(file, into, options=Options.parse(names or (), values or ()))
    total, where = done.arena.rows("systems"), done.arena.address
    note(f"{where}: {done.rows:,} system cards read, {done.replaced:,} replacing older ones; {total:,} in total.")
    if done.strangers:
        note(f"Stored, although the arena has no other data of these systems: {'; '.join(done.strangers)}")
    if done.ignored:
        note(f"Ignored: {'; '.join(done.ignored)}")


def _import_own(
    kind: Kind,
    file: Path,
    into: Path,
    names: list[str] | None,
    values: list[str] | None,
    passages: Path | None = None,
) -> None:
    from mirage.io.imports.own import UserFile, import_own

    own_file = UserFile(kind, file, passages, Options.parse(names or (), values or ()))
    added = import_own(own_file, into)
    total = added.arena.rows(kind)
    note(f"{into}: {added.rows:,} {kind} read, {added.replaced:,} replacing older ones; {total:,} in total.")
    if added.dropped:
        note(f"{added.dropped:,} judgments of replaced answers were removed.")
    _tell_next(added.arena)
