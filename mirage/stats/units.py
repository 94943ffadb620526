"""The sampling unit of every draw, variance, split and test: the query, one unit over all languages that share its id.

Translations of one query have one `query_id` and share its difficulty: treated as independent queries, they make
intervals too narrow. If no id occurs in two languages, each language's queries are separate units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from mirage.stats.encoding import encode

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.stats.arrays import Array, Places


Unit = Literal["query", "query shared by languages"]
"""The sampling unit."""


@dataclass(frozen=True, eq=False)
class Units:
    """The sampling units of the queries of several languages."""

    queries: Mapping[str, Sequence[str]]
    """By language, the distinct ids of its queries."""

    @cached_property
    def shared(self) -> frozenset[str]:
        """The ids that occur in several languages."""
        return shared_ids(self.queries)

    @property
    def unit(self) -> Unit:
        """The sampling unit."""
        return "query shared by languages" if self.shared else "query"

    @cached_property
    def _place(self) -> dict[str, int]:
        return {query: k for k, query in enumerate(sorted(self.shared))}

    @cached_property
    def numbers(self) -> dict[str, Places]:
        """Index of each query's unit by language, from 0: shared ids first, then language by language."""
        import numpy as np

        numbers, n = {}, len(self._place)
        for language, queries in self.queries.items():
            of_language = np.array([self._place.get(query, -1) for query in queries], dtype=np.intp)
            own = of_language < 0
            of_language[own] = n + np.arange(own.sum())
            n += int(own.sum())
            numbers[language] = of_language
        return numbers

    @cached_property
    def n(self) -> int:
        """Number of units."""
        return len(set[str]().union(*self.queries.values()))


def name_unit(unit: Unit) -> str:
    """Return the unit's name for a sentence on intervals: "with the ... as the unit"."""
    return unit if unit == "query" else "query across languages"


