"""Who beats whom by a referee: all battles of each two systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from mirage.battles.decision import ROW_WINNER_SQL, WINNER_SQL
from mirage.battles.referee import Referee, referees
from mirage.errors import UnknownName
from mirage.intervals import wilson

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

RIGHT = (
    "shown AS (SELECT language, query_id, system, coalesce(correct, false) AS ok FROM outcomes "
    "WHERE parser = 'strict' AND outcome NOT IN ('missing', 'api_error'))"
)
"""SQL of the answers that battle by human labels: whether each is right, as in `rank.from_outcomes`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """All battles of one system against another, by one referee."""

    system: str
    other: str
    wins: int
    """Queries on which `system` is better."""
    ties: int
    losses: int
    unparsed: int
    """Queries without a readable verdict."""

    @property
    def n(self) -> int:
        """Queries on which the two met."""
        return self.wins + self.ties + self.losses + self.unparsed

    @property
    def share(self) -> float | None:
        """Share of `wins` in the battles with a winner, in [0, 1]; null where none has one."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of `share` (Wilson); over several languages it is rather too wide."""
        decided = self.wins + self.losses
        return wilson(self.wins, decided) if decided else None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Who beats whom."""

    systems: tuple[str, ...]
    """Those that battled, by the mean of their shares, best first."""
    cells: Mapping[tuple[str, str], Cell]
    """A cell for each two systems that met, both ways round."""

    @cached_property
    def table(self) -> pa.Table:
        """The cells as rows."""
        import pyarrow as pa

        rows = [self.cells[pair] for pair in sorted(self.cells)]
        names = ("system", "other", "wins", "ties", "losses", "unparsed", "n", "share")
        columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in names}
        columns |= {end: [row.interval and row.interval[i] for row in rows] for i, end in enumerate(("low", "high"))}
        return pa.table(columns)


@lru_cache(maxsize=32)
def matrix(arena: Arena, referee: str, languages: tuple[str, ...] = ()) -> Matrix:
    """Who beats whom by a referee.

    Args:
        arena: the arena.
        referee: `relevance`, or a judge's name.
        languages: codes; all if empty.

    Raises:
        UnknownName: if nothing of that name decides battles here.
    """
    if referee not in referees(arena):
        raise UnknownName("referee", referee, referees(arena))
    values: dict[str, Any] = {"languages": list(languages)}
    chosen = "(len($languages) = 0 OR list_contains($languages, language))"
    if Referee.named(referee).by_labels:
        query = (
            f"WITH {RIGHT}, decided AS (SELECT x.system AS x, y.system AS y, "  # noqa: S608  # constants alone
            "CASE WHEN x.ok = y.ok THEN 'tie' WHEN x.ok THEN 'first' ELSE 'second' END AS result "
            f"FROM shown x JOIN shown y USING (language, query_id) WHERE x.system < y.system AND {chosen})"
        )
    else:
        values["judge"] = referee
        query = (
            "WITH seen AS (SELECT language, query_id, least(system_a, system_b) AS x, "  # noqa: S608
            f"greatest(system_a, system_b) AS y, {ROW_WINNER_SQL} AS winner "
            f"FROM judgments WHERE judge = $judge AND {chosen}), "
            f"decided AS (SELECT x, y, {WINNER_SQL} AS result FROM seen GROUP BY language, query_id, x, y)"
        )
    rows = arena.sql(
        f"{query} SELECT x, y, count(*) FILTER (result = 'first'), count(*) FILTER (result = 'tie'), "  # noqa: S608  # as above
        "count(*) FILTER (result = 'second'), count(*) FILTER (result = 'unparsed') FROM decided "
        "GROUP BY x, y ORDER BY x, y",
        values,
    )
    cells = {}
    for x, y, wins, ties, losses, unparsed in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        cells[x, y] = Cell(x, y, wins, ties, losses, unparsed)
        cells[y, x] = Cell(y, x, losses, ties, wins, unparsed)
    shares: dict[str, list[float]] = {}
    for cell in cells.values():
        shares.setdefault(cell.system, []).append(0.5 if cell.share is None else cell.share)
    order = sorted(shares, key=lambda system: (-sum(shares[system]) / len(shares[system]), system))
    return Matrix(tuple(order), cells)
