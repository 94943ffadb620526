"""Commands that bring data: `pull` fetches public files, `import` reads files into an arena."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import File, How, Into, Languages, Names, Passages, Seed, Values, codes, import_, pull
from mirage.cli.output import note, progress, show
from mirage.sources.download import DownloadResult
from mirage.sources.files import Kind, Options
from mirage.sources.miracl import Split as Miracl
from mirage.sources.mirage_bench import What as Bench
from mirage.sources.nomiracl.origin import Split, What

READ = ("language", "files", "questions", "replies", "missing", "empty", "prompts_absent")
"""Columns of `import nomiracl`."""
REBUILT = ("language", "split", "topics", "questions", "published", "passages", "texts")
"""Columns of `import miracl`."""


def _said(download: DownloadResult) -> None:
    """Say what a download left in its folder, and what its source does not have."""
    note(f"{download.files} files are in {download.folder}, {download.fetched} of them new.")
    if download.absent:
        note(f"Not at the source, and not needed to go on: {', '.join(download.absent)}")


@pull.command("nomiracl")
def pull_nomiracl(
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder for the files.")],
    what: Annotated[What, typer.Option(help="The replies of 11 systems, or the labelled questions.")] = "outputs",
    languages: Languages = None,
    base_url: Annotated[str | None, typer.Option(help="A mirror with the same files.")] = None,
) -> None:
    """Fetch NoMIRACL's public files; a stopped download goes on where it stopped.

    Reads the public repository. Writes the files into DIR as published, for `mirage import nomiracl DIR`.
    """
    from mirage.sources import nomiracl

    with progress("Fetching", unit="bytes") as update:
        download = nomiracl.pull_nomiracl(
            into, what=what, languages=codes(languages), base_url=base_url, progress=update
        )
    _said(download)


@import_.command("nomiracl")
def import_nomiracl(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder with relevant/ and non_relevant/, .jsonl or .gz.")
    ],
    into: Into,
    what: Annotated[What, typer.Option(help="Replies, or the labelled questions without replies.")] = "outputs",
    split: Annotated[Split, typer.Option(help="Questions: which split.")] = "test",
    cap: Annotated[int, typer.Option(min=0, help="Questions: most of each subset and language; 0 for all.")] = 250,
    ratio: Annotated[float | None, typer.Option(help="Questions: relevant ones for each non-relevant one.")] = None,
    languages: Annotated[str | None, typer.Option(metavar="AR,BN,..", help="Questions: languages by code.")] = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Read NoMIRACL's published replies, or its questions, into an arena.

    Reads PATH as `mirage pull nomiracl` leaves it. Writes the tables queries, passages, answers and outcomes (for
    questions: queries and passages) in one step, and removes what was made from the old ones. Prints what was read.
    """
    from mirage.imports.public import import_outputs, import_questions
    from mirage.sources import nomiracl

    if what == "questions":
        options = {"split": split, "cap": cap or None, "ratio": ratio, "languages": codes(languages), "seed": seed}
        note(f"{into}: {import_questions(path, into, **options).manifest['about']}")
        return
    with progress("Reading") as update:
        arena = import_outputs(path, into, progress=update)
    counted = {"queries": ["language", "subset", "reason"], "answers": ["language", "system", "status"]}
    read = nomiracl.summarise({name: arena.read(name, columns=columns) for name, columns in counted.items()})
    show([dataclasses.asdict(count) for count in (*read.languages, read.total)], READ, output_format)
    note(f"{into}: {arena.manifest['about']} Next: mirage rates {into}")


@pull.command("miracl")
def pull_miracl(
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder for the files.")],
    split: Annotated[Miracl, typer.Option(help="dev: the evaluation set. train: the training set, 16 languages.")] = (
        "dev"
    ),
    texts: Annotated[
        bool, typer.Option("--texts", help="The corpora too, with the passages' texts: up to 100 MB a file.")
    ] = False,
    languages: Languages = None,
    base_url: Annotated[str | None, typer.Option(help="A mirror with the same files.")] = None,
) -> None:
    """Fetch MIRACL's questions and relevance labels; a stopped download goes on where it stopped.

    Reads the public repositories. Writes the files into DIR as published, for `mirage import miracl DIR`. Corpora are
    whole Wikipedias: 1 file (bn, sw, yo) to 66 files (en) a language.
    """
    from mirage.sources import miracl

    with progress("Fetching", unit="bytes") as update:
        download = miracl.pull_miracl(
            into, split=split, texts=texts, languages=codes(languages), base_url=base_url, progress=update
        )
    _said(download)


