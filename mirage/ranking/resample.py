"""Random weights of queries: the resamples behind draws of ratings, and of other averages over the same queries."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.ranking.fit import Array
from mirage.ranking.settings import DRAWS, SEED
from mirage.stats.units import centre_moves


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
    return Resampling(battles.queries, strata, shared, draws, seed).exponential(generator(code, seed))


@dataclass(frozen=True, eq=False, slots=True)
class Resampling:
    """Draws of random weights for the queries of one language."""

    queries: Sequence[str]
    """The Q queries."""
    strata: Sequence[NDArray[np.intp]]
    """Query indices of each stratum."""
    shared: Collection[str]
    """Ids of queries that occur in several languages: they get the same random numbers in all of them."""
    draws: int
    """B."""
    seed: int
    """Seed of the draws."""

    def exponential(self, rng: np.random.Generator) -> Array:
        """Return exponential query weights (B x Q) that sum to Q, each stratum with the same share."""
        weights = self._numbers("standard_exponential", rng)
        for rows in self.strata:
            for some in self._parts():
                share = weights[some, rows]
                weights[some, rows] = share * (len(self.queries) / len(self.strata) / share.sum(axis=1, keepdims=True))
        return weights

    def normal(self, rng: np.random.Generator) -> Array:
        """Return normal numbers (B x Q) whose sums of the queries' influences have the covariance of the ratings, the
        query as the cluster.
        """
        numbers = self._numbers("standard_normal", rng)
        for rows in self.strata:
            numbers[:, rows] = centre_moves(numbers[:, rows].T).T
        return numbers

    def _parts(self) -> list[NDArray[np.intp]]:
        """Return the indices of the draws in parts (B' x 1) that take a tenth of their memory while they are made."""
        return [part[:, None] for part in np.array_split(np.arange(self.draws), 10) if len(part)]

    def _numbers(self, kind: Literal["standard_exponential", "standard_normal"], rng: np.random.Generator) -> Array:
        numbers = np.empty((self.draws, len(self.queries)))
        for rows in self.strata:
            for some in self._parts():
                numbers[some, rows] = getattr(rng, kind)((len(some), len(rows)), dtype=np.float32)
        for k, query in enumerate(self.queries if self.shared else ()):
            if query in self.shared:
                number = int.from_bytes(hashlib.blake2b(query.encode(), digest_size=8).digest(), "big")
                own = np.random.default_rng([self.seed, number])
                numbers[:, k] = getattr(own, kind)(self.draws, dtype=np.float32)
        return numbers
