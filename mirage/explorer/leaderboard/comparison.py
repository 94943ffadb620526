"""Displayed rows of the Leaderboard: relative to a reference, on a scale, with the systems as good."""

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


@lru_cache(maxsize=64)
def board_rows(board: Board, reference: str | None = None, scale: Scale = "logit") -> pa.Table:
    """Return the displayed rows of a board.

    Args:
        board: the board.
        reference: system that the others are compared with; None for ratings.
        scale: of `rating`, `low` and `high`.

    Returns:
        The board's rows with `rating`, `low` and `high` on the scale, of the difference to the reference where there is
        one; and `alike`, the ranks of the systems that it is not separated from, as text, null where there are none.

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
    tests = board.ranking.tests[language]
    ranks = {row["system"]: row["rank"] for row in shown}
    for row in shown:
        system = row["system"]
        if reference is not None:
            row["rating"], row["low"], row["high"] = (row.pop(name) for name in DIFFERENCES)
        alike = [ranks[other] for other in tests.alike(system)]
        row["alike"] = rank_runs(alike, sorted(set(ranks.values()))) or None
    texts = {name: pa.array([row[name] for row in shown], pa.string()) for name in ("alike", "best")}
    return pa.table({name: [row[name] for row in shown] for name in shown[0]} | texts)


@lru_cache(maxsize=64)
def everything(board: Board, reference: str | None = None) -> pa.Table:
    """Return all data of the page as one table in logits; with a reference, also the differences to it."""
    if reference is None:
        return board.everything
    table = leaderboard(board.ranking, reference=reference)
    for name in BEHIND:
        table = table.append_column(name, board.everything[name])
    return table


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