@import_.command("miracl")
def import_miracl(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder with topics.*.tsv and qrels.*.tsv, or .gz; with corpora too.")
    ],
    into: Into,
    split: Annotated[Miracl, typer.Option(help="dev: the evaluation set. train: the training set.")] = "dev",
    languages: Languages = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Rebuild the questions of MIRAGE-Bench from MIRACL: the evaluation set, or with --split train the training set.

    Reads PATH as `mirage pull miracl` leaves it. Writes the tables queries and passages; the passages have texts where
    the corpora are in PATH, else ids and labels alone. Prints the questions of each language beside those that the
    paper prints. Next, for a training set: `mirage generate DIR --relevant-only`, then `mirage sft DIR`.
    """
    from mirage.imports import public

    arena, counts = public.import_miracl(path, into, split=split, languages=codes(languages), seed=seed)
    show([dataclasses.asdict(count) for count in counts], REBUILT, output_format)
    for count in counts:
        if count.remark:
            note(f"{count.language}: {count.remark}")
    note(f"{into}: {arena.manifest['about']}")


@pull.command("mirage-bench")
def pull_mirage_bench(
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder for the files.")],
    what: Annotated[Bench | None, typer.Option(help="Only this one of the three data sets.")] = None,
    languages: Languages = None,
    source: Annotated[Path | None, typer.Option("--from", metavar="DIR", help="Copies of the data sets.")] = None,
) -> None:
    """Fetch the public questions, answers, features and judgments of MIRAGE-Bench.

    Reads the three data sets on the Hugging Face hub. Writes one file for each set and language into DIR, for
    `mirage import mirage-bench DIR`; what is there is not fetched again.
    """
    from mirage.sources import mirage_bench

    with progress("Fetching") as update:
        download = mirage_bench.pull_bench(into, what=what, languages=codes(languages), source=source, progress=update)
    _said(download)


@import_.command("mirage-bench")
def import_mirage_bench(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Folder, or one file, .parquet or .jsonl.")],
    into: Into,
) -> None:
    """Read the public data sets of MIRAGE-Bench, those that are there, into an arena.

    Reads PATH as `mirage pull mirage-bench` leaves it, or files of the data sets in folders or under names by
    language. Writes the tables queries and passages, answers and features as published, and judgments.
    """
    from mirage.imports import public

    with progress("Reading") as update:
        _, read, notes = public.import_mirage_bench(path, into, progress=update)
    for line in notes:
        note(line)
    note(f"{into}: " + ", ".join(f"{n:,} {name}" for name, n in read.items()) + " read.")


@import_.command("queries")
def import_queries(
    file: File,
    into: Into,
    passages: Passages = None,
    names: Names = None,
    values: Values = None,
) -> None:
    """Read your own questions into an arena.

    Reads FILE: language, query_id, text, optionally subset and passages, a list of passage_id, text, title, relevant,
    position; or the passages from a file of their own. Writes the tables queries and passages. One wrong line refuses
    the file.
    """
    _import_own("queries", file, into, names, values, passages)


@import_.command("answers")
def import_answers(file: File, into: Into, names: Names = None, values: Values = None) -> None:
    """Read the answers of any system into an arena.

    Reads FILE: language, query_id, system, text, optionally status, template, reason, and numbered: whether
    the prompt numbered its passages, so that [3] cites the third. Writes the table answers; what was made of those that
    are replaced is removed. One wrong line refuses the file.
    """
    _import_own("answers", file, into, names, values)


@import_.command("judgments")
def import_judgments(file: File, into: Into, names: Names = None, values: Values = None) -> None:
    """Read the verdicts of any judge into an arena.

    Reads FILE: language, query_id, judge, system_a, system_b, verdict (A, B or tie), optionally rationale and points
    (what system_a takes of the battle, 0 to 1; the verdict may then be left out). Writes the table judgments; ratings
    made from older ones are removed. One wrong line refuses the file.
    """
    _import_own("judgments", file, into, names, values)


def _import_own(
    kind: Kind,
    file: Path,
    into: Path,
    names: list[str] | None,
    values: list[str] | None,
    passages: Path | None = None,
) -> None:
    from mirage.imports.own import UserFile, import_own

    own_file = UserFile(kind, file, passages, Options.parse(names or (), values or ()))
    added = import_own(own_file, into)
    total = added.arena.rows(kind)
    note(f"{into}: {added.rows:,} {kind} read, {added.replaced:,} in place of older ones; {total:,} in all.")
    if added.dropped:
        note(f"{added.dropped:,} judgments of answers that are replaced by others went.")
    if kind == "answers":
        note(f"Next, to decide, measure and judge what is new: mirage run {into}")
