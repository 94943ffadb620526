"""Questions that systems answer without passages.

closed_book(arena, ["gpt-4 without passages"])
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mirage.errors import UnknownName
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.intervals import wilson
from mirage.store.arena import Arena
from mirage.text.languages import in_order


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Questions that a system answers without passages."""

    key = ("system", "language")

    system: str
    """The system, asked without passages."""
    language: CodeOrAll
    """Language of the queries; `all`: every language pooled."""
    n: Count
    """Answerable queries with a decided answer of the system."""
    answered: Count
    """Queries that it answers."""
    rate: Share | None
    """answered / n; null if n is 0."""
    rate_low: Share | None
    """Lower end of the 95% interval (Wilson's)."""
    rate_high: Share | None
    """Upper end."""


def closed_book(arena: Arena, systems: Sequence[str]) -> list[ClosedBook]:
    """Count the questions that systems answer without passages.

    Args:
        arena: with outcomes of the systems.
        systems: systems that were asked without passages.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if a system has no outcome.
    """
    arena.need("outcomes")
    table = arena.sql(
        "SELECT system, language, count(*) FILTER (outcome IN ('answered', 'abstained')) AS n, "
        "count(*) FILTER (outcome = 'answered') AS k FROM outcomes "
        "WHERE parser = 'strict' AND subset = 'relevant' GROUP BY ALL"
    )
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for row in table.to_pylist():
        if row["n"]:
            counts.setdefault(row["system"], {})[row["language"]] = row["k"], row["n"]
    present = sorted(arena.sql("SELECT DISTINCT system FROM outcomes")["system"].to_pylist())
    rows = []
    for system in dict.fromkeys(systems):
        if system not in present:
            raise UnknownName("system", system, present, where=f"{arena.address} (outcomes)")
        own = counts.get(system, {})
        cells = {code: own[code] for code in in_order(own)}
        if len(cells) != 1:
            cells["all"] = sum(k for k, _ in own.values()), sum(n for _, n in own.values())
        for code, (k, n) in cells.items():
            rate = (k / n, *wilson(k, n)) if n else (None, None, None)
            rows.append(ClosedBook(system, code, n, k, *rate))
    return rows
