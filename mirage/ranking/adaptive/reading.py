"""Verdicts of a judge, as points of the battles of a population."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mirage.battles.decision import FIRST, TIE, UNPARSED
from mirage.battles.verdict_rows import Verdicts
from mirage.ranking.adaptive.population import Array, Population


def points_of(population: Population, verdicts: Mapping[str, Verdicts]) -> Array:
    """Return the points of each battle's first system, the mean over both orders; NaN without a readable verdict (B).

    Args:
        population: all battles; verdicts on others are ignored.
        verdicts: verdicts of the judge by language.
    """
    n_pairs, s = population.pairs, len(population.systems)
    key = population.row * n_pairs + population.pair
    order = np.argsort(key)
    known, sums, met = key[order], np.zeros(len(key)), np.zeros(len(key))
    of_system = {name: k for k, name in enumerate(population.systems)}
    start = 0
    for code, queries in population.queries.items():
        if code in verdicts:
            rows = verdicts[code]
            of_query = {name: start + k for k, name in enumerate(queries)}
            query = np.array([of_query.get(name, -1) for name in rows.queries], dtype=np.intp)[rows.query]
            system = np.array([of_system.get(name, -1) for name in rows.systems], dtype=np.intp)
            a, b = system[rows.first], system[rows.second]
            points = np.where(rows.verdict == TIE, 0.5, (rows.verdict == FIRST).astype(float))
            points = np.where(np.isfinite(rows.points), rows.points, points)
            read = (query >= 0) & (a >= 0) & (b >= 0) & (rows.verdict != UNPARSED)
            low, high = np.minimum(a, b)[read], np.maximum(a, b)[read]
            wanted = query[read] * n_pairs + low * (2 * s - low - 1) // 2 + high - low - 1
            place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            found = known[place] == wanted
            at = order[place[found]]
            np.add.at(sums, at, np.where(a < b, points, 1 - points)[read][found])
            np.add.at(met, at, 1.0)
        start += len(queries)
    return np.asarray(np.divide(sums, met, out=np.full(len(key), np.nan), where=met > 0))
