"""Ranks printed in the MIRAGE-Bench paper, for the Leaderboard page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.errors import UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


@dataclass(frozen=True, eq=False)
class PublishedRanks:
    """The ranks that Figure 4 of the MIRAGE-Bench paper prints."""

    rows: pa.Table
    """system, judge and surrogate (mean rank over the languages shown), `difference` (surrogate - judge), best and
    worst rank by the judge, number of languages; best mean rank by the judge first."""
    ranks: pa.Table
    """language, system, judge, surrogate: the printed ranks."""
    languages: tuple[str, ...]
    reference: str
    """Source of the figures."""

    @property
    def everything(self) -> pa.Table:
        """Return the page's data as one table; language `all` has mean ranks."""
        import pyarrow as pa

        means = [
            {"language": "all", "system": row["system"], "judge": row["judge"], "surrogate": row["surrogate"]}
            for row in self.rows.to_pylist()
        ]
        return pa.Table.from_pylist([*means, *self.ranks.to_pylist()])


@lru_cache(maxsize=64)
def published_ranks(arena: Arena, languages: tuple[str, ...]) -> PublishedRanks:
    """Return the printed ranks by the judge and by the surrogate.

    Raises:
        TableMissing: if the arena has no published figures.
        UnknownName: if these languages are not among them.
    """
    import pyarrow as pa

    arena.need("published")
    cells = arena.sql(
        "SELECT language, system, setting, value, reference FROM published "
        "WHERE source = 'MIRAGE-Bench' AND item = 'Figure 4' AND unit = 'rank' ORDER BY language, system"
    ).to_pylist()
    codes = sorted({cell["language"] for cell in cells} - {"all", ""})
    chosen = tuple(code for code in codes if not languages or code in languages)
    if not chosen:
        raise UnknownName("language", ", ".join(languages), codes, where="MIRAGE-Bench, Figure 4")
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in cells:
        if cell["language"] in chosen:
            pair = pairs.setdefault((cell["language"], cell["system"]), {"judge": None, "surrogate": None})
            pair["surrogate" if "surrogate" in cell["setting"].lower() else "judge"] = int(cell["value"])
    ranks = [{"language": code, "system": system, **pair} for (code, system), pair in pairs.items()]
    rows = []
    for system in sorted({row["system"] for row in ranks}):
        judge = [row["judge"] for row in ranks if row["system"] == system and row["judge"] is not None]
        surrogate = [row["surrogate"] for row in ranks if row["system"] == system and row["surrogate"] is not None]
        by_judge, by_surrogate = sum(judge) / len(judge), sum(surrogate) / len(surrogate)
        rows.append(
            {
                "system": system,
                "judge": by_judge,
                "surrogate": by_surrogate,
                "difference": by_surrogate - by_judge,
                "best": min(judge),
                "worst": max(judge),
                "languages": len(judge),
            }
        )
    rows.sort(key=lambda row: (row["judge"], row["system"]))
    return PublishedRanks(pa.Table.from_pylist(rows), pa.Table.from_pylist(ranks), chosen, cells[0]["reference"])
