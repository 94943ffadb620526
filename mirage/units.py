"""The unit of every draw, variance, split and test: the query, which is one over all languages that share its id.

Translations of one query have one `query_id`, and what makes one of them hard makes the others hard: taken for
independent queries, they make intervals too narrow. Where no id stands in two languages, each language's queries are
units of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

Unit = Literal["query", "query shared by languages"]
"""What is drawn together."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of the queries of several languages."""

    queries: Mapping[str, Sequence[str]]
    """By language, the ids of its queries, each once."""

    @cached_property
    def shared(self) -> frozenset[str]:
        """The ids that stand in several languages."""
        return shared_ids(self.queries)

    @property
    def unit(self) -> Unit:
        """What is drawn together."""
        return "query shared by languages" if self.shared else "query"

    @cached_property
    def _place(self) -> dict[str, int]:
        return {query: k for k, query in enumerate(sorted(self.shared))}

    @cached_property
    def numbers(self) -> dict[str, Places]:
        """By language, the number of each query's unit, from 0: shared ids first, then language by language."""
        import numpy as np

        numbers, n = {}, len(self._place)
        for language, queries in self.queries.items():
            of_language = np.array([self._place.get(query, -1) for query in queries], dtype=np.intp)
            own = of_language < 0
            of_language[own] = n + np.arange(own.sum())
            n += int(own.sum())
            numbers[language] = of_language
        return numbers

    @property
    def n(self) -> int:
        """How many units there are."""
        return len(self._place) + sum(
            query not in self._place for queries in self.queries.values() for query in queries
        )


def name_unit(unit: Unit) -> str:
    """Name the unit within a sentence on intervals: "with the ... as the unit"."""
    return unit if unit == "query" else "query across languages"


def shared_ids(queries: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The query ids that stand in several languages.

    Args:
        queries: by language, the ids of its queries, each once.
    """
    counts = Counter(query for ids in queries.values() for query in ids)
    return frozenset(query for query, n in counts.items() if n > 1)


def spread(moves: Floats, strata: Sequence[Places]) -> tuple[Floats, Floats]:
    """The variance of the sums of moves over queries, and what its degrees of freedom rest on.

    Args:
        moves: Q x K: what each query contributes to each of K sums.
        strata: which queries each stratum holds. A stratum of one query has no spread of its own: its move is taken
            around 0.

    Returns:
        K variances, and K sums over strata of (variance of the stratum)^2 / (n - 1), so that the degrees of freedom are
        the square of the first over the second (Satterthwaite, Biometrics Bulletin 2, 1946).
    """
    import numpy as np

    variance, below = np.zeros(moves.shape[1]), np.zeros(moves.shape[1])
    for rows in strata:
        n, part = len(rows), moves[rows]
        own = (part**2).sum(axis=0) if n == 1 else n / (n - 1) * ((part - part.mean(axis=0)) ** 2).sum(axis=0)
        variance += own
        below += own**2 / max(n - 1, 1)
    return variance, below


def joint_spread(
    moves: Mapping[str, Floats], strata: Mapping[str, Sequence[Places]], units: Units
) -> tuple[Floats, Floats]:
    """As `spread`, of sums over the queries of several languages, in which a unit's moves go together.

    Args:
        moves: by language, Q x K.
        strata: by language, which queries each stratum holds.
        units: the units of these queries. Those in the same strata of the same languages vary alike.
    """
    import numpy as np

    k = next(iter(moves.values())).shape[1]
    variance, below = np.zeros(k), np.zeros(k)
    if not units.shared:
        for language, of_language in moves.items():
            more = spread(of_language, strata[language])
            variance, below = variance + more[0], below + more[1]
        return variance, below
    for alike in moves_alike(moves, strata, units):
        own = (alike**2).sum(axis=0)
        variance += own
        below += own**2 / max(len(alike) - 1, 1)
    return variance, below


def moves_alike(moves: Mapping[str, Floats], strata: Mapping[str, Sequence[Places]], units: Units) -> Iterator[Floats]:
    """The moves of units that are in the same strata of the same languages, around the means of these (`around`): the
    sum of their products is the covariance of the sums over all queries. Arguments as for `joint_spread`.
    """
    import numpy as np

    if not units.shared:
        for language, of_language in moves.items():
            for rows in strata[language]:
                yield around(of_language[rows])
        return
    together = np.zeros((units.n, next(iter(moves.values())).shape[1]))
    cell = np.full((units.n, len(moves)), -1, dtype=np.intp)
    for k, (language, of_language) in enumerate(moves.items()):
        for number, rows in enumerate(strata[language]):
            of_unit = units.numbers[language][rows]
            together[of_unit] += around(of_language[rows])
            cell[of_unit, k] = number
    pattern = np.unique(cell, axis=0, return_inverse=True)[1].ravel()
    for number in range(int(pattern.max(initial=-1)) + 1):
        yield together[pattern == number]


def around(moves: Floats) -> Floats:
    """The moves of one stratum around their mean, so that the sum of their squares is the variance of their sum; of one
    query around 0.
    """
    import numpy as np

    n = len(moves)
    return np.asarray(moves if n < 2 else (moves - moves.mean(axis=0)) * (n / (n - 1)) ** 0.5)


def sharing_factor(values: Mapping[str, Floats], queries: Mapping[str, Sequence[str]]) -> float:
    """How many times the variance of a mean over languages is that of independent queries (`joint_variance`)."""
    return joint_variance(values, Units(queries))[0]


def joint_variance(values: Mapping[str, Floats], units: Units) -> tuple[float, float]:
    """The variance of a mean over languages that may share queries, every language weighing the same.

    Args:
        values: by language, one value a query.
        units: the units of these queries.

    Returns:
        How many times it is that of independent queries, at least 1, and 1 where languages share none; and its degrees
        of freedom.
    """
    import numpy as np

    moves = {language: of_language[:, None] / len(of_language) for language, of_language in values.items()}
    strata = {language: [np.arange(len(of_language))] for language, of_language in moves.items()}
    apart = sum(float(spread(moves[language], strata[language])[0][0]) for language in values)
    # Without any spread, what languages share counts once.
    if apart <= 0:
        return sum(map(len, values.values())) / units.n, float(units.n - 1)
    variance, below = (float(part[0]) for part in joint_spread(moves, strata, units))
    return max(1.0, variance / apart), variance**2 / below if below > 0 else float(units.n - 1)
