"""Rates whose unit is the query: several answers of a system to one query are averaged first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mirage.stats.intervals import of_variance

if TYPE_CHECKING:
    import pyarrow as pa

Cluster = tuple[int, int]
"""Wrong and decided answers of a system to one query."""


def rate_of_clusters(languages: Sequence[Sequence[Cluster]], *, factor: float = 1.0) -> tuple[float, float, float]:
    """Return a rate with its 95% interval, with the query as the unit: answers to one query are averaged first.

    Wilson's interval at the effective number of answers, for the variance between queries
    (`mirage.stats.intervals.of_variance`). Over several languages the mean of their rates.

    Args:
        languages: for each language, the queries with a decided answer, at least one.
        factor: as for `mean_interval`.
    """
    shares, variance, freedom, trials = [], 0.0, 0, 0
    for queries in languages:
        values = [k / n for k, n in queries]
        share = sum(values) / len(values)
        shares.append(share)
        trials += sum(n for _, n in queries)
        freedom += max(len(values) - 1, 0)
        if len(values) > 1:
            variance += sum((value - share) ** 2 for value in values) / (len(values) - 1) / len(values)
    mean = sum(shares) / len(shares)
    variance *= factor / len(shares) ** 2
    low, high = of_variance(mean, variance, clusters=max(freedom, 1) + 1, trials=trials)
    return mean, low, high


def clusters_of(rows: pa.Table, wrong: Mapping[str, str]) -> dict[tuple[str, str, str], list[Cluster]]:
    """Count the wrong and the decided answers to each query, by subset, system and language.

    Args:
        rows: rows of `outcomes` by one parser; a key may repeat.
        wrong: the wrong outcome by subset.
    """
    names = ["subset", "system", "language", "query_id", "outcome"]
    counted = rows.select(names).group_by(names).aggregate([([], "count_all")])
    queries: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for row in counted.to_pylist():
        if row["outcome"] not in ("answered", "abstained"):
            continue
        cell = queries.setdefault((row["subset"], row["system"], row["language"]), {})
        tally = cell.setdefault(row["query_id"], [0, 0])
        tally[0] += row["count_all"] * (row["outcome"] == wrong[row["subset"]])
        tally[1] += row["count_all"]
    return {key: [(k, n) for _, (k, n) in sorted(cell.items())] for key, cell in queries.items()}
