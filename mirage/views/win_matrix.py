"""View of the win matrix: battles between all pairs of systems, by judge."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from mirage.battles.judge import judges
from mirage.errors import UnknownName
from mirage.ranking.judges import Judge
from mirage.stats.intervals import wilson
from mirage.store.arena import Arena
from mirage.views.cache import cached_view


@dataclass(frozen=True, slots=True)
class Cell:
    """All battles of one system against another, by one judge."""

    system: str
    other: str
    wins: int
    """Queries on which `system` is better."""
    ties: int
    losses: int
    unparsed: int
    """Queries without a parsed verdict."""

    @property
    def n(self) -> int:
        """Queries that both systems answered."""
        return self.wins + self.ties + self.losses + self.unparsed

    @property
    def share(self) -> float | None:
        """Share of `wins` in the battles with a winner, in [0, 1]; null if there is none."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of `share` (Wilson); conservative over several languages."""
        decided = self.wins + self.losses
        return wilson(self.wins, decided) if decided else None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Win matrix of all pairs of systems."""

    systems: tuple[str, ...]
    """Systems with battles, by mean win share, best first."""
    cells: Mapping[tuple[str, str], Cell]
    """One cell per ordered pair of systems with battles."""

    @property
    def first_pair(self) -> tuple[str, ...]:
        """Default systems: the best two with a decided battle, else the first two."""
        pairs = itertools.combinations(self.systems, 2)
        decided = (pair for pair in pairs if (cell := self.cells.get(pair)) is not None and cell.share is not None)
        return next(decided, self.systems[:2])

    @cached_property
    def table(self) -> pa.Table:
        """The cells as rows of a table."""
        rows = [self.cells[pair] for pair in sorted(self.cells)]
        names = ("system", "other", "wins", "ties", "losses", "unparsed", "n", "share")
        columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in names}
        columns |= {end: [row.interval and row.interval[i] for row in rows] for i, end in enumerate(("low", "high"))}
        return pa.table(columns)

    def opponents(self, system: str, most: int) -> pa.Table | None:
        """Return a system's first and last opponents by its win share, highest first; None without battles.

        Args:
            system: the system.
            most: maximum number of first, and of last opponents.
        """
        cells = [row | {"system": row["other"]} for row in self.table.to_pylist() if row["system"] == system]
        cells.sort(key=lambda row: (-1.0 if row["share"] is None else -row["share"], row["other"]))
        if len(cells) > 2 * most:
            cells = [*cells[:most], *cells[-most:]]
        return pa.Table.from_pylist(cells) if cells else None


@cached_view
def matrix(arena: Arena, judge: Judge, languages: tuple[str, ...] = ()) -> Matrix:
    """Return the win matrix by a judge.

    Args:
        arena: the arena.
        judge: relevance labels, nuggets or a judge; its skill does not restrict the queries.
        languages: codes; all if empty.

    Raises:
        UnknownName: if the judge decides no battles of the arena.
    """
    if judge.name not in judges(arena):
        raise UnknownName("judge", judge.name, judges(arena))
    counts = judge.count_pairs(arena, languages)
    cells = {}
    for (x, y), (wins, losses, ties, unparsed) in sorted(counts.items()):
        cells[x, y] = Cell(x, y, wins, ties, losses, unparsed)
        cells[y, x] = Cell(y, x, losses, ties, wins, unparsed)
    shares: dict[str, list[float]] = {}
    for cell in cells.values():
        shares.setdefault(cell.system, []).append(0.5 if cell.share is None else cell.share)
    order = sorted(shares, key=lambda system: (-sum(shares[system]) / len(shares[system]), system))
    return Matrix(tuple(order), cells)
