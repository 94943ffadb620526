"""Recomputation of an arena's derived tables from their sources, listing the differences.

Hashes show that files match the manifest, but anyone who changes a rating can also rewrite its hash. Recomputing needs
no trust, only the sources.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

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
from mirage.text.languages import place

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
        yield _compare(arena, read, OUTCOMES, "outcomes", {"outcomes": read("outcomes")})
    yield from _by_maker(arena, read, TERM_ASSIGNMENTS, "nugget_assignments", "assigner", TERMS)
    yield from _features(arena, read)
    yield from _by_maker(arena, read, HEURISTIC_JUDGMENTS, "judgments", "judge", HEURISTIC, sampled=True)
    stages = {"ratings": RATING_STAGES, "tournaments": TOURNAMENT_STAGES, "predictions": PREDICTION_STAGES}
    for table, by_source in stages.items():
        yield from _by_judge(arena, read, table, by_source)


def _by_maker(
    arena: Arena, read: Read, stage: Stage, table: str, column: str, maker: str, *, sampled: bool = False
) -> Iterator[Recomputed]:
    """Recompute the rows of a table by one maker, named in a column."""
    stored = _rows_with(read(table), column, [maker]) if table in arena.tables else None
    if stored:
        yield _compare(arena, read, stage, f"{table} by {maker}", {table: stored}, sampled=sampled)


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
        yield _compare(arena, read, FEATURES, subject, {"features": part}, only=measurable, tools=tools)
    if others := sorted(set(names) - known):
        reason = "made by a model, imported, or compared with a reference system that the arena does not name"
        yield Recomputed(f"features {', '.join(others)}", 0, reason)


def _by_judge(arena: Arena, read: Read, table: str, stages: Mapping[str, Stage]) -> Iterator[Recomputed]:
    """Recompute a table of ratings or predictions, one judge at a time, by the stage for the judge's table; with
    predictions also the importances.
    """
    stored = {name: read(name) for name in (table, *_ALONGSIDE.get(table, ())) if name in arena.tables}
    judges = judges_of(read("judgments")) if "judgments" in arena.tables else ()
    for name in sorted({name for rows in stored.values() for name in rows["judge"].to_pylist()}):
        parts, subject = {key: _rows_with(rows, "judge", [name]) for key, rows in stored.items()}, f"{table} by {name}"
        made, judge = settings_of(arena, table, name), Judge.from_name(name)
        stage = stages.get(judge.table)
        if stage is None or (name not in judges and judge.members(arena)):
            yield _without_source(table, subject, name, f"the arena has no verdict of {name}")
        elif absent := _missing_tables(arena, stage):
            yield _without_source(table, subject, name, absent)
        elif (options := _options(table, made or {}, parts)) is None:
            reason = "draws and seed are not recorded, or none that could be theirs; store them again"
            yield _without_source(table, subject, name, reason)
        else:
            yield _compare(arena, read, stage, subject, parts, judge=name, **options)


def _without_source(table: str, subject: str, judge: str, reason: str) -> Recomputed:
    """Report rows without a source in the arena: they could be invented."""
    return Recomputed(subject, 0, reason, (Mismatch(table, f"judge={judge}", "(rows)", "present", "no source"),))


def _missing_tables(arena: Arena, stage: Stage) -> str | None:
    """Return that an arena lacks tables that a stage reads; None if it has all."""
    absent = [name for name in stage.reads if name not in arena.tables]
    return f"the arena has no {' and no '.join(absent)}" if absent else None


_ALONGSIDE = {"predictions": ("importances",)}
"""Tables that the stage of a table also computes, from the same settings."""

_OPTIONS = {
    "ratings": ("draws", "seed"),
    "tournaments": ("tournaments", "seed"),
    "predictions": ("regressors", "seed"),
}
"""Recorded settings of each table that are options of its stage."""


def _options(table: str, made: Mapping[str, Any], stored: Mapping[str, pa.Table]) -> dict[str, Any] | None:
    """Return the options that rows of a judge were made with; None if they are not recorded, or can be none."""
    options = {name: made[name] for name in _OPTIONS[table] if name in made}
    counts = [value for name, value in options.items() if name != "regressors"]
    if not options or not all(type(count) is int and 0 <= count < 2**32 for count in counts):
        return None
    if table == "predictions":
        skills = {skill for rows in stored.values() for skill in rows["skill"].to_pylist()}
        weigh = len(stored.get("importances", ())) > 0
        options |= {"skills": [skill for skill in get_args(schema.Skill) if skill in skills], "weigh": weigh}
    return options


def _compare(
    arena: Arena,
    read: Read,
    stage: Stage,
    subject: str,
    stored: Mapping[str, pa.Table],
    *,
    sampled: bool = False,
    **options: Any,
) -> Recomputed:
    """Run a stage and compare its output with the stored rows.

    Args:
        arena: the arena.
        read: reads a table of it.
        stage: the stage.
        subject: table and part.
        stored: the stored rows of this part, by table.
        sampled: whether they may be a sample of the stage's output.
        options: options of the stage.
    """
    if absent := _missing_tables(arena, stage):
        return Recomputed(subject, 0, absent)
    tables = {name: read(name) for name in stage.tables(arena)}
    if "answers" in tables and tables["answers"]["text"].null_count == len(tables["answers"]):
        return Recomputed(subject, 0, "the arena has no texts of answers")
    try:
        fresh = stage.run(tables, **options)
    except MirageError as error:
        if "judge" in options:
            return _without_source(next(iter(stored)), subject, options["judge"], error.what)
        return Recomputed(subject, 0, error.what)
    found: list[Mismatch] = []
    for table, part in stored.items():
        rows = schema.sort(table, fresh[table]).to_pylist() if table in fresh else []
        rows.sort(key=lambda row: place(row["language"]))  # as the arena's files are ordered
        tolerance = FITTED if stage in PREDICTION_STAGES.values() else TOLERANCE
        found += compare_rows(table, schema.key(table), part.to_pylist(), rows, tolerance=tolerance, sampled=sampled)
    return Recomputed(subject, sum(map(len, stored.values())), None, tuple(found))


def compare_rows(
    table: str,
    names: Sequence[str],
    stored: Sequence[Mapping[str, Any]],
    fresh: Sequence[Mapping[str, Any]],
    *,
    tolerance: float,
    sampled: bool = False,
) -> Iterator[Mismatch]:
    """Yield the differences of stored rows from recomputed rows, as lists: values, missing, further and repeated rows,
    and another order.

    Args:
        table: name of the table, for the differences.
        names: its key columns.
        stored: the stored rows.
        fresh: the recomputed rows.
        tolerance: largest difference of two numbers that are equal, relative above 1.
        sampled: whether the stored rows may be a sample.
    """
    keys, expected = ([tuple(row[name] for name in names) for row in rows] for rows in (stored, fresh))
    counts, theirs = Counter(keys), dict(zip(expected, fresh, strict=True))
    whole = True
    for key in sorted(counts if sampled else counts.keys() | theirs.keys(), key=repr):
        if key not in theirs or counts[key] != 1:
            present = "present" if counts[key] == 1 else f"{counts[key]} times" if counts[key] else "absent"
            yield Mismatch(table, _row_text(names, key), "(row)", present, "present" if key in theirs else "absent")
            whole = False
    for key, row in zip(keys, stored, strict=True):
        for column, value in row.items() if key in theirs else ():
            if not _equal(value, theirs[key][column], tolerance):
                yield Mismatch(table, _row_text(names, key), column, str(value), str(theirs[key][column]))
    for key, other in zip(keys, (key for key in expected if key in counts), strict=False) if whole else ():
        if key != other:
            yield Mismatch(table, _row_text(names, key), "(order)", "here", _row_text(names, other))
            return


def _row_text(names: Sequence[str], key: Sequence[Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True))


def _equal(stored: Any, fresh: Any, tolerance: float) -> bool:
    if isinstance(stored, float) and isinstance(fresh, float):
        return math.isclose(stored, fresh, rel_tol=tolerance, abs_tol=tolerance)
    return type(stored) is type(fresh) and bool(stored == fresh)


def _rows_with(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """Return the rows whose column has one of these values."""
    return table.filter(pc.field(column).isin(values))
