"""View of the lead: which battles decide the lead of the first system over the next?"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.ranking.fit import logistic
from mirage.ranking.threads import one_thread
from mirage.schema import Code
from mirage.store.arena import Arena
from mirage.views.board import DEFAULT, BoardChoice, board_view, ranking_of
from mirage.views.cache import cached_view

MOST = 20
"""Number of battles to list."""
_DECIMALS = 9
"""Decimal places up to which changes are compared: the order is then the same on every processor."""


@dataclass(frozen=True, slots=True)
class InfluentialBattle:
    """A battle of two systems on a query, with the change of the lead without it."""

    key = ("language", "query_id", "first", "second")

    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    first: str
    """The system that won more points; for a tie the first by name."""
    second: str
    """The other."""
    change: float
    """Change, without the battle, of the leader's expected share of points against the next, in percentage points."""


@dataclass(frozen=True, eq=False)
class InfluenceView:
    """The battles with the most influence on the lead of the first system over the next."""

    battles: pa.Table
    """Rows of `InfluentialBattle`, the largest change first."""
    conclusion: str
    """Sentence on how much the lead depends on a single battle; empty for fewer than two systems."""


@cached_view
def influence_view(arena: Arena, choice: BoardChoice = DEFAULT) -> InfluenceView:
    """Return the battles with the most influence on the lead of the board's first system over the next, each removed on
    its own; arguments and errors as of `board_view`.
    """
    board = board_view(arena, choice)
    rows, found = board.rows.to_pylist()[:2], list[tuple[InfluentialBattle, float]]()
    if len(rows) < 2:
        return InfluenceView(schema.from_rows(InfluentialBattle, []), "")
    if not board.by_query:
        said = "There are too many battles to compute the influence of each."
        return InfluenceView(schema.from_rows(InfluentialBattle, []), said)
    leader, other = (row["system"] for row in rows)
    lead, ranking = np.array(rows[0]["rating"] - rows[1]["rating"]), ranking_of(arena, choice)
    with one_thread():
        parts = ranking.by_query
        changes = {
            code: 100 * (logistic(lead + part.removal_moves(leader, other) / len(parts))[0] - logistic(lead)[0])
            for code, part in parts.items()
        }
    every = np.sort(np.concatenate([np.abs(part).round(_DECIMALS).ravel() for part in changes.values()]))
    least = max(every[-MOST:][0], 10.0**-_DECIMALS)
    for code, change in changes.items():
        part, queries = parts[code], ranking.battles[code].queries
        i, j = part.each.ends
        for q, p in np.argwhere(np.abs(change).round(_DECIMALS) >= least).tolist():
            pair = part.systems[i[p]], part.systems[j[p]]
            names = pair if part.each.first[q, p] >= part.each.second[q, p] else pair[::-1]
            size = float(np.abs(change[q, p]).round(_DECIMALS))
            found.append((InfluentialBattle(code, queries[q], *names, float(change[q, p])), size))
    found.sort(key=lambda item: (-item[1], *(getattr(item[0], name) for name in InfluentialBattle.key)))
    battles = schema.from_rows(InfluentialBattle, [battle for battle, _ in found[:MOST]])
    n = sum(int(np.count_nonzero(part.each.first + part.each.second)) for part in parts.values())
    if not found:
        return InfluenceView(battles, f"No single battle moves the lead of {leader} over {other}.")
    alike = f", of {len(found):,} that move it as much" if len(found) > MOST else ""
    return InfluenceView(
        battles,
        f"Without one battle, the win rate of {leader} against {other} changes by at most "
        f"{found[0][1]:.2g} percentage points; listed are the {len(battles)} of {n:,} "
        f"battles that move it most{alike}.",
    )
