"""Bradley-Terry in 30 lines of plain Python, to test the fast solver against: slow, and written to be read."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, log1p


def bradley_terry(points: Sequence[Sequence[float]], *, steps: int = 20_000) -> list[float]:
    """Ratings in logits, centred on 0, by maximum likelihood: the algorithm of Zermelo, a system at a time.

    With strengths s, the likelihood has its maximum where s_i = (points of i) / sum_j n_ij / (s_i + s_j)
    (Zermelo 1929; Hunter 2004, Annals of Statistics 32, equation 3).

    Args:
        points: points[i][j]: the points that i took of j; a win is 1, a tie 0.5 for each.
        steps: rounds over all systems.
    """
    systems = range(len(points))
    strength = [1.0 for _ in systems]
    for _ in range(steps):
        for i in systems:
            won = sum(points[i])
            met = sum((points[i][j] + points[j][i]) / (strength[i] + strength[j]) for j in systems if j != i)
            strength[i] = won / met
    return centred(strength)


def log_likelihood(ratings: Sequence[float], points: Sequence[Sequence[float]]) -> float:
    """The logarithm of the chance of these points by these ratings."""
    pairs = ((i, j) for i in range(len(ratings)) for j in range(len(ratings)) if i != j)
    return sum(points[i][j] * -log1p_exp(ratings[j] - ratings[i]) for i, j in pairs)


def centred(strength: Sequence[float]) -> list[float]:
    """Logarithms of strengths, less their mean."""
    ratings = [log(s) for s in strength]
    return [rating - sum(ratings) / len(ratings) for rating in ratings]


def log1p_exp(x: float) -> float:
    """log(1 + exp(x)), also for a large x."""
    return max(x, 0.0) + log1p(exp(-abs(x)))
