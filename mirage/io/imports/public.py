"""Import of public datasets."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mirage.errors import ArenaError
from mirage.io.imports import misfits
from mirage.io.sources import miracl
from mirage.io.sources.mirage_bench import hub
from mirage.io.sources.mirage_bench.read import bench_files, read_bench
from mirage.io.sources.nomiracl.origin import ORIGIN
from mirage.io.sources.nomiracl.outputs import output_files, read_outputs, summarise
from mirage.io.sources.nomiracl.queries import read_queries
from mirage.schema import Tables
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.stage import Progress
from mirage.store import files
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.cores import on_cores
from mirage.store.lineage import derived_tables
from mirage.store.upsert import NewRows, by_key, upsert
from mirage.store.writing import Provenance

BENCH = "MIRAGE-Bench"
"""Title of an arena of its public datasets."""


def import_outputs(
    folder: Path, into: Path, *, notes: Sequence[str] = (), progress: Progress | None = None, processes: int = 1
) -> Arena:
    """Import the published outputs of NoMIRACL (or others in their layout), with their outcomes.

    Args:
        folder: input of `nomiracl.read_outputs`.
        into: the arena's folder.
        notes: for the manifest.
        progress: called with the number of files read and the total.
        processes: number of parallel processes (`cores.on_cores`); does not affect the result.

    Raises:
        BadInput: naming file and line of the error; the arena is then unchanged.
        ArenaError: if the arena cannot be written.
    """
    with on_cores(processes) as batches:
        tables = read_outputs(folder, progress=progress, batches=batches, derive=OUTCOMES.run)
    origin = ORIGIN["outputs"]
    texts = {
        "title": "NoMIRACL answers",
        "label": "real replies",
        "about": outputs_summary(tables),
        "licence": origin.licence,
    }
    sources = [{"name": origin.name, "url": origin.url}, *prints(folder, output_files(folder))]
    return _replace(
        into, tables, texts, Provenance("mirage import nomiracl", sources=sources, notes=notes, labels="people")
    )


def import_nomiracl_queries(folder: Path, into: Path, **options: Any) -> Arena:
    """Import the NoMIRACL queries and their judged passages.

    Args:
        folder: input of `nomiracl.read_queries`.
        into: the arena's folder.
        options: those of `nomiracl.read_queries`.

    Raises:
        BadInput: if a file is malformed or an option out of range.
        ArenaError: if the arena has answers or judgments, which belong to its own queries.
    """
    if is_arena(into):
        _refuse_held(open_arena(into))
    tables = read_queries(folder, **options)
    origin = ORIGIN["questions"]
    drawn = {name: value for name, value in options.items() if value is not None}
    texts = {
        "title": "NoMIRACL queries",
        "label": "questions only",
        "about": f"{len(tables['queries']):,} queries with {len(tables['passages']):,} judged passages.",
        "licence": origin.licence,
    }
    made_by = Provenance(
        "mirage import nomiracl --what questions",
        sources=[{"name": origin.name, "url": origin.url, **drawn}],
        labels="people",
    )
    return _replace(into, tables, texts, made_by, check=_refuse_held)


def import_miracl(
    folder: Path,
    into: Path,
    *,
    split: miracl.Split = "dev",
    languages: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[Arena, list[miracl.TrainingCount]]:
    """Rebuild the queries of MIRAGE-Bench from MIRACL: its evaluation set from dev, its training set from train.

    Args:
        folder: input of `miracl.read_miracl`.
        into: the arena's folder.
        split: `dev` or `train`.
        languages: codes; None for all present.
        seed: seed of the sampled Arabic queries of dev.

    Returns:
        The arena, and counts per language.

    Raises:
        BadInput: if a file is malformed or missing.
        ArenaError: if the arena has answers or judgments, which belong to its own queries.
    """
    if is_arena(into):
        _refuse_held(open_arena(into))
    tables, counts = miracl.read_miracl(folder, split=split, languages=languages, seed=seed)
    with_text = sum(count.texts for count in counts)
    passages = len(tables["passages"])
    extent = "with their texts" if with_text == passages else f"{with_text:,} of them with their texts"
    extent = extent if with_text else "by id"
    origin = [{"name": miracl.NAMES[split], "url": miracl.URLS[split], "split": split}]
    if with_text:
        origin.append({"name": miracl.CORPUS_NAME, "url": miracl.CORPUS_URL})
    texts = {
        "title": "MIRAGE-Bench queries, rebuilt from MIRACL dev"
        if split == "dev"
        else "MIRAGE-Bench training queries, from MIRACL train",
        "label": "questions only",
        "about": f"{len(tables['queries']):,} queries with {passages:,} judged passages, {extent}.",
        "licence": miracl.CORPUS_LICENCE if with_text else miracl.LICENCE,
    }
    remarks = [f"{count.language}: {count.remark}" for count in counts if count.remark]
    made_by = Provenance(
        "mirage import miracl" if split == "dev" else "mirage import miracl --split train",
        sources=[*origin, *prints(folder, miracl.miracl_files(folder, split=split))],
        notes=remarks if with_text else [*remarks, miracl.NO_TEXT],
        labels="people",
    )
    return _replace(into, tables, texts, made_by, check=_refuse_held), counts


def import_mirage_bench(
    path: Path, into: Path, *, progress: Progress | None = None
) -> tuple[Arena, dict[str, int], list[str]]:
    """Import the public datasets of MIRAGE-Bench, as far as present, into an arena, new or existing.

    Args:
        path: input of `mirage_bench.read_bench`.
        into: the arena's folder.
        progress: called with the number of files read and the total.

    Returns:
        The arena, the rows read by table, and caveats.

    Raises:
        BadInput: naming file and line of the error; the arena is then unchanged.
        ArenaError: if a query with answers would change, or the arena cannot be written.
    """
    tables, notes = read_bench(path, progress=progress)

    def texts(old: Arena | None) -> dict[str, str]:
        """Return title, label and licence for the manifest; an arena with another title keeps its own."""
        if old is not None and old.title != BENCH:
            return {}
        names = {*tables, *(old.tables if old is not None else ())}
        return {
            "title": BENCH,
            "label": "real replies" if "answers" in names else "questions only",
            "about": "The public data sets of MIRAGE-Bench, as published.",
            "licence": hub.LICENCE,
        }

    origin = {"name": hub.NAME, "url": hub.URL}
    result = upsert(
        into,
        {name: by_key(name, table) for name, table in tables.items()},
        texts=texts,
        check=lambda arena: misfits.refuse_misfits(arena, tables),
        made_by=Provenance(
            "mirage import mirage-bench",
            sources=[origin, *prints(path if path.is_dir() else path.parent, list(bench_files(path)))],
            notes=notes,
            labels="people",
        ),
    )
    if dropped := result.lost.get("judgments"):
        notes.append(f"{dropped:,} judgments of replaced answers were removed")
    return result.arena, {name: len(table) for name, table in tables.items()}, notes


def _replace(
    into: Path,
    tables: Tables,
    texts: Mapping[str, str],
    made_by: Provenance,
    check: Callable[[Arena], None] | None = None,
) -> Arena:
    """Write tables in place of those of the arena, without what was derived from these."""
    rows = {name: NewRows(table) for name, table in tables.items()}
    stale = derived_tables(tables)
    return upsert(into, rows, texts=lambda _: texts, check=check, made_by=made_by, stale=stale).arena


def _refuse_held(arena: Arena) -> None:
    """Check that an arena has no answers before its queries are replaced."""
    if names := [name for name in ("answers", "judgments") if name in arena.tables]:
        raise ArenaError(
            f"this arena has {' and '.join(names)} to its current queries",
            where=arena.address,
            do="use a new folder for other queries",
        )


def outputs_summary(tables: Tables) -> str:
    """Summarise imported outputs in numbers."""
    *languages, total = summarise(tables)
    systems = len(tables["answers"]["system"].unique())
    return (
        f"{total.answers:,} replies of {systems} systems to {total.queries:,} questions in {len(languages)} languages."
    )


def prints(folder: Path, paths: Sequence[Path]) -> list[dict[str, str]]:
    """Return names and hashes of files, for the manifest."""
    return [{"name": path.relative_to(folder).as_posix(), "sha256": files.fingerprint(path)} for path in paths]
