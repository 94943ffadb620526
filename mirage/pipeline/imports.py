"""From files to an arena, in one write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError
from mirage.pipeline.stages import OUTCOMES, Progress, Tables, derived
from mirage.sources import files, nomiracl

if TYPE_CHECKING:
    import pyarrow as pa


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
    if store.is_arena(into):
        held = [name for name in ("answers", "judgments") if name in store.open_arena(into).tables]
        if held:
            raise ArenaError(
                f"this arena holds {' and '.join(held)} to the questions it has",
                where=str(into),
                do="give a new folder for other questions",
            )
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


def import_judgments(file: Path, into: Path) -> tuple[store.Arena, int, int]:
    """Read verdicts into an arena, new or existing. A verdict on the same battle by the same judge is replaced.

    Returns:
        The arena, how many verdicts the file holds, and how many of them replaced one.

    Raises:
        BadInput: naming every wrong line; nothing is then imported.
        ArenaError: if the arena cannot be written.
    """
    import pyarrow as pa

    known = old = None
    if store.is_arena(into):
        arena = store.open_arena(into)
        answered = next((name for name in ("answers", "outcomes") if name in arena.tables), None)
        if answered:
            known = arena.read(answered, columns=["language", "query_id", "system"])
        old = arena.read("judgments") if "judgments" in arena.tables else None
    made = new = files.judgments(file, known=known)
    made_from = prints(file.parent, [file])
    if old is not None:
        made_from = [f for f in arena.manifest["made"]["judgments"]["from"] if f not in made_from] + made_from
        keys = list(schema.key("judgments"))
        others = old.join(new.select(keys), keys, join_type="left anti").select(old.column_names)
        made = pa.concat_tables([others.cast(old.schema), new])
    arena = store.write(
        into,
        {"judgments": made},
        made_by="mirage import judgments",
        made_from=made_from,
        stale=derived(["judgments"]),
    )
    return arena, len(new), len(new) + (len(old) if old is not None else 0) - len(made)


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
