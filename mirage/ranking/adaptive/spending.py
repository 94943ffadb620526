"""p-values that stay valid although the tests are repeated after every round.

Round k of K may spend `spent(a, k / K) - spent(a, (k - 1) / K)` of a pair's error probability a, where `spent` is the
spending function of O'Brien and Fleming's type (Lan and DeMets, Biometrika 70(3), 1983): hardly anything in the first
rounds, nearly all in the last. The sequential p-value of a pair is the smallest a at which one of the rounds so far
would have separated it. Holm's correction of sequential p-values bounds the family-wise error whenever the rounds stop
(Maurer and Bretz, Statistics in Biopharmaceutical Research 5(4), 2013). The rounds' errors are added up (Bonferroni),
not integrated over their joint distribution, which an adaptive design does not know; with eight rounds that raises the
critical value of the last test by 3%.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mirage.ranking.adaptive.population import Array

_FURTHEST, _STEPS = 37.0, 4000
"""Largest normal quantile of the table of levels, and its number of steps."""


def spent(level: Array, share: float) -> Array:
    """Return the error probability spent at a share of the rounds, of two-sided levels in all."""
    from scipy.special import ndtr, ndtri

    if share <= 0:
        return np.zeros_like(level)
    return np.asarray(2 * ndtr(ndtri(level / 2) / np.sqrt(share)))


def sequential_p(p: Array, number: int, rounds: int) -> Array:
    """Return the total level at which a round separates pairs with these p-values.

    Args:
        p: two-sided p-values of the round.
        number: number of the round, from 1.
        rounds: number of planned rounds; further rounds spend nothing.
    """
    if number > rounds:
        return np.ones_like(p)
    log_level, log_spent = _table(number, rounds)
    return np.exp(np.interp(np.log(np.maximum(p, 1e-300)), log_spent, log_level))


@lru_cache(maxsize=256)
def _table(number: int, rounds: int) -> tuple[Array, Array]:
    """Return the logarithms of total levels, ascending, and of the share that the round may spend of each."""
    from scipy.special import ndtr

    level = 2 * ndtr(-np.linspace(_FURTHEST, 0, _STEPS))
    own = spent(level, number / rounds) - spent(level, (number - 1) / rounds)
    own = np.maximum(np.maximum.accumulate(own), 1e-320)
    return np.log(level), np.log(own)
