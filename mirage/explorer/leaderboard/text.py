"""Conclusion of the Leaderboard in a sentence."""

from __future__ import annotations

from functools import lru_cache

from mirage.battles.referee import POOLED, Referee
from mirage.explorer.leaderboard.data import Board
from mirage.schema import Skill
from mirage.text.languages import name_of
from mirage.text.segmentation import counted, listed

FEW = 4
"""Languages that a sentence names."""
SKILLS: dict[Skill, str] = {"both": "", "abstain": " at abstaining", "answer": " at answering"}
"""Skill that relevance labels rank by, after the rank."""


@lru_cache(maxsize=64)
def conclusion(board: Board, referee: str, skill: Skill) -> str:
    """Return the best system with its rating, interval and n; empty for fewer than two systems.

    Args:
        board: the leaderboard.
        referee: `relevance`, a judge's name, or `pooled`.
        skill: which queries count.
    """
    rows = board.rows.to_pylist()
    if len(rows) < 2:
        return ""
    best = min(rows, key=lambda row: row["rank"])
    code = best["language"]
    sure = f", {_sure(board.ranking.tiers[code].alike(best['system']), len(rows))}" if board.ranking.battles else ""
    by = SKILLS[skill]
    if not Referee.from_name(referee).by_labels:
        by = f" by {'all judges' if referee == POOLED else referee}"
    evidence = f"{_rating(best['rating'])}, {_interval(best['low'], best['high'])}, n = {best['battles']:,} battles"
    rank = f"ranks first of {len(rows)} systems{by} {_where(board.languages)}"
    return f"{best['system']} {rank} ({evidence}){sure}."


@lru_cache(maxsize=64)
def card_of(board: Board, referee: str, system: str) -> tuple[str, tuple[str, ...]]:
    """Return the value and lines of a system's card: rating, interval and n.

    Args:
        board: the leaderboard.
        referee: `relevance`, a judge's name, or `pooled`.
        system: one of its systems.
    """
    rows = board.rows.to_pylist()
    row = next(row for row in rows if row["system"] == system)
    rank = f"rank {row['rank']} of {len(rows)}"
    low, high = row["rank_low"], row["rank_high"]
    if board.ranking.battles:
        low, high = board.ranking.tiers[row["language"]].rank_range(system)
    if None not in (low, high):
        rank += f" (95% CI {low} to {high})"
    by = "all judges" if referee == POOLED else f"{referee} labels" if Referee.from_name(referee).by_labels else referee
    n = f"n = {counted(row['battles'], 'battle')}, {counted(len(board.languages), 'language')}, by {by}"
    value = f"Rating {_rating(row['rating'])} logits, {_interval(row['low'], row['high'])}"
    return value, (rank[0].upper() + rank[1:], n)


def _rating(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")


def _interval(low: float | None, high: float | None) -> str:
    """An interval in words; an end that is None has no bound."""
    if low is None or high is None:
        return "unbounded" if low is None else f"from {_rating(low)} upwards, unbounded"
    return f"95% CI {_rating(low)} to {_rating(high)}"


def _where(languages: tuple[str, ...]) -> str:
    names = [name_of(code) for code in languages]
    if len(names) > FEW:
        return f"over {len(names)} languages"
    return f"in {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}"


def _sure(alike: tuple[str, ...], systems: int) -> str:
    """Describe whether the best system is significantly ahead."""
    if not alike:
        return "significantly ahead of all others"
    if len(alike) == systems - 1:
        return "not significantly ahead of any other"
    return f"not significantly ahead of {listed(sorted(alike), 'other system')}"