def shared_ids(queries: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the query ids that occur in several languages.

    Args:
        queries: by language, the distinct ids of its queries.
    """
    counts = Counter(query for ids in queries.values() for query in ids)
    return frozenset(query for query, n in counts.items() if n > 1)


def spread(moves: Array, strata: Sequence[Places]) -> tuple[Array, Array]:
    """Return the variance of the sums of moves over queries, and the denominator of its degrees of freedom.

    Args:
        moves: Q x K: contribution of each query to each of K sums.
        strata: query indices of each stratum. A stratum of one query has no spread: its move is centred on 0.

    Returns:
        K variances, and K sums over strata of (variance of the stratum)^2 / (n - 1), so that the degrees of freedom are
        the square of the first over the second (Satterthwaite, Biometrics Bulletin 2, 1946).
    """
    return joint_spread({"": moves}, {"": strata}, Units({}))


def joint_spread(
    moves: Mapping[str, Array], strata: Mapping[str, Sequence[Places]], units: Units
) -> tuple[Array, Array]:
    """Return `spread` of sums over the queries of several languages, with the moves of a unit added up.

    Args:
        moves: by language, Q x K.
        strata: by language, query indices of each stratum.
        units: the units of these queries. Those in the same strata of the same languages are exchangeable.
    """
    import numpy as np

    variance = below = np.zeros(next(iter(moves.values())).shape[1])
    for alike in moves_alike(moves, strata, units):
        own = (alike**2).sum(axis=0)
        variance, below = variance + own, below + own**2 / max(len(alike) - 1, 1)
    return variance, below


def moves_alike(moves: Mapping[str, Array], strata: Mapping[str, Sequence[Places]], units: Units) -> Iterator[Array]:
    """Yield the centred moves (`centre_moves`) of units in the same strata of the same languages.

    The sum of their products is the covariance of the sums over all queries. Arguments as for `joint_spread`.
    """
    import numpy as np

    if not units.shared:
        for language, of_language in moves.items():
            for rows in strata[language]:
                yield centre_moves(of_language[rows])
        return
    together = np.zeros((units.n, next(iter(moves.values())).shape[1]))
    cell = np.full((units.n, len(moves)), -1, dtype=np.intp)
    for k, (language, of_language) in enumerate(moves.items()):
        for number, rows in enumerate(strata[language]):
            of_unit = units.numbers[language][rows]
            together[of_unit] += centre_moves(of_language[rows])
            cell[of_unit, k] = number
    # A stable sort: the units of one pattern stay in order.
    order = np.lexsort(cell.T[::-1])
    for rows in np.split(order, np.flatnonzero((np.diff(cell[order], axis=0) != 0).any(axis=1)) + 1):
        yield together[rows]


def centre_moves(moves: Array) -> Array:
    """Centre the moves of one stratum on their mean, so that their sum of squares is the variance of their sum; those
    of one query on 0.
    """
    n = len(moves)
    return moves if n < 2 else (moves - moves.mean(axis=0)) * (n / (n - 1)) ** 0.5


def sharing_factor(values: Mapping[str, Array], queries: Mapping[str, Sequence[str]]) -> float:
    """Return the variance of a mean over languages relative to that of independent queries (`joint_variance`)."""
    return joint_variance(values, Units(queries))[0]


def joint_variance(values: Mapping[str, Array], units: Units) -> tuple[float, float]:
    """Return the variance of a mean over languages that may share queries, with equal weights of languages.

    Args:
        values: by language, one value per query.
        units: the units of these queries.

    Returns:
        The variance relative to that of independent queries, at least 1, and 1 if languages share none; and its degrees
        of freedom.
    """
    import numpy as np

    moves = {language: of_language[:, None] / len(of_language) for language, of_language in values.items()}
    strata = {language: [np.arange(len(of_language))] for language, of_language in moves.items()}
    apart = sum(float(spread(moves[language], strata[language])[0][0]) for language in values)
    # Without any spread, shared queries count once.
    if apart <= 0:
        return sum(map(len, values.values())) / units.n, float(units.n - 1)
    variance, below = (float(part[0]) for part in joint_spread(moves, strata, units))
    return max(1.0, variance / apart), variance**2 / below if below > 0 else float(units.n - 1)


def joint_variances(rows: pa.Table) -> dict[tuple[str, str], tuple[float, float | None, Unit, int]]:
    """Return variance factor, degrees of freedom, unit and number of units of means over languages, by system and
    feature.

    Args:
        rows: columns language, query_id, system, feature and value, at most one row a query of a language, system and
            feature.

    Returns:
        As `joint_variance`, with the unit and the number of units; only for systems and features of which languages
        share a query.
    """
    import numpy as np

    (languages, language), (ids, query), (systems, system), (names, feature) = (
        encode(rows[key]) for key in ("language", "query_id", "system", "feature")
    )
    pairs = np.unique(language * len(ids) + query)
    if len(np.unique(pairs % max(len(ids), 1))) == len(pairs):
        return {}
    order = np.lexsort((query, language, feature, system))
    group, values = (system * len(names) + feature)[order], rows["value"].to_numpy()[order]
    result: dict[tuple[str, str], tuple[float, float | None, Unit, int]] = {}
    known_units: dict[bytes, Units] = {}
    for places in np.split(np.arange(len(order)), np.flatnonzero(np.diff(group)) + 1):
        of_group, id_numbers = language[order[places]], query[order[places]]
        parts = np.split(np.arange(len(places)), np.flatnonzero(np.diff(of_group)) + 1)
        key = of_group.tobytes() + id_numbers.tobytes()
        if key not in known_units:
            known_units[key] = Units({languages[of_group[k[0]]]: [ids[q] for q in id_numbers[k]] for k in parts})
        units = known_units[key]
        if units.shared:
            of_languages = {languages[of_group[k[0]]]: values[places[k]] for k in parts}
            name = systems[system[order[places[0]]]], names[feature[order[places[0]]]]
            result[name] = (*joint_variance(of_languages, units), units.unit, units.n)
    return result


def count_units(rows: pa.Table) -> dict[tuple[str, str], int]:
    """Return the number of units by system and feature; an id in several languages is one.

    Args:
        rows: columns query_id, system and feature.
    """
    counted = rows.group_by(["system", "feature"]).aggregate([("query_id", "count_distinct")]).to_pylist()
    return {(row["system"], row["feature"]): row["query_id_count_distinct"] for row in counted}
