"""What a page comes to, in a sentence."""

from __future__ import annotations

from functools import lru_cache

from mirage.battles.referee import POOLED, Referee
from mirage.explorer.leaderboard.data import Board
from mirage.schema import Skill
from mirage.text.languages import name_of
from mirage.text.segmentation import counted, listed

FEW = 4
"""Languages that a sentence names."""
SKILLS: dict[Skill, str] = {
    "both": "answers from the passages best",
    "abstain": "abstains best where no passage answers",
    "answer": "answers best where a passage does",
}
"""What relevance labels say of the best system, by skill."""


@lru_cache(maxsize=64)
def conclusion(board: Board, referee: str, skill: Skill) -> str:
    """Which system is best, of how many, how sure that is and on what it rests; empty of fewer than two systems.

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
    sure = f"; {_sure(board.ranking.tiers[code].alike(best['system']), len(rows))}" if board.ranking.battles else ""
    if Referee.from_name(referee).by_labels:
        does = f"{SKILLS[skill]} of {len(rows)} systems"
    else:
        does = f"is rated best of {len(rows)} systems by {'all judges' if referee == POOLED else referee}"
    evidence = f"rating {_rating(best['rating'])}, {_interval(best['low'], best['high'])}"
    evidence += f", n = {best['battles']:,} battles"
    return f"{_where(board.languages)} {best['system']} {does} ({evidence}){sure}."


@lru_cache(maxsize=64)
def card_of(board: Board, referee: str, system: str) -> tuple[str, tuple[str, ...]]:
    """What a card says of a system: its rating with the interval, and what that rests on.

    Args:
        board: the leaderboard.
        referee: `relevance`, a judge's name, or `pooled`.
        system: one of its systems.
    """
    rows = board.rows.to_pylist()
    row = next(row for row in rows if row["system"] == system)
    rank = f"rank {row['rank']} of {len(rows)}"
    if None not in (row["rank_low"], row["rank_high"]):
        rank += f" (95% interval {row['rank_low']} to {row['rank_high']})"
    by = "all judges" if referee == POOLED else f"{referee} labels" if Referee.from_name(referee).by_labels else referee
    n = f"n = {counted(row['battles'], 'battle')}, {counted(len(board.languages), 'language')}, by {by}"
    value = f"Rating {_rating(row['rating'])} logits, {_interval(row['low'], row['high'])}"
    return value, (rank[0].upper() + rank[1:], n)


def _rating(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")


def _interval(low: float | None, high: float | None) -> str:
    """An interval in words; an end that is None has no bound."""
    if low is None or high is None:
        return "which the data leaves unbounded" if low is None else f"from {_rating(low)} without an upper bound"
    return f"95% interval {_rating(low)} to {_rating(high)}"


def _where(languages: tuple[str, ...]) -> str:
    names = [name_of(code) for code in languages]
    if len(names) > FEW:
        return f"Over {len(names)} languages"
    return f"In {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}"


def _sure(alike: tuple[str, ...], systems: int) -> str:
    """How far the best system stands apart."""
    if not alike:
        return "a test separates it from every other"
    if len(alike) == systems - 1:
        return "no test separates it from any other"
    return f"no test separates it from {listed(sorted(alike), 'other system')}"
