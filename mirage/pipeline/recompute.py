"""Recomputation of an arena's derived tables from their sources, listing the differences.

Hashes show that files match the manifest, but anyone who changes a rating can also rewrite its hash. Recomputing needs
no trust, only the sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema
from mirage.battles.judge import HEURISTIC
from mirage.battles.verdict_rows import judges_of
from mirage.errors import MirageError
from mirage.ranking.judges import Judge
from mirage.ranking.stage import RATING_STAGES, TOURNAMENT_STAGES
from mirage.ranking.surrogate.stage import PREDICTION_STAGES
from mirage.schema import REFERENCE
from mirage.stages.features.spec import Tools
from mirage.stages.features.stage import FEATURES, measurable_in
from mirage.stages.judge.stage import HEURISTIC_JUDGMENTS
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.nuggets.terms import TERMS
from mirage.stages.outcomes.rates import is_by_model
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.stage import Stage
from mirage.store.arena import Arena
from mirage.store.runs import settings_of

if TYPE_CHECKING:
    import pyarrow as pa

Read = Callable[[str], "pa.Table"]
"""Reads a table of the arena, cached."""

TOLERANCE = 1e-6
"""Largest difference, relative above 1, explained by rounding on another processor."""

FITTED = 5e-3
"""Tolerance of predictions, half a printed digit: regressors are fitted iteratively and stop early."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A stored value that differs from its recomputation."""

    table: str
    """The derived table."""
    row: str
    """Key of the row."""
    column: str
    """The column; the key again if the whole row is missing or extra."""
    stored: str
    """Value in the arena."""
    recomputed: str
    """Value from the sources."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Result for one part of a derived table."""

    subject: str
    """Table and part: `ratings by relevance`."""
    rows: int
    """Number of stored rows compared; 0 if none could be."""
    reason: str | None
    """Why nothing was compared; None if something was."""
    mismatches: tuple[Mismatch, ...] = ()
    """Differences, by key."""


def recompute(arena: Arena) -> Iterator[Recomputed]:
    """Recompute every derived table, part by part.

    Work of models and people counts as a source: verdicts of models, grades, votes.

    Args:
        arena: the arena.

    Raises:
        ArenaError: if a file does not match the manifest.
    """
    read: Read = cache(arena.read)
    if "outcomes" in arena.tables and is_by_model(read("outcomes")):
        yield Recomputed("outcomes", 0, "classified by a model")
    elif "outcomes" in arena.tables:
        yield _compare(arena, read, OUTCOMES, "outcomes", "outcomes", read("outcomes"))
    yield from _by_maker(arena, read, TERM_ASSIGNMENTS, "nugget_assignments", "assigner", TERMS)
    yield from _features(arena, read)
    yield from _by_maker(arena, read, HEURISTIC_JUDGMENTS, "judgments", "judge", HEURISTIC, sampled=True)
    stages = {"ratings": RATING_STAGES, "tournaments": TOURNAMENT_STAGES, "predictions": PREDICTION_STAGES}
    for table, by_source in stages.items():
        if table in arena.tables:
            yield from _by_judge(arena, read, table, by_source)


def _by_maker(
    arena: Arena, read: Read, stage: Stage, table: str, column: str, maker: str, *, sampled: bool = False
) -> Iterator[Recomputed]:
    """Recompute the rows of a table by one maker, named in a column."""
    stored = _rows_with(read(table), column, [maker]) if table in arena.tables else None
    if stored:
        yield _compare(arena, read, stage, table, f"{table} by {maker}", stored, sampled=sampled)


