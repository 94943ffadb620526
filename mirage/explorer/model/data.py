"""Data of the Model page: one system's ratings, errors, features, opponents and runs.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.battles.referee import Referee
from mirage.explorer.battle.matrix import matrix
from mirage.explorer.features.data import overview
from mirage.explorer.hallucination.data import both_rates
from mirage.explorer.hallucination.data import systems as answering
from mirage.explorer.leaderboard.comparison import language_rows
from mirage.explorer.leaderboard.data import Board
from mirage.stages.features import FEATURES
from mirage.store import SystemRun, split_run, system_runs

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

SHOWN = 3
"""Number of best and worst opponents shown."""


def by_language(board: Board, system: str) -> pa.Table:
    """Return a system's rows of each language, and of `all` if there are several."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from mirage.explorer.leaderboard.comparison import board_rows

    single, joint = language_rows(board), board_rows(board)
    names = ("language", "system", "rank", "rank_low", "rank_high", "rating", "low", "high", "battles")
    parts = [joint, single] if len(board.languages) > 1 else [single]
    rows = pa.concat_tables([part.select(names) for part in parts], promote_options="permissive")
    return rows.filter(pc.equal(rows["system"], system))


@lru_cache(maxsize=16)
def _runs(arena: Arena) -> tuple[SystemRun, ...]:
    return system_runs(arena)


def over_time(board: Board, arena: Arena, system: str) -> pa.Table:
    """Return the runs of a system, the earliest first, with their ratings in one ranking of all systems.

    Args:
        board: the leaderboard.
        arena: the arena.
        system: the system, or one of its earlier runs.

    Returns:
        `system` (name of the run), `date, rating, low, high, battles`; null if the run is not rated.
    """
    import pyarrow as pa

    name, _ = split_run(system)
    rated = {row["system"]: row for row in board.rows.to_pylist()}
    numbers = {"rating": pa.float64(), "low": pa.float64(), "high": pa.float64(), "battles": pa.int64()}
    runs = [run for run in _runs(arena) if run.system == name]
    columns = {
        "system": pa.array([run.name for run in runs], pa.string()),
        "date": pa.array([run.date or "unknown" for run in runs], pa.string()),
    }
    for column, kind in numbers.items():
        columns[column] = pa.array([rated.get(run.name, {}).get(column) for run in runs], kind)
    return pa.table(columns)


@lru_cache(maxsize=64)
def error_rates(arena: Arena, system: str, picked: tuple[str, ...]) -> pa.Table | None:
    """Return both rates of a system over the languages, `metric, value, low, high, n`; None without outcomes."""
    import pyarrow as pa

    if "outcomes" not in arena.tables or system not in answering(arena):
        return None
    cells = both_rates(arena, None, picked=picked).cells.to_pylist()
    rows = [cell for cell in cells if (cell["language"], cell["system"]) == ("all", system)]
    names = ("metric", "value", "low", "high", "n")
    return pa.table({name: [row[name] for row in rows] for name in names}) if rows else None


@lru_cache(maxsize=64)
def feature_means(arena: Arena, system: str, languages: tuple[str, ...]) -> pa.Table:
    """Return a system's mean of each feature over the languages: `feature, title, mean, low, high, n`."""
    import pyarrow as pa

    shown = overview(arena, languages)
    rows = []
    for feature in shown.features:
        for row in shown.over[feature].to_pylist():
            if row["system"] == system and row["mean"] is not None:
                title = FEATURES[feature].title if feature in FEATURES else feature
                rows.append({"feature": feature, "title": title, **{k: row[k] for k in ("mean", "low", "high", "n")}})
    names = ("feature", "title", "mean", "low", "high", "n")
    return pa.table({name: [row[name] for row in rows] for name in names})


@lru_cache(maxsize=64)
def opponents(arena: Arena, referee: Referee, system: str, languages: tuple[str, ...]) -> pa.Table:
    """Return a system's opponents, by its win share, highest first.

    Returns:
        `system` (the other), `wins, ties, losses, n, share` (of battles with a winner) and its interval `low, high`.
    """
    import pyarrow as pa

    cells = [cell for cell in matrix(arena, referee, languages).cells.values() if cell.system == system]
    cells.sort(key=lambda cell: (-1.0 if cell.share is None else -cell.share, cell.other))
    columns: dict[str, list[object]] = {"system": [cell.other for cell in cells]}
    columns |= {name: [getattr(cell, name) for cell in cells] for name in ("wins", "ties", "losses", "n", "share")}
    for k, name in enumerate(("low", "high")):
        columns[name] = [cell.interval[k] if cell.interval is not None else None for cell in cells]
    return pa.table(columns)


def ends(rows: pa.Table) -> pa.Table:
    """Return the first and the last opponents; all if there are few."""
    import pyarrow as pa

    if len(rows) <= 2 * SHOWN:
        return rows
    return pa.concat_tables([rows.slice(0, SHOWN), rows.slice(len(rows) - SHOWN)])
