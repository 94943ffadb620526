"""View of the ranks printed in the MIRAGE-Bench paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.errors import UnknownName
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

_FIGURE = """
    SELECT language, system, CAST(max(value) FILTER (NOT contains(lower(setting), 'surrogate')) AS BIGINT) AS judge,
           CAST(max(value) FILTER (contains(lower(setting), 'surrogate')) AS BIGINT) AS surrogate,
           min(reference) AS reference
    FROM published
    WHERE source = 'MIRAGE-Bench' AND item = 'Figure 4' AND unit = 'rank' AND language NOT IN ('all', '')
    GROUP BY language, system ORDER BY language, system
"""
"""The printed ranks, one row per language and system."""


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
    def about(self) -> str:
        """What is printed, and what is not."""
        return (
            f"MIRAGE-Bench, Figure 4: ranks of {self.rows.num_rows} systems in "
            f"{count_text(len(self.languages), 'language')} by the GPT-4o judge and by the surrogate judge, as "
            "printed. No intervals: the paper does not print the underlying ratings."
        )

    @property
    def everything(self) -> pa.Table:
        """Return the page's data as one table; language `all` has mean ranks."""
        import pyarrow as pa

        means = self.rows.select(("system", "judge", "surrogate")).to_pylist()
        return pa.Table.from_pylist([*({"language": "all", **row} for row in means), *self.ranks.to_pylist()])


@lru_cache(maxsize=64)
def published_ranks(arena: Arena, languages: tuple[str, ...]) -> PublishedRanks:
    """Return the printed ranks by the judge and by the surrogate.

    Raises:
        TableMissing: if the arena has no published figures.
        UnknownName: if these languages are not among them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arena.need("published")
    ranks = arena.sql(_FIGURE)
    codes = sorted(set(ranks["language"].to_pylist()))
    chosen = tuple(code for code in codes if not languages or code in languages)
    if not chosen:
        raise UnknownName("language", ", ".join(languages), codes, where="MIRAGE-Bench, Figure 4")
    reference = ranks["reference"][0].as_py()
    ranks = ranks.filter(pc.is_in(ranks["language"], value_set=pa.array(chosen))).drop_columns("reference")
    over = [("judge", "mean"), ("surrogate", "mean"), ("judge", "min"), ("judge", "max"), ("judge", "count")]
    means = ranks.group_by("system").aggregate(over).sort_by([("judge_mean", "ascending"), ("system", "ascending")])
    columns = {"system": means["system"], "judge": means["judge_mean"], "surrogate": means["surrogate_mean"]}
    columns |= {"difference": pc.subtract(means["surrogate_mean"], means["judge_mean"])}
    columns |= {"best": means["judge_min"], "worst": means["judge_max"], "languages": means["judge_count"]}
    return PublishedRanks(pa.table(columns), ranks, chosen, reference)