def _features(arena: Arena, read: Read) -> Iterator[Recomputed]:
    """Recompute the features without a model, and list the others."""
    if "features" not in arena.tables:
        return
    stored = read("features")
    names = stored["feature"].unique().to_pylist()
    systems = read("answers")["system"].unique().to_pylist() if "answers" in arena.tables else []
    tools = Tools(reference=REFERENCE if REFERENCE in systems else None)
    known = set(measurable_in(arena, tools)[0])
    if measurable := [name for name in names if name in known]:
        subject, part = "features that need no model", _rows_with(stored, "feature", measurable)
        yield _compare(arena, read, FEATURES, "features", subject, part, only=measurable, tools=tools)
    if others := sorted(set(names) - known):
        reason = "made by a model, imported, or compared with a reference system that the arena does not name"
        yield Recomputed(f"features {', '.join(others)}", 0, reason)


def _by_judge(arena: Arena, read: Read, table: str, stages: Mapping[str, Stage]) -> Iterator[Recomputed]:
    """Recompute a table of ratings or predictions, one judge at a time, by the stage for the judge's table."""
    stored = read(table)
    judges = judges_of(read("judgments")) if "judgments" in arena.tables else ()
    for name in sorted(stored["judge"].unique().to_pylist()):
        part, subject = _rows_with(stored, "judge", [name]), f"{table} by {name}"
        made = settings_of(arena, table, name)
        if made is None:
            yield Recomputed(subject, 0, "draws and seed are not recorded: imported, or made by an earlier version")
            continue
        options = _options(table, made, part)
        judge = Judge.from_name(name)
        stage = stages.get(judge.table)
        if stage is not None and (name in judges or not judge.members(arena)):
            yield _compare(arena, read, stage, table, subject, part, judge=name, **options)
        else:
            yield Recomputed(subject, 0, f"the arena has no verdict of {name}")


_OPTIONS = {
    "ratings": ("draws", "seed"),
    "tournaments": ("tournaments", "seed"),
    "predictions": ("regressors", "seed"),
}
"""Recorded settings of each table that are options of its stage."""


def _options(table: str, made: Mapping[str, Any], stored: pa.Table) -> dict[str, Any]:
    """Return the options that rows of a judge were made with."""
    options = {name: made[name] for name in _OPTIONS[table] if name in made}
    if table == "predictions":
        skills = set(stored["skill"].to_pylist())
        options |= {"skills": [skill for skill in get_args(schema.Skill) if skill in skills], "weigh": False}
    return options


def _compare(
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
    """Run a stage and compare its output with the stored rows.

    Args:
        arena: the arena.
        read: reads a table of it.
        stage: the stage.
        table: its output table.
        subject: table and part.
        stored: the stored rows of this part.
        sampled: whether they may be a sample of the stage's output.
        options: options of the stage.
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
    tolerance = FITTED if table == "predictions" else TOLERANCE
    rows, names = stored.to_pylist(), schema.key(table)
    found = compare_rows(table, names, rows, fresh.to_pylist(), tolerance=tolerance, sampled=sampled)
    return Recomputed(subject, len(stored), None, tuple(found))


def compare_rows(
    table: str,
    names: Sequence[str],
    stored: Sequence[Mapping[str, Any]],
    fresh: Sequence[Mapping[str, Any]],
    *,
    tolerance: float,
    sampled: bool = False,
) -> Iterator[Mismatch]:
    """Yield the values of stored rows that differ from recomputed rows, by key.

    Args:
        table: name of the table, for the differences.
        names: its key columns.
        stored: the stored rows.
        fresh: the recomputed rows.
        tolerance: largest difference of two numbers that are equal, relative above 1.
        sampled: whether the stored rows may be a sample.
    """
    ours, theirs = _by_key(names, stored), _by_key(names, fresh)
    for key in sorted(ours.keys() if sampled else ours.keys() | theirs.keys(), key=repr):
        row = ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True))
        if key not in theirs:
            yield Mismatch(table, row, "(row)", "present", "absent")
        elif key not in ours:
            yield Mismatch(table, row, "(row)", "absent", "present")
        else:
            for column, value in ours[key].items():
                if not _equal(value, theirs[key][column], tolerance):
                    yield Mismatch(table, row, column, str(value), str(theirs[key][column]))


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
