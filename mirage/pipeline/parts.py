"""Sharding of an arena for machines that do not communicate: split it, work on each part, merge the parts.

A part is an arena next to the whole, with the rows of its queries and the replies so far. Every command works on it.
Merging is by key: new rows are added, equal rows merged, an answer or value replaces the reason for its absence, and
any other difference is a conflict, which is rejected before anything is written. So the order of the parts does not
matter, nor repeated merges.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput, Outdated
from mirage.llm.calls import describe
from mirage.llm.engines.shards import QUERY, Shard
from mirage.stages.features.measuring import SCORES
from mirage.stages.generate.prepare import SOUND
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.ledger import Ledger, ledger_path
from mirage.store.upsert import NewRows, not_about, read_consistently, retry_outdated, upsert
from mirage.store.writing import Provenance

_NAMED = ("answers", "judgments")
"""Tables of which a system or judge makes all rows in one way."""
_SHOWN = 5
"""Maximum number of conflicts in an error."""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """Result of a merge."""

    arena: Arena
    """The whole arena after the merge."""
    rows: Mapping[str, int]
    """Number of new or changed rows by table."""
    replies: int
    """Number of new replies in the ledger."""


@dataclass(frozen=True, slots=True)
class _Side:
    """Incoming rows and their provenance."""

    where: str
    tables: Mapping[str, pa.Table]
    origins: Mapping[str, Mapping[str, Any]]
    """Provenance by table, as in the manifest."""
    labels: schema.Maker | None
    """Maker of the queries' labels; None for unknown."""


def cut(path: Path, shard: Shard) -> Path:
    """Create the part of an arena with a shard of its queries, or update an existing one.

    Args:
        path: the arena's folder.
        shard: the shard.

    Returns:
        The part's folder, beside the arena's.

    Raises:
        ArenaError: if there is no arena, or the part cannot be written.
        BadInput: if the part conflicts with the arena.
    """
    path = path.absolute()
    part = path.with_name(f"{path.name}.{shard.name}")

    arena, side = read_consistently(path, lambda arena: (arena, _side(arena, str(path), shard.rows)))
    texts = {"title": f"{arena.title}, part {shard.number} of {shard.count}", "label": arena.label}
    retry_outdated(partial(_put, part, [side], texts))
    _absorb(part, [path])
    return part


def merge(path: Path, parts: Sequence[Path]) -> MergeReport:
    """Merge the rows and replies of parts into an arena.

    Args:
        path: the arena's folder.
        parts: folders of parts, in any order.

    Raises:
        ArenaError: if one is not an arena or is damaged, or the arena cannot be written.
        BadInput: if two sides have different values under one key, or made a system's rows differently. Nothing is then
            written.
    """
    open_arena(path)
    sides = [read_consistently(part, partial(_side, where=str(part))) for part in sorted(set(parts))]
    rows = retry_outdated(partial(_put, path, sides, {}))
    replies = _absorb(path, parts)
    return MergeReport(open_arena(path), rows, replies)


def _side(arena: Arena, where: str, rows: Callable[[pa.Table], pa.Table] = lambda table: table) -> _Side:
    """Return the tables of an arena that are about its queries, or some of their rows, with their provenance."""
    names = [name for name in arena.tables if set(QUERY) <= set(schema.key(name))]
    tables = {name: rows(arena.read(name)) for name in names}
    return _Side(where, tables, arena.manifest["made"], arena.manifest.get("labels"))


def _absorb(path: Path, others: Iterable[Path]) -> int:
    """Merge ledgers of replies and scores; return the number of new replies."""
    new = 0
    for file in (ledger_path, lambda folder: folder / SCORES):
        for other in sorted(others):
            if file(other).exists():
                with Ledger(file(path)) as ledger:
                    count = ledger.absorb(file(other))
                new += count if file is ledger_path else 0
    return new


def _put(path: Path, sides: Sequence[_Side], texts: Mapping[str, str]) -> dict[str, int]:
    """Merge the sides into an arena, table by table; conflicts are rejected before anything is written."""
    arena = open_arena(path) if is_arena(path) else None
    names = [name for name in schema.TABLES if any(name in side.tables for side in sides)]
    merged: dict[str, pa.Table] = {}
    rows: dict[str, int] = {}
    problems: list[str] = []
    altered: pa.Table | None = None
    for name in names:
        old = arena.read(name) if arena is not None and name in arena.tables else None
        if old is not None and altered is not None and name != "answers":
            old = not_about(old, altered, name)
        merged[name], rows[name], changed = _table(name, old, sides, problems)
        altered = changed if name == "answers" else altered
        ways_of = _settings(name, arena, sides) if name in _NAMED else {}
        problems += [
            f"{name} of {owner} made with {' and with '.join(map(describe, ways))}"
            for owner, ways in ways_of.items()
            if len(ways) > 1
        ]
    if problems:
        more = f", and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
        raise BadInput(
            f"{len(problems):,} conflicts: {'; '.join(problems[:_SHOWN])}{more}",
            where=", ".join([str(path), *(side.where for side in sides)]),
            do="delete the outdated part and create it again, or rename one of the systems",
        )
    for name in names:
        if arena is None or name not in arena.tables or rows[name]:
            arena = _write(path, name, merged, arena, sides, texts)
    return {name: count for name, count in rows.items() if count}


