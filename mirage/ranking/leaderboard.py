"""The leaderboard as a table: one shape for the page, the command line, the API and every file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mirage.errors import UnknownName
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.scale import Scale, on_scale

if TYPE_CHECKING:
    import pyarrow as pa

DIFFERENCES = ("difference", "difference_low", "difference_high")
"""Columns added with a reference system."""


def leaderboard(
    ranking: RankingReport, language: str | None = None, *, reference: str | None = None, scale: Scale = "logit"
) -> pa.Table:
    """Return the rows of a leaderboard in reading order: by language, `all` last, the best system first.

    Args:
        ranking: the ranking.
        language: code, or `all`; None for every language.
        reference: adds `difference`, each rating minus that of this system, with its 95% interval `difference_low` and
            `difference_high`; null where the data puts no bound, and all three where it is not ranked in the language.
        scale: scale of `rating`, `low`, `high` and the differences.

    Returns:
        The columns of `schema.Rating`, and those of the differences.

    Raises:
        UnknownName: if the language is not ranked.
    """
    import pyarrow as pa

    if language is not None and language not in ranking.languages:
        raise UnknownName("language", language, ranking.languages)
    table = ranking.table(language)
    if reference is not None:
        columns: list[list[float | None]] = [[], [], []]
        for row in ranking.rows_of(language):
            ranked = reference in row.systems
            values = (
                ranking.differences(reference, row.language).tolist() if ranked else [[None] * len(row.systems)] * 3
            )
            for column, part in zip(columns, values, strict=True):
                column += [v if v is not None and math.isfinite(v) else None for v in part]
        for name, column in zip(DIFFERENCES, columns, strict=True):
            table = table.append_column(name, pa.array(column, pa.float64()))
    for name in ("rating", "low", "high", *(DIFFERENCES if reference is not None else ())):
        values = [on_scale(value, scale, difference=name in DIFFERENCES) for value in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), table.field(name), pa.array(values, pa.float64()))
    order = {code: place for place, code in enumerate(ranking.languages)}
    keys = list(zip(*(table[name].to_pylist() for name in ("language", "rank", "system")), strict=True))
    places = sorted(range(len(table)), key=lambda k: (order[keys[k][0]], *keys[k][1:]))
    return table.take(pa.array(places, pa.int64()))
