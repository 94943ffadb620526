"""Recompute the derived tables of an arena from the tables they were made from, and list what differs.

Hashes show that the files are those of the manifest. They do not show that the manifest is honest: whoever changes a
rating can write its hash too. Recomputing needs no trust, only the sources.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from mirage import features, judge, nuggets, schema
from mirage.battles.referee import Referee
from mirage.battles.verdict_rows import judges_of
from mirage.errors import MirageError
from mirage.features.stage import FEATURES, measurable_in
from mirage.judge.stage import HEURISTIC_JUDGMENTS
from mirage.nuggets.stage import TERM_ASSIGNMENTS
from mirage.outcomes.stage import OUTCOMES
from mirage.rank import DRAWS, SEED
from mirage.rank.stage import JUDGED_RATINGS, JUDGED_TOURNAMENTS, RELEVANCE_RATINGS, RELEVANCE_TOURNAMENTS
from mirage.sources.sample import REFERENCE
from mirage.stage import Stage
from mirage.store import Arena
from mirage.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS

if TYPE_CHECKING:
    import pyarrow as pa

Read = Callable[[str], "pa.Table"]
"""Reads a table of the arena, once."""

TOLERANCE = 1e-6
"""Largest difference, relative above 1, that rounding on another processor can explain."""

FITTED = 5e-3
"""The same for predictions, half a printed digit: regressors are fitted by iteration, and stop early."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A stored value that its sources do not give."""

    table: str
    """The derived table."""
    row: str
    """The key of the row."""
    column: str
    """The column; the key again where the whole row is missing or too many."""
    stored: str
    """The value in the arena."""
    recomputed: str
    """The value that the sources give."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What became of one part of a derived table."""

    subject: str
    """The table and the part of it: `ratings by relevance`."""
    rows: int
    """Stored rows that were compared; 0 where nothing could be."""
    reason: str | None
    """Why nothing was compared; None where something was."""
    mismatches: tuple[Mismatch, ...] = ()
    """What differs, by key."""


def recompute(arena: Arena) -> Iterator[Recomputed]:
    """Recompute every derived table, part by part.

    What a model or a person made cannot be recomputed and counts as a source: verdicts of models, grades, votes.

    Args:
        arena: the arena.

    Raises:
        ArenaError: if a file is not what the manifest says.
    """
    read: Read = cache(arena.read)
    if "outcomes" in arena.tables:
        yield _compared(arena, read, OUTCOMES, "outcomes", "outcomes", read("outcomes"))
    yield from _by_maker(arena, read, TERM_ASSIGNMENTS, "nugget_assignments", "assigner", nuggets.TERMS)
    yield from _features(arena, read)
    yield from _by_maker(arena, read, HEURISTIC_JUDGMENTS, "judgments", "judge", judge.HEURISTIC, sampled=True)
    for table, by_labels, by_judge in (
        ("ratings", RELEVANCE_RATINGS, JUDGED_RATINGS),
        ("tournaments", RELEVANCE_TOURNAMENTS, JUDGED_TOURNAMENTS),
        ("predictions", RELEVANCE_PREDICTIONS, JUDGED_PREDICTIONS),
    ):
        if table in arena.tables:
            yield from _by_referee(arena, read, table, by_labels, by_judge)


def _by_maker(
    arena: Arena, read: Read, stage: Stage, table: str, column: str, maker: str, *, sampled: bool = False
) -> Iterator[Recomputed]:
    """Recompute the rows of a table that one maker, named in a column, has made."""
    stored = _rows_with(read(table), column, [maker]) if table in arena.tables else None
    if stored:
        yield _compared(arena, read, stage, table, f"{table} by {maker}", stored, sampled=sampled)


def _features(arena: Arena, read: Read) -> Iterator[Recomputed]:
    """Recompute the features that need no model, and name the others."""
    if "features" not in arena.tables:
        return
    stored = read("features")
    names = stored["feature"].unique().to_pylist()
    systems = read("answers")["system"].unique().to_pylist() if "answers" in arena.tables else []
    tools = features.Tools(reference=REFERENCE if REFERENCE in systems else None)
    known = set(measurable_in(arena, tools)[0])
    if measurable := [name for name in names if name in known]:
        subject, part = "features that need no model", _rows_with(stored, "feature", measurable)
        yield _compared(arena, read, FEATURES, "features", subject, part, only=measurable, tools=tools)
    if others := sorted(set(names) - known):
        reason = "made by a model, imported, or compared with a reference system that the arena does not name"
        yield Recomputed(f"features {', '.join(others)}", 0, reason)