def _table(
    name: str, old: pa.Table | None, sides: Sequence[_Side], problems: list[str]
) -> tuple[pa.Table, int, pa.Table]:
    """Return a merged table, the number of incoming rows, and the keys of replaced rows."""
    keys = list(schema.key(name))
    empty = schema.arrow_schema(name).empty_table()
    incoming = pa.concat_tables([empty, *(side.tables[name] for side in sides if name in side.tables)])
    before = empty if old is None else old
    origin = pa.array([0] * len(before) + [1] * len(incoming), pa.int8())
    rows = pa.concat_tables([before, incoming]).append_column("new", origin)
    distinct = rows.group_by(before.column_names, use_threads=False).aggregate([("new", "min")])
    counts = distinct.group_by(keys, use_threads=False).aggregate([([], "count_all")])
    contested = counts.filter(pc.greater(counts["count_all"], 1)).select(keys)
    columns = distinct.column_names
    agreed = distinct.join(contested, keys, join_type="left anti").select(columns)
    disputed: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in distinct.join(contested, keys, join_type="left semi").to_pylist():
        disputed.setdefault(tuple(row[key] for key in keys), []).append(row)
    chosen = []
    for key, candidates in sorted(disputed.items()):
        best = [row for row in candidates if _has_value(name, row)] or candidates
        if len(best) > 1:
            problems.append(
                f"{name} has two values for " + ", ".join(f"{k} {v}" for k, v in zip(keys, key, strict=True))
            )
        chosen.append(best[0])
    winners = pa.Table.from_pylist(chosen, agreed.schema)
    result = pa.concat_tables([agreed, winners])
    replaced = winners.filter(pc.equal(winners["new_min"], 1)).select(keys)
    table = result.select(before.column_names).cast(empty.schema)
    return table, int(pc.sum(result["new_min"]).as_py() or 0), replaced


def _has_value(name: str, row: Mapping[str, Any]) -> bool:
    """Return whether a row has a value that another row of its key only gives the reason for lacking."""
    if name == "answers":
        return row["status"] in SOUND
    return name != "features" or row["value"] is not None


def _origins(name: str, arena: Arena | None, sides: Sequence[_Side]) -> list[Mapping[str, Any]]:
    """Return the provenance of a table on all sides."""
    origins = [side.origins for side in sides] + ([arena.manifest["made"]] if arena is not None else [])
    return [by_table[name] for by_table in origins if name in by_table]


def _settings(name: str, arena: Arena | None, sides: Sequence[_Side]) -> dict[str, list[Mapping[str, Any]]]:
    """Return by owner the different ways in which its rows were made, on all sides."""
    ways: dict[str, list[Mapping[str, Any]]] = {}
    for origin in _origins(name, arena, sides):
        for owner, made in origin.get("settings", {}).items():
            if made not in ways.setdefault(owner, []):
                ways[owner].append(made)
    return dict(sorted(ways.items()))


def _write(
    path: Path,
    name: str,
    merged: Mapping[str, pa.Table],
    arena: Arena | None,
    sides: Sequence[_Side],
    texts: Mapping[str, str],
) -> Arena:
    """Write one merged table."""

    def refuse_changed(current: Arena) -> None:
        if arena is None or current.version != arena.version:
            raise Outdated("another program has changed the arena", do="rerun the command")

    origins = _origins(name, arena, sides)
    sources = {repr(sorted(source.items())): source for origin in origins for source in origin.get("from", [])}
    labels = {side.labels for side in sides} | (set() if arena is None else {arena.manifest.get("labels")})
    notes = sorted({note for origin in origins for note in origin.get("notes", [])})
    if name == "outcomes":
        # These depend on the answers of a part.
        notes = list(OUTCOMES.remarks(merged)) if {"queries", "answers"} <= set(merged) else notes
    result = upsert(
        path,
        {name: NewRows(merged[name])},
        made_by=Provenance(
            min(side.origins[name]["by"] for side in sides if name in side.tables),
            sources=[sources[text] for text in sorted(sources)],
            notes=notes,
            settings={owner: ways[-1] for owner, ways in _settings(name, arena, sides).items()},
            labels=labels.pop() if len(labels) == 1 else None,
        ),
        texts=(lambda before: texts if before is None else {}),
        check=refuse_changed,
    )
    return result.arena
