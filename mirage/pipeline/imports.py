"""From files to an arena, in one write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import store
from mirage.errors import ArenaError
from mirage.pipeline import joining
from mirage.pipeline.stages import OUTCOMES, Progress, Tables, derived
from mirage.sources import miracl, mirage_bench, nomiracl

if TYPE_CHECKING:
    import pyarrow as pa

BENCH = "MIRAGE-Bench"
"""Title of an arena of its public data sets."""


def import_outputs(
    folder: Path, into: Path, *, notes: Sequence[str] = (), progress: Progress | None = None
) -> store.Arena:
    """Read the published outputs of NoMIRACL (or others in their layout) into an arena, with their outcomes.

    Args:
        folder: what `nomiracl.read_outputs` reads.
        into: the arena's folder.
        notes: for the manifest.
        progress: called with the number of files read and the number there are.

    Raises:
        BadInput: naming file and line of what is wrong; the arena is then as it was.
        ArenaError: if the arena cannot be written.
    """
    tables: dict[str, pa.Table] = dict(nomiracl.read_outputs(folder, progress=progress))
    tables |= OUTCOMES.run(tables)
    origin = nomiracl.ORIGIN["outputs"]
    return store.write(
        into,
        tables,
        title="NoMIRACL replies",
        label="real replies",
        about=about(tables),
        licence=origin.licence,
        made_by="mirage import nomiracl",
        made_from=[{"name": origin.name, "url": origin.url}, *prints(folder, nomiracl.output_files(folder))],
        notes=notes,
        stale=derived(tables),
    )


def import_questions(folder: Path, into: Path, **options: Any) -> store.Arena:
    """Read the NoMIRACL questions and their judged passages into an arena.

    Args:
        folder: what `nomiracl.read_questions` reads.
        into: the arena's folder.
        options: those of `nomiracl.read_questions`.

    Raises:
        BadInput: if a file is malformed or an option out of range.
        ArenaError: if the arena holds answers or judgments, which belong to its own questions.
    """
    _refuse_held(into)
    tables = nomiracl.read_questions(folder, **options)
    origin = nomiracl.ORIGIN["questions"]
    drawn = ", ".join(f"{name} {value}" for name, value in options.items() if value is not None)
    return store.write(
        into,
        tables,
        title="NoMIRACL questions",
        label="questions only",
        about=f"{len(tables['queries']):,} questions with {len(tables['passages']):,} judged passages.",
        licence=origin.licence,
        made_by="mirage import nomiracl --what questions",
        made_from=[{"name": origin.name, "url": origin.url}],
        notes=[drawn] if drawn else [],
        stale=derived(tables),
    )


def import_miracl(
    folder: Path,
    into: Path,
    *,
    split: miracl.Split = "dev",
    languages: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[store.Arena, list[miracl.Count]]:
    """Rebuild the questions of MIRAGE-Bench from MIRACL: its evaluation set from dev, its training set from train.

    Args:
        folder: what `miracl.read` reads.
        into: the arena's folder.
        split: `dev` or `train`.
        languages: codes; None for all that are there.
        seed: draws the Arabic questions of dev.

    Returns:
        The arena, and what became of each language.

    Raises:
        BadInput: if a file is malformed or absent.
        ArenaError: if the arena holds answers or judgments, which belong to its own questions.
    """
    _refuse_held(into)
    tables, counts = miracl.read(folder, split=split, languages=languages, seed=seed)
    texts = sum(count.texts for count in counts)
    passages = len(tables["passages"])
    what = "by id" if not texts else "with their texts" if texts == passages else f"{texts:,} of them with their texts"
    origin = [{"name": miracl.NAMES[split], "url": miracl.URLS[split]}]
    if texts:
        origin.append({"name": miracl.CORPUS_NAME, "url": miracl.CORPUS_URL})
    arena = store.write(
        into,
        tables,
        title="MIRAGE-Bench questions, rebuilt from MIRACL dev"
        if split == "dev"
        else "MIRAGE-Bench training questions, from MIRACL train",
        label="questions only",
        about=f"{len(tables['queries']):,} questions with {passages:,} judged passages, {what}.",
        licence=miracl.CORPUS_LICENCE if texts else miracl.LICENCE,
        made_by="mirage import miracl" if split == "dev" else "mirage import miracl --split train",
        made_from=[*origin, *prints(folder, miracl.files(folder, split=split))],
        notes=[
            *(f"{count.language}: {count.remark}" for count in counts if count.remark),
            *([] if texts else [miracl.NO_TEXT]),
        ],
        stale=derived(tables),
    )
    return arena, counts


def import_mirage_bench(
    path: Path, into: Path, *, progress: Progress | None = None
) -> tuple[store.Arena, dict[str, int], list[str]]:
    """Read the public data sets of MIRAGE-Bench, those that are there, into an arena, new or existing.

    Args:
        path: what `mirage_bench.read` reads.
        into: the arena's folder.
        progress: called with the number of files read and the number there are.

    Returns:
        The arena, the rows read by table, and what a reader must know of them.

    Raises:
        BadInput: naming file and line of what is wrong; the arena is then as it was.
        ArenaError: if a question would change that the arena has answers to, or the arena cannot be written.
    """
    tables, notes = mirage_bench.read(path, progress=progress)
    held = set(tables)
    named = True
    if store.is_arena(into):
        old = store.open_arena(into)
        joining.refuse_unasked(old, tables)
        held |= set(old.tables)
        named = old.title == BENCH
    described = {
        "title": BENCH,
        "label": "real replies" if "answers" in held else "questions only",
        "about": "The public data sets of MIRAGE-Bench, as published.",
        "licence": mirage_bench.LICENCE,
    }
    origin = {"name": mirage_bench.NAME, "url": mirage_bench.URL}
    arena, dropped = joining.write(
        into,
        tables,
        **(described if named else {}),
        made_by="mirage import mirage-bench",
        made_from=[origin, *prints(path if path.is_dir() else path.parent, list(mirage_bench.bench_files(path)))],
        notes=notes,
    )
    if dropped:
        notes.append(f"{dropped:,} judgments went that were on other answers")
    return arena, {name: len(table) for name, table in tables.items()}, notes


def _refuse_held(into: Path) -> None:
    """Refuse to put other questions under the answers of an arena."""
    if store.is_arena(into):
        held = [name for name in ("answers", "judgments") if name in store.open_arena(into).tables]
        if held:
            raise ArenaError(
                f"this arena holds {' and '.join(held)} to the questions it has",
                where=str(into),
                do="give a new folder for other questions",
            )


def about(tables: Tables) -> str:
    """What the imported outputs are, in numbers."""
    read = nomiracl.summarise(tables)
    return (
        f"{read.total.replies:,} replies of {len(read.systems)} systems to {read.total.questions:,} questions in "
        f"{len(read.languages)} languages."
    )


def prints(folder: Path, paths: Sequence[Path]) -> list[dict[str, str]]:
    """Name and hash of files, for the manifest."""
    return [{"name": path.relative_to(folder).as_posix(), "sha256": store.fingerprint(path)} for path in paths]
