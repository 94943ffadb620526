"""Displayed rows of the Leaderboard: relative to a reference, on a scale, with tiers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.explorer.leaderboard.data import BEHIND, Board
from mirage.ranking.design import designs
from mirage.ranking.leaderboard import DIFFERENCES, leaderboard
from mirage.ranking.scale import Scale

if TYPE_CHECKING:
    import pyarrow as pa

RANKS = ("rank_low", "rank_high")
"""Ends of the interval of a rank."""


@lru_cache(maxsize=64)
def board_rows(board: Board, reference: str | None = None, scale: Scale = "logit") -> pa.Table:
    """Return the displayed rows of a board.

    Args:
        board: the board.
        reference: system that the others are compared with; None for ratings.
        scale: of `rating`, `low` and `high`.

    Returns:
        The board's rows with `rating`, `low` and `high` on the scale, of the difference to the reference where there is
        one; `rank_low` and `rank_high`, the ranks that the tests leave open (`Tiers.rank_range`); `tier_low` and
        `tier_high`, the tiers in which a system may stand, which are its own where it has one; and `alike`, the ranks
        of the systems that it is not separated from, as text, null where there are none; and `best`, `tied` if a system
        is tied with the best by the interval of its rank, or `best` if it alone is; null for all others.

    Raises:
        UnknownName: if the reference has no row.
    """
    import pyarrow as pa

    language = board.rows["language"][0].as_py()
    if reference is not None:
        board.ranking.difference(reference, reference, language=language)
    scaled = leaderboard(board.ranking, language, reference=reference, scale=scale).to_pylist()
    behind = board.rows.select(BEHIND).to_pylist()
    shown = [row | counts for row, counts in zip(scaled, behind, strict=True)]
    tiers = board.ranking.tiers[language] if board.ranking.battles else None
    ranks = {row["system"]: row["rank"] for row in shown}
    for row in shown:
        system = row["system"]
        if reference is not None:
            row["rating"], row["low"], row["high"] = (row.pop(name) for name in DIFFERENCES)
        if tiers is not None:
            row["rank_low"], row["rank_high"] = tiers.rank_range(system)
        span = (row["tier"],) * 2 if row["tier"] is not None else tiers.span(system) if tiers is not None else None
        row["tier_low"], row["tier_high"] = span or (None, None)
        alike = tiers.alike(system) if tiers is not None else ()
        row["alike"] = rank_runs([ranks[other] for other in alike], sorted(set(ranks.values()))) or None
    first = [row["system"] for row in shown if row["rank_low"] == 1]
    for row in shown:
        row["best"] = None if row["system"] not in first else "tied" if len(first) > 1 else "best"
    texts = {name: pa.array([row[name] for row in shown], pa.string()) for name in ("alike", "best")}
    return pa.table({name: [row[name] for row in shown] for name in shown[0]} | texts)


@lru_cache(maxsize=64)
def language_rows(board: Board) -> pa.Table:
    """Return the rows of each language, with the ranks compatible with the tests as `rank_low` and `rank_high`."""
    return _open_ranks(board, board.ranks, RANKS)


def _open_ranks(board: Board, table: pa.Table, names: tuple[str, str]) -> pa.Table:
    """Set two columns to the ranks compatible with the tests; unchanged without tests."""
    import pyarrow as pa

    if not board.ranking.battles:
        return table
    keys = zip(table["language"].to_pylist(), table["system"].to_pylist(), strict=True)
    ranges = [board.ranking.tiers[code].rank_range(system) for code, system in keys]
    for k, name in enumerate(names):
        column = pa.array([ends[k] for ends in ranges], pa.int64())
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, column)
        else:
            table = table.append_column(name, column)
    return table


@lru_cache(maxsize=64)
def everything(board: Board, reference: str | None = None) -> pa.Table:
    """Return all data of the page as one table in logits; with a reference, also the differences to it.

    The columns `rank_best` and `rank_worst` are the ranks compatible with the tests.
    """
    if reference is None:
        return _open_ranks(board, board.everything, ("rank_best", "rank_worst"))
    table = leaderboard(board.ranking, reference=reference)
    for name in BEHIND:
        table = table.append_column(name, board.everything[name])
    return _open_ranks(board, table, ("rank_best", "rank_worst"))


@lru_cache(maxsize=64)
def design_lines(board: Board) -> tuple[str, ...]:
    """Return the weaknesses of the battle design, one line each."""
    return designs(board.ranking.battles)


def rank_runs(chosen: Sequence[int], ranks: Sequence[int]) -> str:
    """Format ranks, with neighbours as a range: `2–5, 7`.

    Args:
        chosen: the ranks.
        ranks: all ranks that are held, ascending: those that stand side by side here make a run.
    """
    places = sorted({ranks.index(number) for number in chosen})
    parts: list[list[int]] = []
    for place in places:
        if parts and place == parts[-1][-1] + 1:
            parts[-1].append(place)
        else:
            parts.append([place])
    return ", ".join(
        f"{ranks[part[0]]}" if len(part) == 1 else f"{ranks[part[0]]}–{ranks[part[-1]]}"  # a range
        for part in parts
    )
