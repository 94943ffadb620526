"""Conclusion of the Leaderboard in a sentence."""

from __future__ import annotations

from functools import lru_cache

from mirage.battles.referee import Referee
from mirage.explorer.leaderboard.data import Board
from mirage.ranking.sentences import interval_text, languages_text, lead_text, rating_text
from mirage.schema import Skill
from mirage.text.segmentation import count_text

SKILLS: dict[Skill, str] = {"both": "", "abstain": " at abstaining", "answer": " at answering"}
"""Skill by which relevance labels rank."""


@lru_cache(maxsize=64)
def conclusion(board: Board, referee: Referee) -> str:
    """Return the best system with its rating, interval and n; empty for fewer than two systems.

    Args:
        board: the leaderboard.
        referee: decides the battles, and which queries count.
    """
    rows = board.rows.to_pylist()
    if len(rows) < 2:
        return ""
    best = min(rows, key=lambda row: row["rank"])
    code = best["language"]
    sure = f", {lead_text(board.ranking.tiers[code].alike(best['system']), len(rows))}" if board.ranking.battles else ""
    by = SKILLS[referee.skill]
    if not referee.by_labels:
        by = f" by {_name(referee)}"
    evidence = (
        f"{rating_text(best['rating'])}, {interval_text(best['low'], best['high'])}, n = {best['battles']:,} battles"
    )
    rank = f"ranks first of {len(rows)} systems{by} {languages_text(board.languages)}"
    return f"{best['system']} {rank} ({evidence}){sure}."


@lru_cache(maxsize=64)
def card_of(board: Board, referee: Referee, system: str) -> tuple[str, tuple[str, ...]]:
    """Return the value and lines of a system's card: rating, interval and n.

    Args:
        board: the leaderboard.
        referee: decides the battles.
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
    by = _name(referee) + " labels" * referee.by_labels
    n = f"n = {count_text(row['battles'], 'battle')}, {count_text(len(board.languages), 'language')}, by {by}"
    value = f"Rating {rating_text(row['rating'])} logits, {interval_text(row['low'], row['high'])}"
    return value, (rank[0].upper() + rank[1:], n)


def _name(referee: Referee) -> str:
    return "all judges" if referee.kind == "panel" else referee.name
