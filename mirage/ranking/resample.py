"""Random weights of queries: the resamples behind draws of ratings, and of other averages over the same queries."""

import hashlib
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.ranking.settings import DRAWS, SEED
from mirage.stats.arrays import Array, Places
from mirage.stats.units import centre_moves

PARTS = 50
"""Number of parts in which draws are made, so that a step takes little memory beside all of them."""


def generator(code: str, seed: int) -> np.random.Generator:
    """Return the random numbers of a language, which do not depend on the other languages."""
    return np.random.default_rng([seed, zlib.crc32(code.encode())])


def query_weights(
    code: str, battles: Battles, *, draws: int = DRAWS, seed: int = SEED, shared: Collection[str] = ()
) -> Array:
    """Return the weight of each query in each draw of `rate` (B x Q), the strata weighted equally.

    For averages of other quantities over the same resamples.

    Args:
        code: the language.
        battles: its battles.
        draws: B.
        seed: seed of the draws.
        shared: ids of queries that occur in several languages (`units.py`); they have the same weights in all of them.
    """
    strata = [np.flatnonzero(battles.strata == k) for k in np.unique(battles.strata)]
    return Resampling(battles.queries, strata, shared, draws, seed).exponential(generator(code, seed))(np.arange(draws))


@dataclass(frozen=True, eq=False, slots=True)
class Resampling:
    """Draws of random weights for the queries of one language."""

    queries: Sequence[str]
    """The Q queries."""
    strata: Sequence[Places]
    """Query indices of each stratum."""
    shared: Collection[str]
    """Ids of queries that occur in several languages: they get the same random numbers in all of them."""
    draws: int
    """B."""
    seed: int
    """Seed of the draws."""

    def exponential(self, rng: np.random.Generator) -> Callable[[Places], Array]:
        """Draw exponential query weights, and return a function from indices of draws to their weights (B' x Q), which
        sum to Q, each stratum with the same share. In this form all draws take half of the memory.
        """
        numbers = self._numbers("standard_exponential", rng)

        def weights(draws: Places) -> Array:
            some, chosen = np.arange(len(draws))[:, None], numbers[draws].astype(float)
            for rows in self.strata:
                share = chosen[some, rows]
                chosen[some, rows] = share * (len(self.queries) / len(self.strata) / share.sum(axis=1, keepdims=True))
            return chosen

        return weights

    def normal(self, rng: np.random.Generator) -> Array:
        """Return normal numbers (B x Q) whose sums of the queries' influences have the covariance of the ratings, the
        query as the cluster.
        """
        numbers = self._numbers("standard_normal", rng).astype(float)
        for rows in self.strata:
            numbers[:, rows] = centre_moves(numbers[:, rows].T).T
        return numbers

    def _numbers(
        self, kind: Literal["standard_exponential", "standard_normal"], rng: np.random.Generator
    ) -> NDArray[np.float32]:
        numbers = np.empty((self.draws, len(self.queries)), dtype=np.float32)
        for rows in self.strata:
            # In parts, which take less memory while they are made.
            for part in np.array_split(np.arange(self.draws), PARTS):
                numbers[part[:, None], rows] = getattr(rng, kind)((len(part), len(rows)), dtype=np.float32)
        for k, query in enumerate(self.queries if self.shared else ()):
            if query in self.shared:
                number = int.from_bytes(hashlib.blake2b(query.encode(), digest_size=8).digest(), "big")
                own = np.random.default_rng([self.seed, number])
                numbers[:, k] = getattr(own, kind)(self.draws, dtype=np.float32)
        return numbers
