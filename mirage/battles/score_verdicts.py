"""Verdicts from scores: of two answers to a query, the one with the higher score wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mirage import schema
from mirage.battles.counts import codes

if TYPE_CHECKING:
    import pyarrow as pa

_EXACT = 1e-9
"""Rounding error of a difference of two shares: a difference of exactly the margin is a tie."""


def verdicts_of_scores(scores: pa.Table, *, judge: str, margin: float = 0.0) -> pa.Table:
    """Decide the battle of every two systems on every query on which both have a score.

    Args:
        scores: `language, query_id, system, value`, one row per answer; an answer without a value has no battle.
        judge: name for the rows.
        margin: scores that differ by at most this tie.

    Returns:
        Rows with the columns of `verdict_rows.COLUMNS`: one per query and pair, the system that sorts first as
        `system_a`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    scores = scores.filter(pc.is_valid(scores["value"]))
    columns = (*schema.BATTLE, "verdict", "points")
    tables = []
    for language in sorted(scores["language"].unique().to_pylist()):
        rows = scores.filter(pc.equal(scores["language"], language))
        queries, q = codes(rows["query_id"])
        systems, s = codes(rows["system"])
        values = np.full((len(queries), len(systems)), np.nan)
        values[q, s] = rows["value"].to_numpy()
        first, second = np.triu_indices(len(systems), 1)
        difference = values[:, first] - values[:, second]
        query, pair = np.nonzero(np.isfinite(difference))
        won = difference[query, pair]
        verdict = np.where(np.abs(won) <= margin + _EXACT, "tie", np.where(won > 0, "A", "B"))
        n = len(query)
        names = {
            "language": pa.array([language] * n, pa.string()),
            "query_id": pa.array(queries, pa.string()).take(pa.array(query)),
            "judge": pa.array([judge] * n, pa.string()),
            "system_a": pa.array(systems, pa.string()).take(pa.array(first[pair])),
            "system_b": pa.array(systems, pa.string()).take(pa.array(second[pair])),
            "verdict": pa.array(verdict.tolist(), pa.string()),
            "points": pa.nulls(n, schema.arrow_schema("judgments").field("points").type),
        }
        tables.append(pa.table({name: names[name] for name in columns}))
    empty = schema.from_rows("judgments", []).select(columns)
    return pa.concat_tables([empty, *(table.cast(empty.schema) for table in tables)])