def _by_referee(arena: Arena, read: Read, table: str, by_labels: Stage, by_judge: Stage) -> Iterator[Recomputed]:
    """Recompute a table of ratings or predictions, a referee at a time."""
    stored = read(table)
    judges = judges_of(read("judgments")) if "judgments" in arena.tables else ()
    for name in sorted(stored["referee"].unique().to_pylist()):
        part, subject = _rows_with(stored, "referee", [name]), f"{table} by {name}"
        options = _options(arena, table, name, part)
        if Referee.named(name).by_labels:
            yield _compared(arena, read, by_labels, table, subject, part, **options)
        elif name in judges:
            options["referee" if table == "predictions" else "judge"] = name
            yield _compared(arena, read, by_judge, table, subject, part, **options)
        else:
            yield Recomputed(subject, 0, f"the arena has no verdict of {name}")


def _options(arena: Arena, table: str, referee: str, stored: pa.Table) -> dict[str, Any]:
    """The options that a table was made with: as its note in the manifest says, or the defaults."""
    if table == "tournaments":
        return {"tournaments": max(stored["draw"].to_pylist()) + 1}
    skills = [skill for skill in get_args(schema.Skill) if skill in stored["skill"].to_pylist()]
    if table == "predictions":
        regressors = [name for name in dict.fromkeys(stored["regressor"].to_pylist()) if name != "default"]
        return {"skills": skills, "regressors": regressors, "weigh": False}
    notes = arena.manifest["made"].get(table, {}).get("notes", [])
    note = next((note for note in notes if note.startswith(f"{referee}: ")), "")
    match = re.search(r"over ([\d,]+) .*seed (\d+)", note)
    draws, seed = (int(match[1].replace(",", "")), int(match[2])) if match else (DRAWS, SEED)
    return {"draws": draws, "seed": seed}


def _compared(
    arena: Arena,
    read: Read,
    stage: Stage,
    table: str,
    subject: str,
    stored: pa.Table,
    *,
    sampled: bool = False,
    **options: Any,
) -> Recomputed:
    """Apply a stage and compare what it makes with what is stored.

    Args:
        arena: the arena.
        read: reads a table of it.
        stage: the stage.
        table: the table it makes.
        subject: the table and the part of it.
        stored: the stored rows of this part.
        sampled: whether they may be a sample of the rows that the stage makes.
        options: the stage's own.
    """
    if absent := [name for name in stage.reads if name not in arena.tables]:
        return Recomputed(subject, 0, f"the arena has no {' and no '.join(absent)}")
    tables = {name: read(name) for name in stage.tables(arena)}
    if "answers" in tables and tables["answers"]["text"].null_count == len(tables["answers"]):
        return Recomputed(subject, 0, "the arena has no texts of answers")
    try:
        fresh = stage.run(tables, **options)[table]
    except MirageError as error:
        return Recomputed(subject, 0, error.what)
    return Recomputed(subject, len(stored), None, tuple(_mismatches(table, stored, fresh, sampled=sampled)))


def _mismatches(table: str, stored: pa.Table, fresh: pa.Table, *, sampled: bool) -> Iterator[Mismatch]:
    names, tolerance = schema.key(table), FITTED if table == "predictions" else TOLERANCE
    ours, theirs = _by_key(names, stored.to_pylist()), _by_key(names, fresh.to_pylist())
    for key in sorted(ours.keys() if sampled else ours.keys() | theirs.keys(), key=repr):
        row = ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True))
        if key not in theirs:
            yield Mismatch(table, row, "(row)", "present", "absent")
        elif key not in ours:
            yield Mismatch(table, row, "(row)", "absent", "present")
        else:
            for column in stored.column_names:
                if not _equal(ours[key][column], theirs[key][column], tolerance):
                    yield Mismatch(table, row, column, str(ours[key][column]), str(theirs[key][column]))


def _by_key(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    return {tuple(row[name] for name in names): row for row in rows}


def _equal(stored: Any, fresh: Any, tolerance: float) -> bool:
    if isinstance(stored, float) and isinstance(fresh, float):
        return math.isclose(stored, fresh, rel_tol=tolerance, abs_tol=tolerance)
    return bool(stored == fresh)


def _rows_with(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """Return the rows whose column has one of these values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table[column], pa.array(values, table[column].type)))
